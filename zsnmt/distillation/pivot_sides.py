"""The pivot's sentences beside pairs whose two sides are translations of them, for word-level distillation.

`pivot_sides/train.de-fr.en` has a line for each pair of `text/de/train.de-fr.*`. Beside links of the pairs'
binarised data is that of the pivot's sentences, in the order of each of the two ways to use a pair.
"""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from zsnmt.corpora.parallel_text import TRAIN
from zsnmt.distillation.data import binarise_files, link_data, reverse
from zsnmt.distillation.settings import SOURCES, TARGETS
from zsnmt.distillation.synthetic_text import SyntheticText
from zsnmt.files.replacing import replacing_folder
from zsnmt.languages import Direction, parse_direction
from zsnmt.text.lines import write_lines
from zsnmt.training.binarised import TextFile
from zsnmt.training.steps import Steps

PIVOT_SIDES = "pivot_sides"


def make_pivot_sides(
    steps: Steps, synthetic: SyntheticText, kept: Sequence[Direction], workers: int
) -> dict[str, Path]:
    """Make the data of the pairs with the pivot's sentence beside each, unless they are there; returns the
    folders for `TARGETS` and `SOURCES`.
    """
    text, data = synthetic.folder / PIVOT_SIDES, synthetic.folder / f"{PIVOT_SIDES}_data"
    steps.make(
        synthetic.folder,
        text.name,
        text,
        work=partial(write_pivot_sides, synthetic, kept, text),
        inputs=[synthetic.text],
        settings={},
    )
    steps.make(
        synthetic.folder,
        data.name,
        data,
        work=partial(binarise_pivot_sides, text, data, synthetic=synthetic, workers=workers),
        inputs=[text, synthetic.data, synthetic.experiment.data],
        settings={},
    )
    return {use: data / use for use in (TARGETS, SOURCES)}


def write_pivot_sides(synthetic: SyntheticText, kept: Sequence[Direction], text: Path) -> None:
    """Write the pivot's sentence of each kept pair."""
    with replacing_folder(text) as part:
        for direction in kept:
            lines = [row.pivot for row in synthetic.kept(direction)]
            write_lines(part / f"{TRAIN}.{direction}.{synthetic.pivot}", lines)


def binarise_pivot_sides(text: Path, folder: Path, *, synthetic: SyntheticText, workers: int) -> None:
    """Write the data of a text, and links of the pairs' beside them."""
    with replacing_folder(folder) as part:
        for use in (TARGETS, SOURCES):
            link_data(synthetic.data / use, part / use)
        files = []
        for path in sorted(text.iterdir()):
            split, pair, pivot = path.name.split(".")
            ways = (TARGETS, parse_direction(pair)), (SOURCES, reverse(parse_direction(pair)))
            names = tuple(f"{use}/{split}.{direction}.{pivot}" for use, direction in ways)
            files.append(TextFile(path, pivot, names))
        binarise_files(files, part, synthetic.experiment.data, workers=workers)
