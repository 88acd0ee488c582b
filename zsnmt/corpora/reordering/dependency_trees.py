"""Dependency trees of sentences, read from CoNLL-U, and their words in the order of the tree.

The format is that of Universal Dependencies (https://universaldependencies.org/format.html). A tree has the
words with a whole number as id; ranges of multi-word tokens and empty nodes are skipped. Relations are kept
as they are written, with a subtype (`nsubj:pass`). In files words count from 1, here they are numbers from 0.
"""

from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from conllu.exceptions import ParseException
from conllu.parser import DEFAULT_FIELD_PARSERS, DEFAULT_FIELDS, Token, parse_line

from zsnmt.errors import InputError, counted
from zsnmt.text.lines import iterate_lines

# Columns that are not read may hold whatever they like.
PARSERS = DEFAULT_FIELD_PARSERS | dict.fromkeys(
    ("xpos", "feats", "deps", "misc"), lambda columns, number: columns[number]
)


class Tree(NamedTuple):
    """A sentence of n words: n forms, universal parts of speech, relations, and heads (numbers from 0,
    None for the root).
    """

    forms: tuple[str, ...]
    upos: tuple[str, ...]
    relations: tuple[str, ...]
    heads: tuple[int | None, ...]


def read_trees(path: Path) -> Iterator[Tree]:
    """The trees of a CoNLL-U file, one at a time. A space within a word becomes a no-break space.

    Raises `InputError`, with the line, for text that is not UTF-8 or not CoNLL-U, for words not numbered 1,
    2, ..., for one without part of speech, relation or a head in the sentence, for a cycle and for a sentence
    that has not one root; and for a file without trees.
    """
    found = False
    for place, words in sentences(path):
        found = True
        yield make_tree(words, place)
    if not found:
        raise InputError(f"{path} has no trees; give a CoNLL-U file, with one line of ten columns per word")


def text_of(tree: Tree, order: Sequence[int] | None = None) -> str:
    """The words parted by spaces, as in the sentence or in another order of their numbers."""
    return " ".join(tree.forms if order is None else [tree.forms[word] for word in order])


def local_orders(heads: Sequence[int | None]) -> list[list[int]]:
    """For each word its children and itself, as they follow each other in the sentence."""
    orders: list[list[int]] = [[] for _ in heads]
    for word, head in enumerate(heads):
        orders[word].append(word)
        if head is not None:
            orders[head].append(word)
    return [sorted(order) for order in orders]


def linearise(root: int, orders: Sequence[Sequence[int]]) -> list[int]:
    """The words below a root as its local order says, each child with all that is below it in its place."""
    words: list[int] = []
    waiting: list[tuple[int, int | None]] = [(root, None)]
    while waiting:
        word, head = waiting.pop()
        if word == head:
            words.append(word)
        else:
            waiting.extend((child, word) for child in reversed(orders[word]))
    return words


def is_projective(heads: Sequence[int | None]) -> bool:
    """Whether each word between a head and its child descends from that head, so that the tree gives back the
    sentence.

    Arcs that cross are not enough of a test: of heads 2, 0, 1 none do, and yet the root stands between 1 and
    its child 3.
    """
    return linearise(heads.index(None), local_orders(heads)) == list(range(len(heads)))


def sentences(path: Path) -> Iterator[tuple[str, list[Token]]]:
    """The words of each sentence, and where it begins."""
    place = ""
    words: list[Token] = []
    for number, line in enumerate(chain(iterate_lines(path, allow_empty_lines=True), [""]), start=1):
        if not line.strip():
            if words:
                yield place, words
            place, words = "", []
        elif not line.startswith("#"):
            here = f"{path}, line {number}"
            place = place or here
            word = parse(line, here)
            if not isinstance(word["id"], tuple):
                check_word(word, len(words) + 1, here)
                words.append(word)


def parse(line: str, place: str) -> Token:
    columns = line.count("\t") + 1
    if columns != len(DEFAULT_FIELDS):
        raise InputError(
            f"{place} has {counted(columns, 'column')}; a word of CoNLL-U has {len(DEFAULT_FIELDS)}, "
            "parted by tabs"
        )
    try:
        # the parser would also part columns at two spaces
        return parse_line(line.replace(" ", "\N{NO-BREAK SPACE}"), DEFAULT_FIELDS, dict(PARSERS))
    except ParseException as error:
        raise InputError(f"{place}: {error}; correct that column") from None


def check_word(word: Token, number: int, place: str) -> None:
    if word["id"] != number:
        raise InputError(
            f"{place} has word {word['id'] or '_'} where {number} is next; number the words of a sentence "
            "1, 2, ..."
        )
    for field in ("form", "upos", "deprel"):
        if not word[field].strip() or (word[field] == "_" and field != "form"):
            raise InputError(f"{place} has no {field}; fill the column, for example with a parser")
    if word["head"] is None:
        raise InputError(f"{place} has no head; give the number of a word, or 0 for the root")


def make_tree(words: Sequence[Token], place: str) -> Tree:
    """The tree of a sentence that begins at a place; raises `InputError` where its heads make none."""
    for word in words:
        if not 0 <= word["head"] <= len(words):
            raise InputError(
                f"{place}: the head of word {word['id']} is {word['head']}, but the sentence has "
                f"{len(words)} words"
            )
    heads = tuple(word["head"] - 1 if word["head"] else None for word in words)
    if heads.count(None) != 1:
        raise InputError(f"{place}: the sentence has {heads.count(None)} roots; exactly one word has head 0")
    reached = linearise(heads.index(None), local_orders(heads))
    if len(reached) < len(words):
        lost = min(set(range(len(words))).difference(reached))
        raise InputError(f"{place}: word {lost + 1} is in or below a cycle; its heads never lead to the root")
    forms, upos, relations = (tuple(word[field] for word in words) for field in ("form", "upos", "deprel"))
    return Tree(forms, upos, relations, heads=heads)
