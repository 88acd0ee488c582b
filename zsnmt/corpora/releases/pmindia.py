"""PMIndia v1 (Haddow and Kirefu 2020) as parallel text: `pmindia.v1.{lang}-en.tsv`, two columns, English
first.

The release has no validation and test sets. They are drawn here from the sentences that are in every
language, found through English, as in Liu et al. (2021); the draw is this project's, that of the paper is not
published.
"""

import logging
import random
from collections.abc import Iterator, Sequence
from pathlib import Path

from tqdm import tqdm

from zsnmt.corpora.overlap import normalise, normalised_sentences, without_sentences
from zsnmt.corpora.parallel_text import write_rows
from zsnmt.corpora.releases.release import clean_rows, count_pairs, find_files, open_lines
from zsnmt.errors import InputError, counted
from zsnmt.languages import check_languages

PIVOT = "en"

logger = logging.getLogger(__name__)


def read_release(
    release: Path, target: Path, languages: Sequence[str], held_out: int = 1695, seed: int = 1
) -> dict[str, dict[str, int]]:
    """Write parallel text from the release into `target`; returns sentence pairs by split and pair.

    `languages`: English first. `valid` and `test` are multiway and have `held_out` sentences each, or half of
    the multiway sentences where these are fewer, of which the log warns. Training pairs are those of which
    neither side is a held-out sentence of any language, compared as in `zsnmt.corpora.overlap`. The draw
    follows from the seed, the text and the set of languages, not from their order. Raises InputError for
    files that are missing or not in the form of the release, and where nothing is left to hold out or to
    train on.
    """
    pivot, *others = check_languages(languages)
    if pivot != PIVOT:
        raise InputError(
            f"PMIndia has each language with English: the first language must be en, here it is {pivot}"
        )
    if held_out < 1:
        raise InputError(
            f"{held_out} sentences cannot be held out; a validation and a test set need one or more"
        )
    files = find_files(release, [[[f"pmindia.v1.{language}-en.tsv"]] for language in others], "pmindia")
    paths = tqdm([path for (path,) in files], unit="file", disable=None, leave=False)
    pairs = {language: unique_pairs(path, language) for language, path in zip(others, paths)}
    pool = multiway_sentences(pairs)
    number = min(held_out, len(pool) // 2)
    if number == 0:
        raise InputError(
            f"{release} has {len(pool)} sentences in all of {', '.join(languages)}; a validation and "
            f"a test set need two or more"
        )
    if number < held_out:
        logger.warning(
            "valid and test have %d sentences each, not %d: only %d are in all of %s",
            number,
            held_out,
            len(pool),
            ", ".join(languages),
        )
    drawn = random.Random(seed).sample(range(len(pool)), 2 * number)
    for split, lines in (("valid", drawn[:number]), ("test", drawn[number:])):
        write_rows(target, split, languages, rows=[pool[line] for line in sorted(lines)])
    reserved = normalised_sentences(pool[line] for line in drawn)
    for language, rows in pairs.items():
        kept = without_sentences(rows, reserved)
        if not kept:
            raise InputError(
                f"all sentence pairs of {language}-en are held out; hold out fewer than {number} by "
                "--held-out, in a config in CORPUS"
            )
        logger.info(
            "train.%s-en: pairs with a held-out sentence, left out: %d", language, len(rows) - len(kept)
        )
        write_rows(target, f"train.{language}-en", (PIVOT, language), rows=kept)
    return count_pairs(target, languages)


def unique_pairs(path: Path, language: str) -> list[tuple[str, str]]:
    """The pairs of English and another sentence in a file of the release, cleaned, each once, in their
    order.
    """
    rows = clean_rows(read_columns(path, language), path.name)
    unique = [(english, other) for english, other in dict.fromkeys(rows)]
    if len(unique) < len(rows):
        logger.info("%s: pairs that are there before, left out: %d", path.name, len(rows) - len(unique))
    return unique


def read_columns(path: Path, language: str) -> Iterator[list[str]]:
    for number, line in enumerate(open_lines(path), start=1):
        columns = line.split("\t")
        if len(columns) != 2:
            raise InputError(
                f"{path}, line {number} has {counted(len(columns), 'column')}; it needs two, English and "
                f"{language} with a tab between them"
            )
        yield columns


def multiway_sentences(pairs: dict[str, list[tuple[str, str]]]) -> list[tuple[str, ...]]:
    """English sentences with one translation in every language, and these; in the order of the alphabet's
    first file.

    A row is left out when one of its sentences is, normalised, also in an earlier row, so that no part of the
    rows shares a sentence with another.
    """
    translations = {}
    for language, rows in pairs.items():
        of_english: dict[str, list[str]] = {}
        for english, other in rows:
            of_english.setdefault(english, []).append(other)
        translations[language] = {
            english: others[0] for english, others in of_english.items() if len(others) == 1
        }
    chosen: list[tuple[str, ...]] = []
    seen: set[str] = set()
    for english in translations[min(translations)]:
        if all(english in of_english for of_english in translations.values()):
            row = (english, *(of_english[english] for of_english in translations.values()))
            sentences = set(map(normalise, row))
            if seen.isdisjoint(sentences):
                chosen.append(row)
            seen |= sentences
    return chosen
