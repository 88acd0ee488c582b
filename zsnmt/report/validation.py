"""Validation while training: its drawings and tables."""

from collections.abc import Sequence
from dataclasses import astuple, fields, replace

from matplotlib.figure import Figure

from zsnmt.languages import kind_name
from zsnmt.report import figures
from zsnmt.report.plotted import Validation, curves, log_curves, panels, validations
from zsnmt.report.scores import Run, runs_by_system
from zsnmt.report.table import FORMS, Cell, Measured, Table
from zsnmt.scoring.figures import MAIN

LOSS, BLEU = "validation loss, bits a token", "validation BLEU"
MOST_PANELS = 30  # directions that have a panel each


def training_figures(runs: Sequence[Run]) -> list[tuple[str, str, Figure]]:
    """Name, title and drawing of each figure of validation by update that the runs recorded something for."""
    found, systems = validations(runs), [*runs_by_system([run.scores for run in runs])]
    losses, bleu = curves(found, "nll_loss") + log_curves(runs), curves(found, "bleu")
    drawn = []
    if losses:
        drawn.append(
            (
                "training",
                "Validation loss by update",
                figures.training_curves(losses, systems, LOSS, from_zero=False),
            )
        )
    if bleu:
        drawn.append(
            ("training_bleu", "Validation BLEU by update", figures.training_curves(bleu, systems, BLEU))
        )
    by_target = len({one.direction for one in found}) > MOST_PANELS
    if by_panel := panels(found, "bleu" if bleu else "nll_loss", by_target):
        title = (
            f"Validation {'BLEU' if bleu else 'loss'} by {'target language' if by_target else 'direction'}"
        )
        panel = figures.small_multiples(by_panel, systems, BLEU if bleu else LOSS, from_zero=bool(bleu))
        drawn.append(("training_directions", title, panel))
    return drawn


def validation_table(runs: Sequence[Run]) -> Table:
    """A row for each direction at each validation."""
    columns = [field.name for field in fields(Validation)]
    found = [astuple(replace(one, kind=kind_name(one.kind))) for one in validations(runs)]
    rows = [[None if cell is None else str(cell) for cell in row] for row in found]
    return Table("validation", "Validation while training", columns, rows=rows, about="")


def curves_table(runs: Sequence[Run]) -> Table:
    """What curves of training are drawn from: a row for each run, kind of direction and validation."""
    found = validations(runs)
    drawn = {"loss": curves(found, "nll_loss") + log_curves(runs), MAIN: curves(found, "bleu")}
    cells: dict[tuple[str, int, str, int], dict[str, Measured]] = {}
    for figure, of_figure in drawn.items():
        for curve in of_figure:
            for updates, value in zip(curve.updates, curve.values):
                key = curve.system, curve.seed, curve.kind, updates
                cells.setdefault(key, {})[figure] = Measured(figure, value)
    rows: list[list[Cell]] = [
        [system, str(seed), kind_name(kind), str(updates), *map(of_row.get, drawn)]
        for (system, seed, kind, updates), of_row in cells.items()
    ]
    titles = ["system", "seed", "directions", "updates", *(FORMS[figure].title for figure in drawn)]
    table = Table("training_means", "Validation while training", titles, rows=rows, headers=4, about="")
    return table.without_empty_columns()
