"""How encodings look in the drawings of the masked-LM study: one colour, marker and stroke each in all of
them.
"""

from collections.abc import Iterable

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from zsnmt.masked_lm.report.runs import ENCODINGS, LABELS
from zsnmt.report.figures import INK, LINE_COLOURS, legend

BLUE, VERMILLION, GREEN, PURPLE = LINE_COLOURS
# told apart by colour-blind readers too, on light and on dark, and by marker or stroke without colour
STYLES = (
    (INK, "o", ":"),
    (BLUE, "s", "-"),
    (VERMILLION, "^", "--"),
    (PURPLE, "v", "-."),
    (GREEN, "D", (0, (6, 1.5))),
    ("#3D9BD1", "P", (0, (4, 1, 1, 1, 1, 1))),
    ("#E69F00", "<", (0, (2, 1))),
    ("#7A4B00", "h", (0, (3, 2, 1, 2))),
    ("#7F7F7F", "X", (0, (1, 3))),
)
LOOKS = dict(zip(ENCODINGS, STYLES, strict=True))
Drawing = tuple[str, str, Figure]


def look(system: str, stroke: bool = True) -> dict:
    """Colour, marker and stroke of an encoding."""
    colour, marker, line = LOOKS[system]
    return {"color": colour, "marker": marker, "markersize": 5, "linestyle": line if stroke else "none"}


def key(systems: Iterable[str], stroke: bool) -> dict:
    """A legend's entries and place: the encodings in columns of two, each beside its kin, or of three."""
    entries = [
        Line2D([], [], label=LABELS[system], **look(system, stroke)) for system in LOOKS if system in systems
    ]
    rows = 2 if len(entries) <= 8 else 3
    return legend(*(entries[start : start + rows] for start in range(0, len(entries), rows)))


def bare(axes: Axes) -> None:
    """Without the frame's upper and right side."""
    axes.spines[["top", "right"]].set_visible(False)
