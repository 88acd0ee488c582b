"""From lines of text in several languages to the folder that one masked language model of them all is trained
on.

The folder holds `languages.txt`, one subword model for all languages, `dict.txt`,
`{split}.{language}.{bin,idx}` in fairseq's mmap format, and `counts.json`, the lines of each.
"""

from collections.abc import Sequence
from pathlib import Path

from zsnmt.data.binarised_folder import check_replaceable
from zsnmt.data.binarised_text import write_ids
from zsnmt.errors import InputError
from zsnmt.files.records import write_json
from zsnmt.files.replacing import replacing_folder
from zsnmt.languages import LANGUAGES_FILE, check_languages
from zsnmt.masked_lm.data import Vocabulary, learn_dictionary, learn_subwords, lines
from zsnmt.masked_lm.runs import COUNTS_FILE
from zsnmt.processes import progress
from zsnmt.text.lines import write_lines

SPLITS = ("train", "valid")
# SentencePiece's usual share of the characters: web text in three scripts has thousands of rare ones.
COVERAGE = 0.9995


def prepare(folder: Path, text: Path, languages: Sequence[str], vocabulary_size: int) -> dict[str, int]:
    """Make `folder` of `{train,valid}.{language}` in the folder `text`; returns the lines of each split and
    language.

    The vocabulary, special symbols among it, is shared by the languages; its subword model is learned on at
    most about a million training lines, drawn in proportion. Raises `InputError` for text that is missing or
    breaks the rules of `text.lines.iterate_lines`, a vocabulary that does not fit, and a folder that holds
    something else.
    """
    check_languages(languages)
    check_replaceable(folder)
    files = {
        f"{split}.{language}": text / f"{split}.{language}" for split in SPLITS for language in languages
    }
    if missing := [path for path in files.values() if not path.is_file()]:
        raise InputError(
            f"{missing[0]} is missing; each language needs text in "
            f"{' and '.join(SPLITS)}, one sentence per line"
        )
    with replacing_folder(folder) as part:
        training = {language: [files[f"train.{language}"]] for language in languages}
        subwords = learn_subwords(training, part, vocabulary_size, coverage=COVERAGE)
        dictionary = learn_dictionary(subwords, Vocabulary(vocabulary_size), bilingual=False)
        dictionary.save(str(part / "dict.txt"))
        counts = {
            name: write_ids(
                part / name, progress(lines(path, subwords, dictionary), name, unit=" lines"), len(dictionary)
            )
            for name, path in files.items()
        }
        write_lines(part / LANGUAGES_FILE, languages)
        write_json(part / COUNTS_FILE, counts)
    return counts
