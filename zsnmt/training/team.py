"""The processes that train one model together: how many, on which hosts, and what each does of an update."""

import re
from argparse import ArgumentParser
from collections.abc import Sequence
from dataclasses import dataclass

from zsnmt.errors import InputError
from zsnmt.training.connections import Line

ADDRESS = re.compile(r"(?P<host>[\w.-]+):(?P<port>[0-9]{1,5})")
LAST_PORT = 65535
WHOLE = ("pytorch_ddp", "c10d", "legacy_ddp", "no_c10d")  # backends that keep the whole model in each process
# Each follows --distributed-
OWN_OPTIONS = ("world-size", "rank", "init-method", "port", "backend", "no-spawn", "num-procs")


@dataclass(frozen=True)
class Team:
    """So many processes on each of some hosts, of which this is number `host`; all meet at an address of the
    first (0), `lines` being its connections to the others.

    With `gpus` each process has a GPU of its own, and without them it computes on processors. None stands for
    one process, with a GPU if there is one. Raises `InputError` for hosts that cannot meet.
    """

    processes: int = 1
    gpus: bool | None = None
    hosts: int = 1
    host: int = 0
    meet: str = ""  # ADDRESS:PORT
    lines: tuple[Line, ...] = ()

    def __post_init__(self) -> None:
        if self.host >= self.hosts:
            raise InputError(
                f"host {self.host} is not one of {self.hosts}, which are counted from 0; give --hosts and "
                "--host, as in --hosts 2 --host 1"
            )
        if self.hosts == 1 and self.meet:
            raise InputError("one host meets nobody; give --hosts N with --meet, or leave it out")
        found = ADDRESS.fullmatch(self.meet)
        if self.hosts > 1 and not (found and 0 < int(found["port"]) <= LAST_PORT):
            raise InputError(
                f"{self.hosts} hosts must know where they meet; give --meet ADDRESS:PORT on each, an address "
                f"of the first host and a port that is free there, from 1 to {LAST_PORT}"
            )

    @property
    def size(self) -> int:
        """How many processes there are on all hosts."""
        return self.processes * self.hosts

    @property
    def address(self) -> tuple[str, int]:
        """Where the hosts meet; a single host meets itself."""
        found = ADDRESS.fullmatch(self.meet)
        return (found["host"], int(found["port"])) if found else ("127.0.0.1", 0)

    @property
    def on_gpus(self) -> bool:
        """Whether the processes have GPUs."""
        import torch  # takes seconds to load

        return torch.cuda.is_available() if self.gpus is None else self.gpus

    def device(self) -> list[str]:
        """fairseq's option for processes without GPU."""
        return [] if self.on_gpus else ["--cpu"]

    def ranks(self) -> range:
        """The numbers of this host's processes among all."""
        return range(self.host * self.processes, (self.host + 1) * self.processes)

    def words(self, rank: int, meeting: str) -> list[str]:
        """What fairseq-train is told as the process of a number, where all meet at a URL."""
        local = rank % self.processes if self.on_gpus else 0
        return [
            *("--distributed-world-size", str(self.size), "--distributed-rank", str(rank)),
            *("--distributed-init-method", meeting, "--distributed-no-spawn", "--device-id", str(local)),
            *("--distributed-backend", "nccl" if self.on_gpus else "gloo"),
            # PyTorch >= 2.6 does not read what fairseq's first process would send of a checkpoint.
            "--load-checkpoint-on-all-dp-ranks",
        ]


def shared_updates(options: Sequence[str], size: int) -> list[str]:
    """The options of fairseq-train by which so many processes make the updates that one makes by `options`:
    each takes its part of the batches of an update.

    Raises `InputError` where the batches cannot be shared, and for options that contradict a team.
    """
    if size == 1:
        return []
    parser = ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("--update-freq", default="1")
    parser.add_argument("--ddp-backend")
    given, _ = parser.parse_known_args([*options])
    names = {word.partition("=")[0] for word in options}
    if chosen := sorted(names & {f"--distributed-{name}" for name in OWN_OPTIONS if name != "world-size"}):
        raise InputError(
            f"leave out {', '.join(chosen)}: --gpus, --processes and --hosts say where a process is"
        )
    if given.ddp_backend not in (None, *WHOLE):
        raise InputError(
            f"--ddp-backend {given.ddp_backend} does not keep the whole model in each process, and "
            f"checkpoints are averaged whole; leave it out, or choose {' or '.join(WHOLE)}"
        )
    batches = [*map(int, re.findall("[0-9]+", given.update_freq))]
    if any(number % size for number in batches):
        raise InputError(
            f"{size} processes cannot share the batches of an update evenly, of which --update-freq says "
            f"{' and '.join(map(str, batches))}; take a number of processes that divides that, or make it a "
            f"multiple of {size}, as in -- --update-freq {size}, with --max-tokens divided by as much where "
            "updates are to stay as large as they are"
        )
    shared = ",".join(str(number // size) for number in batches)
    # That of fairseq adds up gradients where an update has not used some weights, too.
    return ["--update-freq", shared, *([] if given.ddp_backend else ["--ddp-backend", "legacy_ddp"])]
