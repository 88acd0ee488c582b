"""The papers' own figures for their claims, computed from the values that they print."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from statistics import mean

from zsnmt.report.papers.published import LI, LIU, RAVISHANKAR, Key, published

Differences = Callable[[], Sequence[Decimal]]


@dataclass(frozen=True)
class Published:
    """What a paper has for a claim: the differences that it comes to, in the paper's units; or only words
    (`text`), where it prints none of the kind of ours; or one of these for each clause.
    """

    differences: Differences = tuple
    text: str = ""
    clauses: "Mapping[str, Published]" = field(default_factory=dict)

    def __str__(self) -> str:
        if self.clauses:
            return "; ".join(f"{clause}: {of_clause}" for clause, of_clause in self.clauses.items())
        return self.text or span(self.differences())

    def of(self, clause: str) -> Sequence[Decimal]:
        """The differences of a clause, or of the whole claim, where its clauses have none of their own."""
        if self.clauses:
            return self.clauses[clause].of(clause) if clause in self.clauses else ()
        return self.differences()


def quotation(text: str) -> Published:
    """What the paper says in words, or shows in a figure."""
    return Published(text=text)


def stated(difference: str) -> Published:
    """A difference that stands in the paper's text."""
    return Published(lambda: [number(difference)])


def by_clause(clauses: Mapping[str, Published]) -> Published:
    """The figures of a claim of several clauses."""
    return Published(clauses=clauses)


def gap(table: str, column: str, minus: str, rows: Sequence[str] = ()) -> Published:
    """A column minus another one of a table of Liu et al., over all rows or those that are named."""

    def differences() -> list[Decimal]:
        printed = published()[LIU, table]
        chosen = {key: cells for key, cells in printed.items() if not rows or " / ".join(key) in rows}
        return [
            number(cells[column]) - number(cells[minus])
            for cells in chosen.values()
            if {column, minus} <= {*cells}
        ]

    return Published(differences)


def gap_of_rows(table: str, column: str, row: str, *, minus: str) -> Published:
    """A column in the rows that end with one name minus that in those that end with another, of a table."""

    def differences() -> list[Decimal]:
        printed = published()[LIU, table]
        pairs = [(key, (*key[:-1], minus)) for key in printed if key[-1] == row]
        return [number(printed[one][column]) - number(printed[other][column]) for one, other in pairs]

    return Published(differences)


def gap_of_columns(table: str, rows: Sequence[Key], minus: Key) -> Published:
    """Some rows minus another one of a table of Li, over its columns."""

    def differences() -> list[Decimal]:
        printed = published()[LI, table]
        return [
            number(printed[row][column]) - number(printed[minus][column])
            for row in rows
            for column in printed[row]
        ]

    return Published(differences)


def gap_of_encodings(column: str, ones: Sequence[str], others: Sequence[str]) -> Published:
    """The mean of some encodings minus that of others in Table 4 of Ravishankar and Søgaard, by corpus."""

    def differences() -> list[Decimal]:
        printed = published()[RAVISHANKAR, "Table 4"]
        corpora = dict.fromkeys(corpus for corpus, _ in printed)
        means = {
            corpus: [mean(number(printed[corpus, each][column]) for each in side) for side in (ones, others)]
            for corpus in corpora
        }
        return [(one - other).quantize(Decimal("0.1")) for one, other in means.values()]

    return Published(differences)


def number(printed: str) -> Decimal:
    """A value as it is printed."""
    return Decimal(printed)


def span(differences: Sequence[Decimal]) -> str:
    """Differences with their signs: one, or the lowest and the highest."""
    ends = dict.fromkeys([min(differences), max(differences)])
    return " to ".join(f"{end:+z}" for end in ends).replace("-", "−")
