"""What an installation takes on the disk, and how long a translation of one sentence takes to start."""

import os
import statistics
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

from zsnmt.errors import InputError
from zsnmt.files.project import PACKAGE
from zsnmt.processes import used_seconds
from zsnmt.runs.folder import check_knows

EXTRAS = {  # what a person installs
    "[translate]": ("translate",),
    "[translate,serve]": ("translate", "serve"),
    "[translate,serve,train]": ("translate", "serve", "train"),
}
MEGABYTE = 1_000_000
UNUSED = ("torchaudio",)  # that fairseq asks for and scripts/setup.sh leaves out


def needed(requirements: Sequence[str], extras: Sequence[str]) -> dict[str, Distribution]:
    """What a package with such `requirements` and extras needs of this environment, and all that these need,
    by name. `InputError` for a package that is not installed here.
    """
    from packaging.requirements import Requirement
    from packaging.utils import canonicalize_name

    found: dict[str, Distribution] = {}
    todo, seen = [(requirements, tuple(extras))], set()
    while todo:
        lines, chosen = todo.pop()
        for each in map(Requirement, lines):
            name, further = canonicalize_name(each.name), tuple(sorted(each.extras))
            wanted = not each.marker or any(each.marker.evaluate({"extra": extra}) for extra in ("", *chosen))
            if wanted and (name, further) not in seen and name not in UNUSED:
                seen.add((name, further))
                found[name] = installed(name)
                todo.append((found[name].requires or [], further))
    return found


def installed(name: str) -> Distribution:
    """A package of this environment."""
    try:
        return distribution(name)
    except PackageNotFoundError:
        raise InputError(f"{name} is not installed here, and is a part of what is measured") from None


def size(files: Iterable[Path]) -> float:
    """What files take on the disk (MB), without what Python compiles when it loads them."""
    return sum(file.stat().st_size for file in files if file.is_file() and file.suffix != ".pyc") / MEGABYTE


def files_of(packages: Iterable[Distribution]) -> set[Path]:
    """The files of some packages, each once."""
    return {Path(str(file.locate())).resolve() for each in packages for file in each.files or ()}


def start_seconds(folder: Path, words: Sequence[str]) -> float:
    """The processor's seconds that a translation of one line takes, of an empty one: those of starting."""
    before = used_seconds()
    command = [sys.executable, "-m", "zsnmt", "translate", str(folder), *words, "--workers", "1"]
    done = subprocess.run(
        command, input="\n", env=os.environ | {"OMP_NUM_THREADS": "1"}, capture_output=True, text=True
    )
    if done.returncode:
        raise InputError(done.stderr.strip().removeprefix("error: "))
    return used_seconds() - before


def installation(run: Path, export: Path, source: str, target: str, rounds: int) -> Iterator[str]:
    """Markdown: sizes of installations, and the seconds of starting, by an export and by its run."""
    for folder in (export, run):
        check_knows(folder, source, target)
    yield "| installed | packages | MB |"
    yield "|---|--:|--:|"
    for name, extras in EXTRAS.items():
        packages = needed(installed("zsnmt").requires or [], extras)
        megabytes = size(files_of(packages.values()) | {*PACKAGE.rglob("*")})
        yield f"| `zsnmt{name}` | {1 + len(packages)} | {megabytes:,.0f} |"
    yield ""
    words = ["--from", source, "--to", target]
    seconds: dict[str, list[float]] = {"export": [], "run": []}
    for _ in range(1 + rounds):
        for name, folder in (("export", export), ("run", run)):
            seconds[name].append(start_seconds(folder, words))
    medians = {name: statistics.median(measured[1:]) for name, measured in seconds.items()}
    yield "| `zsnmt translate`, one line | processor seconds | ratio |"
    yield "|---|--:|--:|"
    yield f"| an export, by CTranslate2 | {medians['export']:.2f} | 1 |"
    yield f"| its run, by PyTorch | {medians['run']:.2f} | {medians['run'] / medians['export']:.1f} |"
