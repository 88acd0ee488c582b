"""What the verbs have in common that make experiments: where things are, and the environment of the
processes they start.
"""

import math
import os
import sys
import warnings
from argparse import ArgumentTypeError, Namespace
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from zsnmt import console
from zsnmt.console import WrongUse
from zsnmt.errors import InputError
from zsnmt.files.project import CHECKOUT, ROOT
from zsnmt.languages import Direction, parse_directions
from zsnmt.processes import share_kernels
from zsnmt.training.children import SETTINGS, all_side_by_side
from zsnmt.training.steps import Steps
from zsnmt.training.team import Team

# Options that change nothing of a run.
TEAM_OPTIONS = ("--gpus", "--processes", "--hosts", "--host", "--meet")
FLAGS = ("--check", "--slurm")
OTHER_WORD = "another word"  # that no command has
LAST_SEED = 2**32 - 1  # that NumPy's older generators take
UNKNOWN = "unrecognized arguments"  # as argparse says it


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
            follow(team, reach(team, self.runs), self.steps.say)
            self.steps.say("the first host has ended")
        elif team.hosts > 1:
            self.steps.say(f"waits for the other hosts at {team.meet}")
            lines = meet(team, self.runs)
            self.steps.team = replace(team, lines=lines)
            console.when_done(partial(say_over, lines))
        return team.host > 0


def add_team(parser: console.Parser) -> None:
    """Add the options that say which processes train together."""
    group = parser.add_argument_group("several processes, GPUs or machines (docs/several_machines.md)")
    devices = group.add_mutually_exclusive_group()
    devices.add_argument(
        "--gpus",
        type=positive_or_all,
        metavar="N",
        help="GPUs of this machine that train together, or all; they share the batches of an update,"
        " which stays as large as on one GPU (default: 1 if there is one)",
    )
    devices.add_argument(
        "--processes", type=positive, metavar="N", help="the same with N processes, without GPU"
    )
    group.add_argument(
        "--hosts", type=positive, metavar="N", help="machines that train together (default: 1)"
    )
    group.add_argument(
        "--host",
        type=whole_number,
        metavar="K",
        help="number of this machine, from 0; machine 0 also makes the data and keeps the records",
    )
    group.add_argument(
        "--meet",
        metavar="ADDRESS:PORT",
        help="an address of the first machine, and a port that is free there",
    )
    group.add_argument(
        "--slurm", action="store_true", help="take --hosts, --host and --meet from the variables of SLURM"
    )


def add_gpus(parser: console.Parser) -> None:
    """Add `--gpus`, of what translates."""
    parser.add_argument(
        "--gpus",
        type=positive_or_all,
        metavar="N",
        help="GPUs that share the batches, or all; scores are the same as with one GPU (default: 1 "
        "if there is one)",
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


def do_all(jobs: Sequence[Callable[[], object]], most: int) -> None:
    """Do the jobs, one after the other, or so many at a time; `InputError` if one of several fails, when the
    others are done.
    """
    if most == 1:
        for job in jobs:
            job()
    else:
        all_side_by_side(jobs, most)


def chosen_team(options: Namespace) -> Team:
    """The processes that the options ask for; `InputError` for GPUs that this machine does not have."""
    from zsnmt.training.slurm import hosts_of_job

    given = {name: getattr(options, name) for name in ("hosts", "host", "meet")}
    if options.slurm:
        if any(value is not None for value in given.values()):
            raise WrongUse("--slurm says what --hosts, --host and --meet say; leave these out")
        given = hosts_of_job(os.environ)
    given = {name: value for name, value in given.items() if value is not None}
    if options.processes:
        return Team(options.processes, gpus=False, **given)
    return Team(gpus_here(options.gpus), gpus=None if options.gpus is None else True, **given)


def remove_options(words: Sequence[str], valued: Sequence[str]) -> list[str]:
    """The words of a command without some options that have a value, and without `--check` and `--slurm`."""
    kept = [*words]
    for option in valued:
        while option in kept:
            place = kept.index(option)
            del kept[place : place + 2]
    begun = tuple(f"{option}=" for option in valued)
    return [word for word in kept if word not in FLAGS and not word.startswith(begun)]


def without_positionals(parser: console.Parser, words: Sequence[str], names: Sequence[str]) -> list[str]:
    """The words of a command without those of some positional arguments of one word, also where the value of
    an option is the same word.
    """
    given = vars(parser.parse_args(words))

    def is_positional(place: int) -> bool:
        if words[place] not in {given[name] for name in names}:
            return False
        try:
            other = parser.parse_args([*words[:place], OTHER_WORD, *words[place + 1 :]])
        except WrongUse:  # the value of an option that takes certain words alone
            return False
        return OTHER_WORD in {getattr(other, name) for name in names}

    return [word for place, word in enumerate(words) if not is_positional(place)]


def gpus_here(wanted: int | None) -> int:
    """How many GPUs that is, 0 standing for all; `InputError` if there are fewer."""
    if wanted is None:
        return 1
    import torch  # takes seconds to load

    there = torch.cuda.device_count()
    if there == 0:
        raise InputError(
            "this machine has no GPU; leave out --gpus, or train in several processes by --processes"
        )
    if wanted > there:
        raise InputError(f"this machine has {there} GPUs; give --gpus {there} or fewer")
    return wanted or there


def check_precision_here(precision: str | None) -> None:
    """`InputError` for a precision, if one is given, in which PyTorch does not translate here."""
    if precision is None:
        return
    import torch

    from zsnmt.decoding.packed.linear import check_precision  # loads fairseq

    check_precision(precision, torch.device("cuda" if torch.cuda.is_available() else "cpu"))


def add_check(parser: console.Parser) -> None:
    """Add the option that has all inputs compared by content."""
    parser.add_argument(
        "--check",
        action="store_true",
        help="read all inputs again, even if their sizes and times have not changed",
    )


def split_options(arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    """The words before `--`, and the options of fairseq-train after it."""
    words = [*arguments]
    place = words.index("--") if "--" in words else len(words)
    return words[:place], words[place + 1 :]


def parse_own(parser: console.Parser, words: Sequence[str]) -> Namespace:
    """The options of a verb that takes those of fairseq-train after `--`; of words that it does not know, it
    says where those belong.
    """
    try:
        return parser.parse_args(words)
    except console.WrongUse as error:
        if UNKNOWN not in str(error):
            raise
        raise console.WrongUse(f"{error}; options of fairseq-train come after --") from None


def add_seeds(parser: console.Parser, default: Sequence[int] | None = (1,)) -> None:
    """Add `--seeds`."""
    parser.add_argument(
        "--seeds",
        type=seed_number,
        nargs="+",
        metavar="K",
        default=default,
        help="seeds; there is one run for each",
    )


def some_words(text: str) -> list[str]:
    """Words with spaces between them, one or more."""
    if not (words := text.split()):
        raise ArgumentTypeError("there is no word in it; name some, or leave the option out")
    return words


def whole_number(word: str) -> int:
    """A whole number, 0 or above."""
    if not (word.isascii() and word.isdigit()):
        raise ArgumentTypeError(f"'{word}' is not a whole number, 0 or above")
    return int(word)


def seed_number(word: str) -> int:
    """A whole number that all generators of random numbers take as a seed."""
    if (number := whole_number(word)) > LAST_SEED:
        raise ArgumentTypeError(f"'{word}' is not a seed; give a whole number from 0 to {LAST_SEED}")
    return number


def positive(word: str) -> int:
    """A whole number above 0."""
    if not (word.isascii() and word.isdigit() and int(word)):
        raise ArgumentTypeError(f"'{word}' is not a whole number above 0")
    return int(word)


def positive_or_all(word: str) -> int:
    """A whole number above 0, or 0 for all."""
    return 0 if word == "all" else positive(word)


def directions(word: str) -> list[Direction]:
    """Directions with commas between them, as in de-fr,fr-de."""
    try:
        return parse_directions(word)
    except InputError as error:
        raise ArgumentTypeError(str(error)) from None


def hours(word: str) -> float:
    """A time in hours of a minute or more: none would be no bound."""
    try:
        number = float(word)
    except ValueError:
        number = 0.0
    if not 1 / 60 <= number < math.inf:  # which no NaN is
        raise ArgumentTypeError(f"'{word}' is not a number of hours, a minute or more")
    return number


def parse(parser: console.Parser, arguments: Sequence[str] | None) -> Namespace:
    """The options of a verb, which may stand before and between what it is called for.

    Raises `WrongUse` for an option that does not exist.
    """
    return parser.parse_intermixed_args(sys.argv[1:] if arguments is None else arguments)
