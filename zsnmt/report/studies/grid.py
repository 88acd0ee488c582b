"""Tables of the grid of remedies (`zsnmt.runs.grid`): what each factor changes, and two together."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from statistics import fmean
from typing import NamedTuple

from zsnmt.languages import FEW_SHOT, ZERO_SHOT
from zsnmt.report.studies.factorial import (
    CHRF,
    OFF_TARGET,
    blocks_of,
    effects_table,
    of_first,
    of_first_two,
    responses,
)
from zsnmt.report.table import Cell, Table, join_sentences
from zsnmt.runs.grid import (
    BASE,
    BASE_GRID,
    BLOCKS_GRID,
    CONTROL,
    CORNERS,
    DECODING_GRID,
    FEW_LINE_STAGES,
    LCS_GRID,
    PAIRS,
    REMEDIES,
    REMOVAL,
    Design,
    pair_design,
    remedy_design,
)
from zsnmt.runs.scores import Scores

BASES = Design("bases", (BASE, REMOVAL), CORNERS)
ZERO_SHOT_RESPONSES = responses((ZERO_SHOT,), "zero-shot")
FEW_SHOT_RESPONSES = responses((ZERO_SHOT, FEW_SHOT), "few-shot")


def levels_note(designs: Sequence[Design]) -> str:
    """Which levels the factors have."""
    factors = dict.fromkeys(factor for design in designs for factor in design.factors)
    listed = "; ".join(f"{factor.name}: {factor.low} → {factor.high}" for factor in factors)
    return f"{listed}."


def first_stage_table(
    design: Design, title: str, note: str = ""
) -> Callable[[Sequence[Scores]], Table | None]:
    """What makes the table of what the factors of a design change, alone and together."""

    def make(all_scores: Sequence[Scores]) -> Table | None:
        return effects_table(
            all_scores,
            [design],
            name=design.name,
            title=title,
            measured=ZERO_SHOT_RESPONSES,
            about=join_sentences([levels_note([design]), note]),
        )

    return make


IN_DECODER = "The tag is in the decoder."


FIRST_STAGE_TABLES = {
    design.name: first_stage_table(design, *words)
    for design, *words in (
        (BASE_GRID, "Effects of norm, tags and residual"),
        (LCS_GRID, "Effects of the target language in the upper encoder", IN_DECODER),
        (BLOCKS_GRID, "Effects of language blocks and of the residual of the feed-forward block", IN_DECODER),
        (
            DECODING_GRID,
            "Effects of masks and contrasts at translation time",
            "No training differs but by the residual.",
        ),
    )
}


def stage_two_table(all_scores: Sequence[Scores]) -> Table | None:
    """What each remedy changes against training on without it, alone and with base and residual."""
    designs = [*map(remedy_design, REMEDIES)]
    return effects_table(
        all_scores,
        designs,
        name="stage_two",
        title="Effects of remedies in a second stage",
        measured=ZERO_SHOT_RESPONSES,
        chosen=of_first,
        about=f"Each remedy against {CONTROL}, the same training without it. {levels_note([BASES])}",
    )


def few_lines_table(all_scores: Sequence[Scores]) -> Table | None:
    """What a few real lines change, in directions that are few-shot then."""
    designs = [*map(remedy_design, FEW_LINE_STAGES)]
    return effects_table(
        all_scores,
        designs,
        name="few_lines",
        title="Effects of a few real lines (few-shot, not zero-shot)",
        measured=FEW_SHOT_RESPONSES,
        chosen=of_first,
        about="So many lines of each direction that had none, which is few-shot then, against "
        f"{CONTROL}, to which the same directions are zero-shot. {levels_note([BASES])}",
    )


def together_table(all_scores: Sequence[Scores]) -> Table | None:
    """What two remedies change together beyond what each changes alone."""
    return effects_table(
        all_scores,
        [pair_design(*pair) for pair in PAIRS],
        name="remedies_together",
        title="Effects of two remedies in one stage",
        measured=ZERO_SHOT_RESPONSES,
        chosen=of_first_two,
        about="Each cell was trained on for as long, with both remedies, one or none, with the residual and "
        "without.",
    )


def main_effects_table(all_scores: Sequence[Scores]) -> Table | None:
    """What each factor and each remedy changes on average, from the tables above."""
    made = [make(all_scores) for make in (*FIRST_STAGE_TABLES.values(), stage_two_table)]
    tables = [table for table in made if table is not None]
    if not tables:
        return None
    rows: dict[str, Sequence[Cell]] = {}  # an effect of two tables is that of the first
    for row in (row for table in tables for row in table.rows):
        if " × " not in (effect := str(row[0])):
            rows.setdefault(effect, row)
    return replace(
        tables[0],
        name="main_effects",
        title="Effects of single remedies",
        rows=[*rows.values()],
        about=f"{levels_note([BASE_GRID, LCS_GRID, BLOCKS_GRID, DECODING_GRID])} All others: a second stage "
        "with the remedy against one without.",
    )


STUDY_TABLES = {
    **FIRST_STAGE_TABLES,
    "stage_two": stage_two_table,
    "few_lines": few_lines_table,
    "remedies_together": together_table,
}


class Gain(NamedTuple):
    """A remedy on a corner: how much of the control's zero-shot output is off target (0–1), and what the
    remedy adds to chrF++, means over seeds and directions.
    """

    off_target: float
    gain: float


def remedy_gains(all_scores: Sequence[Scores]) -> dict[str, list[Gain]]:
    """The gains of each remedy on its corners, by how much of the control is off target."""
    found = {}
    for remedy in REMEDIES:
        design = remedy_design(remedy)
        if blocks := blocks_of(design, all_scores):
            means = {levels: zero_shot_means(runs) for levels, runs in blocks.cells.items()}
            found[remedy] = sorted(
                Gain(means[CONTROL, *corner][1], mean - means[CONTROL, *corner][0])
                for (level, *corner), (mean, _) in means.items()
                if level == remedy
            )
    return found


def zero_shot_means(runs: Sequence[Scores]) -> tuple[float, float]:
    """chrF++ and off-target, means over zero-shot directions and runs."""
    results = [result for scores in runs for result in scores.select(ZERO_SHOT).values()]
    chrf, off_target = (fmean(result.figures[name] for result in results) for name in (CHRF, OFF_TARGET))
    return chrf, off_target
