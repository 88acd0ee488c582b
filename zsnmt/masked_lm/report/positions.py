"""Drawings of the positions of the masked-LM study: Figures 4, 5, 6 and 8 of Ravishankar & Søgaard 2021."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import itemgetter
from statistics import fmean
from typing import TypeVar

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from zsnmt.masked_lm.report.looks import LOOKS, Drawing, bare, key, look
from zsnmt.masked_lm.report.procrustes import losses_of, runs_with_losses
from zsnmt.masked_lm.report.runs import (
    ENCODINGS,
    LABELS,
    REORDERED,
    SAME,
    condition_label,
    conditions_of,
    groups,
    runs_of,
)
from zsnmt.masked_lm.score_file import Correlations, Curves, Losses, MaskedLM
from zsnmt.modules.position_names import RELATIVE_KEYS
from zsnmt.report.figures import STYLE
from zsnmt.runs.systems import MASKED_LM

COMPARED_ENCODINGS = ("sinusoidal", "learned", "tupe_absolute")  # in Figure 5
FIGURE_COLUMNS = 5  # panels side by side, at most
CORRELATION_COLOURS = "PuOr"
T = TypeVar("T")


def first_seed(
    runs: Iterable[MaskedLM], system: str, condition: str, part: Callable[[MaskedLM], T | None]
) -> tuple[int, T] | None:
    """The lowest seed of which a run has a part (curves, correlations), and that."""
    found = ((run.seed, part(run)) for run in runs_of(runs, system, condition))
    return min(((seed, said) for seed, said in found if said), key=itemgetter(0), default=None)


def curves(runs: Sequence[MaskedLM]) -> Drawing | None:
    """Figures 4 and 8: dimensions of the position tables, one column per encoding and one row per dimension.

    All are of one condition, a reordered one where there is one, and of the lowest seed.
    """
    for condition in [*groups(runs).get(REORDERED, []), SAME]:
        found = {
            system: first
            for system in ENCODINGS
            if (first := first_seed(runs, system, condition, part=lambda run: run.curves))
        }
        if found:
            return (
                "curves",
                f"Dimensions of position tables, {condition_label(condition)}",
                draw_position_curves(found),
            )
    return None


def draw_position_curves(found: Mapping[str, tuple[int, Curves]]) -> Figure:
    """A column per system, one row per dimension; a table of a head's width may have fewer of them."""
    dimensions = max((said.dimensions for _, said in found.values()), key=len)
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(1.75 * len(found) + 0.6, 0.85 * len(dimensions) + 0.9), layout="constrained")
        grid = figure.subplots(len(dimensions), len(found), sharex="col", sharey="col", squeeze=False)
        for column, (system, (seed, said)) in zip(grid.T, found.items()):
            colour, _, stroke = LOOKS[system]
            drawn = said.values
            for axes in column[len(drawn) :]:
                axes.set_visible(False)
            column[len(drawn) - 1].tick_params(labelbottom=True)
            for axes, values in zip(column, drawn):
                relative = MASKED_LM[system][1] in RELATIVE_KEYS
                start = -(len(values) // 2) if relative else 0  # over offsets, 0 in the middle
                axes.plot(
                    range(start, start + len(values)), values, color=colour, linestyle=stroke, linewidth=1.4
                )
                axes.tick_params(labelsize="small")
                axes.locator_params(nbins=3)
                bare(axes)
            column[0].set_title(f"{LABELS[system]}\nseed {seed}", fontsize="small")
        for axes, dimension in zip(grid[:, 0], dimensions):
            axes.set_ylabel(f"dim. {dimension}", fontsize="small")
        figure.supxlabel("position, or offset of relative encodings", fontsize="medium")
    return figure


def grid_of(panels: int, width: float, height: float, **shared: bool) -> tuple[Figure, list[Axes]]:
    """A figure of panels of a size in inches, in as many rows as they need."""
    columns = min(panels, FIGURE_COLUMNS)
    rows = -(-panels // columns)
    figure = Figure(figsize=(max(4.6, width * columns + 0.6), height * rows + 0.9), layout="constrained")
    places = [*figure.subplots(rows, columns, squeeze=False, **shared).flat]
    for axes in places[panels:]:
        axes.remove()
    return figure, places[:panels]


def procrustes_losses(runs: Sequence[MaskedLM]) -> Drawing | None:
    """Figure 5: Procrustes loss by offset of absolute positions and TUPE (absolute) in each condition,
    beside sinusoids.
    """
    measured = [run for run in runs_with_losses(runs) if run.system in COMPARED_ENCODINGS]
    conditions = conditions_of(run for run in measured if run.system != COMPARED_ENCODINGS[0])
    if not conditions:
        return None
    with matplotlib.rc_context(STYLE):
        figure, panels = grid_of(len(conditions), 2.2, 2.2, sharex=True, sharey=True)
        for axes, condition in zip(panels, conditions):
            for system in COMPARED_ENCODINGS:
                if of_system := runs_of(measured, system, condition):
                    draw_losses(axes, system, losses_of(of_system))
            axes.set_title(condition_label(condition), fontsize="medium")
            axes.tick_params(labelbottom=True)
            bare(axes)
        panels[0].set_ylim(bottom=0)
        figure.supxlabel("offset", fontsize="medium")
        figure.supylabel("mean relative loss", fontsize="medium")
        figure.legend(**key({run.system for run in measured}, stroke=True))
    return "procrustes_losses", "Procrustes loss by offset", figure


def draw_losses(axes: Axes, system: str, losses: Sequence[Losses]) -> None:
    """The mean over the seeds, and a band from the lowest to the highest of them."""
    offsets, by_offset = losses[0].offsets, [*zip(*(each.mean for each in losses))]
    style = look(system)
    axes.plot(
        offsets,
        [*map(fmean, by_offset)],
        **{**style, "markersize": 4},
        linewidth=1.4,
        markevery=max(1, len(offsets) // 6),
    )
    axes.fill_between(
        offsets, [*map(min, by_offset)], [*map(max, by_offset)], color=style["color"], alpha=0.2, linewidth=0
    )


def word_positions(runs: Sequence[MaskedLM]) -> Drawing | None:
    """Figure 6: how words correlate with positions in the first layer of absolute positions, a panel a
    condition.
    """
    found = {
        condition: first
        for condition in conditions_of(runs)
        if (first := first_seed(runs, "learned", condition, part=lambda run: run.correlations))
    }
    if not found:
        return None
    maps = {f"{condition_label(condition)}, seed {seed}": said for condition, (seed, said) in found.items()}
    return "word_positions", "Words and positions, absolute positions", heat_maps(maps)


def heat_maps(maps: Mapping[str, Correlations]) -> Figure:
    """A panel with words down and positions across for each map by its title, on one scale."""
    widest = max(abs(value) for said in maps.values() for row in said.values for value in row) or 1.0
    words = [said.words for said in maps.values()]
    one = all(of_map == words[0] for of_map in words)
    with matplotlib.rc_context(STYLE):
        figure, panels = grid_of(len(maps), 1.9 if one else 2.6, 0.13 * len(words[0]) + 0.4, sharey=one)
        for axes, (title, said) in zip(panels, maps.items()):
            drawn = axes.imshow(
                said.values,
                cmap=CORRELATION_COLOURS,
                vmin=-widest,
                vmax=widest,
                aspect="auto",
                interpolation="nearest",
            )
            axes.set_yticks(range(len(said.words)), said.words, fontsize=7)
            axes.tick_params(length=0, axis="y")
            axes.set_title(title, fontsize="small")
        figure.supxlabel("position", fontsize="medium")
        figure.colorbar(drawn, ax=panels, fraction=0.04, pad=0.02)
    return figure
