"""Drawings of points: direct translation against the pivot, directions, and what remedies gain."""

from collections.abc import Mapping, Sequence

import matplotlib
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from zsnmt.languages import Direction, kind_name
from zsnmt.report.figures import INK, STYLE, legend, look, room_for
from zsnmt.report.plotted import AgainstPivot

CROWD = 500  # points of a scatter that would hide one another


def pivot_scatter(compared: Sequence[AgainstPivot], systems: Sequence[str], figure: str) -> Figure:
    """A point for each direction and system: `figure` through the pivot across, directly upwards.

    Above the diagonal direct translation is the better one; the key counts those directions. Whose pivot it
    is stands below, or in the key where it is not the same for all.
    """
    translators = {one.translator for one in compared}
    pivot = "the pivot" if len(translators) > 1 else f"the pivot of {next(iter(translators))}"
    with matplotlib.rc_context(STYLE):
        entries = legend(
            [point_entry(one, systems.index(one.system), whose=len(translators) > 1) for one in compared]
        )
        drawing = Figure(figsize=(4.4, 4.4 + room_for(entries)), layout="constrained")
        axes = drawing.add_subplot(xlabel=f"{figure} through {pivot}", ylabel=f"{figure}, direct")
        for one in compared:
            through, direct = zip(*one.points.values())
            size = {"alpha": 0.75} if len(one.points) < CROWD else {"alpha": 0.3, "markersize": 2}
            axes.plot(through, direct, linestyle="", **look(systems.index(one.system)) | size)
        values = [value for one in compared for point in one.points.values() for value in point]
        top = 1.04 * max(values) or 1
        axes.plot([0, top], [0, top], color=INK, linewidth=0.9)
        axes.annotate("equal", (top, top), (4, 0), textcoords="offset points", va="center")
        axes.set(xlim=(0, top), ylim=(0, top), aspect="equal")
        axes.spines[["top", "right"]].set_visible(False)
        drawing.legend(**entries)
    return drawing


def point_entry(one: AgainstPivot, place: int, *, whose: bool) -> Line2D:
    """A key's entry: the system, what the directions are to it, in how many it is above the pivot, and
    `whose` that is.
    """
    kinds = " and ".join(map(kind_name, one.kinds))
    pivot = f"\nabove the pivot of {one.translator}" if whose else " above the pivot"
    counted = f"{one.system}, {kinds}:{pivot} in {one.above} of {len(one.points)}"
    return Line2D([], [], linestyle="", label=counted, **look(place))


def direction_points(figures: Mapping[str, Mapping[Direction, float]], title: str) -> Figure:
    """A row for each direction, the one with the highest figure above, with a point for each system by name;
    the first system, with which the others are compared, has rings.
    """
    directions, *_ = figures.values()
    best = {direction: max(values[direction] for values in figures.values()) for direction in directions}
    rows = sorted(best, key=best.__getitem__)
    with matplotlib.rc_context(STYLE):
        looks = [look(place) | {"linestyle": "", "markersize": 6} for place in range(len(figures))]
        looks[0] |= {"fillstyle": "none", "markersize": 9, "markeredgewidth": 1.6}
        entries = legend([Line2D([], [], label=name, **each) for name, each in zip(figures, looks)])
        drawing = Figure(figsize=(5.6, 0.34 * len(rows) + 1.3 + room_for(entries)), layout="constrained")
        axes = drawing.add_subplot(xlabel=title)
        axes.hlines(range(len(rows)), 0, [best[direction] for direction in rows], color=INK, linewidth=0.4)
        for values, each in zip(figures.values(), looks):
            axes.plot([values[direction] for direction in rows], range(len(rows)), **each)
        axes.set_yticks(range(len(rows)), [f"{source} → {target}" for source, target in rows])
        axes.tick_params(axis="y", length=0)
        axes.set_xlim(left=0)
        axes.spines[["top", "right", "left"]].set_visible(False)
        drawing.legend(**entries)
    return drawing


def remedy_gains(gains: Mapping[str, Sequence[tuple[float, float]]]) -> Figure:
    """A point for each remedy and system: the share (0–1) of off-target outputs without it across, what it
    adds to chrF++ upwards.
    """
    with matplotlib.rc_context(STYLE):
        looks = [{"linestyle": "", **look(place)} for place in range(len(gains))]
        entries = legend([Line2D([], [], label=name, **each) for name, each in zip(gains, looks)])
        drawing = Figure(figsize=(4.8, 3.8 + room_for(entries)), layout="constrained")
        axes = drawing.add_subplot(xlabel="off-target without it, %", ylabel="gain in zero-shot chrF++")
        for points, each in zip(gains.values(), looks):
            axes.plot(*zip(*((100 * share, gain) for share, gain in points)), **each)
        axes.axhline(0, color=INK, linewidth=0.9)
        axes.spines[["top", "right"]].set_visible(False)
        drawing.legend(**entries)
    return drawing
