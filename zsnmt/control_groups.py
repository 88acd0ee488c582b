"""Limits that Linux's control groups set a process: those of a container, or of a job on a cluster."""

import math
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

GROUPS = Path("/proc/self/cgroup")  # a line `number:controllers:path` for each group of this process
MOUNTED = Path("/sys/fs/cgroup")


def memory_limit() -> float:
    """The bytes that this process may have, with others of its groups; infinity without a limit."""
    files = [
        folder / name for folder in folders("memory") for name in ("memory.max", "memory.limit_in_bytes")
    ]
    return min((number for path in files for number in numbers_in(path)), default=math.inf)


def cores_limit() -> float:
    """The processors that this process may keep busy, with others of its groups; infinity without a limit."""
    limits = []
    for folder in folders("cpu"):
        of_first = [numbers_in(folder / f"cpu.cfs_{name}_us") for name in ("quota", "period")]
        for numbers in ([number for found in of_first for number in found], numbers_in(folder / "cpu.max")):
            if len(numbers) == 2 and numbers[0] > 0:  # microseconds in each period of so many; -1: no limit
                limits.append(numbers[0] / numbers[1])
    return min(limits, default=math.inf)


def folders(controller: str) -> Iterator[Path]:
    """The folders of this process's groups, of both versions, and of all groups that these are in."""
    with suppress(OSError, ValueError):  # a system without groups, or with lines of another form
        for line in GROUPS.read_text(encoding="utf-8").splitlines():
            _, controllers, path = line.split(":", 2)
            if not controllers:  # the second version, alone or beside the first
                roots = [MOUNTED, MOUNTED / "unified"]
            else:
                roots = [MOUNTED / controller] if controller in controllers.split(",") else []
            for root in roots:
                group = root / path.strip("/")
                yield from (each for each in (group, *group.parents) if each.is_relative_to(root))


def numbers_in(path: Path) -> list[int]:
    """The numbers that a file of a group holds; none where it is not there, or says `max`: no limit."""
    try:
        return [*map(int, path.read_text(encoding="ascii").split())]
    except (OSError, ValueError):
        return []
