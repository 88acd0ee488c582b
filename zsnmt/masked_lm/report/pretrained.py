"""The table and the drawings of the positions of pretrained BERTs: their Procrustes losses, and words against
positions (Figure 9 of Ravishankar & Søgaard 2021).
"""

from collections.abc import Mapping, Sequence
from statistics import fmean

import matplotlib
from matplotlib.figure import Figure

from zsnmt.masked_lm.pretrained import PositionLosses, WordMap
from zsnmt.masked_lm.report.columns import KEYS_LOSS, UNDIVIDED, overall, undivided
from zsnmt.masked_lm.report.looks import STYLES, Drawing, bare
from zsnmt.masked_lm.report.positions import heat_maps
from zsnmt.masked_lm.report.procrustes import p_value
from zsnmt.report.figures import STYLE
from zsnmt.report.table import Cell, Table, seed_cell


def positions_table(models: Sequence[PositionLosses], maps: Mapping[str, WordMap], dimensions: int) -> Table:
    """One row per model: losses by `measure_positions`, and bands by `word_map`."""
    first = models[0]
    rows: list[list[Cell]] = [
        [
            model.name,
            f"{model.positions}",
            seed_cell("procrustes", [fmean(model.procrustes.mean)]),
            seed_cell("procrustes", [overall(model.procrustes)]),
            seed_cell("procrustes", [undivided(model.procrustes)]),
            seed_cell("procrustes", [overall(model.procrustes_keys)]),
            seed_cell("bands", [model.kept]),
            seed_cell("bands", [maps[model.name].bands]) if model.name in maps else None,
            p_value(model.procrustes.median, first.procrustes.median) if model is not first else None,
        ]
        for model in models
    ]
    titles = [
        "model",
        "positions",
        "mean loss",
        "median loss",
        UNDIVIDED.title,
        KEYS_LOSS.title,
        "of the table",
        "bands",
        f"p against {first.name}",
    ]
    offsets = first.procrustes.offsets
    about = (
        f"Relative loss of one rotation from positions to those k further, over k = 1 to {offsets[-1]}, "
        f"along the {dimensions} largest directions of each table, which hold a share of it (of the table): "
        "0 where it holds everywhere. Sinusoids say how low it is measured on tables of this shape, "
        "independent vectors how high. Bands: the share of the variance of word–position correlations that "
        "positions explain. p: two-sided Wilcoxon signed-rank test of the median losses, paired by k: "
        "whether two curves differ, not whether those of other models would."
    )
    table = Table("pretrained", "Positions of pretrained models", titles, rows=rows, about=about)
    return table.without_empty_columns()


def drawings(models: Sequence[PositionLosses], maps: Mapping[str, WordMap]) -> list[Drawing]:
    """Losses by offset, and the heat maps that there are."""
    drawn: list[Drawing] = [("procrustes_losses", "Procrustes loss by offset", losses(models))]
    if maps:
        correlations = {name: of.correlations for name, of in maps.items()}
        drawn.append(("word_positions", "Words and positions", heat_maps(correlations)))
    return drawn


def losses(models: Sequence[PositionLosses]) -> Figure:
    """The mean loss of each model by offset."""
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(5, 3.8), layout="constrained")
        axes = figure.add_subplot(xlabel="offset", ylabel="mean relative loss")
        for number, model in enumerate(models):
            colour, marker, stroke = STYLES[number % len(STYLES)]
            said = model.procrustes
            axes.plot(
                said.offsets,
                said.mean,
                color=colour,
                marker=marker,
                linestyle=stroke,
                markersize=4,
                markevery=max(1, len(said.offsets) // 6),
                label=model.name,
            )
        axes.set_ylim(bottom=0)
        bare(axes)
        figure.legend(loc="outside upper left", ncols=2, frameon=False)
    return figure
