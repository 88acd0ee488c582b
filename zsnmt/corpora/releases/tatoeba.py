"""Tatoeba (tatoeba.org): everyday sentences that people translate into each other, in some 400 languages.

The release is the weekly export by language: `{code}_sentences.tsv` (number, code, sentence) and
`{code}-{code}_links.tsv` (numbers of two sentences that translate each other), with codes of ISO 639-3. Pairs
with the pivot are for training; all other pairs were translated directly by people, so they are test sets of
directions without training text. Few sentences of the pivot have a translation in two languages, which is the
non-overlap condition of Liu et al. (2021, section 3.1).
"""

import logging
import random
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import chain, combinations
from pathlib import Path

from zsnmt.corpora.overlap import normalised_sentences, without_sentences
from zsnmt.corpora.parallel_text import FEWEST_TO_TEST, check_corpus, write_rows
from zsnmt.corpora.releases.release import MissingFiles, clean_sentence, find_file, open_lines
from zsnmt.errors import InputError
from zsnmt.languages import Pair, check_languages
from zsnmt.text.iso_639 import three_letters

logger = logging.getLogger(__name__)


def read_release(
    release: Path,
    target: Path,
    languages: Sequence[str],
    test: int = 500,
    valid: int = 300,
    pairs: int | None = None,
    seed: int = 1,
) -> dict[str, dict[str, int]]:
    """Write parallel text from the export into `target`; returns sentence pairs by split and pair.

    `languages`: the pivot first, as codes of two letters (ISO 639-1) or of three. The lines of each pair are
    put in random order. The first `test` of them are its test set; a pair without the pivot is left out where
    it has fewer than 150. Of a pair with the pivot `valid` more are its validation set, and the rest, or
    `pairs` of it, its training text. What is for validation or training leaves out sentences of all test
    sets, and what is for training those of all validation sets, compared as in `zsnmt.corpora.overlap`. The
    order follows from the seed, the text and the pair. Raises `InputError` for files that are missing or not
    in the form of the export, and for a pair with too few lines to train on.
    """
    check_numbers({"a test set": test, "a valid set": valid, "training text": pairs})
    pivot, *others = check_different(languages)
    sentences = {language: read_sentences(release, language) for language in languages}
    supervised = [(language, pivot) for language in others]
    rows = {
        pair: shuffle(read_pair(release, pair, sentences), pair, seed)
        for pair in (*supervised, *combinations(others, 2))
    }
    tests = {
        pair: lines[:test] for pair, lines in rows.items() if pair in supervised or is_tested(pair, lines)
    }
    rest = leave_out(tests, {pair: rows[pair][test:] for pair in supervised}, "test")
    valids = {pair: lines[:valid] for pair, lines in rest.items()}
    trains = leave_out(valids, {pair: lines[valid:] for pair, lines in rest.items()}, "validation")
    for pair, lines in trains.items():
        check_left(release, pair, len(rows[pair]), left=len(lines), test=test, valid=valid)
    splits = {
        "train": {pair: lines[:pairs] for pair, lines in trains.items()},
        "valid": valids,
        "test": tests,
    }
    for split, of_pairs in splits.items():
        for (one, other), lines in of_pairs.items():
            write_rows(target, f"{split}.{one}-{other}", (one, other), rows=lines)
    return {split: check_corpus(target, [*of_pairs], [split])[split] for split, of_pairs in splits.items()}


def check_numbers(asked_for: Mapping[str, int | None]) -> None:
    """`InputError` for a set of no sentence pairs."""
    for what, number in asked_for.items():
        if number is not None and number < 1:
            raise InputError(f"{what} of {number} sentence pairs is empty; give 1 or more")


def check_different(languages: Sequence[str]) -> Sequence[str]:
    """The languages; `InputError` for two that are the same one to Tatoeba."""
    for one, other in combinations(check_languages(languages), 2):
        if three_letters(one) == three_letters(other):
            raise InputError(f"{one} and {other} are the same language to Tatoeba; leave one of them out")
    return languages


def check_left(release: Path, pair: Pair, number: int, *, left: int, test: int, valid: int) -> None:
    """`InputError` for a pair with the pivot of which none of the sentence pairs is left to train on."""
    language, pivot = pair
    if not number:
        raise InputError(
            f"{release} has no links between {pivot} and {language}: no file "
            f"{' or '.join(names_of_links(pair))}, or none of sentences that are there; "
            f"bring it, or leave {language} out"
        )
    if not left:
        raise InputError(
            f"{language}-{pivot} has {number} sentence pairs, and none is left to train on beside {test} for "
            f"the test set and {valid} for validation; leave {language} out, or hold out fewer"
        )


def read_sentences(release: Path, language: str) -> dict[str, str]:
    """The sentences of a language by their numbers; `InputError` for a line of another form."""
    code = three_letters(language)
    path = find_file(release, f"{code}_sentences.tsv")
    sentences = {}
    for number, line in enumerate(open_lines(path), start=1):
        columns = line.split("\t")
        if len(columns) != 3 or not columns[0].isdecimal():
            raise InputError(
                f"{path}, line {number} is not a sentence of the export; it needs its number, the code of "
                "its language and the sentence, with tabs between them"
            )
        if sentence := clean_sentence(columns[2]):
            sentences[columns[0]] = sentence
    return sentences


def read_pair(release: Path, pair: Pair, sentences: Mapping[str, Mapping[str, str]]) -> list[Pair]:
    """The sentences of two languages that translate each other, each pair of them once, in the order of the
    export; none where the export has no such file.
    """
    for turned, name in enumerate(names_of_links(pair)):
        with suppress(MissingFiles):
            path = find_file(release, name)
            break
    else:
        return []
    one_side, other_side = (sentences[language] for language in pair)
    links = ((right, left) if turned else (left, right) for left, right in read_links(path))
    rows = (
        (one_side[one], other_side[other]) for one, other in links if one in one_side and other in other_side
    )
    return [*dict.fromkeys(rows)]


def names_of_links(pair: Pair) -> tuple[str, str]:
    """The names that a file of the links of two languages may have."""
    one, other = map(three_letters, pair)
    return f"{one}-{other}_links.tsv", f"{other}-{one}_links.tsv"


def read_links(path: Path) -> Iterator[Pair]:
    """The numbers of two sentences that translate each other, line by line."""
    for number, line in enumerate(open_lines(path), start=1):
        columns = line.split("\t")
        if len(columns) != 2 or not all(column.isdecimal() for column in columns):
            raise InputError(
                f"{path}, line {number} is not a link of the export; it needs the numbers of two sentences "
                "with a tab between them"
            )
        yield columns[0], columns[1]


def shuffle(rows: list[Pair], pair: Pair, seed: int) -> list[Pair]:
    """The rows in an order that follows from the seed and the pair, whichever language is named first."""
    step = 1 if list(pair) == sorted(pair) else -1
    ordered = sorted(rows, key=lambda row: row[::step])
    return random.Random(f"{seed} {' '.join(sorted(pair))}").sample(ordered, len(ordered))


def is_tested(pair: Pair, rows: Sequence[Pair]) -> bool:
    """Whether a pair without the pivot has lines enough; the log says where it has not."""
    if len(rows) < FEWEST_TO_TEST:
        logger.warning(
            "%s has %d sentence pairs, fewer than %d: it is not tested",
            "-".join(pair),
            len(rows),
            FEWEST_TO_TEST,
        )
    return len(rows) >= FEWEST_TO_TEST


def leave_out(
    held_out: Mapping[Pair, Sequence[Pair]], rows: Mapping[Pair, Sequence[Pair]], name: str
) -> dict[Pair, list[Pair]]:
    """The rows without a sentence that is also in what is held out, whatever its pair."""
    seen = normalised_sentences(chain(*held_out.values()))
    kept = {pair: without_sentences(lines, seen) for pair, lines in rows.items()}
    for pair, lines in rows.items():
        left_out = len(lines) - len(kept[pair])
        logger.info("%s: pairs with a sentence of a %s set, left out: %d", "-".join(pair), name, left_out)
    return kept
