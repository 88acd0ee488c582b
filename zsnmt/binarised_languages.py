"""From lines of text in several languages to the folder that one masked language model of them all is trained on.

The folder holds `languages.txt`, one subword model for all languages, `dict.txt`, `{split}.{language}.{bin,idx}` in fairseq's
mmap format, and `counts.json`, the lines of each.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import torch
from fairseq.data import indexed_dataset

from zsnmt.binarised_bert import SPECIALS, Vocabulary, learn_dictionary, lines
from zsnmt.corpora.parallel_text import write_lines
from zsnmt.errors import InputError
from zsnmt.files import replacing_folder
from zsnmt.languages import LANGUAGES_FILE, check_languages
from zsnmt.scores import write_scores
from zsnmt.text.parallel import progress
from zsnmt.text.subword import MODEL_FILE, Subwords, train_subwords

SPLITS = ("train", "valid")
COUNTS_FILE = "counts.json"
COVERAGE = 0.9995  # of characters, SentencePiece's usual share: web text in three scripts has thousands of rare ones


def prepare(folder: Path, text: Path, languages: Sequence[str], vocabulary_size: int) -> dict[str, int]:
    """Make `folder` of `{train,valid}.{language}` in the folder `text`; returns the lines of each split and language.

    The vocabulary, special symbols among it, is shared by the languages; its subword model is learned on at most about a
    million training lines, drawn in proportion. Raises `InputError` for text that is missing or breaks the rules of
    `parallel_text.iterate_lines`, and for a vocabulary that does not fit.
    """
    check_languages(languages)
    files = {f"{split}.{language}": text / f"{split}.{language}" for split in SPLITS for language in languages}
    if missing := [path for path in files.values() if not path.is_file()]:
        raise InputError(f"{missing[0]} is missing; each language needs text in {' and '.join(SPLITS)}, a sentence a line")
    with replacing_folder(folder) as part:
        training = {language: [files[f"train.{language}"]] for language in languages}
        train_subwords(training, part / MODEL_FILE, vocabulary_size - SPECIALS + 1, character_coverage=COVERAGE)
        subwords = Subwords.load(part)
        dictionary = learn_dictionary(subwords, Vocabulary(vocabulary_size), bilingual=False)
        dictionary.save(str(part / "dict.txt"))
        counts = {
            name: write_ids(part / name, progress(lines(path, subwords, dictionary), name, unit=" lines"), len(dictionary))
            for name, path in files.items()
        }
        write_lines(part / LANGUAGES_FILE, languages)
        write_scores(part / COUNTS_FILE, counts)
    return counts


def write_ids(path: Path, rows: Iterable[np.ndarray], size: int) -> int:
    """Write rows of ids below `size` as `path.bin` and `path.idx`; returns how many there are."""
    builder, number = indexed_dataset.make_builder(f"{path}.bin", impl="mmap", vocab_size=size), 0
    for number, row in enumerate(rows, start=1):
        builder.add_item(torch.from_numpy(row))
    builder.finalize(f"{path}.idx")
    return number
