"""Table 1 of Li (2019): absolute and relative positions in two directions, a model for each."""

from collections.abc import Mapping, Sequence

from zsnmt.languages import SUPERVISED, Direction
from zsnmt.report.comparability import check_comparable
from zsnmt.report.papers.layout import PaperTable, Rows
from zsnmt.report.papers.published import LI, Key
from zsnmt.report.papers.sources import SCORES
from zsnmt.report.studies.clip_distance import bleu
from zsnmt.report.table import Measured
from zsnmt.runs.scores import Scores
from zsnmt.runs.systems import BASELINE, RELATIVE, direction_system
from zsnmt.scoring.figures import MAIN

MODELS = {"Trans": BASELINE, "Rel Trans": RELATIVE}
FROM_PIVOT, INTO_PIVOT = "EN-IT", "IT-EN"


def direction_of(scores: Scores) -> Direction | None:
    """The one direction that a run was trained in; None for a run of several."""
    directions = scores.select(SUPERVISED)
    return next(iter(directions)) if len(directions) == 1 else None


def model_of(scores: Scores) -> str | None:
    """Which of the paper's models a run is, by its name in the config's direction or in the opposite one."""
    direction = direction_of(scores)
    names = {
        name: model
        for model, system in MODELS.items()
        for name in (system.name, direction_system(system, str(direction)).name)
    }
    return names.get(scores.system) if direction else None


def group_by_direction(all_scores: Sequence[Scores]) -> Mapping[Direction, list[Scores]]:
    """The runs of each direction, those of one direction alone."""
    found: dict[Direction, list[Scores]] = {}
    for scores in all_scores:
        if direction := direction_of(scores):
            found.setdefault(direction, []).append(scores)
    return found


def check_each_direction(all_scores: Sequence[Scores]) -> None:
    """`InputError` unless the runs of a direction compare."""
    for runs_of_direction in group_by_direction(all_scores).values():
        check_comparable(runs_of_direction)


def models(all_scores: Sequence[Scores]) -> Rows:
    """A row for each model, a column for each direction."""
    first = all_scores[0]
    rows: dict[Key, dict[str, Measured | None]] = {(first.config, model): {} for model in MODELS}
    for direction, runs_of_direction in group_by_direction(all_scores).items():
        column = FROM_PIVOT if direction.source == first.pivot else INTO_PIVOT
        for model in MODELS:
            if runs := [scores for scores in runs_of_direction if model_of(scores) == model]:
                rows[first.config, model][column] = bleu(runs, direction)
    return rows


LI_TABLES = (
    PaperTable(
        name="li_table_1",
        paper=LI,
        number="Table 1",
        title="Absolute and relative positions in two directions",
        about="BLEU of models of one direction. Trans has sinusoids, Rel Trans Shaw's relative attention "
        "with k = 16; the other rows of the paper are submissions to the campaign of 2017. With other "
        "languages than the paper's the columns are the directions from the pivot and into it.",
        keys=("data set", "model"),
        columns={FROM_PIVOT: MAIN, INTO_PIVOT: MAIN},
        source=SCORES,
        systems=[system.name for system in MODELS.values()],
        takes=lambda scores: model_of(scores) is not None,
        of="runs of one direction",
        rows=models,
        check=check_each_direction,
        counterparts={"iwslt17_en_it_relative": "IWSLT 2017"},
    ),
)
