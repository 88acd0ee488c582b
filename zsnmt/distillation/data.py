"""The binarised data of a student: folders that share their files.

`targets` has `train.x-y.*` with sentences of people in x and their synthetic translations in y, `sources` the
same pairs from y to x. `main` has the authentic data, with validation text of the synthetic directions that
is held out from these pairs, its target authentic: never what people have translated between such languages.
Where a student learns a few lines of people, `few_lines` has these, and `main` the validation text without
them.
"""

import shutil
from collections.abc import Sequence
from itertools import repeat
from pathlib import Path

from fairseq.data import Dictionary

from zsnmt.corpora.parallel_text import TRAIN, VALID
from zsnmt.distillation.settings import SOURCES, TARGETS
from zsnmt.files.links import link_or_copy
from zsnmt.files.replacing import replacing_folder
from zsnmt.languages import Direction
from zsnmt.processes import progress, worker_pool
from zsnmt.tasks.zs_translation import FEW_LINES
from zsnmt.text.learning import TOKENISED
from zsnmt.text.pipeline import TextPipeline
from zsnmt.training.binarised import TextFile, binarise_file

MAIN = "main"


def binarise_synthetic(
    text: Path, folder: Path, *, authentic: Path, directions: Sequence[Direction], workers: int = 1
) -> None:
    """Write the three folders of some directions, the authentic side first, from their `text`.

    Pipeline and dictionary are those of the binarised data `authentic`.
    """
    with replacing_folder(folder) as part:
        for name in (MAIN, TARGETS, SOURCES):
            (part / name).mkdir()
        synthetic = [str(each) for direction in directions for each in (direction, reverse(direction))]
        link_data(authentic, part / MAIN, [f"{VALID}.{direction}." for direction in synthetic])
        files = [file for direction in directions for file in files_of(text / direction.source, direction)]
        binarise_files(files, part, authentic, workers=workers)


def binarise_few_lines(text: Path, folder: Path, *, authentic: Path, workers: int = 1) -> None:
    """Write the two folders of a few lines of people: those of training, and the authentic data beside them,
    with the validation text of `text` in the place of their own where it has some.
    """
    paths = sorted(text.glob("*.*-*.*"))
    names = {TRAIN: FEW_LINES, VALID: MAIN}
    with replacing_folder(folder) as part:
        for name in (MAIN, FEW_LINES):
            (part / name).mkdir()
        validated = any(path.name.startswith(f"{VALID}.") for path in paths)
        link_data(authentic, part / MAIN, [f"{VALID}."] if validated else [])
        files = []
        for path in paths:
            split, _, language = path.name.split(".")
            files.append(TextFile(path, language, (f"{names[split]}/{path.name}",)))
        binarise_files(files, part, authentic, workers=workers)


def binarise_files(files: Sequence[TextFile], folder: Path, authentic: Path, workers: int) -> None:
    """Write the data of files into a folder, by pipeline and dictionary of the binarised data `authentic`."""
    pipeline = TextPipeline.load(authentic)
    dictionary = Dictionary.load(str(next(authentic.glob("dict.*.txt"))))
    tokens = folder / TOKENISED
    tokens.mkdir()
    # Files of several folders have the same names.
    tokenised = [file.tokenise(pipeline, tokens / file.path.parent.name, workers) for file in files]
    with worker_pool(workers) as pool:
        done = pool.map(binarise_file, tokenised, repeat(folder), repeat(pipeline), repeat(dictionary))
        list(progress(done, "binarising", len(files)))
    shutil.rmtree(tokens)


def link_data(data: Path, folder: Path, left_out: Sequence[str] = ()) -> None:
    """Put binarised data, of all shards, into a folder, but for files whose names begin so."""
    patterns = shutil.ignore_patterns(*(f"{beginning}*" for beginning in left_out))
    shutil.copytree(data, folder, copy_function=link_or_copy, ignore=patterns, dirs_exist_ok=True)


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


def directions_by_use(uses: Sequence[str], kept: Sequence[Direction]) -> dict[str, list[Direction]]:
    """The directions of training on the pairs of some directions, the authentic side first, by what their
    synthetic side is used as; further text is not among these uses.
    """
    ways = {TARGETS: [*kept], SOURCES: [*map(reverse, kept)]}
    return {use: ways[use] for use in uses if use in ways}
