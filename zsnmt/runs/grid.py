"""The grid of remedies: full factorial designs, whose cells are systems that know their levels.

The first stage crosses what a model is made with; a second stage goes on from its corners, with a remedy or
without one (docs/grid.md).
"""

from collections.abc import Mapping, Sequence
from itertools import product
from typing import NamedTuple

from zsnmt.decoding.methods.kinds import Contrast
from zsnmt.decoding.methods.settings import OWN_PIVOT_NAME
from zsnmt.runs.remedies import REMEDIES, TOGETHER, options_of_remedy, remedy_name
from zsnmt.runs.systems import BASELINE, NONE, RESIDUAL, STUDENTS, System, few_name


class Factor(NamedTuple):
    """What is varied, and its two levels: an effect is what the second one changes."""

    name: str
    low: str
    high: str


class Design(NamedTuple):
    """A system for every combination of the levels of some factors: `cells`, by their levels in order.

    `ways`: how each is decoded, as `zsnmt evaluate --ways` takes it; without one directly.
    """

    name: str
    factors: tuple[Factor, ...]
    cells: Mapping[tuple[str, ...], System]
    ways: Mapping[tuple[str, ...], str] = {}


BLOCK_LAYERS, BLOCK_WIDTH = "--decoder-language-feed-forward-layers", "--decoder-language-feed-forward-dim"
NORMALISATION, TAGS_OPTION = "--normalization", "--language-tags"
LANGUAGE_EMBEDDING = "--decoder-language-embedding"
NORM, TAGS = Factor("norm", "pre", "post"), Factor("tags", "t_dec", "t_enc")
REMOVAL, LCS = Factor("residual", "kept", "removed"), Factor("LCS", "none", "top2")
FEED_FORWARD = Factor("feed-forward residual", "kept", "left out")  # of the same encoder layer
BLOCKS = Factor("language blocks", "none", "middle")

# What a level adds to the name and the options of a system.
LEVELS: dict[str, tuple[str, tuple[str, ...]]] = {
    REMOVAL.high: ("residual", ()),
    NORM.high: ("post", (NORMALISATION, "post")),
    TAGS.high: ("t_enc", (TAGS_OPTION, "t_enc", LANGUAGE_EMBEDDING, "none")),
    LCS.high: ("lcs", (TAGS_OPTION, "t_enc_t_dec", "--encoder-target-language", "tag_embedding")),
    FEED_FORWARD.high: ("feed_forward", ("--encoder-feed-forward-residual-removal-layers", "middle")),
    BLOCKS.high: ("blocks", (BLOCK_LAYERS, "middle")),
}


def system_of(levels: Sequence[str]) -> System:
    """The system of the first stage with some levels; the plain ones are named like architectures."""
    plain = RESIDUAL if REMOVAL.high in levels else BASELINE
    added = [LEVELS[level] for level in LEVELS if level in levels]
    options = tuple(option for _, of_level in added for option in of_level)
    return System("_".join(name for name, _ in added), plain.architecture, options) if options else plain


def first_stage(name: str, *factors: Factor) -> Design:
    """The design of all combinations of some factors' levels."""
    levels = product(*((factor.low, factor.high) for factor in factors))
    return Design(name, factors, {each: system_of(each) for each in levels})


BASE_GRID = first_stage("base_grid", NORM, TAGS, REMOVAL)
LCS_GRID = first_stage("lcs_grid", NORM, LCS, REMOVAL)  # all with the tag in the decoder
BLOCKS_GRID = first_stage("blocks_grid", FEED_FORWARD, BLOCKS, REMOVAL)  # likewise
FIRST_STAGE = BASE_GRID, LCS_GRID

BASE = Factor("base", "pre, t_dec", "post, t_enc")
CORNERS: dict[tuple[str, ...], System] = {
    (level, residual): BASE_GRID.cells[norm, tags, residual]
    for level, norm, tags in ((BASE.low, NORM.low, TAGS.low), (BASE.high, NORM.high, TAGS.high))
    for residual in (REMOVAL.low, REMOVAL.high)
}

PLAIN = {REMOVAL.low: BASELINE, REMOVAL.high: RESIDUAL}  # systems that differ by the removal alone

CONTROL = STUDENTS[NONE]
MASK = Factor("mask", "all pieces", "the target's")
LANGUAGE_CONTRAST = Factor("language contrast", "none", f"{Contrast.language_weight:g}")
SOURCE_CONTRAST = Factor("source contrast", "none", f"{Contrast.source_weight:g}")


def decoding_way(mask: str, languages: str, sources: str) -> str:
    """The way of some levels of decoding; empty for direct translation."""
    masked = mask == MASK.high
    if (languages, sources) == (LANGUAGE_CONTRAST.low, SOURCE_CONTRAST.low):
        return "mask" if masked else ""
    settings = {
        "language_weight=0": languages == LANGUAGE_CONTRAST.low,
        "source_weight=0": sources == SOURCE_CONTRAST.low,
        "pieces=1": masked,
    }
    given = ",".join(setting for setting, holds in settings.items() if holds)
    return f"contrast:{given}" if given else "contrast"


def decoding_design(name: str, systems: Mapping[str, System]) -> Design:
    """The design of every way to decode systems, by their level of removal."""
    decoding = MASK, LANGUAGE_CONTRAST, SOURCE_CONTRAST
    levels = [*product(*((factor.low, factor.high) for factor in decoding), systems)]
    return Design(
        name,
        (*decoding, REMOVAL),
        cells={each: systems[each[-1]] for each in levels},
        ways={each: way for each in levels if (way := decoding_way(*each[:-1]))},
    )


DECODING_GRID = decoding_design("decoding_grid", PLAIN)
# Which are no factors of the design; an ensemble has the direct translation and the own pivot as its parts.
OTHER_WAYS = "mask:prefer=1", "ensemble", "ensemble:by=average", OWN_PIVOT_NAME


FEW_LINE_STAGES = {few_name(number): number for number in (1, 10)}  # real lines of each zero-shot direction


def second_stage(base: System, remedy: str) -> System:
    """A system trained on with a remedy, or, as the control, without."""
    is_remedy = remedy != CONTROL and remedy not in FEW_LINE_STAGES
    return System(
        f"{base.name}_{remedy_name(remedy)}",
        base.architecture,
        options_of_remedy(remedy) if is_remedy else (),
        sides=NONE,
        base=base.name,
        few_lines=FEW_LINE_STAGES.get(remedy, 0),
        remedy=remedy if is_remedy else "",
    )


def second_stages(base: System) -> list[System]:
    """The control of a base, then all remedies."""
    return [second_stage(base, remedy) for remedy in (CONTROL, *REMEDIES, *FEW_LINE_STAGES)]


def remedy_design(remedy: str) -> Design:
    """A remedy against the control, on all corners."""
    factor = Factor(remedy, CONTROL, remedy)
    cells: dict[tuple[str, ...], System] = {
        (level, *corner): second_stage(base, level)
        for level in (factor.low, factor.high)
        for corner, base in CORNERS.items()
    }
    return Design(remedy, (factor, BASE, REMOVAL), cells)


PAIRS = (  # of remedies, whose stages have both
    ("consistency", "denoising"),
    ("consistency", "unlikelihood"),
    ("denoising", "unlikelihood"),
)


def pair_design(one: str, other: str) -> Design:
    """Two remedies, each alone, both and neither, on the baseline and without the residual."""
    factors = Factor(one, "without", "with"), Factor(other, "without", "with"), REMOVAL
    cells = {}
    for levels in product(*((factor.low, factor.high) for factor in factors)):
        chosen = [factor.name for factor, level in zip(factors[:2], levels) if level == factor.high]
        cells[levels] = second_stage(PLAIN[levels[2]], TOGETHER.join(chosen) or CONTROL)
    return Design(f"{one}{TOGETHER}{other}", factors, cells)
