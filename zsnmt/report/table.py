"""Measured figures with their spread, and tables of them for a terminal, as Markdown and as TSV."""

import textwrap
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean, stdev
from typing import TypeVar

from zsnmt.files.replacing import replacing
from zsnmt.scoring.figures import FIGURES, Form

MISSING = "–"
PER_CENT = " %"
WIDTH = 100  # of a terminal


FORMS = {name: figure.form for name, figure in FIGURES.items()} | {  # and what other files have
    "loss": Form("validation loss", 1, 3, unit=" bits"),
    "accuracy": Form("accuracy", 100, 1, unit=" %"),
    "retrieval": Form("retrieval", 100, 1, unit=" %"),
    "svcca": Form("SVCCA", 1, 3),
    "cka": Form("CKA", 1, 3),
    "perplexity": Form("perplexity"),
    "translation": Form("translation", 100, 1, unit=" %"),
    "ml_score": Form("ML score", 100, 1, unit=" %"),
    "procrustes": Form("Procrustes loss", 1, 3),
    "bands": Form("variance in bands", 100, 0, unit=" %"),
    "kept": Form("directions kept"),
    "explained": Form("explained variance", 100, 1, unit=" %"),
}


@dataclass(frozen=True)
class Measured:
    """A figure in the units of the score file: mean, and deviation or interval where they are known.

    A difference is written with its sign, and has the p-value of a test where there was one; `note` says what
    a reader must know of this one figure. A published one is shown as it is `printed`.
    """

    figure: str
    mean: float
    deviation: float | None = None
    interval: Sequence[float] | None = None
    difference: bool = False
    p: float | None = None
    note: str = ""
    printed: str = ""

    def __str__(self) -> str:
        return " ".join([self.head, *self.tail])

    @property
    def head(self) -> str:
        """The figure, with its deviation."""
        # No deviation is written where all seeds agree, as on the references.
        deviation = f" ± {self.shown(self.deviation)}" if self.deviation else ""
        return f"{self.number}{deviation}{self.unit}"

    @property
    def number(self) -> str:
        """The mean as text, without its unit."""
        return self.printed or self.shown(self.mean, "+" if self.difference else "-")

    @property
    def unit(self) -> str:
        """That of the figure, with a space before it; differences of shares are points."""
        unit = FORMS[self.figure].unit
        return " points" if self.difference and unit == PER_CENT else unit

    @property
    def tail(self) -> list[str]:
        """What is known of it besides: interval, p-value, note."""
        interval = [] if self.interval is None else [f"[{', '.join(map(self.shown, self.interval))}]"]
        p = "" if self.p is None else f"p = {self.p:.3f}".replace("= 0.000", "< 0.001")
        return [*interval, *filter(None, [p, f"({self.note})" if self.note else ""])]

    def shown(self, value: float, sign: str = "-") -> str:
        """A value of the figure as text, without its unit."""
        form = FORMS[self.figure]
        return f"{form.factor * value:{sign}z.{form.digits}f}".replace("-", "−")


Cell = str | Measured | None
T = TypeVar("T")


def complete(values: Sequence[T | None]) -> list[T] | None:
    """The values, of which none is missing; None where one is."""
    known = [value for value in values if value is not None]
    return known if len(known) == len(values) else None


def seed_cell(
    figure: str, values: Sequence[float | None], interval: Sequence[float] | None = None
) -> Measured | None:
    """The mean over the seeds and, with two or more, the sample deviation; None where a seed has no value.

    An interval belongs to one model, so it is kept only when there is one seed.
    """
    known = complete(values)
    if not known:
        return None
    if len(known) > 1:
        return Measured(figure, fmean(known), stdev(known))
    return Measured(figure, known[0], interval=tuple(interval) if interval else None)


@dataclass(frozen=True)
class Table:
    """A table to print: rows as long as `columns`, of which the first `headers` name the row; `about` says
    what it holds.

    `signatures`, where it is there, says what the figures depend on. `own_intervals`: `about` says what the
    intervals are, which are none of the bootstrap.
    """

    name: str
    title: str
    columns: list[str]
    rows: Sequence[Sequence[Cell]]
    about: str
    headers: int = 1
    signatures: str = ""
    own_intervals: bool = False

    @property
    def note(self) -> str:
        """What it holds, and what its figures have beside them."""
        return join_sentences([self.about, spread_note([self])])

    def numbers(self) -> list[bool]:
        """Which columns hold figures."""
        return [
            any(isinstance(row[place], Measured) for row in self.rows) for place in range(len(self.columns))
        ]

    def only(self, columns: Iterable[str]) -> "Table":
        """The table with some of its columns, those that it has."""
        kept = [self.columns.index(title) for title in columns if title in self.columns]
        rows = [[row[place] for place in kept] for row in self.rows]
        return replace(self, columns=[self.columns[place] for place in kept], rows=rows)

    def without_empty_columns(self) -> "Table":
        """The table without the columns that no row has a cell for."""
        return self.only(
            title
            for place, title in enumerate(self.columns)
            if any(row[place] is not None for row in self.rows)
        )


def spread_note(tables: Iterable[Table]) -> str:
    """What deviations, brackets and p-values are, where there are any."""
    found = [
        (table, cell) for table in tables for row in table.rows for cell in row if isinstance(cell, Measured)
    ]
    cells = [cell for _, cell in found]
    return join_sentences(
        [
            "± is the deviation over the seeds." if any(cell.deviation for cell in cells) else "",
            "In brackets 95 % intervals by bootstrap resampling of the test lines."
            if any(cell.interval for table, cell in found if not table.own_intervals)
            else "",
            "p: paired bootstrap test on the same lines, of the means over the seeds."
            if any(cell.p for cell in cells)
            else "",
        ]
    )


def format_cell(cell: Cell) -> str:
    """A cell as text; a dash for one without value."""
    return MISSING if cell is None else str(cell)


def markdown_table(table: Table) -> str:
    """The table with its title and note."""
    return (
        f"### {table.title}\n\n{markdown_rows(table)}\n\n{join_sentences([table.note, table.signatures])}\n"
    )


def markdown_rows(table: Table) -> str:
    """The table alone."""
    return markdown_grid(table.columns, table.rows, table.numbers())


def markdown_grid(columns: Sequence[str], rows: Iterable[Sequence[Cell]], numbers: Sequence[bool]) -> str:
    """Rows under the titles of their columns in Markdown; `numbers`: which columns hold figures."""
    titles, *cells = ([format_cell(cell).replace("|", "\\|") for cell in row] for row in (columns, *rows))
    lines = titles, ["---:" if number else "---" for number in numbers], *cells
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def text_rows(table: Table, width: int = WIDTH) -> str:
    """The table for a terminal, each row of it a column; rows that do not fit side by side follow in a
    block of their own.
    """
    lines: list[Sequence[Cell]] = [table.columns, *table.rows]
    titles, *columns = (pad([format_cell(cell) for cell in cells]) for cells in lines)
    blocks = [[titles]]
    for column in columns:
        if len(blocks[-1]) > 1 and len("  ".join(cells[0] for cells in (*blocks[-1], column))) > width:
            blocks.append([titles])
        blocks[-1].append(column)
    return "\n\n".join(
        rule(["  ".join(cells).rstrip() for cells in zip(*block)], table.headers) for block in blocks
    )


def pad(cells: Sequence[str]) -> list[str]:
    """Cells as wide as the widest of them."""
    width = max(map(len, cells))
    return [cell.ljust(width) for cell in cells]


def rule(lines: Sequence[str], headers: int) -> str:
    """Lines with a rule below the first ones."""
    return "\n".join([*lines[:headers], "-" * max(map(len, lines)), *lines[headers:]])


def wrap(prose: str, width: int = WIDTH) -> str:
    """Prose for a terminal; what is longer than a line, as a signature may be, is not broken."""
    return textwrap.fill(prose, width, break_long_words=False, break_on_hyphens=False)


PARTS: dict[str, Callable[[Measured], object]] = {
    "": lambda cell: cell.mean,
    " deviation": lambda cell: cell.deviation,
    " low": lambda cell: cell.interval and cell.interval[0],
    " high": lambda cell: cell.interval and cell.interval[1],
    " p": lambda cell: cell.p,
    " note": lambda cell: cell.note or None,
}


def tsv(table: Table) -> str:
    """The table as numbers in the units of the score files; deviation, interval and note have columns of
    their own.
    """
    columns = []
    for title, cells in zip(table.columns, zip(*table.rows)):
        for part, of in PARTS.items():
            values = [of(cell) if isinstance(cell, Measured) else None if part else cell for cell in cells]
            if not part or any(value is not None for value in values):
                columns.append([title + part, *values])
    return "".join("\t".join(map(tsv_cell, row)) + "\n" for row in zip(*columns))


def write_tsv(path: Path, columns: Sequence[str], rows: Sequence[Sequence]) -> None:
    """Write rows under the names of their columns, each value as it is."""
    with replacing(path) as file:
        file.write(tsv(Table("", "", [*columns], rows=[*map(list, rows)], about="")).encode("utf-8"))


def numbers_in_short(numbers: Iterable[int]) -> str:
    """Different numbers in their order, four neighbours and more as a range: `1, 2, 7–12`."""
    found: list[list[int]] = []
    for number in sorted(numbers):
        if found and number == found[-1][-1] + 1:
            found[-1].append(number)
        else:
            found.append([number])
    return ", ".join(
        f"{each[0]}–{each[-1]}" if len(each) > 3 else ", ".join(map(str, each)) for each in found
    )


def tsv_cell(value: object) -> str:
    return "" if value is None else " ".join(str(value).split())


def join_sentences(parts: Iterable[str]) -> str:
    """Sentences that say something, with a space between."""
    return " ".join(part.strip() for part in parts if part.strip())
