"""Heat maps and training curves, drawn with matplotlib, as PNG and SVG."""

import io
import re
from collections.abc import Sequence
from html import escape

import matplotlib
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

from zsnmt.languages import Direction
from zsnmt.report.plotted import Curve, HeatMap

INK, PAPER = "#14171c", "#ffffff"
COLOUR_MAPS = {"bleu": "cividis", "off_target": "Oranges", "direct_minus_pivot": "PuOr"}  # all safe for colour-blind readers
LINE_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7")  # of Okabe and Ito, those that show on light and on dark
MARKERS = "os^Dv"
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
    """Sources down, targets across, the number written in each cell; a direction without value stays empty."""
    number = len(cells.languages)
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(0.56 * number + 0.4, 0.42 * number + 0.4))
        axes = figure.add_subplot()
        colours = matplotlib.colormaps[COLOUR_MAPS[cells.kind]]
        spread = (cells.high - cells.low) or 1
        for row, source in enumerate(cells.languages):
            for column, target in enumerate(cells.languages):
                value = cells.values.get(Direction(source, target))
                if value is not None:
                    colour = colours((value - cells.low) / spread)
                    axes.add_patch(matplotlib.patches.Rectangle((column, row), 1, 1, facecolor=colour, edgecolor="none"))
                    axes.text(column + 0.5, row + 0.5, written(value, cells), color=readable_on(colour), ha="center", va="center")
        axes.set(xlim=(0, number), ylim=(number, 0), xlabel="target", ylabel="source")
        places = [place + 0.5 for place in range(number)]
        axes.set_xticks(places, cells.languages)
        axes.set_yticks(places, cells.languages)
        axes.xaxis.set_label_position("top")
        axes.tick_params(length=0, top=False, labeltop=True, labelbottom=False)
        axes.spines[:].set_visible(False)
    return figure


def written(value: float, cells: HeatMap) -> str:
    """A number as it stands in a cell: one decimal, and the sign of a difference."""
    return f"{value:{'+' if cells.kind == 'direct_minus_pivot' else '-'}z.1f}".replace("-", "−")


def readable_on(colour: Sequence[float]) -> str:
    """Black or white, whichever stands out more from a colour (relative luminance of WCAG 2)."""
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in to_rgb(colour)]
    luminance = sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear))
    return "black" if (luminance + 0.05) ** 2 > 1.05 * 0.05 else "white"


def training_curves(curves: Sequence[Curve]) -> Figure:
    """Validation loss by update: a colour and a marker for each system, a line for each of its seeds."""
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(5, 3.2))
        axes = figure.add_subplot()
        systems = list(dict.fromkeys(curve.system for curve in curves))
        for curve in curves:
            place = systems.index(curve.system)
            axes.plot(
                curve.updates,
                curve.losses,
                color=LINE_COLOURS[place % len(LINE_COLOURS)],
                marker=MARKERS[place % len(MARKERS)],
                markersize=4,
                linewidth=1.4,
                label=curve.system if curve is next(other for other in curves if other.system == curve.system) else None,
            )
        axes.set(xlabel="updates", ylabel="validation loss, bits a token")
        axes.set_xlim(left=0)
        axes.set_ylim(bottom=0)
        axes.spines[["top", "right"]].set_visible(False)
        axes.legend(frameon=False, labelcolor=INK)
    return figure


def png(figure: Figure) -> bytes:
    """A picture on white, 200 dots an inch."""
    return _drawn(figure, "png", facecolor=PAPER, dpi=200)


def svg(figure: Figure, title: str) -> bytes:
    """A drawing on white that names itself."""
    return _drawn(figure, "svg", facecolor=PAPER, metadata={"Title": title, "Date": None})


def inline_svg(figure: Figure, name: str, title: str) -> str:
    """A drawing to stand in a page: in the page's text colour, on its background, its ids led by `name`."""
    drawn = _drawn(figure, "svg", facecolor="none", metadata={"Date": None}).decode("utf-8")
    drawn = re.sub(r"<metadata>.*?</metadata>", "", drawn[drawn.index("<svg") :], flags=re.DOTALL)
    drawn = re.sub(r'(\bid="|href="#|url\(#)', rf"\g<1>{name}.", drawn).replace(INK, "currentColor")
    return drawn.replace("<svg", f'<svg role="img" aria-label="{escape(title)}"', 1).replace(
        ">", f"><title>{escape(title)}</title>", 1
    )


def _drawn(figure: Figure, form: str, **options) -> bytes:
    buffer = io.BytesIO()
    with matplotlib.rc_context(STYLE):
        figure.savefig(buffer, format=form, bbox_inches="tight", pad_inches=0.05, **options)
    return buffer.getvalue()
