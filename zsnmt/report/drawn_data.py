"""What a drawing says, as a checksum that tells whether a kept picture is of the present results."""

from hashlib import sha256

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

DIGITS = 4  # of what is drawn, so that the last bits of a mean do not matter


def checksum(figure: Figure) -> str:
    """Of lines, points, cells and words, with their looks; not of size, place and fonts."""
    words = [text.get_text() for text in figure.texts]
    words += [text.get_text() for legend in figure.legends for text in legend.get_texts()]
    return sha256(repr((words, [*map(content, figure.axes)])).encode()).hexdigest()


def content(axes: Axes) -> tuple:
    """What stands in a panel."""
    words = axes.get_title(), axes.get_xlabel(), axes.get_ylabel(), *(text.get_text() for text in axes.texts)
    lines = [
        (
            np.round(np.asarray(line.get_xydata(), dtype=float), DIGITS).tolist(),
            *(line.get_color(), line.get_marker(), line.get_fillstyle(), line.get_linestyle()),
        )
        for line in axes.lines
    ]
    colours = [to_hex(patch.get_facecolor()) for patch in axes.patches]
    return words, lines, colours
