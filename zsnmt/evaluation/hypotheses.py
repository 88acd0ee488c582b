"""The translations of a test set in every direction, one file each, so that an interrupted evaluation
resumes.
"""

import json
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from zsnmt.files.checksums import sha256
from zsnmt.files.kinds import fits
from zsnmt.files.records import damage_of, read_json, write_json
from zsnmt.inference.translator import Translator
from zsnmt.languages import SUPERVISED, Direction
from zsnmt.processes import Progress, used_seconds
from zsnmt.runs.folder import HYPOTHESES_CHECKSUMS as CHECKSUMS
from zsnmt.runs.folder import hypotheses_file, settings_file
from zsnmt.runs.ways import INTO_OWN_PIVOT, INTO_PIVOT, Way
from zsnmt.text.lines import read_lines, write_lines

logger = logging.getLogger(__name__)

FIRST_HALVES = (INTO_PIVOT, INTO_OWN_PIVOT)  # ways that no score is of
Pair = tuple[Sequence[str], Sequence[str]]  # the sources and references of a direction
SOURCE_CHECKSUMS = "sources"  # the checksum of the sources of each direction, where that is known
SECONDS = "seconds"  # of processors, by the name of a file, beside what the files are made with
RECORD_KINDS = {
    CHECKSUMS: Mapping[str, str] | None,
    SECONDS: Mapping[str, float] | None,
    SOURCE_CHECKSUMS: Mapping[str, str] | None,
}


class Hypotheses:
    """What a model makes of a test set in one way. Files of other sources are removed, those made with other
    settings (model, beam) when there is something in their place.

    Beside the settings stand the checksums of the files, and one that was changed since is made anew. Those
    of version 0.1 have none and stay. What a file took is kept there, too.
    """

    def __init__(self, folder: Path, way: Way, settings: Mapping, translator: Translator) -> None:
        self.folder, self.way, self.translator = folder, way, translator
        folder.mkdir(parents=True, exist_ok=True)
        self.record = settings_file(folder, way)
        self.settings = {**settings, **({"way": way.to_json()} if way.settings else {})}
        there = sorted(folder.glob(f"{way.file_name}.*.txt"))
        found = {path.name: sha256(path) for path in there}
        known = read_settings(self.record)
        checksums = known.get(CHECKSUMS, found)
        apart = {CHECKSUMS: None, SECONDS: None, SOURCE_CHECKSUMS: None}
        made_so = known | apart == json.loads(json.dumps(self.settings)) | apart
        checksums = {
            name: checksum
            for name, checksum in checksums.items()
            if made_so and self.has_sources(name, known)
        }
        self.checksums = {name: found[name] for name in found if found[name] == checksums.get(name)}
        self.seconds = {
            name: seconds for name, seconds in (known.get(SECONDS) or {}).items() if name in self.checksums
        }
        self.replaced = [path for path in there if path.name not in self.checksums]
        for path in self.replaced:
            if path.name in checksums:
                logger.warning("%s was changed since it was translated, and is translated again", path)
        if made_so and known.get(CHECKSUMS) != self.checksums:
            self.remove_replaced()

    def has_sources(self, name: str, known: Mapping) -> bool:
        """Whether a file is of the sources that its direction has now, by what it was made with."""
        direction = name.removesuffix(".txt").rpartition(".")[2]
        of_file, now = (sources_of(settings).get(direction) for settings in (known, self.settings))
        return of_file == now

    def remove_replaced(self) -> None:
        """Remove the files that others take the place of, and write down what is left."""
        while self.replaced:
            self.replaced.pop().unlink(missing_ok=True)
        self.keep()

    def keep(self) -> None:
        """Write down what the files are made with, their checksums, and what they took."""
        write_json(self.record, self.settings | {CHECKSUMS: self.checksums, SECONDS: self.seconds})

    def path(self, direction: Direction) -> Path:
        return hypotheses_file(self.folder, self.way, direction)

    def has(self, direction: Direction) -> bool:
        """Whether a direction is translated."""
        return self.path(direction).name in self.checksums

    def of(self, direction: Direction) -> list[str]:
        """The translations of a direction that was translated."""
        return read_lines(self.path(direction), allow_empty_lines=True)

    def seconds_of(self, direction: Direction) -> float | None:
        """The seconds of processors that a direction's translations took; None where that is not known."""
        return self.seconds.get(self.path(direction).name)

    def write(self, translations: Mapping[Direction, Sequence[str]], seconds: float | None = None) -> None:
        """Keep the translations of some directions, and what each took where that is known."""
        if self.replaced:
            self.remove_replaced()
        for direction, lines in translations.items():
            path = self.path(direction)
            write_lines(path, lines)
            self.checksums[path.name] = sha256(path)
            if seconds is not None:
                self.seconds[path.name] = round(seconds, 3)
        self.keep()  # once, as it says something of every direction


def sources_of(settings: Mapping) -> Mapping[str, str]:
    """The checksums of the sources that hypotheses were made of, by direction; none where those are not
    known.
    """
    return settings.get(SOURCE_CHECKSUMS) or {}


def read_settings(record: Path) -> dict:
    """What hypotheses were made with; nothing where that is not known."""
    try:
        kept = json.loads(record.read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        return {}
    return kept if fits(kept, RECORD_KINDS) else {}


def kept_ways(folder: Path, remedy: str) -> dict[Way, dict]:
    """The ways that a folder has hypotheses of, and what they were made with; `InputError` for damaged
    settings.
    """
    found = {path.stem: read_json(path, remedy, RECORD_KINDS) for path in sorted(folder.glob("*.json"))}
    ways = {}
    for name, settings in found.items():
        with damage_of(folder / f"{name}.json", remedy):
            ways[Way.from_json(settings.get("way", name))] = settings
    return {way: settings for way, settings in ways.items() if way not in FIRST_HALVES}


class Job(NamedTuple):
    """Lines of one language to translate into several: `legs` says in which direction, for which direction of
    the test set. `first_leg`: what made the lines, and in which direction, where a model did.
    """

    kept: Hypotheses
    lines: Callable[[], Sequence[str]]
    number: int
    legs: Mapping[Direction, Direction]
    first_leg: tuple[Hypotheses, Direction] | None = None

    def missing(self) -> dict[Direction, Direction]:
        """The legs that are not translated yet."""
        return {direction: leg for direction, leg in self.legs.items() if not self.kept.has(direction)}

    def work(self) -> int:
        """How many sentences there are to translate."""
        return self.number * len(self.missing())

    def run(self, finished: Progress) -> None:
        """Translate what is missing, all together: a sentence is encoded once for all languages it goes
        into. What that takes is the directions' alike, and so is what the lines took.
        """
        if missing := self.missing():
            started = used_seconds()
            translations = self.kept.translator.translate_into(
                self.lines(), [*missing.values()], finished=finished
            )
            own = (used_seconds() - started) / len(missing)
            seconds: float | None = own
            if self.first_leg is not None:
                kept, direction = self.first_leg
                before = kept.seconds_of(direction)
                seconds = None if before is None else own + before / len(self.legs)
            self.kept.write({direction: translations[leg] for direction, leg in missing.items()}, seconds)


def pivot_jobs(
    direct: Hypotheses,
    pivot: Hypotheses,
    into_pivot: Hypotheses,
    *,
    pairs: Mapping[Direction, Pair],
    kinds: Mapping[Direction, str],
) -> Iterator[Job]:
    """The directions that are not supervised, through the pivot, in an order in which the lines of each job
    are there, if all is translated directly.

    The text in the pivot is a direct translation where the same model pivots and has the same sources there.
    Directions that share their sources are one job.
    """
    through = pivot.translator.pivot
    for directions in group_by_source(pairs):
        pivoted = [
            direction
            for direction in directions
            if kinds[direction] != SUPERVISED and through not in direction
        ]
        if not pivoted:
            continue
        sources, _ = pairs[pivoted[0]]
        first, kept = Direction(pivoted[0].source, through), direct
        if pivot.translator is not direct.translator or first not in directions:
            yield Job(into_pivot, partial(list, sources), len(sources), legs={pivoted[0]: first})
            first, kept = pivoted[0], into_pivot
        legs = {direction: Direction(through, direction.target) for direction in pivoted}
        yield Job(pivot, partial(kept.of, first), len(sources), legs=legs, first_leg=(kept, first))


def direct_jobs(kept: Hypotheses, pairs: Mapping[Direction, Pair]) -> Iterator[Job]:
    """Every direction in one step, as direct translation and other ways without a pivot do."""
    for directions in group_by_source(pairs):
        sources, _ = pairs[directions[0]]
        yield Job(
            kept,
            partial(list, sources),
            len(sources),
            legs={direction: direction for direction in directions},
        )


def group_by_source(pairs: Mapping[Direction, Pair]) -> list[list[Direction]]:
    """The directions in groups of one source language and the same source sentences."""
    groups: dict[tuple, list[Direction]] = {}
    for direction, (sources, _) in pairs.items():
        groups.setdefault((direction.source, tuple(sources)), []).append(direction)
    return [*groups.values()]
