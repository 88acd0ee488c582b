"""Drawings of the masked-LM study of position encodings: Figures 1, 2, 4, 5, 6 and 7 of Ravishankar & Søgaard 2021.

An encoding has one colour, marker and stroke in all of them; a drawing whose data are not there is left out.
"""

from collections.abc import Callable, Iterable, Sequence
from statistics import fmean, stdev

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from zsnmt.report.compression import (
    ABLATIONS,
    ENCODINGS,
    LABELS,
    NONE,
    REORDERED,
    SAME,
    by_seed,
    condition_label,
    conditions_of,
    group_label,
    groups,
    runs_of,
)
from zsnmt.report.compression_tables import FIRST, FULL, MEDIAN_LOSS, ML_SCORE, Column, with_losses
from zsnmt.report.figures import INK, LINE_COLOURS, STYLE, legend
from zsnmt.report.measured import FORMS

BLUE, VERMILLION, GREEN, PURPLE = LINE_COLOURS
LOOKS = {  # told apart by colour-blind readers too, on light and on dark, and by marker or stroke without colour
    "sinusoidal": (INK, "o", ":"),
    "learned": (BLUE, "s", "-"),
    "tupe_absolute": (VERMILLION, "^", "--"),
    "tupe_relative": (PURPLE, "v", "-."),
    "relative_key": (GREEN, "D", (0, (6, 1.5))),
    "relative_key_query": ("#3D9BD1", "P", (0, (4, 1, 1, 1, 1, 1))),
    "none": ("#7F7F7F", "X", (0, (1, 3))),
}
COMPARED = ("sinusoidal", "learned", "tupe_absolute")  # in Figure 5
OFFSETS = ("relative_key", "relative_key_query")  # have curves over offsets, 0 in the middle, instead of positions
KEY_WIDTH = 7.0  # inches that a key of all encodings needs
FIGURE_COLUMNS = 5  # panels side by side, at most
CORRELATION_COLOURS = "PuOr"
Drawing = tuple[str, str, Figure]


def figures_of(runs: Sequence[dict]) -> list[Drawing]:
    """Name, title and drawing of each figure that the runs have something for."""
    makers = trade_off, across_conditions, curves, procrustes_losses, word_positions
    drawn = [make(runs) for make in makers] + [ablation_bars(runs, group) for group in groups(runs)]
    return [drawing for drawing in drawn if drawing is not None]


def look(system: str, stroke: bool = True) -> dict:
    """Colour, marker and stroke of an encoding."""
    colour, marker, line = LOOKS[system]
    return {"color": colour, "marker": marker, "markersize": 5, "linestyle": line if stroke else "none"}


def key(systems: Iterable[str], stroke: bool) -> dict:
    """A legend's entries and place: the encodings in columns of two, each beside its kin."""
    entries = [Line2D([], [], label=LABELS[system], **look(system, stroke)) for system in LOOKS if system in systems]
    return legend(*(entries[start : start + 2] for start in range(0, len(entries), 2)))


def bare(axes: Axes) -> None:
    """Without the frame's upper and right side."""
    axes.spines[["top", "right"]].set_visible(False)


def spread(values: Sequence[float]) -> float:
    """The deviation over the seeds; 0 of one."""
    return stdev(values) if len(values) > 1 else 0.0


def of_seeds(runs: Sequence[dict], system: str, conditions: Sequence[str], column: Column) -> list[float]:
    """The means over the conditions, a seed each, in the units in which they are shown."""
    factor = FORMS[column.figure].factor
    return [factor * fmean(column.of(run) for run in of_seed) for of_seed in by_seed(runs, system, conditions).values()]


def titled(column: Column) -> str:
    """The title of an axis, with the unit."""
    return column.title + FORMS[column.figure].unit.replace(" %", ", %")


def trade_off(runs: Sequence[dict]) -> Drawing | None:
    """Figure 1: perplexity of English against ML score, a panel for EN+[EN] and one for the mean over reordered languages."""
    panels = {
        (group, *conditions): there
        for group, conditions in groups(runs).items()
        if group != NONE and (there := [system for system in ENCODINGS if by_seed(runs, system, conditions)])
    }
    if not panels:
        return None
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(max(KEY_WIDTH, 3.6 * len(panels)), 3.9), layout="constrained")
        grid = figure.subplots(1, len(panels), sharex=True, sharey=True, squeeze=False)[0]
        for axes, ((group, *conditions), systems) in zip(grid, panels.items()):
            for system in systems:
                across, up = (of_seeds(runs, system, conditions, column) for column in (FIRST, ML_SCORE))
                style = look(system, stroke=False)
                if len(up) > 1:
                    axes.plot(across, up, **style, alpha=0.35, markeredgewidth=0)
                axes.errorbar(fmean(across), fmean(up), spread(up), spread(across), **{**style, "markersize": 7}, elinewidth=1, capsize=0)
            axes.set(title=panel_title(conditions), xlabel=titled(FIRST))
            axes.title.set_fontsize("medium")
            axes.margins(0.08)
            bare(axes)
        grid[0].set(ylabel=titled(ML_SCORE), ylim=(0, None))
        figure.legend(**key({system for systems in panels.values() for system in systems}, stroke=False))
    return "trade_off", "Perplexity against ML score", figure


def panel_title(conditions: Sequence[str]) -> str:
    """What a panel is of, short."""
    if len(conditions) == 1:
        return condition_label(conditions[0])
    return f"EN+[EN∼XX], mean of {len(conditions)}"


def across_conditions(runs: Sequence[dict]) -> Drawing | None:
    """Figure 2: full perplexity and ML score of every encoding by condition; None for fewer than two conditions."""
    bilingual = [run for run in runs if run["condition"] != NONE and run["system"] in ENCODINGS]
    conditions, systems = conditions_of(bilingual), [system for system in ENCODINGS if any(run["system"] == system for run in bilingual)]
    if len(conditions) < 2:
        return None
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(max(KEY_WIDTH, 1.1 * len(conditions) + 1), 5), layout="constrained")
        grid = figure.subplots(2, 1, sharex=True)
        for axes, column in zip(grid, (FULL, ML_SCORE)):
            for number, system in enumerate(systems):
                aside = 0.11 * (number - (len(systems) - 1) / 2)
                for place, condition in enumerate(conditions):
                    if values := of_seeds(runs, system, [condition], column):
                        axes.errorbar(place + aside, fmean(values), spread(values), **look(system, stroke=False), elinewidth=1)
            for place in range(1, len(conditions)):
                axes.axvline(place - 0.5, color=INK, linewidth=0.5, alpha=0.3)
            axes.set(ylabel=titled(column), xlim=(-0.5, len(conditions) - 0.5))
            bare(axes)
        grid[1].set_ylim(bottom=0)
        grid[1].set_xticks(range(len(conditions)), map(condition_label, conditions))
        for axes in grid:
            axes.tick_params(axis="x", length=0)
        figure.align_ylabels(grid)
        figure.legend(**key(systems, stroke=False))
    return "across_conditions", "Perplexity and ML score by condition", figure


def first_seed(runs: Iterable[dict], system: str, condition: str, part: str) -> dict | None:
    """The run of the lowest seed that has a part (curves, correlations)."""
    return min((run for run in runs_of(runs, system, condition) if run[part]), key=lambda run: run["seed"], default=None)


def curves(runs: Sequence[dict]) -> Drawing | None:
    """Figures 4 and 8: dimensions of the position tables, a column an encoding and a row a dimension.

    All are of one condition, a reordered one where there is one, and of the lowest seed.
    """
    for condition in [*groups(runs).get(REORDERED, []), SAME]:
        found = {system: run for system in ENCODINGS if (run := first_seed(runs, system, condition, "curves"))}
        if found:
            return "curves", f"Dimensions of position tables, {condition_label(condition)}", curves_drawn(found)
    return None


def curves_drawn(found: dict[str, dict]) -> Figure:
    """A column a run, a row a dimension."""
    dimensions = [*found.values()][0]["curves"]["dimensions"]
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(1.75 * len(found) + 0.6, 0.85 * len(dimensions) + 0.9), layout="constrained")
        grid = figure.subplots(len(dimensions), len(found), sharex="col", sharey="col", squeeze=False)
        for column, (system, run) in zip(grid.T, found.items()):
            colour, _, stroke = LOOKS[system]
            for axes, values in zip(column, run["curves"]["values"], strict=True):
                start = -(len(values) // 2) if system in OFFSETS else 0
                axes.plot(range(start, start + len(values)), values, color=colour, linestyle=stroke, linewidth=1.4)
                axes.tick_params(labelsize="small")
                axes.locator_params(nbins=3)
                bare(axes)
            column[0].set_title(f"{LABELS[system]}\nseed {run['seed']}", fontsize="small")
        for axes, dimension in zip(grid[:, 0], dimensions):
            axes.set_ylabel(f"dim. {dimension}", fontsize="small")
        figure.supxlabel("position, or offset of relative encodings", fontsize="medium")
    return figure


def grid_of(panels: int, width: float, height: float, **shared) -> tuple[Figure, list[Axes]]:
    """A figure of panels of a size in inches, in as many rows as they need."""
    columns = min(panels, FIGURE_COLUMNS)
    rows = -(-panels // columns)
    figure = Figure(figsize=(max(4.6, width * columns + 0.6), height * rows + 0.9), layout="constrained")
    places = [*figure.subplots(rows, columns, squeeze=False, **shared).flat]
    for axes in places[panels:]:
        axes.remove()
    return figure, places[:panels]


def procrustes_losses(runs: Sequence[dict]) -> Drawing | None:
    """Figure 5: Procrustes loss by offset of absolute positions and TUPE (absolute) in each condition, beside sinusoids."""
    measured = [run for run in with_losses(runs) if run["system"] in COMPARED]
    conditions = conditions_of(run for run in measured if run["system"] != COMPARED[0])
    if not conditions:
        return None
    with matplotlib.rc_context(STYLE):
        figure, panels = grid_of(len(conditions), 2.2, 2.2, sharex=True, sharey=True)
        for axes, condition in zip(panels, conditions):
            for system in COMPARED:
                if of_system := runs_of(measured, system, condition):
                    draw_losses(axes, system, of_system)
            axes.set_title(condition_label(condition), fontsize="medium")
            axes.tick_params(labelbottom=True)
            bare(axes)
        panels[0].set_ylim(bottom=0)
        figure.supxlabel("offset", fontsize="medium")
        figure.supylabel("mean relative loss", fontsize="medium")
        figure.legend(**key({run["system"] for run in measured}, stroke=True))
    return "procrustes_losses", "Procrustes loss by offset", figure


def draw_losses(axes: Axes, system: str, runs: Sequence[dict]) -> None:
    """The mean over the seeds, and a band from the lowest to the highest of them."""
    offsets, by_offset = runs[0]["procrustes"]["offsets"], [*zip(*(run["procrustes"]["mean"] for run in runs))]
    style = look(system)
    axes.plot(offsets, [*map(fmean, by_offset)], **{**style, "markersize": 4}, linewidth=1.4, markevery=max(1, len(offsets) // 6))
    axes.fill_between(offsets, [*map(min, by_offset)], [*map(max, by_offset)], color=style["color"], alpha=0.2, linewidth=0)


def word_positions(runs: Sequence[dict]) -> Drawing | None:
    """Figure 6: how words correlate with positions in the first layer of absolute positions, a panel a condition."""
    found = {
        condition: run for condition in conditions_of(runs) if (run := first_seed(runs, "learned", condition, "correlations"))
    }
    if not found:
        return None
    widest = max(abs(value) for run in found.values() for row in run["correlations"]["values"] for value in row) or 1.0
    words = [run["correlations"]["words"] for run in found.values()]
    one = all(of_run == words[0] for of_run in words)
    with matplotlib.rc_context(STYLE):
        figure, panels = grid_of(len(found), 1.9 if one else 2.6, 0.13 * len(words[0]) + 0.4, sharey=one)
        for axes, (condition, run) in zip(panels, found.items()):
            said = run["correlations"]
            drawn = axes.imshow(said["values"], cmap=CORRELATION_COLOURS, vmin=-widest, vmax=widest, aspect="auto", interpolation="nearest")
            axes.set_yticks(range(len(said["words"])), said["words"], fontsize=7)
            axes.tick_params(length=0, axis="y")
            axes.set_title(f"{condition_label(condition)}, seed {run['seed']}", fontsize="small")
        figure.supxlabel("position", fontsize="medium")
        figure.colorbar(drawn, ax=panels, fraction=0.04, pad=0.02)
    return "word_positions", "Words and positions, absolute positions", figure


def ablation_bars(runs: Sequence[dict], group: str) -> Drawing | None:
    """Figure 7: absolute positions and their ablations, means over the conditions of a group; None without an ablation."""
    conditions = groups(runs)[group]
    there = [system for system in ("learned", *ABLATIONS) if by_seed(runs, system, conditions)]
    if group == NONE or not {*there} & {*ABLATIONS}:
        return None
    shown = [column for column in (FULL, ML_SCORE, MEDIAN_LOSS) if all(has(column.of, runs, system, conditions) for system in there)]
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(2.4 * len(shown) + 1.6, 0.42 * len(there) + 0.9), layout="constrained")
        for axes, column in zip(figure.subplots(1, len(shown), sharey=True, squeeze=False)[0], shown):
            for place, system in enumerate(there):
                values = of_seeds(runs, system, conditions, column)
                plain = system == "learned"
                axes.barh(place, fmean(values), 0.7, color=BLUE if plain else "none", edgecolor=BLUE, hatch="" if plain else "////", linewidth=1)
                axes.errorbar(fmean(values), place, xerr=spread(values), color=INK, elinewidth=1, capsize=3)
                axes.plot(values, [place] * len(values), "o", color=INK, markersize=3)
            axes.set_yticks(range(len(there)), map(LABELS.get, there))
            axes.set_xlabel(titled(column))
            axes.tick_params(axis="y", length=0)
            bare(axes)
        axes.invert_yaxis()
    return f"ablation_bars_{group}", f"Ablations of absolute positions, {group_label(group, conditions)}", figure


def has(of: Callable[[dict], float | None], runs: Sequence[dict], system: str, conditions: Sequence[str]) -> bool:
    """Whether all runs of a system have a figure."""
    return all(of(run) is not None for of_seed in by_seed(runs, system, conditions).values() for run in of_seed)
