"""What students learn of a system's translations: the study `distillation` of `zsnmt ablate`."""

from collections.abc import Sequence

from zsnmt.languages import SUPERVISED
from zsnmt.report.scores import Column, other_kind, runs_by_system, seeds, signature_note
from zsnmt.report.significance import mean_measured
from zsnmt.report.table import Cell, Table
from zsnmt.runs.scores import DIRECT, Scores
from zsnmt.runs.systems import BASELINE, RESIDUAL, STUDENTS
from zsnmt.scoring.figures import MAIN

LEARNS = {  # by the sides of synthetic pairs that translations are
    "none": "nothing new, for as long",
    "self": "the teacher's direct translations",
    "targets": "synthetic targets",
    "sources": "synthetic sources",
    "both": "synthetic targets and sources",
}


def distillation_table(all_scores: Sequence[Scores]) -> Table | None:
    """A row for each teacher and each of its students: with the pivot, and directly in all other directions;
    None where no teacher has two.
    """
    systems = runs_by_system(all_scores)
    rows: list[list[Cell]] = []
    used: list[Scores] = []
    for teacher in (BASELINE.name, RESIDUAL.name):
        students = {sides: systems.get(f"{teacher}_{name}") for sides, name in STUDENTS.items()}
        found = {LEARNS[sides]: runs for sides, runs in students.items() if runs}
        if teacher not in systems or len(found) < 2:
            continue
        taught = {scores.seed for runs in found.values() for scores in runs}
        own = [scores for scores in systems[teacher] if scores.seed in taught]
        for learns, runs in ({"": own} | found if own else found).items():
            rows.append([teacher, learns, seeds(runs), *student_cells(runs)])
            used += runs
    if not rows:
        return None
    return Table(
        "distillation",
        "What students learn",
        ["teacher", "student learns", "seeds", "supervised", "others, directly", "off-target"],
        rows=rows,
        about="BLEU. Others: zero-shot to the teacher, and zero-resource to a student that learns from "
        "translations. The first row of each teacher is its own, with the seeds that taught.",
        headers=2,
        signatures=signature_note(used),
    )


def student_cells(runs: Sequence[Scores]) -> list[Cell]:
    """What a system has with the pivot, and directly in the other directions."""
    other = other_kind(runs[0])
    columns = (
        Column(SUPERVISED, DIRECT, MAIN),
        Column(other, DIRECT, MAIN),
        Column(other, DIRECT, "off_target"),
    )
    return [mean_measured(runs, column) for column in columns]
