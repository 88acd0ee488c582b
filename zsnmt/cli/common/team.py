"""The options that say which processes, GPUs and machines work together, and what this machine has."""

import os
from argparse import Namespace

from zsnmt import console
from zsnmt.cli.common.argument_types import positive, positive_or_all, whole_number
from zsnmt.console import WrongUse
from zsnmt.errors import InputError
from zsnmt.training.team import Team

TEAM_OPTIONS = ("--gpus", "--processes", "--hosts", "--host", "--meet")  # which change nothing of a run


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


def team_words(options: Namespace) -> list[str]:
    """The options for the processes of one machine, as they were given."""
    if options.processes:
        return ["--processes", str(options.processes)]
    return [] if options.gpus is None else ["--gpus", str(options.gpus or "all")]


def add_gpus(parser: console.Parser) -> None:
    """Add `--gpus`, of what translates."""
    parser.add_argument(
        "--gpus",
        type=positive_or_all,
        metavar="N",
        help="GPUs that share the batches, or all; scores are the same as with one GPU, but for rounding "
        "(default: 1 if there is one)",
    )


def gpus_here(wanted: int | None, otherwise: str = "train in several processes by --processes") -> int:
    """How many GPUs that is, 0 standing for all; `InputError` if there are fewer, with what can be done
    without.
    """
    if wanted is None:
        return 1
    import torch  # takes seconds to load

    there = torch.cuda.device_count()
    if there == 0:
        raise InputError(f"this machine has no GPU; leave out --gpus, or {otherwise}")
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
