"""How the cost of every step from text to report page grows with languages, sentences and the model."""

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import asdict, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import matplotlib
import numpy as np
from matplotlib.figure import Figure

from zsnmt.benchmarks.growth_steps import Cost, Size, measure
from zsnmt.errors import InputError
from zsnmt.files.records import write_json
from zsnmt.processes import progress
from zsnmt.report.figures import STYLE, look, png
from zsnmt.report.html import write
from zsnmt.report.table import MISSING

Costs = Mapping[str, Cost]  # by the name of the step
AXES = {"languages": "languages", "pairs": "training pairs of a language", "width": "width of the model"}
COLUMNS = 5  # of panels


WORK: dict[str, Callable[[Size], float]] = {  # that a quantity may grow with
    "sentences": lambda size: size.sentences,
    "directions": lambda size: size.directions,
    "width²": lambda size: size.width**2,  # of products of matrices
    "nothing": lambda size: 1,
}


class Row(NamedTuple):
    """A quantity of an experiment, and the name of the work that it is of."""

    title: str
    work: str
    quantity: Callable[[Costs, Size], float]


def seconds(step: str, part: str = "", each: Callable[[Size], float] = lambda size: 1) -> Callable:
    """The CPU seconds of a step or a part of it, over a number of things."""
    return lambda costs, size: (costs[step].parts[part] if part else costs[step].seconds) / each(size)


def memory(step: str) -> Callable:
    """The most memory of a step, MB."""
    return lambda costs, size: costs[step].memory


ROWS = (
    Row("making the text, s", "sentences", seconds("text")),
    Row("preparation, s", "sentences", seconds("data")),
    Row("start of training, s", "sentences", seconds("training", "start")),
    Row("an update, s", "width²", seconds("training", "update")),
    Row("validation, s", "directions", seconds("training", "validation")),
    Row("memory of training, MB", "nothing", memory("training")),
    Row("evaluation, s", "directions", seconds("evaluation")),
    Row("a supervised direction, s", "nothing", seconds("evaluation", "supervised")),
    Row("a zero-shot direction, s", "nothing", seconds("evaluation", "zero-shot")),
    Row("one through the pivot, s", "nothing", seconds("evaluation", "through the pivot")),
    Row("memory of evaluation, MB", "nothing", memory("evaluation")),
    Row("table of systems, s", "directions", seconds("tables", "systems")),
    Row("table of directions, s", "directions", seconds("tables", "every direction")),
    Row("report page, s", "directions", seconds("report_page")),
    Row("report page, MB", "directions", seconds("report_page", "bytes", lambda size: 1e6)),
)


def growth(
    languages: Sequence[int],
    pairs: Sequence[int],
    widths: Sequence[int],
    updates: int,
    lines: int,
    folder: Path | None,
    output: Path | None,
    figure: Path | None,
) -> Iterator[str]:
    """A table for each of languages, pairs and widths that has several, the others being their first.

    Raises `InputError` for so few languages or updates that a step has nothing to measure, and for a width
    that two heads cannot share.
    """
    if min(languages) < 3 or updates < 2:
        raise InputError(
            "directions without text need three languages, and an update is timed until the next one; give "
            "--languages of 3 and --updates of 2 or more"
        )
    if odd := [width for width in widths if width % 2]:
        raise InputError(f"--widths {odd[0]} cannot be shared by two attention heads; give even numbers")
    first = Size(languages[0], pairs[0], widths[0])
    series = {
        name: [replace(first, **{name: value}) for value in values]
        for name, values in zip(AXES, (languages, pairs, widths))
        if len(values) > 1 or name == "languages"
    }
    sizes = [*dict.fromkeys(itertools.chain(*series.values()))]
    with nullcontext(str(folder)) if folder else TemporaryDirectory() as place:
        costs = {
            size: measure(size, Path(place), updates=updates, lines=lines)
            for size in progress(sizes, "experiments")
        }
    by_axis = {name: {size: costs[size] for size in of_series} for name, of_series in series.items()}
    for name, of_series in by_axis.items():
        about = ", ".join(f"{AXES[other]}: {getattr(first, other)}" for other in AXES if other != name)
        yield f"\nBy {AXES[name]}; {about}; {updates} updates, {lines} lines of each test set:\n"
        yield from table(name, of_series)
    if output is not None:
        kept = [
            asdict(size) | {step: cost._asdict() for step, cost in of_size.items()}
            for size, of_size in costs.items()
        ]
        write_json(output, {"updates": updates, "lines": lines, "experiments": kept})
    if figure is not None:
        write(figure, png(drawing(by_axis)))


def table(axis: str, costs: Mapping[Size, Costs]) -> Iterator[str]:
    """A row for each quantity: what it is at each size, and with which power of that it and its work grow."""
    values = [getattr(size, axis) for size in costs]
    yield f"| {AXES[axis]} | {' | '.join(map(str, values))} | power | of the last two | its work | power |"
    yield "|---" + "|---:" * (len(values) + 2) + "|---|---:|"
    for row in ROWS:
        found = [row.quantity(of_size, size) for size, of_size in costs.items()]
        work = [WORK[row.work](size) for size in costs]
        powers = [power(values, found), power(values[-2:], found[-2:]), power(values, work)]
        shown = [MISSING if math.isnan(each) else f"{each:z.2f}" for each in powers]
        cells = [row.title, *map(digits, found), *shown[:2], row.work, shown[2]]
        yield f"| {' | '.join(cells)} |"


def power(values: Sequence[float], found: Sequence[float]) -> float:
    """With which power of some values others grow: the slope on logarithmic axes, by least squares; of one
    there is none.
    """
    if len({*values}) < 2 or min(found) <= 0:
        return math.nan
    return float(np.polyfit(np.log(values), np.log(found), 1)[0])


def digits(value: float) -> str:
    """A number of three digits, or whole."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def drawing(series: Mapping[str, Mapping[Size, Costs]]) -> Figure:
    """A panel for each quantity, with a line for each of languages, pairs and widths by how many times its
    first value, both axes logarithmic; dashed, as it were if it grew as its work from the first size on.
    """
    with matplotlib.rc_context(STYLE):
        rows = math.ceil(len(ROWS) / COLUMNS)
        figure = Figure(figsize=(2.2 * COLUMNS, 2 * rows), layout="constrained")
        panels = figure.subplots(rows, COLUMNS, sharex=True).flat
        for axes, row in zip(panels, ROWS):
            for place, (axis, costs) in enumerate(series.items()):
                values = [getattr(size, axis) for size in costs]
                times = [value / values[0] for value in values]
                found = [row.quantity(of_size, size) or math.nan for size, of_size in costs.items()]
                work = [WORK[row.work](size) for size in costs]
                expected = [found[0] * each / work[0] for each in work]
                label, style = f"{AXES[axis]}: {values[0]} to {values[-1]}", look(place)
                axes.loglog(times, found, label=label, **style)
                axes.loglog(times, expected, "--", color=style["color"], linewidth=0.9)
            axes.set_title(row.title, fontsize="medium")
            axes.minorticks_off()
            axes.xaxis.set_major_formatter("{x:g}")
            axes.yaxis.set_major_formatter("{x:g}")
            axes.spines[["top", "right"]].set_visible(False)
            low, high = axes.get_ylim()
            axes.set_ylim(low / 3, high * 3)  # so that there is a power of ten
        figure.legend(*axes.get_legend_handles_labels(), loc="outside upper center", ncols=len(series))
        figure.supxlabel("times the first value")
    return figure
