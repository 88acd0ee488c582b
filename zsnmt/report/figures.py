"""Heat maps and curves of training, drawn with matplotlib, as PNG and SVG."""

import functools
import io
import math
import re
import warnings
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any, NamedTuple

import matplotlib
from matplotlib.axes import Axes
from matplotlib.colors import Colormap, to_hex, to_rgb
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import EngFormatter

from zsnmt.languages import FEW_SHOT, SUPERVISED, UNKNOWN, ZERO_RESOURCE, ZERO_SHOT, Direction, kind_name
from zsnmt.report.drawn_data import checksum
from zsnmt.report.plotted import CONFUSION, DIFFERENCE, Curve, HeatMap
from zsnmt.scoring.figures import HIGHER, LOWER

INK, PAPER = "#14171c", "#ffffff"
COLOUR_MAPS = {  # all safe for colour-blind readers
    HIGHER: "cividis",
    LOWER: "Oranges",
    DIFFERENCE: "PuOr",
    CONFUSION: "Blues",
}
LINE_COLOURS = (
    "#0072B2",
    "#D55E00",
    "#009E73",
    "#CC79A7",
)  # of Okabe and Ito, those that show on light and on dark
MARKERS = "os^Dv"
FILLS = "full", "none", "left"  # of a marker, each for one round of the colours
CELL = 0.52, 0.39  # of a heat map: width and height in inches, room for −12.3
MOST_MARKERS, MOST_COLUMNS = 10, 6  # of a line; of panels
KEY_ROWS, KEY_ROW = 2, 0.21  # of a key, those that a drawing has room for; the height of another, in inches
LINES = {SUPERVISED: "-", ZERO_SHOT: "--", ZERO_RESOURCE: ":", FEW_SHOT: "-.", UNKNOWN: "-."}
STYLE = {
    "svg.fonttype": "none",  # text stays text, in the reader's fonts
    "svg.hashsalt": "zsnmt",
    "text.parse_math": False,  # a name may hold a dollar sign
    "font.size": 10,
    **{f"{part}.color": INK for part in ("text", "xtick", "ytick")},
    "axes.facecolor": "none",
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
}


def heat_map(cells: HeatMap) -> Figure:
    """Sources down, targets across, the number written in each cell; one without value stays empty."""
    number = len(cells.languages)
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(CELL[0] * number, CELL[1] * number))
        axes = figure.add_axes((0, 0, 1, 1))  # labels stand outside, where saving finds them
        for row, source in enumerate(cells.languages):
            for column, target in enumerate(cells.languages):
                cell = cell_of(cells, Direction(source, target))
                if cell is not None:
                    axes.add_patch(
                        matplotlib.patches.Rectangle(
                            (column, row), 1, 1, facecolor=cell.colour, edgecolor="none"
                        )
                    )
                    axes.text(column + 0.5, row + 0.5, cell.number, color=cell.ink, ha="center", va="center")
        axes.set(xlim=(0, number), ylim=(number, 0), xlabel=cells.across, ylabel=cells.down)
        places = [place + 0.5 for place in range(number)]
        axes.set_xticks(places, cells.languages)
        axes.set_yticks(places, cells.languages)
        axes.xaxis.set_label_position("top")
        axes.tick_params(length=0, top=False, labeltop=True, labelbottom=False)
        axes.spines[:].set_visible(False)
    return figure


class HeatCell(NamedTuple):
    """A cell of a heat map: what is written in it, and in which colour on which (`#rrggbb`)."""

    number: str
    ink: str
    colour: str


def cell_of(cells: HeatMap, direction: Direction) -> HeatCell | None:
    """The cell of a direction; None for one without value."""
    value = cells.values.get(direction)
    if value is None:
        return None
    colour = colour_map(cells.scale)(place_on_scale(value, cells))
    return HeatCell(format_cell(value, cells), readable_on(colour), to_hex(colour))


def place_on_scale(value: float, cells: HeatMap) -> float:
    """Where the colour of a value is among all (0–1). That of a difference goes with its square root, so that
    small ones show beside large ones.
    """
    spread = cells.high - cells.low
    if cells.scale == DIFFERENCE:
        value = math.copysign(math.sqrt(abs(value) * spread / 2), value)
    return (value - cells.low) / spread


@functools.cache
def colour_map(scale: str) -> Colormap:
    """What colours say on a scale; matplotlib makes one anew for each that asks."""
    return matplotlib.colormaps[COLOUR_MAPS[scale]]


def format_cell(value: float, cells: HeatMap) -> str:
    """A number as it stands in a cell: one decimal, and the sign of a difference."""
    return f"{value:{'+' if cells.scale == DIFFERENCE else '-'}z.1f}".replace("-", "−")


def readable_on(colour: Sequence[float]) -> str:
    """Black or white, whichever stands out more from a colour (relative luminance of WCAG 2)."""
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in to_rgb(colour)]
    luminance = sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear))
    return "black" if (luminance + 0.05) ** 2 > 1.05 * 0.05 else "white"


def training_curves(
    curves: Sequence[Curve], systems: Sequence[str], title: str, *, from_zero: bool = True
) -> Figure:
    """Curves by update in one drawing, with a key above it; `from_zero`: their scale begins there, else near
    the least value.
    """
    with matplotlib.rc_context(STYLE):
        entries = key(curves, systems)
        figure = Figure(figsize=(5, 3.8 + room_for(entries)), layout="constrained")
        axes = figure.add_subplot(xlabel="updates", ylabel=title)
        draw_curves(axes, curves, systems)
        begin_scales(axes, from_zero)
        figure.legend(**entries)
    return figure


def small_multiples(
    panels: Mapping[str, Sequence[Curve]], systems: Sequence[str], title: str, *, from_zero: bool = True
) -> Figure:
    """Curves by update in panels of one scale, as of `training_curves`, a row for each kind at least, with a
    key above them.
    """
    by_kind: dict[str, list[str]] = {}
    for name, curves in panels.items():
        by_kind.setdefault(curves[0].kind, []).append(name)
    columns = min(MOST_COLUMNS, max(map(len, by_kind.values())))
    rows = [
        names[start : start + columns]
        for names in by_kind.values()
        for start in range(0, len(names), columns)
    ]
    with matplotlib.rc_context(STYLE):
        entries = key([curve for curves in panels.values() for curve in curves], systems)
        height = 1.5 * len(rows) + 1
        figure = Figure(figsize=(1.7 * columns + 0.5, height + room_for(entries)), layout="constrained")
        figure.get_layout_engine().set(w_pad=0.1)
        grid = figure.subplots(len(rows), columns, sharex=True, sharey=True, squeeze=False)
        for names, below, of_row in zip(rows, [*rows[1:], []], grid):
            for column, axes in enumerate(of_row):
                if column >= len(names):
                    axes.remove()
                    continue
                draw_curves(axes, panels[names[column]], systems)
                axes.set_title(names[column], fontsize="small")
                axes.locator_params(axis="x", nbins=3)
                axes.xaxis.set_major_formatter(EngFormatter(sep=""))
                axes.tick_params(labelsize="small", labelbottom=column >= len(below))
        begin_scales(grid[0, 0], from_zero)
        figure.supxlabel("updates", fontsize="medium")
        figure.supylabel(title, y=0.5 * height / (height + room_for(entries)), fontsize="medium")
        figure.legend(**entries)
    return figure


def draw_curves(axes: Axes, curves: Sequence[Curve], systems: Sequence[str]) -> None:
    """A line for each curve, thinner where it is one of several seeds."""
    runs = {(curve.system, curve.seed) for curve in curves}
    thin = len(runs) > len({system for system, _ in runs})
    for curve in curves:
        axes.plot(
            curve.updates,
            curve.values,
            **look(systems.index(curve.system)),
            linestyle=LINES[curve.kind],
            linewidth=0.9 if thin else 1.4,
            markevery=math.ceil(len(curve.updates) / MOST_MARKERS),
        )
    axes.spines[["top", "right"]].set_visible(False)


def begin_scales(axes: Axes, from_zero: bool) -> None:
    """Begin the scale of updates at zero, and that of values if asked for; to be called when all is drawn,
    for the other ends stay where they are then.
    """
    axes.set_xlim(left=0)
    if from_zero:
        axes.set_ylim(bottom=0)


def key(curves: Sequence[Curve], systems: Sequence[str]) -> dict:
    """A legend's entries and place: a column of systems and, where there are both kinds of direction, one
    of those.
    """
    there = {curve.system for curve in curves}
    entries = [
        Line2D([], [], label=system, **look(place)) for place, system in enumerate(systems) if system in there
    ]
    kinds = [kind for kind in LINES if any(curve.kind == kind for curve in curves)]
    strokes = [Line2D([], [], color=INK, linestyle=LINES[kind], label=kind_name(kind)) for kind in kinds]
    return legend(entries, strokes) if len(kinds) > 1 else legend(entries)


def legend(*columns: list[Line2D]) -> dict:
    """A legend's entries and place."""
    rows, blank = (
        max(map(len, columns)),
        Line2D([], [], linestyle="", label=" "),
    )  # a legend fills its columns evenly
    entries = [entry for column in columns for entry in column + [blank] * (rows - len(column))]
    return {
        "handles": entries,
        "ncols": len(columns),
        "loc": "outside upper left",
        "frameon": False,
        "labelcolor": INK,
    }


def room_for(legend: dict) -> float:
    """The height, in inches, by which a long legend would narrow a drawing."""
    lines = sum(1 + entry.get_label().count("\n") for entry in legend["handles"])
    return KEY_ROW * max(0, lines // legend["ncols"] - KEY_ROWS)


def look(place: int) -> dict:
    """Colour and marker of a system, filled otherwise each time that the colours begin again."""
    again, colour = divmod(place, len(LINE_COLOURS))
    return {
        "color": LINE_COLOURS[colour],
        "marker": MARKERS[place % len(MARKERS)],
        "fillstyle": FILLS[again % len(FILLS)],
        "markersize": 4,
    }


def png(figure: Figure) -> bytes:
    """A picture on white, 200 dots an inch, with a checksum of what it shows as its comment."""
    return figure_bytes(figure, "png", facecolor=PAPER, dpi=200, metadata={"Comment": checksum(figure)})


def svg(figure: Figure, title: str) -> bytes:
    """A drawing on white that names itself."""
    return figure_bytes(figure, "svg", facecolor=PAPER, metadata={"Title": title, "Date": None})


def inline_svg(figure: Figure, name: str, title: str) -> str:
    """A drawing to stand in a page: in the page's text colour, on its background, its ids led by `name`."""
    drawn = figure_bytes(figure, "svg", facecolor="none", metadata={"Date": None}).decode("utf-8")
    drawn = re.sub(r"<metadata>.*?</metadata>", "", drawn[drawn.index("<svg") :], flags=re.DOTALL)
    drawn = re.sub(r'(\bid="|href="#|url\(#)', rf"\g<1>{name}.", drawn).replace(INK, "currentColor")
    return drawn.replace("<svg", f'<svg role="img" aria-label="{escape(title)}"', 1).replace(
        ">", f"><title>{escape(title)}</title>", 1
    )


def figure_bytes(figure: Figure, form: str, **options: Any) -> bytes:
    buffer = io.BytesIO()
    with matplotlib.rc_context(STYLE), warnings.catch_warnings():
        if form == "svg":  # whose reader has other fonts than this machine
            warnings.filterwarnings("ignore", "Glyph .* missing from font")
        figure.savefig(buffer, format=form, bbox_inches="tight", pad_inches=0.05, **options)
    return buffer.getvalue()
