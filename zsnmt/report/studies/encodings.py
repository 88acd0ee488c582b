"""Position encodings of the encoder, with and without the residual; zero-shot also by the word orders of the
languages.

Artificial languages have word orders, which their score files name.
"""

from collections.abc import Collection, Mapping, Sequence

from zsnmt.languages import SUPERVISED, ZERO_SHOT, Direction
from zsnmt.report.notes import signature_note
from zsnmt.report.scores import Column, all_directions, runs_by_system, seeds
from zsnmt.report.significance import Side
from zsnmt.report.table import Cell, Table, join_sentences, seed_cell
from zsnmt.runs.scores import Scores
from zsnmt.runs.systems import BELOW, BY_ENCODING
from zsnmt.runs.ways import DIRECT

VARIANTS = "baseline", "residual"
COLUMNS = [
    Column(kind, DIRECT, figure)
    for kind, figure in ((SUPERVISED, "bleu"), (ZERO_SHOT, "bleu"), (ZERO_SHOT, "off_target"))
]


def encodings_table(all_scores: Sequence[Scores]) -> Table | None:
    """One row per encoding: means of the baseline and of the model without the residual; None for fewer than
    two encodings.
    """
    systems = runs_by_system(all_scores)
    found = {
        encoding: [systems.get(system.name, []) for system in pair] for encoding, pair in BY_ENCODING.items()
    }
    found |= {
        f"{encoding}, below the removal": [[], systems.get(name, [])] for encoding, name in BELOW.items()
    }
    found = {encoding: variants for encoding, variants in found.items() if any(variants)}
    if len(found) < 2:
        return None
    orders = word_orders(all_scores)
    groups = split_by_order(all_directions(all_scores), orders)
    rows = [
        {"encoding": encoding, "seeds": seeds_of(variants), **cells(variants, groups)}
        for encoding, variants in found.items()
    ]
    about = ["BLEU and off-target, means over directions.", order_note(orders)]
    signatures = signature_note(
        [scores for variants in found.values() for runs in variants for scores in runs]
    )
    table = [[*row.values()] for row in rows]
    return Table(
        "encodings",
        "Position encodings of the encoder",
        [*rows[0]],
        rows=table,
        about=join_sentences(about),
        signatures=signatures,
    )


def seeds_of(variants: Sequence[Sequence[Scores]]) -> str:
    """The seeds of an encoding; of each variant where they differ."""
    return "; ".join(dict.fromkeys(seeds(runs) for runs in variants if runs))


def cells(
    variants: Sequence[Sequence[Scores]], groups: Mapping[str, Collection[Direction]]
) -> dict[str, Cell]:
    """The figures of an encoding, by the titles of the columns; None for a variant without runs."""
    zero_shot = Column(ZERO_SHOT, DIRECT, "bleu")
    columns: dict[str, tuple[Column, Collection[Direction] | None]] = {
        column.title: (column, None) for column in COLUMNS
    }
    columns |= {
        f"{zero_shot.title}, {group}": (zero_shot, directions) for group, directions in groups.items()
    }
    return {
        f"{variant} {title}": seed_cell(column.figure, Side(runs, column).means(directions))
        for title, (column, directions) in columns.items()
        for variant, runs in zip(VARIANTS, variants)
    }


def word_orders(all_scores: Sequence[Scores]) -> dict[str, str]:
    """The word order of each language but the pivot; empty unless all are known."""
    first = all_scores[0]
    known, others = first.word_orders, [language for language in first.languages if language != first.pivot]
    return {language: known[language] for language in others} if {*others} <= {*known} else {}


def split_by_order(
    directions: Mapping[Direction, str], orders: Mapping[str, str]
) -> dict[str, list[Direction]]:
    """The zero-shot directions between languages of one word order, and of two; none where orders are not
    known.
    """
    groups: dict[str, list[Direction]] = {}
    for direction, kind in directions.items():
        if kind == ZERO_SHOT and {*direction} <= {*orders}:
            same = orders[direction.source] == orders[direction.target]
            groups.setdefault("same word order" if same else "other word order", []).append(direction)
    return groups


def order_note(orders: Mapping[str, str]) -> str:
    """The word order of each language."""
    named = ", ".join(f"{language} {order}" for language, order in orders.items())
    return f"Word orders: {named}." if named else ""
