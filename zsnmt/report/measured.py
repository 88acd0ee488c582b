"""Measured figures with their spread, and tables of them as Markdown and TSV."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import NamedTuple

MISSING = "–"


class Form(NamedTuple):
    """How a figure of a score file is shown: multiplied by `factor`, with so many digits, then the unit."""

    title: str
    factor: float = 1
    digits: int = 1
    unit: str = ""


FORMS = {
    "bleu": Form("BLEU"),
    "chrf": Form("chrF++"),
    "off_target": Form("off-target", 100, 1, " %"),
    "reference_error": Form("identifier's error", 100, 1, " %"),
    "copied": Form("copied", 100, 1, " %"),
    "length_ratio": Form("length ratio", 1, 2),
    "empty": Form("empty", 1, 0),
}


@dataclass(frozen=True)
class Measured:
    """A figure in the units of the score file: mean, and deviation or interval where they are known.

    A difference is written with its sign; `note` says what a reader must know of this one figure.
    """

    figure: str
    mean: float
    deviation: float | None = None
    interval: tuple[float, float] | None = None
    difference: bool = False
    note: str = ""

    def __str__(self) -> str:
        form = FORMS[self.figure]
        unit = " points" if self.difference and form.unit else form.unit

        def shown(value: float, sign: str = "-") -> str:
            return f"{form.factor * value:{sign}z.{form.digits}f}".replace("-", "−")

        text = shown(self.mean, "+" if self.difference else "-")
        if self.deviation:  # none is written where all seeds agree, as on the references
            text += f" ± {shown(self.deviation)}"
        text += unit
        if self.interval is not None:
            text += f" [{shown(self.interval[0])}, {shown(self.interval[1])}]"
        return text + f" ({self.note})" * bool(self.note)


Cell = str | Measured | None


def over_seeds(
    figure: str, values: Sequence[float | None], interval: Sequence[float] | None = None, difference: bool = False
) -> Measured | None:
    """The mean over the seeds and, with two or more, the sample deviation; None where a seed has no value.

    An interval belongs to one model, so it is kept only when there is one seed.
    """
    if not values or None in values:
        return None
    if len(values) > 1:
        return Measured(figure, fmean(values), stdev(values), difference=difference)
    return Measured(figure, values[0], interval=tuple(interval) if interval else None, difference=difference)


@dataclass(frozen=True)
class Table:
    """A table to print: rows as long as `columns`, of which the first `headers` name the row; `note` says what it holds."""

    name: str
    title: str
    columns: list[str]
    rows: list[list[Cell]]
    note: str
    headers: int = 1

    def numbers(self) -> list[bool]:
        """Which columns hold figures."""
        return [any(isinstance(row[place], Measured) for row in self.rows) for place in range(len(self.columns))]

    def without_empty_columns(self) -> "Table":
        """The table without the columns that no row has a cell for."""
        kept = [place for place in range(len(self.columns)) if any(row[place] is not None for row in self.rows)]
        return Table(
            self.name,
            self.title,
            [self.columns[place] for place in kept],
            [[row[place] for place in kept] for row in self.rows],
            self.note,
            self.headers,
        )


def shown(cell: Cell) -> str:
    """A cell as text; a dash for one without value."""
    return MISSING if cell is None else str(cell)


def markdown(table: Table) -> str:
    """The table with its title and note."""
    rows = [
        table.columns,
        ["---:" if number else "---" for number in table.numbers()],
        *([shown(cell).replace("|", "\\|") for cell in row] for row in table.rows),
    ]
    return "\n".join([f"### {table.title}", "", *(f"| {' | '.join(row)} |" for row in rows), "", table.note, ""])


_PARTS: dict[str, Callable[[Measured], object]] = {
    "": lambda cell: cell.mean,
    " deviation": lambda cell: cell.deviation,
    " low": lambda cell: cell.interval and cell.interval[0],
    " high": lambda cell: cell.interval and cell.interval[1],
    " note": lambda cell: cell.note or None,
}


def tsv(table: Table) -> str:
    """The table as numbers in the units of the score files; deviation, interval and note have columns of their own."""
    columns = []
    for title, cells in zip(table.columns, zip(*table.rows)):
        for part, of in _PARTS.items():
            values = [of(cell) if isinstance(cell, Measured) else None if part else cell for cell in cells]
            if not part or any(value is not None for value in values):
                columns.append([title + part, *values])
    return "".join("\t".join(map(_tsv_cell, row)) + "\n" for row in zip(*columns))


def _tsv_cell(value: object) -> str:
    return "" if value is None else " ".join(str(value).split())


def joined(parts: Iterable[str]) -> str:
    """Sentences that say something, with a space between."""
    return " ".join(part.strip() for part in parts if part.strip())
