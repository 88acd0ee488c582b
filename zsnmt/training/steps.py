"""Steps that are done once: each leaves a marker that says from what its output was made.

A step that is asked for again is left out if its output is there and its settings and inputs are the same.
Inputs are compared by content; a file whose size and time are those of the last comparison is not read again.
"""

import hashlib
import json
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from zsnmt.errors import GO_ON
from zsnmt.files.checksums import sha256
from zsnmt.files.records import write_json
from zsnmt.training.team import Team

MARKERS = ".done"
BASH_MARKER = re.compile(r"[0-9a-f]{64}")  # all that a marker held at a time when steps were written in bash


class Stamp(NamedTuple):
    """What is known of a file's content: its checksum at a size (bytes) and time (ns)."""

    size: int
    time: int
    digest: str


class Marker(NamedTuple):
    """What a finished step leaves: the checksum of all that its output was made from, and the stamps of the
    files of that.

    One of bash has no stamps, and its checksum is not comparable.
    """

    made_from: str
    files: dict[str, Stamp] | None


@dataclass
class Steps:
    """Does the steps of the command `verb`. With `check` every input is read, whatever its size and time.
    Trainings among them are a `team`'s work, which changes nothing of what they make but rounding.

    A step that several parts of a command ask for is told of once: processes that are forked later know it.
    """

    verb: str
    check: bool = False
    team: Team = Team()
    stamps: dict[str, Stamp] = field(default_factory=dict)  # by path, of files that need not be read again
    told: set[Path] = field(default_factory=set)  # markers of the steps that the person knows to be done

    def say(self, sentence: str) -> None:
        """Tell the person what happens."""
        sys.stderr.write(f"{self.verb}: {sentence}\n")  # at once, since others may write, too

    def make(
        self,
        folder: Path,
        name: str,
        output: Path,
        work: Callable[[], object],
        *,
        inputs: Sequence[Path] = (),
        settings: Mapping[str, object],
        take_older: bool = True,
    ) -> None:
        """Do `work`, which makes `output`, unless that was made before from the same `inputs` and `settings`.

        `inputs` are files and folders, of which names and contents count; `settings` are whatever else the
        output depends on, those that say nothing counting as left out (`is_left_out`). The marker is kept in
        `folder`. A marker of bash says nothing of settings: with `take_older` it holds where no input is
        newer.
        """
        path, marker = folder / MARKERS / name, read_marker(folder, name)
        if marker and marker.files is None and output.exists() and take_older and not any_newer(inputs, path):
            self.say_done(name, path)
            return
        self.recall(marker)
        made_from = self.made_from(inputs, settings)
        if marker and marker.made_from == made_from.made_from and output.exists():
            if marker != made_from:
                write_marker(folder, name, made_from)
            self.say_done(name, path)
            return
        self.say(name)
        path.unlink(missing_ok=True)
        try:
            work()
        except Exception:
            self.say(f"{name} failed; {GO_ON}")
            raise
        write_marker(folder, name, made_from)
        self.told.add(path)

    def recall(self, marker: Marker | None) -> None:
        """Read no file again that has not changed since a marker was left."""
        if marker and marker.files and not self.check:
            self.stamps = marker.files | self.stamps

    def say_done(self, name: str, path: Path) -> None:
        """Tell that a step, with this marker, was done before, unless the person knows it."""
        if path not in self.told:
            self.say(f"{name}: done before")
            self.told.add(path)

    def made_from(self, inputs: Sequence[Path], settings: Mapping[str, object]) -> Marker:
        """What a step's marker says if it is done with these inputs and settings."""
        files: dict[str, Stamp] = {}
        described = []
        for each in inputs:
            stamped = {str(path): self.stamp(path) for path in files_of(each)}
            files |= stamped
            start = len(str(each)) if each.is_dir() else len(str(each.parent))
            described.append([[path[start:], stamp.digest] for path, stamp in stamped.items()])
        given = {key: value for key, value in settings.items() if not is_left_out(value)}
        content = json.dumps([described, given], sort_keys=True, default=str)
        return Marker(hashlib.sha256(content.encode("utf-8")).hexdigest(), files)

    def stamp(self, path: Path) -> Stamp:
        """The stamp of a file, which is read if it changed since it was last known."""
        status, known = path.stat(), self.stamps.get(str(path))
        if not known or (known.size, known.time) != (status.st_size, status.st_mtime_ns):
            known = self.stamps[str(path)] = Stamp(status.st_size, status.st_mtime_ns, sha256(path))
        return known


def is_left_out(value: object) -> bool:
    """Whether a setting says nothing: None, False, 0, an empty list or word; but 0.0 is a value."""
    return value is None or value in ((), [], "") or isinstance(value, int) and not value


def read_marker(folder: Path, name: str) -> Marker | None:
    """The marker of a step; None if the step is not done, or its marker is damaged."""
    path = folder / MARKERS / name
    if not path.is_file():
        return None
    text = path.read_text(encoding="utf-8", errors="replace")
    if BASH_MARKER.fullmatch(text):
        return Marker(text, None)
    try:
        content = json.loads(text)
        return Marker(content["made_from"], {path: Stamp(*stamp) for path, stamp in content["files"].items()})
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


def made_from(folder: Path, name: str) -> str:
    """The checksum of all that the output of a step that is done was made from: a setting of the steps
    that use the output.
    """
    marker = read_marker(folder, name)
    assert marker, f"{folder / MARKERS / name} is the marker of a step that was not done"
    return marker.made_from


def write_marker(folder: Path, name: str, marker: Marker) -> None:
    """Say that a step in a folder is done."""
    path = folder / MARKERS / name
    path.parent.mkdir(parents=True, exist_ok=True)
    write_json(path, marker._asdict())


def files_of(path: Path) -> Iterator[Path]:
    """A file, or all files in a folder and the folders below it, in a fixed order; links are followed, but
    in a folder those that lead nowhere are passed over.
    """
    if path.is_dir():
        for child in sorted(path.iterdir()):
            if child.exists():
                yield from files_of(child)
    else:
        yield path


def any_newer(inputs: Sequence[Path], than: Path) -> bool:
    """Whether any file of the inputs was written after a file."""
    time = than.stat().st_mtime_ns
    return any(path.stat().st_mtime_ns > time for each in inputs for path in files_of(each))


def listing(folder: Path) -> list[tuple[str, int, int]]:
    """Names, sizes and times of the files in a folder that is too large to be read for a comparison: a
    setting of a step.
    """
    stats = ((path, path.stat()) for path in files_of(folder))
    return [(str(path.relative_to(folder)), status.st_size, status.st_mtime_ns) for path, status in stats]


def content_of(folder: Path) -> str:
    """The checksum of what is in a folder, as bash made it with find, sort and sha256sum."""
    lines = [f"{sha256(path)}  ./{path.relative_to(folder)}\n" for path in sorted(files_of(folder), key=str)]
    return hashlib.sha256("".join(lines).encode("utf-8")).hexdigest()
