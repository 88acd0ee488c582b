"""The papers' own figures for their claims, computed from the values that they print."""

from collections.abc import Callable, Sequence
from decimal import Decimal
from statistics import mean

from zsnmt.report.papers.published import LI, LIU, RAVISHANKAR, Key, published

Published = Callable[[], str]  # the figure as text


def quotation(text: str) -> Published:
    """What the paper has no table for."""
    return lambda: text


def gap(table: str, column: str, minus: str, rows: Sequence[str] = ()) -> Published:
    """A column minus another one of a table of Liu et al., over all rows or those that are named."""

    def text() -> str:
        printed = published()[LIU, table]
        chosen = {key: cells for key, cells in printed.items() if not rows or " / ".join(key) in rows}
        return span(
            [
                number(cells[column]) - number(cells[minus])
                for cells in chosen.values()
                if {column, minus} <= {*cells}
            ]
        )

    return text


def gap_of_rows(table: str, column: str, row: str, *, minus: str) -> Published:
    """A column in the rows that end with one name minus that in those that end with another, of a table."""

    def text() -> str:
        printed = published()[LIU, table]
        pairs = [(key, (*key[:-1], minus)) for key in printed if key[-1] == row]
        return span([number(printed[one][column]) - number(printed[other][column]) for one, other in pairs])

    return text


def two_figures(one: Published, other: Published) -> Published:
    """Two figures of a claim with two parts."""
    return lambda: f"{one()} and {other()}"


def gap_of_columns(table: str, rows: Sequence[Key], minus: Key) -> Published:
    """Some rows minus another one of a table of Li, over its columns."""

    def text() -> str:
        printed = published()[LI, table]
        return span(
            [
                number(printed[row][column]) - number(printed[minus][column])
                for row in rows
                for column in printed[row]
            ]
        )

    return text


def gap_of_encodings(column: str, ones: Sequence[str], others: Sequence[str]) -> Published:
    """The mean of some encodings minus that of others in Table 4 of Ravishankar and Søgaard, by corpus."""

    def text() -> str:
        printed = published()[RAVISHANKAR, "Table 4"]
        corpora = dict.fromkeys(corpus for corpus, _ in printed)
        means = {
            corpus: [mean(number(printed[corpus, each][column]) for each in side) for side in (ones, others)]
            for corpus in corpora
        }
        return span([(one - other).quantize(Decimal("0.1")) for one, other in means.values()])

    return text


def number(printed: str) -> Decimal:
    """A value as it is printed."""
    return Decimal(printed)


def span(differences: Sequence[Decimal]) -> str:
    """Differences with their signs: one, or the lowest and the highest."""
    ends = dict.fromkeys([min(differences), max(differences)])
    return " to ".join(f"{end:+z}" for end in ends).replace("-", "−")
