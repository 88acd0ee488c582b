"""Translations paired with the English (pivot) sentences that they were made of, to be translated back.

A pair X–English has sentences of English that no other pair has. Their translations into another language Y
are training text from Y into English, whose target people wrote (back-translation, Sennrich et al. 2016). A
folder `de` has those of the English beside German: `train.fr-en.fr`, `train.fr-en.en`.
"""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from fairseq.data import Dictionary

from zsnmt.distillation.data import binarise_files, tokenise_side
from zsnmt.distillation.filters import Row
from zsnmt.distillation.settings import BACK
from zsnmt.distillation.synthetic_text import TRAIN, SyntheticText
from zsnmt.errors import InputError
from zsnmt.files.replacing import replacing_folder
from zsnmt.languages import Direction, parse_direction
from zsnmt.text.learning import TOKENISED
from zsnmt.text.lines import read_lines, write_lines
from zsnmt.text.pipeline import TextPipeline
from zsnmt.training.binarised import TextFile
from zsnmt.training.steps import Steps


def make_back_translations(
    steps: Steps, synthetic: SyntheticText, kept: Sequence[Direction], workers: int
) -> dict[str, tuple[Path, list[Direction]]]:
    """Make the text of the `kept` directions and its data, unless they are there; by name, a folder of data
    for each language that the English is of, and its directions.
    """
    text, data = synthetic.folder / BACK, synthetic.folder / f"{BACK}_data"
    steps.make(
        synthetic.folder,
        BACK,
        text,
        work=partial(write_back_text, synthetic, kept, text),
        inputs=[synthetic.text],
        settings={},
    )
    work = partial(binarise_back_text, text, data, synthetic.experiment.data, workers=workers)
    steps.make(
        synthetic.folder,
        f"{BACK}_data",
        data,
        work=work,
        inputs=[text, synthetic.experiment.data],
        settings={},
    )
    return {folder.name: (folder, directions_in(folder)) for folder in sorted(data.iterdir())}


def write_back_text(synthetic: SyntheticText, kept: Sequence[Direction], text: Path) -> None:
    """Write the translations of each direction that the filters have kept, and the English of each."""
    with replacing_folder(text) as part:
        for direction in kept:
            rows, _ = synthetic.rows(direction)
            folder = synthetic.text / direction.source
            sides = [read_lines(folder / f"{TRAIN}.{direction}.{language}") for language in direction]
            back = Direction(direction.target, synthetic.pivot)
            (part / direction.source).mkdir(exist_ok=True)
            for language, lines in zip(back, (sides[1], pivot_sides(rows, sides, folder))):
                write_lines(part / direction.source / f"{TRAIN}.{back}.{language}", lines)


def pivot_sides(rows: Sequence[Row], sides: Sequence[Sequence[str]], folder: Path) -> list[str]:
    """The pivot side of each kept pair; the pairs are some of the rows, in order.

    Raises `InputError` where they are not.
    """
    following, found = iter(rows), []
    for pair in zip(*sides, strict=True):
        pivot = next((row.pivot for row in following if (row.authentic, row.synthetic) == pair), None)
        if pivot is None:
            raise InputError(
                f"{folder} has pairs that its translations do not give; remove it, and run the same command "
                "again"
            )
        found.append(pivot)
    return found


def binarise_back_text(text: Path, folder: Path, authentic: Path, workers: int) -> None:
    """Write a folder of data for each folder of the text, by pipeline and dictionary of `authentic`."""
    pipeline = TextPipeline.load(authentic)
    dictionary = Dictionary.load(str(next(authentic.glob("dict.*.txt"))))
    with replacing_folder(folder) as part:
        (part / TOKENISED).mkdir()
        files = []
        for path in sorted(text.glob("*/*")):
            name = f"{BACK}_{path.parent.name}"
            (part / name).mkdir(exist_ok=True)
            file = TextFile(path, path.suffix.removeprefix("."), (f"{name}/{path.name}",))
            files.append(tokenise_side(file, pipeline, part / TOKENISED / name, workers=workers))
        binarise_files(files, part, pipeline, dictionary=dictionary, workers=workers)


def directions_in(folder: Path) -> list[Direction]:
    """The directions that a folder of binarised data has for training."""
    names = sorted({path.name.split(".")[1] for path in folder.glob(f"{TRAIN}.*.idx")})
    return [parse_direction(name) for name in names]
