"""Figure 3 of Ravishankar & Søgaard 2021: accuracy on XNLI as bars, a group for each language."""

from collections.abc import Sequence
from statistics import fmean

import matplotlib
from matplotlib.figure import Figure

from zsnmt.masked_lm.report.figures import spread
from zsnmt.masked_lm.report.looks import LOOKS, Drawing, bare
from zsnmt.masked_lm.report.runs import LABELS
from zsnmt.report.figures import INK, STYLE

CHANCE = 100 / 3  # of three labels
HATCHES = "", "////", "....", "xxxx"


def accuracy_bars(runs: Sequence[dict]) -> Drawing:
    """A group for each language with a bar for each encoding: the mean, the deviation over the seeds, and the
    seeds as dots.
    """
    languages = [*runs[0]["accuracy"]]
    systems = [system for system in LABELS if any(run["system"] == system for run in runs)]
    width = 0.8 / len(systems)
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(max(4.6, 1.6 * len(languages)), 3.4), layout="constrained")
        axes = figure.add_subplot(ylabel="accuracy, %")
        for number, system in enumerate(systems):
            aside = width * (number - (len(systems) - 1) / 2)
            colour = LOOKS.get(system, LOOKS["learned"])[0]  # of which all others are ablations
            hatch = HATCHES[number % len(HATCHES)]
            values = [
                [100 * run["accuracy"][language] for run in runs if run["system"] == system]
                for language in languages
            ]
            places = [place + aside for place in range(len(languages))]
            axes.bar(
                places,
                [*map(fmean, values)],
                0.9 * width,
                yerr=[*map(spread, values)],
                color="none",
                edgecolor=colour,
                hatch=hatch,
                label=LABELS[system],
                error_kw={"ecolor": INK, "elinewidth": 1},
            )
            for place, of_seeds in zip(places, values):
                axes.plot([place] * len(of_seeds), of_seeds, "o", color=INK, markersize=3)
        axes.axhline(CHANCE, color=INK, linewidth=0.8, linestyle=":", label="chance")
        axes.set_xticks(range(len(languages)), languages)
        axes.tick_params(axis="x", length=0)
        bare(axes)
        figure.legend(loc="outside upper left", ncols=2, frameon=False, labelcolor=INK)
    return "xnli", "XNLI by position encoding", figure
