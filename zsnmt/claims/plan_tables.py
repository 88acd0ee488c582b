"""The plan as tables: the jobs, how many seeds would tell for each claim that is not decided, and what was
made again beside what is kept.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from shutil import copyfile
from tempfile import TemporaryDirectory

from zsnmt.claims.plan import Job, chains, is_asked
from zsnmt.claims.table import (
    POWER_TITLES,
    Outcome,
    beside_published,
    outcomes,
    power,
    vote_in_words,
)
from zsnmt.claims.verdicts import Effect
from zsnmt.report.scores import words
from zsnmt.report.table import Cell, Table, format_cell, wrap

WIDEST = 40  # characters of a column on a terminal


def terminal_text(table: Table) -> str:
    """The table for a terminal, one line for each row, below what it holds. A long cell, as one that says
    what is lacking, moves the others of its own row alone.
    """
    rows = [table.columns, *([format_cell(cell) for cell in row] for row in table.rows)]
    widths = [max(len(cell) for cell in cells if len(cell) <= WIDEST) for cells in zip(*rows)]
    lines = ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]
    return "\n".join([wrap(f"{table.title}. {table.about}"), "", *lines])


def jobs_table(jobs: Sequence[Job], chosen: Sequence[Job], at_a_time: int = 1) -> Table:
    """One row for each job in the order of the plan; what is chosen is marked, with the hours that it takes
    without the others. `at_a_time`: how many are done side by side.
    """
    by_name = {job.name: job for job in chosen}
    rows: list[list[Cell]] = [
        [
            "yes" if job.name in by_name else job.lacks or "later",
            None if job.lacks else f"{by_name.get(job.name, job).hours:.2f}",
            " ".join(job.claims),
            job.name,
        ]
        for job in jobs
    ]
    hours = sum(job.hours for job in chosen)
    about = f"Of these {len(chosen)} would be done, in about {hours:.1f} hours of one core"
    if at_a_time > 1:
        about += f", or {hours_side_by_side(chosen, at_a_time):.1f} where {at_a_time} are done at a time"
    return Table("jobs", "Jobs", ["now", "hours", "claims", "job"], rows=rows, about=f"{about}.")


def hours_side_by_side(jobs: Sequence[Job], at_a_time: int) -> float:
    """How long jobs take, so many at a time, of which those that share runs wait for one another."""
    busy_until = [0.0] * at_a_time
    for chain in chains(jobs):
        first = busy_until.index(min(busy_until))
        busy_until[first] += sum(job.hours for job in chain)
    return max(busy_until)


def again_table(folder: Path, again: Path) -> Table:
    """One row for each figure that was made again, from the results in `again`: the figure of the same runs
    as they are kept in `folder`, the new one, and what each says.
    """
    before = figures_by_place(outcomes_of_same(folder, again))
    rows = list[list[Cell]]()
    for place, (each, effect) in figures_by_place(outcomes(again)).items():
        was = before.get(place)
        kept = (was[1].measured, vote_in_words(*was)) if was else (None, None)
        now = effect.measured, vote_in_words(each, effect)
        rows.append([*place, effect.seeds, kept[0], now[0], kept[1], now[1]])
    titles = ["claim", "config", "part", "seeds", "kept", "again", "kept it says", "again it says"]
    about = f"Of these runs alone, as {folder} has them and as they were made again, which {again} has."
    return Table("again", "What was made again", titles, rows=rows, about=about)


def outcomes_of_same(folder: Path, others: Path) -> list[Outcome]:
    """All claims, with what a folder says of them by those of its results that another one has, too."""
    with TemporaryDirectory() as place:
        for name in sorted(path.relative_to(others) for path in others.rglob("*.json")):
            if (folder / name).is_file():
                (Path(place) / name).parent.mkdir(parents=True, exist_ok=True)
                copyfile(folder / name, Path(place) / name)
        return outcomes(Path(place))


def figures_by_place(found: Sequence[Outcome]) -> dict[tuple[str, str, str], tuple[Outcome, Effect]]:
    """Each figure with its claim, by the claim's name, the config, and the clause and part."""
    return {
        (each.claim.name, effect.config, words(*dict.fromkeys((effect.clause, effect.part)))): (each, effect)
        for each in found
        for effect in each.effects
    }


def power_table(outcomes: Sequence[Outcome], only: Sequence[str] = ()) -> Table:
    """One row for each figure of a claim: how far runs deviate, and, where it is open, how many seeds would
    tell.
    """
    rows = [row for each in outcomes if is_asked(each, only) for row in power_rows(each)]
    titles = ["claim", "the paper", "config", "here", "the paper's", *POWER_TITLES]
    about = (
        "L: Liu et al. (2021), R: Ravishankar and Søgaard (2021), J: Li (2019). The paper's figure is "
        "inside, above or below the interval of ours. Seeds that tell, of a figure that is open: so many of "
        "each system, if means and deviations stay as they are, have a 95 % interval on one side of the "
        "claim's bound in four of five cases; seeds for the paper's: if the figure were as large as the "
        "paper's."
    )
    return Table("power", "What the seeds tell so far", titles, rows=rows, about=about)


def power_rows(each: Outcome) -> Iterator[list[Cell]]:
    """The rows of a claim; one with what is lacking where nothing tells of it."""
    claim = each.claim
    start: list[Cell] = [claim.name, str(claim.published)]
    if not each.effects:
        yield [*start, None, claim.lacks, None, *(None for _ in POWER_TITLES)]
    for effect in each.effects:
        config = " ".join(filter(None, (effect.config, effect.part)))
        yield [*start, config, effect.measured, beside_published(each, effect), *power(each, effect)]
