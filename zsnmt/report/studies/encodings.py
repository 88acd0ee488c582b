"""Position encodings of the encoder, with and without the residual; zero-shot also by the word orders of the languages.

Artificial languages have word orders, which their score files name.
"""

from collections.abc import Collection, Mapping, Sequence

from zsnmt.languages import Direction
from zsnmt.report.scores import all_directions, by_system, mean_over_directions, signature_note
from zsnmt.report.table import Cell, Table, joined, over_seeds
from zsnmt.runs.systems import BELOW, ENCODINGS

VARIANTS = "baseline", "residual"
FIGURES = {"supervised": ("supervised", "bleu"), "zero-shot": ("zero_shot", "bleu"), "off-target": ("zero_shot", "off_target")}


def encodings_table(all_scores: Sequence[dict]) -> Table | None:
    """A row an encoding: means of the baseline and of the model without the residual; None for fewer than two encodings."""
    systems = by_system(all_scores)
    found = {encoding: [systems.get(system.name, []) for system in pair] for encoding, pair in ENCODINGS.items()}
    found |= {f"{encoding}, below the removal": [[], systems.get(name, [])] for encoding, name in BELOW.items()}
    found = {encoding: variants for encoding, variants in found.items() if any(variants)}
    if len(found) < 2:
        return None
    orders = word_orders(all_scores)
    groups = by_order(all_directions(all_scores), orders)
    rows = [{"encoding": encoding, **cells(variants, groups)} for encoding, variants in found.items()]
    about = ["BLEU and off-target, means over directions.", order_note(orders)]
    signatures = signature_note([scores for variants in found.values() for runs in variants for scores in runs])
    table = [[*row.values()] for row in rows]
    return Table("encodings", "Position encodings of the encoder", [*rows[0]], table, joined(about), signatures=signatures)


def cells(variants: Sequence[Sequence[dict]], groups: Mapping[str, Collection[Direction]]) -> dict[str, Cell]:
    """The figures of an encoding, by the titles of the columns; None for a variant without runs."""
    columns = {title: (*of, None) for title, of in FIGURES.items()}
    columns |= {f"zero-shot, {group}": ("zero_shot", "bleu", directions) for group, directions in groups.items()}
    return {
        f"{variant} {title}": over_seeds(figure, [mean_over_directions(scores, kind, figure, directions) for scores in runs])
        for title, (kind, figure, directions) in columns.items()
        for variant, runs in zip(VARIANTS, variants)
    }


def word_orders(all_scores: Sequence[dict]) -> dict[str, str]:
    """The word order of each language but the pivot; empty unless all are known."""
    known = all_scores[0].get("word_orders", {})
    others = [language for language in all_scores[0]["languages"] if language != all_scores[0]["pivot"]]
    return {language: known[language] for language in others} if {*others} <= {*known} else {}


def by_order(directions: Mapping[Direction, str], orders: Mapping[str, str]) -> dict[str, list[Direction]]:
    """The zero-shot directions between languages of one word order, and of two; none where orders are not known."""
    groups: dict[str, list[Direction]] = {}
    for direction, kind in directions.items():
        if kind == "zero_shot" and {*direction} <= {*orders}:
            same = orders[direction.source] == orders[direction.target]
            groups.setdefault("same word order" if same else "other word order", []).append(direction)
    return groups


def order_note(orders: Mapping[str, str]) -> str:
    """The word order of each language."""
    named = ", ".join(f"{language} {order}" for language, order in orders.items())
    return f"Word orders: {named}." if named else ""
