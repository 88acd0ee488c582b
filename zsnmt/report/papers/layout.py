"""The form of a paper's table, filled from runs of several configs: their rows, below each the published one,
then the other rows of the paper.

Runs of one row are comparable; rows need not be, so each has its signature below the table, and a sentence
says whether it may be held against the published figures.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from zsnmt.errors import InputError
from zsnmt.report.marks import MARK, chosen_note
from zsnmt.report.papers.comparable import comparisons, verdict
from zsnmt.report.papers.published import Key, published
from zsnmt.report.table import FORMS, Cell, Measured, Table, join_sentences, numbers_in_short

Item = Any  # what a run is known by: its scores, its probes
Rows = Mapping[Key, Mapping[str, Measured | None]]  # by the parts of a row's name, the first the data set
SOURCE = "figures"  # the column that says whose figures a row has


@dataclass(frozen=True)
class Source:
    """What a table is filled from: how an item is read of a run folder or a kept file, and what it says."""

    read: Callable[[Path], Item]
    config: Callable[[Item], str]
    system: Callable[[Item], str]
    seed: Callable[[Item], int]
    check: Callable[[Sequence[Item]], object]  # `InputError` unless the items of a config compare
    signature: Callable[[Sequence[Item]], str]  # what the figures of a config depend on
    provenance: Callable[[Sequence[Item]], str]  # what made each, as Markdown items
    kept: str  # where the project keeps its files, as a pattern below docs/results
    training: str  # what makes the systems that are not there
    remedy: str  # what gives runs the figures that they lack
    chosen_on_zero_shot: Callable[[Item], bool] = lambda item: False  # whether its checkpoints were


def every_row(key: Key) -> bool:
    """A rule that takes all rows."""
    return True


def every_item(items: Sequence[Item]) -> Sequence[Item]:
    """A rule that takes all items."""
    return items


@dataclass(frozen=True, kw_only=True)
class PaperTable:
    """A table of a paper. `columns`: the figure of each; `over`: columns that have their gain over another
    one in brackets; `counterparts`: the paper's data set by config; `rows` makes those of one config from the
    items of its `systems`, means of those that are `counted`; `others`: which rows of the paper stand there
    though no run has them.
    """

    name: str
    paper: str
    number: str  # as published.tsv has it
    title: str
    about: str
    keys: Key  # the titles of the parts of a row's name
    columns: Mapping[str, str]
    source: Source
    systems: Sequence[str]
    rows: Callable[[Sequence[Item]], Rows]
    counterparts: Mapping[str, str]
    over: Mapping[str, str] = field(default_factory=dict)
    check: Callable[[Sequence[Item]], object] | None = None  # in place of the source's
    others: Callable[[Key], bool] = every_row
    takes: Callable[[Item], bool] | None = None  # which items it is of, where that is not said by `systems`
    of: str = ""  # the same in words
    counted: Callable[[Sequence[Item]], Sequence[Item]] = every_item
    remedy: str = ""  # what gives runs its figures, where that is not what the source says

    def table(self, items: Sequence[Item]) -> Table:
        """The table of some runs; `InputError` for runs of one config that do not compare, or have nothing
        for it.
        """
        printed, rows = dict(published()[self.paper, self.number]), []
        left = {key: cells for key, cells in printed.items() if self.others(key)}
        configs = self.by_config(items)
        for config, of_config in configs.items():
            mark = f" {MARK}" if any(map(self.source.chosen_on_zero_shot, of_config)) else ""
            for key, cells in self.own_rows(config, of_config).items():
                rows.append([*key, f"ours, {self.seeds(of_config)}{mark}", *self.cells(cells)])
                counterpart = (self.counterparts.get(config, ""), *key[1:])
                if counterpart in printed:
                    label = f"published, {verdict(config).word}"
                    rows.append(
                        [*counterpart, label, *self.cells(self.published_values(printed[counterpart]))]
                    )
                    left.pop(counterpart, None)
        rows += [
            [*key, "published", *self.cells(self.published_values(cells))] for key, cells in left.items()
        ]
        return Table(
            self.name,
            f"{self.title} ({self.paper}, {self.number})",
            [*self.keys, SOURCE, *self.columns],
            rows=rows,
            about=join_sentences(
                [self.about, self.fewer_seeds_note(configs), comparisons(configs), self.selection_note(items)]
            ),
            headers=len(self.keys) + 1,
            signatures=join_sentences(
                f"{config}: {self.source.signature(of_config)}." for config, of_config in configs.items()
            ),
        )

    def selection_note(self, items: Sequence[Item]) -> str:
        """The sentence on systems whose checkpoints were chosen on zero-shot validation, if there are any."""
        chosen = filter(self.source.chosen_on_zero_shot, filter(self.takes_item, items))
        named = sorted({f"{self.source.config(item)} {self.source.system(item)}" for item in chosen})
        return chosen_note(named) if named else ""

    def by_config(self, items: Sequence[Item]) -> dict[str, list[Item]]:
        """The items of the table's systems by config; `InputError` for a config without any."""
        found: dict[str, list[Item]] = {}
        for item in items:
            of_config = found.setdefault(self.source.config(item), [])
            if self.takes_item(item):
                of_config.append(item)
        for config, of_config in found.items():
            if not of_config:
                raise self.without_runs(config, items)
        return found

    def without_runs(self, config: str, items: Sequence[Item]) -> InputError:
        """What is said of a config that has no run for the table."""
        there = {self.source.system(item) for item in items if self.source.config(item) == config}
        if self.of and there & {*self.systems}:
            return InputError(
                f"no run of {config} is for {self.name}, which is of {self.of}; leave out the config"
            )
        return InputError(
            f"no run of {config} is of a system of {self.name}, which has {', '.join(self.systems)}; train "
            f"them with {self.source.training}, or leave out the config"
        )

    def takes_item(self, item: Item) -> bool:
        """Whether the table is of an item."""
        return self.takes(item) if self.takes else self.source.system(item) in self.systems

    def read_kept(self, folder: Path) -> list[Item]:
        """What the project keeps in a folder for the table: configs with two of its systems or more, each
        with these alone.
        """
        items = [self.source.read(path) for path in sorted(folder.glob(self.source.kept))]
        systems: dict[str, set[str]] = {}
        for item in filter(self.takes_item, items):
            systems.setdefault(self.source.config(item), set()).add(self.source.system(item))
        return [
            item for item in items if self.takes_item(item) and len(systems[self.source.config(item)]) > 1
        ]

    def own_rows(self, config: str, items: Sequence[Item]) -> Rows:
        """The rows of a config; `InputError` where its runs do not compare, or have no figure for it."""
        (self.check or self.source.check)(items)
        if not (rows := self.figures(items)):
            raise InputError(
                f"the runs of {config} have no figure of {self.name}; {self.remedy or self.source.remedy}, "
                "or leave out the config"
            )
        return rows

    def figures(self, items: Sequence[Item]) -> Rows:
        """The rows that the items of one config have a figure for."""
        return {key: cells for key, cells in self.rows(items).items() if any(cells.values())}

    def compare_with_published(self, items: Sequence[Item]) -> Table | None:
        """The rows of one config with what is published of its data alone; None where nothing is, or no row
        has a figure.
        """
        taken = [item for item in items if self.takes_item(item)]
        if not taken or self.source.config(taken[0]) not in self.counterparts or not self.figures(taken):
            return None
        return replace(self, others=lambda key: False).table(taken)

    def seeds(self, items: Sequence[Item]) -> str:
        """The seeds of some items, all that a system has."""
        of_system = self.seeds_by_system(items)
        seeds = list_seeds({seed for seeds in of_system.values() for seed in seeds})
        return seeds if len({*of_system.values()}) == 1 else f"at most {seeds}"

    def seeds_by_system(self, items: Sequence[Item]) -> dict[str, frozenset[int]]:
        """The seeds of each system that its figures are means over."""
        counted = self.counted(items)
        systems = sorted({self.source.system(item) for item in counted})
        return {
            system: frozenset(
                self.source.seed(item) for item in counted if self.source.system(item) == system
            )
            for system in systems
        }

    def fewer_seeds_note(self, configs: Mapping[str, Sequence[Item]]) -> str:
        """Which systems have fewer seeds than others of their row, and that gains are over all there are."""
        fewer = []
        for config, items in configs.items():
            of_system = self.seeds_by_system(items)
            most = frozenset().union(*of_system.values())
            fewer += [
                f"of {config} {system} has {list_seeds(seeds)}"
                for system, seeds in of_system.items()
                if seeds != most
            ]
        return f"Means and gains are over all seeds that a system has: {'; '.join(fewer)}." if fewer else ""

    def published_values(self, printed: Mapping[str, str]) -> dict[str, Measured | None]:
        """Published values in the units of score files, shown as they are printed."""
        return {
            title: Measured(figure, float(printed[title]) / FORMS[figure].factor, printed=printed[title])
            if title in printed
            else None
            for title, figure in self.columns.items()
        }

    def cells(self, of_row: Mapping[str, Measured | None]) -> list[Cell]:
        """The cells of a row in the order of the columns, gains in brackets."""
        return [self.add_gain(title, of_row) for title in self.columns]

    def add_gain(self, title: str, of_row: Mapping[str, Measured | None]) -> Measured | None:
        """A cell, with its gain over another column where the table shows one."""
        cell, base = of_row.get(title), of_row.get(self.over.get(title, ""))
        if cell is None or base is None:
            return cell
        return replace(cell, note=str(Measured(cell.figure, cell.mean - base.mean, difference=True)))

    def provenance(self, items: Sequence[Item]) -> str:
        """What made the runs, as Markdown items."""
        return "\n".join(self.source.provenance(of_config) for of_config in self.by_config(items).values())


def list_seeds(seeds: Collection[int]) -> str:
    """`seed 1`; `seeds 1, 2, 3`."""
    return f"seed{'s' * (len(seeds) > 1)} {numbers_in_short(seeds)}"
