"""The plan as tables: the jobs, and how many seeds would tell for each claim that is not decided."""

from collections.abc import Iterator, Sequence

from zsnmt.claims.plan import Job, is_asked
from zsnmt.claims.table import POWER_TITLES, Outcome, power
from zsnmt.claims.verdicts import OPEN
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


def jobs_table(jobs: Sequence[Job], chosen: Sequence[Job]) -> Table:
    """One row for each job in the order of the plan; what is chosen is marked, with the hours that it takes
    without the others.
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
    about = f"Of these {len(chosen)} would be done, in about {hours:.1f} hours of one core."
    return Table("jobs", "Jobs", ["now", "hours", "claims", "job"], rows=rows, about=about)


def power_table(outcomes: Sequence[Outcome], only: Sequence[str] = ()) -> Table:
    """One row for each figure of a claim: how far runs deviate, and, where it is open, how many seeds would
    tell.
    """
    rows = [row for each in outcomes if is_asked(each, only) for row in power_rows(each)]
    titles = ["claim", "the paper", "config", "here", *POWER_TITLES]
    about = (
        "L: Liu et al. (2021), R: Ravishankar and Søgaard (2021), J: Li (2019). Seeds that tell, of a figure "
        "that is open: so many of each system, if means and deviations stay as they are, have a 95 % "
        "interval on one side of the claim's bound in four of five cases."
    )
    return Table("power", "What the seeds tell so far", titles, rows=rows, about=about)


def power_rows(each: Outcome) -> Iterator[list[Cell]]:
    """The rows of a claim; one with what is lacking where nothing tells of it."""
    claim = each.claim
    start: list[Cell] = [claim.name, claim.published()]
    if not each.effects:
        yield [*start, None, claim.lacks, None, None]
    for effect in each.effects:
        config = " ".join(filter(None, (effect.config, effect.part)))
        deviation, number = power(each, effect)
        told = number if each.vote(effect) == OPEN else None
        yield [*start, config, effect.measured, deviation, told]
