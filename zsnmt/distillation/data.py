"""The binarised data of a student: three folders that share their files.

`targets` has `train.x-y.*` with sentences of people in x and their synthetic translations in y, `sources` the
same pairs from y to x. `main` has the authentic data, with validation text of the synthetic directions that
is held out from these pairs, its target authentic: never what people have translated between such languages.
"""

import os
from collections.abc import Sequence
from itertools import repeat
from pathlib import Path

from fairseq.data import Dictionary

from zsnmt.distillation.settings import SOURCES, TARGETS
from zsnmt.distillation.synthetic_text import TRAIN, VALID
from zsnmt.files.replacing import replacing_folder
from zsnmt.languages import Direction
from zsnmt.processes import progress, worker_pool
from zsnmt.text.learning import TOKENISED, tokenise_file
from zsnmt.text.pipeline import TextPipeline
from zsnmt.training.binarised import TextFile, binarise_file

MAIN = "main"


def binarise_synthetic(
    text: Path, folder: Path, *, authentic: Path, directions: Sequence[Direction], workers: int = 1
) -> None:
    """Write the three folders of some directions, the authentic side first, from their `text`.

    Pipeline and dictionary are those of the binarised data `authentic`.
    """
    pipeline = TextPipeline.load(authentic)
    dictionary = Dictionary.load(str(authentic / f"dict.{directions[0].source}.txt"))
    with replacing_folder(folder) as part:
        for name in (MAIN, TARGETS, SOURCES):
            (part / name).mkdir()
        link_authentic(authentic, part / MAIN, directions)
        files = [
            tokenise_side(file, pipeline, part / TOKENISED, workers=workers)
            for direction in directions
            for file in files_of(text / direction.source, direction)
        ]
        with worker_pool(workers) as pool:
            done = pool.map(binarise_file, files, repeat(part), repeat(pipeline), repeat(dictionary))
            list(progress(done, "binarising", len(files)))
        for tokens in (part / TOKENISED).glob("*"):
            tokens.unlink()
        if (part / TOKENISED).is_dir():
            (part / TOKENISED).rmdir()


def link_authentic(authentic: Path, folder: Path, directions: Sequence[Direction]) -> None:
    """Put the authentic data into a folder, but for validation text of these directions."""
    left_out = {f"{VALID}.{each}." for direction in directions for each in (direction, reverse(direction))}
    for file in authentic.iterdir():
        if not file.name.startswith((*left_out,)):
            os.link(file, folder / file.name)


def files_of(text: Path, direction: Direction) -> list[TextFile]:
    """The sides of a direction's pairs, each with all names that it gets."""
    names = {
        TRAIN: [f"{TARGETS}/{TRAIN}.{direction}", f"{SOURCES}/{TRAIN}.{reverse(direction)}"],
        VALID: [f"{MAIN}/{VALID}.{reverse(direction)}"],
    }
    return [
        TextFile(
            text / f"{split}.{direction}.{language}",
            language,
            tuple(f"{name}.{language}" for name in of_split),
        )
        for split, of_split in names.items()
        for language in direction
        if (text / f"{split}.{direction}.{language}").is_file()
    ]


def reverse(direction: Direction) -> Direction:
    """From the target to the source."""
    return Direction(direction.target, direction.source)


def tokenise_side(file: TextFile, pipeline: TextPipeline, folder: Path, workers: int) -> TextFile:
    """The file of the tokens, where they are not the text."""
    if file.language not in pipeline.tokenisers:
        return file
    path = tokenise_file(file.path, file.language, pipeline, folder=folder, workers=workers)
    return file._replace(path=path)
