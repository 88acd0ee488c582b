"""Drawings of the masked-LM study of position encodings: Figures 1, 2 and 7 of Ravishankar & Søgaard 2021.

Those of positions are in `zsnmt/masked_lm/report/positions.py`. A drawing whose data are not
there is left out.
"""

from collections.abc import Sequence
from statistics import fmean, stdev

import matplotlib
from matplotlib.figure import Figure

from zsnmt.masked_lm.report.columns import FIRST, FULL, MEDIAN_LOSS, ML_SCORE, Column, RunFigure
from zsnmt.masked_lm.report.looks import BLUE, Drawing, bare, key, look
from zsnmt.masked_lm.report.positions import curves, procrustes_losses, word_positions
from zsnmt.masked_lm.report.runs import (
    ABLATIONS,
    ENCODINGS,
    LABELS,
    NONE,
    condition_label,
    conditions_of,
    group_label,
    groups,
    runs_by_seed,
)
from zsnmt.masked_lm.score_file import MaskedLM
from zsnmt.report.figures import INK, STYLE
from zsnmt.report.table import FORMS, complete

KEY_WIDTH = 7.0  # inches that a key of all encodings needs


def figures_of(runs: Sequence[MaskedLM]) -> list[Drawing]:
    """Name, title and drawing of each figure that the runs have something for."""
    makers = trade_off, across_conditions, curves, procrustes_losses, word_positions
    drawn = [make(runs) for make in makers] + [ablation_bars(runs, group) for group in groups(runs)]
    return [drawing for drawing in drawn if drawing is not None]


def spread(values: Sequence[float]) -> float:
    """The deviation over the seeds; 0 of one."""
    return stdev(values) if len(values) > 1 else 0.0


def seed_means(
    runs: Sequence[MaskedLM], system: str, conditions: Sequence[str], column: Column
) -> list[float]:
    """The means over the conditions, one per seed that has them all, in the units in which they are shown."""
    factor = FORMS[column.figure].factor
    return [
        factor * fmean(values)
        for of_seed in runs_by_seed(runs, system, conditions).values()
        if (values := complete([column.of(run) for run in of_seed]))
    ]


def axis_title(column: Column) -> str:
    """The title of an axis, with the unit."""
    return column.title + FORMS[column.figure].unit.replace(" %", ", %")


def trade_off(runs: Sequence[MaskedLM]) -> Drawing | None:
    """Figure 1: perplexity of English against ML score, a panel for EN+[EN] and one for the mean over
    reordered languages.
    """
    panels = {
        (group, *conditions): there
        for group, conditions in groups(runs).items()
        if group != NONE
        and (there := [system for system in ENCODINGS if runs_by_seed(runs, system, conditions)])
    }
    if not panels:
        return None
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(max(KEY_WIDTH, 3.6 * len(panels)), 3.9), layout="constrained")
        grid = figure.subplots(1, len(panels), sharex=True, sharey=True, squeeze=False)[0]
        for axes, ((_, *conditions), systems) in zip(grid, panels.items()):
            for system in systems:
                across, up = (
                    seed_means(runs, system, conditions, column=column) for column in (FIRST, ML_SCORE)
                )
                style = look(system, stroke=False)
                if len(up) > 1:
                    axes.plot(across, up, **style, alpha=0.35, markeredgewidth=0)
                axes.errorbar(
                    fmean(across),
                    fmean(up),
                    spread(up),
                    spread(across),
                    **{**style, "markersize": 7},
                    elinewidth=1,
                    capsize=0,
                )
            axes.set(title=panel_title(conditions), xlabel=axis_title(FIRST))
            axes.title.set_fontsize("medium")
            axes.margins(0.08)
            bare(axes)
        grid[0].set(ylabel=axis_title(ML_SCORE), ylim=(0, None))
        figure.legend(**key({system for systems in panels.values() for system in systems}, stroke=False))
    return "trade_off", "Perplexity against ML score", figure


def panel_title(conditions: Sequence[str]) -> str:
    """What a panel is of, short."""
    if len(conditions) == 1:
        return condition_label(conditions[0])
    return f"EN+[EN∼XX], mean of {len(conditions)}"


def across_conditions(runs: Sequence[MaskedLM]) -> Drawing | None:
    """Figure 2: full perplexity and ML score of every encoding by condition; None for fewer than two
    conditions.
    """
    bilingual = [run for run in runs if run.condition != NONE and run.system in ENCODINGS]
    conditions, systems = (
        conditions_of(bilingual),
        [system for system in ENCODINGS if any(run.system == system for run in bilingual)],
    )
    if len(conditions) < 2:
        return None
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(max(KEY_WIDTH, 1.1 * len(conditions) + 1), 5), layout="constrained")
        grid = figure.subplots(2, 1, sharex=True)
        for axes, column in zip(grid, (FULL, ML_SCORE)):
            for number, system in enumerate(systems):
                aside = 0.11 * (number - (len(systems) - 1) / 2)
                for place, condition in enumerate(conditions):
                    if values := seed_means(runs, system, [condition], column=column):
                        axes.errorbar(
                            place + aside,
                            fmean(values),
                            spread(values),
                            **look(system, stroke=False),
                            elinewidth=1,
                        )
            for place in range(1, len(conditions)):
                axes.axvline(place - 0.5, color=INK, linewidth=0.5, alpha=0.3)
            axes.set(ylabel=axis_title(column), xlim=(-0.5, len(conditions) - 0.5))
            bare(axes)
        grid[1].set_ylim(bottom=0)
        grid[1].set_xticks(range(len(conditions)), map(condition_label, conditions))
        for axes in grid:
            axes.tick_params(axis="x", length=0)
        figure.align_ylabels(grid)
        figure.legend(**key(systems, stroke=False))
    return "across_conditions", "Perplexity and ML score by condition", figure


def ablation_bars(runs: Sequence[MaskedLM], group: str) -> Drawing | None:
    """Figure 7: absolute positions and their ablations, means over the conditions of a group; None without
    an ablation.
    """
    conditions = groups(runs)[group]
    there = [system for system in ("learned", *ABLATIONS) if runs_by_seed(runs, system, conditions)]
    if group == NONE or not {*there} & {*ABLATIONS}:
        return None
    shown = [
        column
        for column in (FULL, ML_SCORE, MEDIAN_LOSS)
        if all(has_figure(column.of, runs, system, conditions=conditions) for system in there)
    ]
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(2.4 * len(shown) + 1.6, 0.42 * len(there) + 0.9), layout="constrained")
        for axes, column in zip(figure.subplots(1, len(shown), sharey=True, squeeze=False)[0], shown):
            for place, system in enumerate(there):
                values = seed_means(runs, system, conditions, column=column)
                plain = system == "learned"
                axes.barh(
                    place,
                    fmean(values),
                    0.7,
                    color=BLUE if plain else "none",
                    edgecolor=BLUE,
                    hatch="" if plain else "////",
                    linewidth=1,
                )
                axes.errorbar(fmean(values), place, xerr=spread(values), color=INK, elinewidth=1, capsize=3)
                axes.plot(values, [place] * len(values), "o", color=INK, markersize=3)
            axes.set_yticks(range(len(there)), map(LABELS.get, there))
            axes.set_xlabel(axis_title(column))
            axes.tick_params(axis="y", length=0)
            bare(axes)
        axes.invert_yaxis()
    return (f"ablation_bars_{group}", f"Ablations of absolute positions, {group_label(conditions)}", figure)


def has_figure(of: RunFigure, runs: Sequence[MaskedLM], system: str, conditions: Sequence[str]) -> bool:
    """Whether all runs of a system have a figure."""
    return all(
        of(run) is not None for of_seed in runs_by_seed(runs, system, conditions).values() for run in of_seed
    )
