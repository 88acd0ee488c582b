"""What the verbs have in common that make experiments: where things are, and the environment of the
processes they start.
"""

import os
import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from zsnmt import console
from zsnmt.cli.common.argument_types import positive, seed_number
from zsnmt.errors import InputError, PassingError
from zsnmt.files.project import CHECKOUT, ROOT
from zsnmt.processes import share_kernels
from zsnmt.training.children import SETTINGS, all_side_by_side
from zsnmt.training.steps import Steps
from zsnmt.training.team import Team


class Recipe:
    """A call of a verb: `steps` does its steps, `runs` holds the runs, and `variables` are what `$NAME` is
    in a config. Making one sets variables of the environment that the processes of a recipe need, and leaves
    out Python's warnings.
    """

    def __init__(self, verb: str, check: bool = False, team: Team = Team()) -> None:
        self.steps = Steps(verb, check, team)
        self.runs = Path(os.environ.get("RUNS") or (CHECKOUT or Path.cwd()) / "runs")
        self.variables: Mapping[str, str] = {**os.environ, "ROOT": str(ROOT)}
        for name, value in SETTINGS.items():
            os.environ.setdefault(name, value)
        share_kernels(os.environ)
        if not sys.warnoptions:
            warnings.simplefilter("ignore")

    def join_hosts(self) -> bool:
        """Meet the other hosts of a team, if it has several; whether all is done then.

        That is so where this is not the first of them: it does its part of what the first was asked for until
        that one has ended. The first goes on when all others are there, and tells them when all is done.
        """
        from zsnmt.training.fairseq_train import follow
        from zsnmt.training.hosts import meet, reach, say_over

        team = self.steps.team
        if team.host:
            self.steps.say(f"host {team.host} of {team.hosts}: looks for the first at {team.meet}")
            try:
                follow(team, reach(team, self.runs), self.steps.say)
            except PassingError as error:  # whether it may pass the first one says, by its own status
                raise InputError(str(error)) from error
            self.steps.say("the first host has ended")
        elif team.hosts > 1:
            self.steps.say(f"waits for the other hosts at {team.meet}")
            lines = meet(team, self.runs)
            self.steps.team = replace(team, lines=lines)
            console.when_done(partial(say_over, lines))
        return team.host > 0


def add_check(parser: console.Parser) -> None:
    """Add the option that has all inputs compared by content."""
    parser.add_argument(
        "--check",
        action="store_true",
        help="read all inputs again, even if their sizes and times have not changed",
    )


def add_jobs(parser: console.Parser) -> None:
    """Add `--jobs`."""
    parser.add_argument(
        "--jobs",
        type=positive,
        default=1,
        metavar="N",
        help="runs at a time; if there are several GPUs, each run has one",
    )


def add_seeds(parser: console.Parser, default: Sequence[int] | None = (1,)) -> None:
    """Add `--seeds`."""
    parser.add_argument(
        "--seeds",
        type=seed_number,
        action=console.EachOnce,
        nargs="+",
        metavar="K",
        default=default,
        help="seeds; there is one run for each",
    )


def do_all(jobs: Sequence[Callable[[], object]], most: int) -> None:
    """Do the jobs, one after the other, or so many at a time; `InputError` if one of several fails, when the
    others are done.
    """
    if most == 1:
        for job in jobs:
            job()
    else:
        all_side_by_side(jobs, most)
