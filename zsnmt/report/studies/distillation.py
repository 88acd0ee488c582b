"""What second stages bring to a system: students of its translations, and remedies; the studies
`distillation`, `stage_two` and `remedies_together` of `zsnmt ablate`.
"""

import math
from collections.abc import Mapping, Sequence

from zsnmt.report.notes import signature_note
from zsnmt.report.scores import runs_by_system, seeds
from zsnmt.report.significance import mean_of_part
from zsnmt.report.table import Cell, Table
from zsnmt.runs.grid import CONTROL, PAIRS
from zsnmt.runs.log import read_summary
from zsnmt.runs.remedies import REMEDIES, TOGETHER, remedy_name
from zsnmt.runs.scores import Scores
from zsnmt.runs.systems import (
    ALL,
    BASELINE,
    BETWEEN,
    BOTH,
    NONE,
    RESIDUAL,
    SELF,
    SOURCES,
    STUDENTS,
    TARGETS,
    WORDS,
)
from zsnmt.runs.ways import DIRECT
from zsnmt.scoring.figures import MAIN

TOLERANCE = 0.05  # by which the updates of a control and of what it controls may differ

LEARNS = {  # by the sides of synthetic pairs that translations are
    NONE: "nothing new, for as long",
    SELF: "the teacher's direct translations",
    TARGETS: "synthetic targets",
    SOURCES: "synthetic sources",
    BOTH: "synthetic targets and sources",
    ALL: "synthetic targets and sources, also of English",
    BETWEEN: "synthetic targets and sources, also of each other",
}


def distillation_table(all_scores: Sequence[Scores]) -> Table | None:
    """A row for each teacher and each of its students: with the pivot, and directly in all other directions;
    None where no teacher has two.
    """
    return stages_table(
        all_scores,
        {
            f"{STUDENTS[sides]}{end}": f"{learns}{more}"
            for sides, learns in LEARNS.items()
            for end, more in (("", ""), (f"_{WORDS}", ", and of each piece"))
        },
        name="distillation",
        title="What students learn",
        headers=("teacher", "student learns"),
        about="Others: zero-shot to the teacher, and zero-resource to a student that learns from "
        "translations. The first row of each teacher is its own, with the seeds that taught.",
    )


def remedies_table(all_scores: Sequence[Scores]) -> Table | None:
    """A row for each system and each remedy that it was trained further with, as `distillation_table` has
    them.
    """
    return stages_table(
        all_scores,
        {CONTROL: "none, for as long"}
        | {name: name for name in REMEDIES}
        | {remedy_name(TOGETHER.join(pair)): " and ".join(pair) for pair in PAIRS},
        name="remedies",
        title="What remedies bring to each system",
        headers=("system", "trained further with"),
        about="Others: directions without training text. The first row of each system is its own, with the "
        "seeds that went on.",
    )


def stages_table(
    all_scores: Sequence[Scores],
    stages: Mapping[str, str],
    *,
    name: str,
    title: str,
    headers: tuple[str, str],
    about: str,
) -> Table | None:
    """A row for each of two systems and each of its stages, by the ends of their names and in words; None
    where no system has two. A control is left out that was trained for longer or less long than all others.
    """
    systems = runs_by_system(all_scores)
    rows: list[list[Cell]] = []
    used: list[Scores] = []
    for base in (BASELINE.name, RESIDUAL.name):
        stages_of_base = {said: systems.get(f"{base}_{end}") for end, said in stages.items()}
        found = {said: runs for said, runs in stages_of_base.items() if runs}
        control = systems.get(f"{base}_{CONTROL}", [])
        if not any(as_long(control, runs) for runs in found.values() if runs is not control):
            found = {said: runs for said, runs in found.items() if runs is not control}
        if base not in systems or len(found) < 2:
            continue
        went_on = {scores.seed for runs in found.values() for scores in runs}
        own = [scores for scores in systems[base] if scores.seed in went_on]
        for said, runs in ({"": own} | found if own else found).items():
            rows.append([base, said, seeds(runs), *cells(runs)])
            used += runs
    if not rows:
        return None
    return Table(
        name,
        title,
        [*headers, "seeds", "supervised", "others, directly", "off-target"],
        rows=rows,
        about=f"BLEU. {about}",
        headers=len(headers),
        signatures=signature_note(used),
    )


def as_long(control: Sequence[Scores], runs: Sequence[Scores]) -> bool:
    """Whether a control has a seed of these runs, with about as many updates as far as the scores say."""
    of_control, of_runs = (
        {one.seed: read_summary(one.training or "") for one in each} for each in (control, runs)
    )
    pairs = [(of_control[seed], of_runs[seed]) for seed in of_control.keys() & of_runs.keys()]
    return any(
        not (one and other) or math.isclose(one.updates, other.updates, rel_tol=TOLERANCE)
        for one, other in pairs
    )


def cells(runs: Sequence[Scores]) -> list[Cell]:
    """What a system has with the pivot, and directly in the other directions."""
    parts = (MAIN, True), (MAIN, False), ("off_target", False)
    return [mean_of_part(runs, DIRECT, figure, with_pivot=with_pivot) for figure, with_pivot in parts]
