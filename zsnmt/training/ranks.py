"""The processes of one training on this host, which end together."""

import re
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from subprocess import Popen
from typing import BinaryIO, NamedTuple

from zsnmt import console
from zsnmt.errors import InputError, PassingError
from zsnmt.runs.log import Errors
from zsnmt.training.allocator import faster_allocator
from zsnmt.training.children import describe_ending, start
from zsnmt.training.connections import Line, Lost
from zsnmt.training.hosts import interface_of
from zsnmt.training.team import Team

GRACE = 1.0  # seconds in which others may still say why they end, when one has failed
LEAVING = 60.0  # seconds in which all must have ended, when one has done its work
# Of another's end.
ECHO = re.compile(r"[Cc]onnection (closed|reset|refused)|NCCL|gloo|[Tt]imed out|DistStoreError")
BROKEN_GPU = re.compile("uncorrectable (ECC|NVLink) error|[Hh]ardware stack error")  # as CUDA says it


class Work(NamedTuple):
    """A training: its folder, the command of each process, and the URL where all meet, if it has several."""

    folder: Path
    command: Sequence[str]
    meeting: str

    def log(self, rank: int) -> Path:
        """Where a process writes that is not the first."""
        return self.folder / f"train.process{rank}.log"


class Ranks:
    """The processes of this host by their number, as one: it has ended well when all have, and ill when one
    fails, or one of another host.
    """

    def __init__(
        self, processes: Mapping[int, Popen], work: Work, team: Team, *, lines: Sequence[Line]
    ) -> None:
        self.processes, self.work, self.team, self.lines = processes, work, team, lines
        self.returncode: int | None = None
        self.failed: dict[int, int] = {}  # the status of each process that has
        self.told: list[InputError] = []  # what has failed on other hosts
        self.over: set[Line] = set()  # lines to hosts whose processes have ended
        self.first_end: float | None = None

    def poll(self) -> int | None:
        """0 when all processes have ended, another status when one has failed, here or elsewhere; else
        None.
        """
        self.listen()
        statuses = [process.poll() for process in self.processes.values()]
        if self.told or any(statuses):
            self.await_others()
            ended = {rank: process.poll() for rank, process in self.processes.items()}
            self.failed = {rank: status for rank, status in ended.items() if status}
            self.returncode = next(iter(self.failed.values()), 1)
        elif all(status == 0 for status in statuses) and len(self.over) >= self.hosts_awaited:
            self.returncode = 0
        elif 0 in statuses:
            self.first_end = self.first_end or time.monotonic()
            if time.monotonic() - self.first_end > LEAVING:
                self.told.append(PassingError("some processes did not end when the others did"))
        return self.returncode

    @property
    def hosts_awaited(self) -> int:
        """The first host waits for all others; they wait for their own processes alone."""
        return 0 if self.team.host else len(self.lines)

    def listen(self) -> None:
        """Take in what other hosts say."""
        for line in self.lines:
            try:
                while line not in self.over and (message := line.receive(0)) is not None:
                    if reason := message.get("failed"):
                        kind = PassingError if message.get("passes") else InputError
                        self.told.append(kind(f"{line.name}: {reason}"))
                    else:
                        self.over.add(line)
            except Lost as lost:
                self.told.append(lost)
                self.over.add(line)

    def await_others(self) -> None:
        """Give those that go on time to say why they end, too."""
        end = time.monotonic() + GRACE
        while time.monotonic() < end and any(each.poll() is None for each in self.processes.values()):
            time.sleep(0.05)
        self.listen()

    def fault(self, first_reason: str = "") -> InputError:
        """Why it has failed, in the words of what failed of itself: most processes fail since another has. It
        may pass where a process was killed or cannot reach others, or where a GPU is broken.

        `first_reason` is what the log of process 0 says, if it is one of this host.
        """
        killed, said, silent = [], [], []
        for rank, status in self.failed.items():
            number = f"process {rank} of {self.team.size} " if self.team.size > 1 else "fairseq-train "
            reason = first_reason if rank == 0 else reason_in(self.work.log(rank))
            ended_by_signal = status < 0 and not ECHO.search(reason)  # else only after another's end
            if ended_by_signal and (self.team.size > 1 or not reason):
                killed.append(number + describe_ending(status))
            elif reason:
                said.append((PassingError if BROKEN_GPU.search(reason) else InputError)(reason))
            else:
                kind = PassingError if status - 128 in console.STOPPING else InputError
                silent.append(kind(number + describe_ending(status)))
        found = [*map(PassingError, killed), *said, *self.told, *silent]
        own = (each for each in found if not ECHO.search(str(each)))
        return next(own, PassingError(str(found[0])))


@contextmanager
def start_ranks(
    work: Work, team: Team, lines: Sequence[Line], first_log: BinaryIO | None = None
) -> Iterator[Ranks]:
    """The processes of this host at work; they are ended when the block is left.

    Each has a log of its own, process 0 the one that is given; those of others are kept where it fails.
    """
    interface = interface_of(lines[0].here if lines else team.address[0]) if team.size > 1 else None
    names = ("GLOO_SOCKET_IFNAME", "NCCL_SOCKET_IFNAME" if lines else "")
    settings = {name: interface for name in names if name and interface}
    settings |= {} if team.on_gpus else faster_allocator()
    with ExitStack() as stack:
        processes = {}
        for rank in team.ranks():
            log = first_log if first_log and rank == 0 else stack.enter_context(work.log(rank).open("wb"))
            words = team.words(rank, work.meeting) if team.size > 1 else []
            command = [*work.command, *words]
            processes[rank] = stack.enter_context(start(command, log, settings, processes=team.processes))
        ranks = Ranks(processes, work, team, lines=lines)
        try:
            yield ranks
        finally:
            for process in processes.values():
                # Where one has failed, the others may wait for it for ever.
                process.kill() if ranks.returncode else process.terminate()
    if ranks.returncode == 0:
        for rank in team.ranks():
            work.log(rank).unlink(missing_ok=True)


def reason_in(log: Path) -> str:
    """What an error in a log says, or nothing."""
    errors = Errors()
    for line in log.read_text(encoding="utf-8", errors="replace").splitlines() if log.is_file() else ():
        errors.read(line)
    return errors.reason
