"""A few real lines of the directions without training text, and their data (Wu et al. 2024).

They come from the training text, where two languages have translations of the same sentence of the pivot,
else from the validation text, which then loses them. None has a side in common with a test sentence, nor with
the validation text that stays, by the comparison of `zsnmt.corpora.overlap`.
"""

import random
from collections.abc import Collection, Mapping, Sequence
from functools import partial
from itertools import chain, combinations
from pathlib import Path
from typing import NamedTuple

from zsnmt.corpora.overlap import held_out_sentences, normalised_sentences, without_sentences
from zsnmt.corpora.parallel_text import TRAIN, VALID, find_pair, pairs_of_split, write_rows
from zsnmt.distillation.data import binarise_few_lines, reverse
from zsnmt.distillation.settings import SEED
from zsnmt.errors import InputError
from zsnmt.files.locks import locked
from zsnmt.files.records import write_json
from zsnmt.files.replacing import replacing_folder
from zsnmt.languages import Direction, parse_direction
from zsnmt.processes import cores
from zsnmt.text.lines import read_lines
from zsnmt.training.experiment import Experiment
from zsnmt.training.steps import Steps

RECORD_FILE = "few_lines.json"
PART_NAMES = {TRAIN: "training text", VALID: "validation text"}  # where lines come from
Lines = list[tuple[str, str]]  # a sentence of each language


class FewLines(NamedTuple):
    """The directions that a few lines are of, and the folder of all that is made of them."""

    directions: list[Direction]
    folder: Path

    @property
    def text(self) -> Path:
        """Parallel text and the record of it."""
        return self.folder / "text"

    @property
    def data(self) -> Path:
        """The text, binarised."""
        return self.folder / "data"

    @property
    def record(self) -> Path:
        """The file that says how many lines there are and where they come from."""
        return self.text / RECORD_FILE


def make_few_lines(steps: Steps, experiment: Experiment, number: int, *, trained: Sequence[str]) -> FewLines:
    """Choose so many lines of each pair of languages that has none and binarise them, unless it was done.

    `trained` are the directions with training text. Raises `InputError` where there are no such pairs, or
    not so many lines.
    """
    languages = experiment.config.languages
    pairs = untrained_pairs(languages, trained)
    directions = [each for pair in pairs for each in (pair, reverse(pair))]
    few = FewLines(directions, experiment.folder / "few_lines" / str(number))
    choose = partial(
        write_few_lines, experiment.text, few.text, languages=languages, pairs=pairs, number=number
    )
    work = partial(binarise_few_lines, few.text, few.data, authentic=experiment.data, workers=cores())
    settings = {"lines": number, "pairs": [*map(str, pairs)]}
    with locked(few.folder, steps.say):
        steps.make(few.folder, "text", few.text, work=choose, inputs=[experiment.text], settings=settings)
        steps.make(few.folder, "data", few.data, work=work, inputs=[few.text, experiment.data], settings={})
    return few


def untrained_pairs(languages: Sequence[str], trained: Collection[str]) -> list[Direction]:
    """The pairs of languages, none of them the pivot, without training text either way; `InputError` for
    none.
    """
    known = {*map(parse_direction, trained)}
    pairs = [Direction(*pair) for pair in combinations(languages[1:], 2)]
    if found := [pair for pair in pairs if not {pair, reverse(pair)} & known]:
        return found
    raise InputError("all directions have training text, so none is to be learned from a few lines")


def write_few_lines(
    text: Path, folder: Path, *, languages: Sequence[str], pairs: Sequence[Direction], number: int
) -> None:
    """Write the chosen lines as training text, with the validation text that is left where they come from it,
    and what they are.
    """
    source, chosen = choose_lines(text, languages, pairs, number=number)
    with replacing_folder(folder) as part:
        for pair, lines in chosen.items():
            write_rows(part, f"{TRAIN}.{pair}", pair, rows=lines)
        if source == VALID:
            for pair, lines in remaining_validation(text, languages, chosen).items():
                write_rows(part, f"{VALID}.{pair}", pair, rows=lines)
        content = {"lines": number, "from": PART_NAMES[source], "pairs": [*map(str, chosen)]}
        write_json(part / RECORD_FILE, content)


def choose_lines(
    text: Path, languages: Sequence[str], pairs: Sequence[Direction], number: int
) -> tuple[str, dict[Direction, Lines]]:
    """Where the lines come from, and those of each pair: of the same part of the text for all.

    Their order depends on their number alone, so that those of a multiway set are the same for all pairs.
    Raises `InputError` where no part has as many lines.
    """
    available = {}
    for source, candidates in {TRAIN: join_through_pivot, VALID: validation_lines}.items():
        found = candidates(text, languages, pairs)
        if all(len(lines) >= number for lines in found.values()):
            return source, {pair: lines[:number] for pair, lines in found.items()}
        available[source] = found
    pair = next(pair for pair, lines in available[VALID].items() if len(lines) < number)
    counts = " and ".join(
        f"{len(available[source][pair])} in its {name}" for source, name in PART_NAMES.items()
    )
    raise InputError(
        f"{text} has not {number} lines of {pair} apart from test sentences: {counts}; give fewer "
        "--few-lines, or add validation text between these languages"
    )


def join_through_pivot(
    text: Path, languages: Sequence[str], pairs: Sequence[Direction]
) -> dict[Direction, Lines]:
    """Of each pair the sentences beside the same sentence of the pivot in the training text."""
    pivot = languages[0]
    trained = {other for one, other in pairs_of_split(text, TRAIN, languages) if one == pivot}
    beside: dict[str, dict[str, str]] = {language: {} for language in languages}
    for language in trained:
        for sentence, translation in zip(*map(read_lines, find_pair(text, TRAIN, pivot, target=language))):
            beside[language].setdefault(sentence, translation)
    held_out = held_out_sentences(text, languages)
    found = {}
    for pair in pairs:
        one, other = (beside[language] for language in pair)
        lines = [(one[sentence], other[sentence]) for sentence in one if sentence in other]
        found[pair] = without_sentences(shuffle(lines), held_out)
    return found


def validation_lines(
    text: Path, languages: Sequence[str], pairs: Sequence[Direction]
) -> dict[Direction, Lines]:
    """Of each pair its validation text, but for what is in a test set."""
    there = pairs_of_split(text, VALID, languages)
    tested = held_out_sentences(text, languages, ["test"])
    lines = {pair: shuffle(read_pair(text, pair)) if pair in there else [] for pair in pairs}
    return {pair: without_sentences(of_pair, tested) for pair, of_pair in lines.items()}


def read_pair(text: Path, pair: tuple[str, str]) -> Lines:
    """The validation text of a pair."""
    source, target = pair
    return [*zip(*map(read_lines, find_pair(text, VALID, source, target=target)))]


def remaining_validation(
    text: Path, languages: Sequence[str], chosen: Mapping[Direction, Lines]
) -> dict[Direction, Lines]:
    """The validation text of all other pairs without the sentences that were chosen; `InputError` where
    nothing is left of a pair.
    """
    taken = normalised_sentences(chain(*chosen.values()))
    left = {}
    for pair in pairs_of_split(text, VALID, languages):
        if pair not in chosen:
            left[Direction(*pair)] = without_sentences(read_pair(text, pair), taken)
            if not left[Direction(*pair)]:
                raise InputError(
                    f"{len(next(iter(chosen.values())))} lines of every pair are all the validation text of "
                    f"{'-'.join(pair)} in {text}; give fewer --few-lines"
                )
    return left


def shuffle(lines: Lines) -> Lines:
    """The lines in an order by chance."""
    return random.Random(SEED).sample(lines, len(lines))
