"""A folder of wheels, from which a machine without network installs."""

import json
import logging
import platform
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from zsnmt.errors import InputError

logger = logging.getLogger(__name__)

THIS_PYTHON = ".".join(map(str, sys.version_info[:2]))
PYTHONS = ("3.11", "3.12")
OLDER_NAMES = {17: "manylinux2014", 12: "manylinux2010", 5: "manylinux1"}  # of glibc 2.17, 2.12 and 2.5
LATEST = 99  # N of a glibc 2.N; wheels are looked for by the names of all that are older
ANYWHERE = "-none-any.whl"  # ends the name of a wheel for every machine
COMPILED = "fairseq-fixed"  # has no wheel, and is compiled against the PyTorch beside it


@dataclass(frozen=True)
class Target:
    """The machine that is to install. Raises `InputError` for a Python that zsnmt does not support, and for a
    glibc that no wheel names.
    """

    python: str = field(
        default=THIS_PYTHON, metadata={"help": f"version of its Python: {' or '.join(PYTHONS)}"}
    )
    machine: str = field(
        default=platform.machine(), metadata={"help": "its processor, as x86_64 or aarch64 (uname -m)"}
    )
    glibc: int = field(default=28, metadata={"help": "its glibc is 2.N or later (ldd --version)"})

    def __post_init__(self) -> None:
        if self.python not in PYTHONS:
            raise InputError(f"Python {self.python} is not supported; give {' or '.join(PYTHONS)}")
        oldest = min(OLDER_NAMES)
        if not oldest <= self.glibc <= LATEST:
            raise InputError(
                f"--glibc is {self.glibc}; give the N of 2.N, from {oldest} to {LATEST} (ldd --version)"
            )

    @property
    def is_here(self) -> bool:
        """Whether what is compiled here runs there."""
        return (self.python, self.machine) == (THIS_PYTHON, platform.machine())

    @property
    def options(self) -> list[str]:
        """pip's options for wheels that it can install, the newest first."""
        systems = [f"manylinux_2_{minor}" for minor in range(self.glibc, min(OLDER_NAMES) - 1, -1)]
        systems += [name for minor, name in OLDER_NAMES.items() if minor <= self.glibc]
        names = [f"{each}_{self.machine}" for each in (*systems, "linux")]
        return ["--python-version", self.python, *(word for name in names for word in ("--platform", name))]


def pip(*arguments: str, trouble: str) -> str:
    """What pip prints; `InputError` with the trouble where it fails."""
    words = [sys.executable, "-m", "pip", *arguments, "--quiet", "--disable-pip-version-check"]
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode:
        raise InputError(f"{trouble}: {last_words(done.stderr)}")
    return done.stdout


def download(
    folder: Path, requirements: Sequence[str], target: Target, *, options: Sequence[str] = ()
) -> None:
    """Put wheels for a machine of some requirements, and of all that these need, into a folder.

    What has no wheel at all is built. `InputError` for what can be neither downloaded nor built for that
    machine. `options` are pip's.
    """
    finding = [f"--find-links={folder}", *options]
    for requirement in list_without_wheel(requirements, finding):
        build(folder, requirement, target)
    words = ["--only-binary=:all:", "--dest", str(folder), *finding, *target.options]
    pip("download", *words, *requirements, trouble="pip cannot bring all wheels")


def download_torch(folder: Path, requirement: str, target: Target, index: str) -> str:
    """Put the wheel of PyTorch for a machine into a folder, from one index alone; the requirement of exactly
    that build, such as `torch==2.13.0+cpu`. `InputError` where the index has none.
    """
    words = ["--no-deps", "--only-binary=:all:", "--dest", str(folder), "--index-url", index]
    trouble = f"{index} has no {requirement} for Python {target.python} on {target.machine}"
    pip("download", *words, *target.options, requirement, trouble=trouble)
    (wheel,) = folder.glob("torch-*.whl")
    return f"torch=={wheel.name.split('-')[1]}"


def list_without_wheel(requirements: Sequence[str], options: Sequence[str]) -> list[str]:
    """Of what would be installed here, that of which there is the source alone."""
    words = ["--dry-run", "--ignore-installed", "--report=-", *options]
    report = pip("install", *words, *requirements, trouble="pip cannot find all packages")
    found = [(each["metadata"], each["download_info"]["url"]) for each in json.loads(report)["install"]]
    return [f"{data['name']}=={data['version']}" for data, address in found if not address.endswith(".whl")]


def build(folder: Path, requirement: str, target: Target) -> None:
    """Build the wheel of a requirement; `InputError` where it would not run on the machine."""
    logger.warning("%s has no wheel and is built", requirement)
    with TemporaryDirectory(dir=folder) as part:
        pip("wheel", "--no-deps", "--wheel-dir", part, requirement, trouble=f"{requirement} cannot be built")
        for wheel in Path(part).iterdir():
            if not (target.is_here or wheel.name.endswith(ANYWHERE)):
                raise InputError(
                    f"{requirement} has no wheel, and one that is built here does not run with Python "
                    f"{target.python} on {target.machine}; make the folder on a machine like that one"
                )
            wheel.rename(folder / wheel.name)


def add_compiled(folder: Path, requirement: str, target: Target) -> None:
    """Put what is compiled against the PyTorch of this environment into a folder: its wheel for a machine
    like this one; its source for another, which compiles it when it installs.
    """
    logger.warning("%s is %s", requirement, "compiled" if target.is_here else "taken as source")
    words = ["wheel", "--wheel-dir"] if target.is_here else ["download", "--no-binary=:all:", "--dest"]
    trouble = f"{requirement} cannot be had; set this environment up with bash scripts/setup.sh"
    pip(*words, str(folder), "--no-deps", "--no-build-isolation", requirement, trouble=trouble)


def own_wheel(checkout: Path, folder: Path) -> None:
    """Build the wheel of zsnmt into a folder; nothing is written into the checkout. `InputError` where it
    cannot be built.
    """
    with TemporaryDirectory() as part:
        words = ["egg_info", "--egg-base", part, "build", "--build-base", f"{part}/build"]
        words += ["bdist_wheel", "--bdist-dir", f"{part}/wheel", "--dist-dir", str(folder.resolve())]
        done = subprocess.run(
            [sys.executable, "setup.py", "--quiet", *words], cwd=checkout, capture_output=True, text=True
        )
    if done.returncode:
        raise InputError(f"the wheel of zsnmt cannot be built: {last_words(done.stderr)}")


def pinned_requirements(checkout: Path) -> list[str]:
    """The requirements that scripts/setup.sh installs."""
    command = ["bash", str(checkout / "scripts" / "setup.sh"), "--list"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()


def last_words(output: str) -> str:
    """The end of what a program said, where it says what went wrong."""
    errors = [line for line in output.splitlines() if line.startswith("ERROR")] or output.splitlines()
    return " ".join(" ".join(errors[-2:]).split()) or "it says nothing"
