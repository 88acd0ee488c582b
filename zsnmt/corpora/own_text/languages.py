"""Which languages of a person's text are trained, which of them is the pivot, and the text of two of them."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations

from zsnmt.corpora.own_text.table import Row, Table
from zsnmt.corpora.parallel_text import FEWEST_TO_TRAIN
from zsnmt.errors import InputError, OnFault, refuse
from zsnmt.languages import Pair, check_languages
from zsnmt.text.iso_639 import two_letters

ENGLISH = "en"


def choose_languages(tables: Iterable[Table], given: Sequence[str] = ()) -> tuple[str, ...]:
    """The languages to train, the pivot first: those `given`, or all that have training text.

    The pivot is the language that all training text shares; where that are several, English, or of a single
    pair the first in the alphabet. Raises `InputError` where no language is shared, or several without
    English, and for a given language without training text.
    """
    trained = [table for table in tables if table.split == "train"]
    there = sorted({language for table in trained for language in table.languages})
    if given:
        if missing := [language for language in check_languages(given) if language not in there]:
            raise InputError(
                f"there is no training text for {', '.join(missing)}; the languages there are "
                f"{', '.join(there)}"
            )
        return tuple(given)
    shared = sorted(set.intersection(*(table.pivots for table in trained)))
    if not shared:
        listed = ", ".join(dict.fromkeys("-".join(sorted(table.languages)) for table in trained))
        raise InputError(
            f"no language is in all of {listed}, as the pivot must be; name the languages to train by "
            "--languages, the pivot first"
        )
    english = [language for language in shared if two_letters(language) == ENGLISH]
    if not english and len(shared) > 1 and len(there) > 2:
        raise InputError(
            f"all of {', '.join(shared)} could be the pivot; name the languages by --languages, the pivot "
            "first"
        )
    pivot = (english or shared)[0]
    return (pivot, *(language for language in there if language != pivot))


def pairs_of(table: Table, languages: Sequence[str], *, all_pairs: bool = False) -> dict[Pair, int]:
    """The pairs of these languages that a table gives text for, in their order, each with the number of its
    rows, as far as they are counted; of training text whose rows have the pivot, the first, those with it,
    unless `all_pairs` are trained.
    """
    rows = table.rows_of_pairs(None if all_pairs else languages[0])
    return {pair: rows[found] for pair in combinations(languages, 2) if (found := frozenset(pair)) in rows}


def fewest_rows(tables: Iterable[Table], pair: Pair, pivot: str) -> int:
    """How many rows of these tables give two languages text. Where training text in several languages lacks
    the pivot here and there, a few such rows are an oversight, and make no trained direction.
    """
    alone = any(table.split != "train" or not table.has_gaps for table in tables)
    return 1 if pivot in pair or alone else FEWEST_TO_TRAIN


def all_sentence_pairs(
    table: Table, pairs: Sequence[Pair], pivot: str | None = None, *, on_fault: OnFault = refuse
) -> Iterator[tuple[Pair, Row]]:
    """The sentences of pairs of languages in rows that give text for them (`Table.given`), each with its
    pair; one reading for all.
    """
    pairs = [pair for pair in pairs if frozenset(pair) not in table.apart]
    for row in table.rows(on_fault) if pairs else ():
        sentences = table.sentences(row)
        for one, other in table.given(sentences, pairs, pivot):
            yield (one, other), (sentences[one], sentences[other])
