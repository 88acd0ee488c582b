"""Ablations of the papers' models: each study is a list of systems to train and compare.

All begin with the baseline. Systems without options of their own are named as `recipes/train.sh` names them,
so that studies share these runs and take them over where they are there.
"""

from argparse import Namespace
from collections.abc import Callable, Iterable, Sequence

from zsnmt.errors import InputError
from zsnmt.languages import Direction, parse_direction
from zsnmt.runs.grid import (
    BLOCK_LAYERS,
    BLOCK_WIDTH,
    BLOCKS,
    BLOCKS_GRID,
    CORNERS,
    DECODING_GRID,
    FIRST_STAGE,
    LANGUAGE_EMBEDDING,
    NORMALISATION,
    OTHER_WAYS,
    PAIRS,
    PLAIN,
    pair_design,
    second_stages,
    system_of,
)
from zsnmt.runs.systems import (
    BASELINE,
    BELOW,
    BY_ENCODING,
    CLIP_DISTANCES,
    DECODER_POSITIONS,
    DIRECTIONS,
    DISTANCE,
    ENCODER_POSITIONS,
    LEARNED,
    RELATIVE,
    RESIDUAL,
    RESIDUAL_QUERY,
    STUDIED,
    VARIATIONAL,
    System,
    direction_system,
)
from zsnmt.seams import position_query, residual_removal
from zsnmt.seams.layers import chosen_layers
from zsnmt.seams.options import attribute_of, spelt
from zsnmt.seams.positions import BIAS_LAYERS
from zsnmt.training.fairseq_options import training_options

REPLACEMENT = "--encoder-residual-replacement"
LEARNING_RATE, POST_NORM_RATE = "--lr", 0.7  # of what pre-norm has, as published runs have it
# Options of which a study takes the config's and changes it.
ADAPTED = {DIRECTIONS, LEARNING_RATE, LANGUAGE_EMBEDDING}
STANDS_FOR = {  # the options whose defaults make an architecture a system of its own
    RESIDUAL.architecture: {residual_removal.OPTION},
    RESIDUAL_QUERY.architecture: {residual_removal.OPTION, position_query.OPTION},
    RELATIVE.architecture: {DISTANCE, ENCODER_POSITIONS, DECODER_POSITIONS},
}


def removal_layer(baseline: Namespace) -> list[System]:
    """Liu et al. (2021), section 5.4: the residual removed at each encoder layer in turn, from the lowest;
    then, footnote 6, in the middle layer and the one below, and in all.

    Raises `InputError` for one layer.
    """
    layers = baseline.encoder_layers
    if layers < 2:
        raise InputError(
            f"removal_layer compares encoder layers, and the model has {layers}; give it 2 or more"
        )
    (middle,) = chosen_layers("middle", layers)
    at = [RESIDUAL if layer == middle else residual_removal_at(layer) for layer in range(1, layers + 1)]
    several = [residual_removal_at(middle - 1, middle)] if layers > 2 else []  # of two layers these are all
    everywhere = residual_removal_at(*range(1, layers + 1))._replace(name="residual_everywhere")
    return [BASELINE, *at, *several, everywhere]


def residual_removal_at(*layers: int) -> System:
    """The system without the residual in some encoder layers, counted from 1."""
    numbers = [*map(str, layers)]
    option = residual_removal.OPTION, ",".join(numbers)
    return System(f"residual_at_{'_'.join(numbers)}", RESIDUAL.architecture, option)


def query(baseline: Namespace) -> list[System]:
    """Liu et al., Table 3: the baseline, the residual removed, and the position query besides."""
    return [BASELINE, RESIDUAL, RESIDUAL_QUERY]


def variational(baseline: Namespace) -> list[System]:
    """Liu et al., appendix A (with Tables 3, 5 and 6): the systems of `query`, each without and with
    variational dropout.
    """
    return [system for pair in VARIATIONAL.items() for system in pair]


def positions(baseline: Namespace) -> list[System]:
    """Liu et al., section 5.5: baseline and residual removal with sinusoidal positions, and with learned
    ones in both stacks.
    """
    return [*LEARNED, *LEARNED.values()]


def replacement(baseline: Namespace) -> list[System]:
    """Liu et al., footnote 6, and the reference code's third kind: what stands in for the removed
    residual.
    """
    kinds = "mean_pool", "stochastic"
    return [
        BASELINE,
        RESIDUAL,
        *(System(f"residual_{kind}", RESIDUAL.architecture, (REPLACEMENT, kind)) for kind in kinds),
    ]


def clip_distance(baseline: Namespace) -> list[System]:
    """Li (2019), Table 2: relative attention in both stacks by the distance at which it is clipped, after
    the baseline.
    """
    return [BASELINE, *CLIP_DISTANCES.values()]


def li_table_1(baseline: Namespace) -> list[System]:
    """Li (2019), Table 1: the baseline and relative attention, each trained in the config's direction, and
    each in the opposite one.

    Raises `InputError` for a config that does not train one direction.
    """
    pairs = (baseline.lang_pairs or "").split(",")
    if len(pairs) != 1 or not pairs[0]:
        raise InputError(
            f"li_table_1 trains one direction a model, and the config trains {', '.join(pairs) or 'all'}; "
            f"name one in TRAINING, like {DIRECTIONS} en-it"
        )
    source, target = parse_direction(pairs[0])
    opposite = str(Direction(target, source))
    return [BASELINE, RELATIVE, *(direction_system(system, opposite) for system in (BASELINE, RELATIVE))]


def encodings(baseline: Namespace) -> list[System]:
    """What tells the encoder its positions, with and without the residual: the encodings of Ravishankar
    and Søgaard (2021).
    """
    return [system for pair in BY_ENCODING.values() for system in pair]


def bias_layers(baseline: Namespace) -> list[System]:
    """Without the residual: positions in the attention of all layers, or below the removal alone, where
    sinusoids come in.

    Raises `InputError` for one layer, which has none below.
    """
    layers = baseline.encoder_layers
    if layers < 2:
        raise InputError(
            f"bias_layers needs layers below the middle one, and the model has {layers}; give it 2 or more"
        )
    below = BIAS_LAYERS, ",".join(map(str, range(1, layers // 2 + 1)))
    pairs = [
        (BY_ENCODING[encoding][1], System(name, RESIDUAL.architecture, (ENCODER_POSITIONS, encoding, *below)))
        for encoding, name in BELOW.items()
    ]
    return [BASELINE, RESIDUAL, *(system for pair in pairs for system in pair)]


def distillation(baseline: Namespace) -> list[System]:
    """What students learn of the translations of the baseline, and of the system without the residual.

    Nothing and the teacher's direct translations, as controls; targets, sources, both, and all
    (`zsnmt.distillation`). Pairs of two translations want more languages than a study may have.
    """
    students = [
        System(f"{plain.name}_{name}", plain.architecture, sides=sides, base=plain.name)
        for plain in (BASELINE, RESIDUAL)
        for sides, name in STUDIED.items()
    ]
    return [BASELINE, RESIDUAL, *students]


def base_grid(baseline: Namespace) -> list[System]:
    """Pre- and post-norm, the tag in the decoder or in the encoder, the residual kept or removed; with the
    tag in the decoder also LCS (`zsnmt.runs.grid`).

    Post-norm has its own learning rate, a part of the config's.
    """
    cells = dict.fromkeys(system for design in FIRST_STAGE for system in design.cells.values())
    rate = LEARNING_RATE, f"{POST_NORM_RATE * baseline.lr[0]:g}"
    return [add_where(NORMALISATION, system, rate) for system in cells]


def add_where(given: str, system: System, option: tuple[str, str]) -> System:
    """The system, with one more option where it has a given one."""
    return system._replace(options=(*system.options, *option)) if given in system.options else system


def blocks_grid(baseline: Namespace) -> list[System]:
    """Feed-forward blocks of the target languages in the decoder's middle layer, or none; in the encoder's
    middle layer the residuals of the feed-forward block and of attention, kept or not (`zsnmt.runs.grid`).

    Blocks without the feed-forward block's residual are SD of Qu and Watanabe (2022). The blocks are half as
    wide as the decoder's own, as in their code.
    """
    return [with_block_width(system, baseline) for system in BLOCKS_GRID.cells.values()]


def baseline_with_blocks(baseline: Namespace) -> System:
    """The baseline with language blocks, as `blocks_grid` has it."""
    return with_block_width(system_of([BLOCKS.high]), baseline)


def with_block_width(system: System, baseline: Namespace) -> System:
    return add_where(BLOCK_LAYERS, system, (BLOCK_WIDTH, str(max(1, baseline.decoder_ffn_embed_dim // 2))))


def stage_two(baseline: Namespace) -> list[System]:
    """The corners of `base_grid`, and each of them trained on, with every remedy and without one."""
    names = {system.name for system in CORNERS.values()}
    corners = [system for system in base_grid(baseline) if system.name in names]
    return [*corners, *(system for base in corners for system in second_stages(base))]


def remedies_together(baseline: Namespace) -> list[System]:
    """The baseline and the system without the residual, trained on without a remedy, with one and with two
    (`zsnmt.runs.grid`).
    """
    cells = (system for pair in PAIRS for system in pair_design(*pair).cells.values())
    return [*PLAIN.values(), *dict.fromkeys(cells)]


def decoding_grid(baseline: Namespace) -> list[System]:
    """The systems of every combination of masks and contrasts, which decode them (`zsnmt.runs.grid`)."""
    return [*dict.fromkeys(DECODING_GRID.cells.values())]


def ways_of(studies: Sequence[str], system: System) -> tuple[str, ...]:
    """The ways in which studies decode a system besides the direct one, as `zsnmt evaluate --ways` has
    them.
    """
    if decoding_grid.__name__ not in studies or system not in DECODING_GRID.cells.values():
        return ()
    return (*dict.fromkeys(DECODING_GRID.ways.values()), *OTHER_WAYS)


STUDIES: dict[str, Callable[[Namespace], list[System]]] = {
    study.__name__: study
    for study in (
        query,
        variational,
        removal_layer,
        positions,
        replacement,
        li_table_1,
        clip_distance,
        encodings,
        bias_layers,
        distillation,
        base_grid,
        blocks_grid,
        stage_two,
        remedies_together,
        decoding_grid,
    )
}  # each called with the options of the baseline


def systems(studies: Sequence[str], config_options: Sequence[str], only: Sequence[str] = ()) -> list[System]:
    """The systems of some studies, each once, the baseline first; `only` some of them, if they are named.

    The config's options of fairseq-train say how many encoder layers there are. Raises `InputError` for a
    study or a system that does not exist, for options that fairseq refuses or that a study varies, and where
    architectures differ by others too.
    """
    for study in studies:
        if study not in STUDIES:
            raise InputError(f"there is no study '{study}'; there are {', '.join(STUDIES)}")
    baseline = training_options(BASELINE.architecture, config_options)
    found = {system.name: system for study in studies for system in STUDIES[study](baseline)}
    if unknown := [name for name in only if name not in found]:
        raise InputError(f"{' '.join(studies)} has no system '{unknown[0]}'; it has {', '.join(found)}")
    found = {name: system for name, system in found.items() if not only or name in only}
    varied = {
        option
        for system in found.values()
        for option in (
            *(() if system.sides else system.options),  # those of a second stage come after the config's
            *STANDS_FOR.get(system.architecture, ()),
        )
    } - ADAPTED
    for option in config_options:
        if option.startswith("--") and option.partition("=")[0] in varied:
            raise InputError(
                f"the config sets {option}, which a study varies; leave it out of MODEL and TRAINING"
            )
    for architecture in dict.fromkeys(system.architecture for system in found.values()):
        check_alike(baseline, training_options(architecture, config_options), varied)
    return [*found.values()]


def check_alike(baseline: Namespace, other: Namespace, varied: Iterable[str]) -> None:
    """`InputError` where an architecture has other defaults than the baseline for options that no study
    varies.
    """
    compared = {*vars(baseline)} - {"arch", *map(attribute_of, varied)}
    if different := sorted(name for name in compared if getattr(baseline, name) != getattr(other, name)):
        values = ", ".join(
            f"{spelt(name)} ({getattr(baseline, name)}, {getattr(other, name)})" for name in different
        )
        raise InputError(
            f"the defaults of {baseline.arch} and {other.arch} differ in {values}: set them in MODEL, so "
            "that the systems differ in nothing but what the study varies"
        )
