"""Sentence pairs with a label of inference: MultiNLI 1.0 (Williams et al. 2018) and XNLI 1.0 (Conneau et al.
2018).

Both releases come as JSON lines and as a table with tabs, a header and no quoting (`"` is a character like
any other); `gold_label` is `-` where the annotators did not agree. One file of XNLI holds all languages.
"""

import json
import logging
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from zsnmt.corpora.releases.release import MissingFiles, clean_sentence, find_file, open_lines
from zsnmt.errors import InputError, counted

LABELS = ("entailment", "neutral", "contradiction")
NO_LABEL = "-"
LANGUAGE, LABEL, PREMISE, HYPOTHESIS = (
    "language",
    "gold_label",
    "sentence1",
    "sentence2",
)  # the releases' names of columns

logger = logging.getLogger(__name__)


class Pair(NamedTuple):
    """A premise, a hypothesis, and one of LABELS."""

    premise: str
    hypothesis: str
    label: str


def read_multinli(release: Path) -> list[Pair]:
    """The training pairs of the folder of a release; raises `InputError` for a file that is missing or no
    such release.
    """
    path = find_either(release, "multinli_1.0_train.jsonl", "multinli_1.0_train.txt")
    return usable_pairs(path, [*records(path, (LABEL, PREMISE, HYPOTHESIS))], path.name)


def read_xnli(release: Path, split: str, languages: Sequence[str]) -> dict[str, list[Pair]]:
    """The pairs of a split, dev or test, in each language, in the order of the release's folder.

    Raises `InputError` for a file that is missing or no such release, for a language that it lacks, and where
    one has more pairs than another, since they say the same in every language.
    """
    path = find_either(release, f"xnli.{split}.jsonl", f"xnli.{split}.tsv")
    found: dict[str, list[tuple[str, ...]]] = {}
    for language, *record in records(path, (LANGUAGE, LABEL, PREMISE, HYPOTHESIS)):
        found.setdefault(language, []).append(tuple(record))
    if missing := [language for language in languages if language not in found]:
        raise InputError(f"{path} has no pairs in '{missing[0]}'; choose from {', '.join(found)}")
    if len({len(found[language]) for language in languages}) > 1:
        listed = ", ".join(f"{language} {len(found[language])}" for language in languages)
        raise InputError(
            f"{path} has more pairs in one language than in another ({listed}); get the release again"
        )
    return {
        language: usable_pairs(path, found[language], f"{path.name}, {language}") for language in languages
    }


def find_either(release: Path, *names: str) -> Path:
    """The first of the files that is in a folder or below it; raises `InputError` if none is."""
    for name in names:
        try:
            return find_file(release, name)
        except MissingFiles:
            pass
    raise InputError(
        f"{release} and the folders below it have no {' and no '.join(names)}; unpack the release there"
    )


def records(path: Path, fields: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """The fields of each line, with a known label and clean sentences; raises `InputError` for any other
    line.
    """
    lines = enumerate(open_lines(path), start=1)
    read = json_reader(fields) if ".jsonl" in path.suffixes else table_reader(path, fields, next(lines)[1])
    for number, line in lines:
        try:
            record = dict(zip(fields, read(line)))
        except ValueError as error:
            raise InputError(
                f"{path}, line {number} {error}; get the release again, and do not change it"
            ) from None
        if record[LABEL] not in (*LABELS, NO_LABEL):
            raise InputError(
                f"{path}, line {number} has the label '{record[LABEL]}', which is not one of "
                f"{', '.join(LABELS)} and {NO_LABEL}; get the release again, and do not change it"
            )
        record |= {side: clean_sentence(record[side]) for side in (PREMISE, HYPOTHESIS)}
        yield tuple(record.values())


def json_reader(fields: Sequence[str]) -> Callable[[str], list[str]]:
    """What reads the fields of a line; it raises ValueError, which says what the line is."""

    def read(line: str) -> list[str]:
        try:
            record = json.loads(line)
            values = [record[field] for field in fields]
        except (ValueError, KeyError, TypeError):
            values = [None]
        if not all(isinstance(value, str) for value in values):
            raise ValueError(f"is not a JSON object with text in {', '.join(fields)}")
        return values

    return read


def table_reader(path: Path, fields: Sequence[str], header: str) -> Callable[[str], list[str]]:
    """Likewise, for rows below a header; raises `InputError` for one that lacks a field.

    A row may end early, since columns at its end may be empty. What is returned raises ValueError for a row
    that ends too early, or is longer than the header.
    """
    titles = header.split("\t")
    if missing := [field for field in fields if field not in titles]:
        raise InputError(
            f"{path}, line 1 names no column {missing[0]}; the first line must be the header of the release"
        )
    places = [titles.index(field) for field in fields]

    def read(line: str) -> list[str]:
        cells = line.split("\t")
        if not max(places) < len(cells) <= len(titles):
            raise ValueError(f"has {counted(len(cells), 'column')}, and the header {len(titles)}")
        return [cells[place] for place in places]

    return read


def usable_pairs(path: Path, found: Sequence[tuple[str, ...]], name: str) -> list[Pair]:
    """The pairs with a label and two sentences; the log says how many have none. Raises `InputError` if no
    pair is left.
    """
    labelled = [record for record in found if record[0] != NO_LABEL]
    pairs = [
        Pair(premise, hypothesis, label) for label, premise, hypothesis in labelled if premise and hypothesis
    ]
    if not pairs:
        raise InputError(f"{path} has no pair with a label and two sentences; get the release again")
    for what, number in (
        ("a gold label", len(found) - len(labelled)),
        ("two sentences", len(labelled) - len(pairs)),
    ):
        if number:
            logger.warning("%s: pairs without %s, left out: %d", name, what, number)
    return pairs
