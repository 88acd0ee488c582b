"""Sentences of the test set with what each system made of them: the same seeded lines for all systems."""

import logging
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from zsnmt.corpora.parallel_text import find_pair
from zsnmt.errors import InputError
from zsnmt.files.checksums import sha256
from zsnmt.files.records import read_json
from zsnmt.languages import Direction, parse_direction
from zsnmt.report.notes import way_title
from zsnmt.report.scores import Run, all_directions, ways_of
from zsnmt.runs.folder import HYPOTHESES, hypotheses_file, is_as_translated, settings_file
from zsnmt.runs.score_file import scoring_command
from zsnmt.runs.scores import Scores
from zsnmt.runs.ways import DIRECT, INTO_PIVOT, OF_PIVOT, PIVOT, Way
from zsnmt.scoring.language_identification import Identifier, load_identifier
from zsnmt.text.lines import read_lines

logger = logging.getLogger(__name__)

MOST = 400  # examples on a page, however many directions there are


@dataclass(frozen=True)
class Output:
    """What a system wrote; `strayed` is the language it was identified as where that is not the target.

    `in_pivot`: the sentence in the pivot that it was translated from, where it went through the pivot.
    """

    system: str
    way: str  # as `way_title` says it
    text: str
    strayed: str | None = None
    in_pivot: str | None = None


@dataclass(frozen=True)
class Example:
    """A sentence of the test set, its reference and the outputs; `line` counts from 1."""

    line: int
    source: str
    reference: str
    outputs: list[Output] = field(default_factory=list)


def examples(
    runs: Sequence[Run], number: int, seed: int = 1, text: Path | None = None
) -> dict[Direction, list[Example]]:
    """At most `number` examples of each direction, with the outputs of each system's first run; of very many
    directions only so many have one as a page has room for, from the first to the last in equal steps.

    `text` is the folder of the test set where it is no longer the one that the score files name. What cannot
    be shown truthfully is left out with a warning: hypotheses of another model or test set, or text that is
    gone. `InputError` for a negative number.
    """
    if number < 0:
        raise InputError(f"{number} examples per direction cannot be shown; give 0 for none")
    shown = [kept for run in first_runs(runs) if number and (kept := kept_by(run))]
    if not shown:
        return {}
    text = text or Path(shown[0].run.scores.text or "text")
    if not text.is_dir():
        logger.warning("no examples: the test set %s is not a folder; name it with --text", text)
        return {}
    directions = [*all_directions([kept.run.scores for kept in shown])]
    if len(directions) > MOST:
        directions = [directions[place * len(directions) // MOST] for place in range(MOST)]
    number = min(number, max(1, MOST // len(directions)))
    identifier = sentence_identifier(shown[0].run.scores, text)
    found = {}
    for direction in directions:
        try:
            found[direction] = examples_of(
                direction, shown, text, number=number, seed=seed, identifier=identifier
            )
        except InputError as error:
            logger.warning("no examples of %s: %s", direction, error)
    return found


class Kept:
    """The translations that a run kept of the test set; `made_with`: with what those of each way were made.

    Raises `InputError` where that is not known.
    """

    def __init__(self, run: Run) -> None:
        self.run, self.folder = run, run.folder / HYPOTHESES
        remedy = f"score it with {scoring_command(run.folder)}"
        self.made_with = {
            way: read_json(settings_file(self.folder, way), remedy, {"sources": Mapping[str, str]})
            for way in ways_of([run.scores])
        }

    @cached_property
    def sharing(self) -> dict[tuple[str, str | None], list[Direction]]:
        """The directions through the pivot in groups of one source language and the same sources, by the
        checksum of those.
        """
        groups: dict[tuple[str, str | None], list[Direction]] = {}
        for name, checksum in self.made_with[PIVOT]["sources"].items():
            direction = parse_direction(name)
            groups.setdefault((direction.source, checksum), []).append(direction)
        return groups


def first_runs(runs: Sequence[Run]) -> list[Run]:
    """The first run of each system."""
    first: dict[str, Run] = {}
    for run in runs:
        first.setdefault(run.scores.system, run)
    return [*first.values()]


def examples_of(
    direction: Direction,
    shown: Sequence[Kept],
    text: Path,
    number: int,
    seed: int,
    identifier: Identifier | None,
) -> list[Example]:
    """The examples of one direction; `InputError` where the text is not what was translated."""
    sources, references = read_pair(text, direction, shown)
    lines = sorted(random.Random(seed).sample(range(len(sources)), min(number, len(sources))))
    made = [Example(line + 1, sources[line], references[line]) for line in lines]
    for kept in shown:
        scores = kept.run.scores
        for way, hypotheses in read_hypotheses(kept, direction, len(sources)).items():
            outputs = [hypotheses[line] for line in lines]
            languages = identifier.identify(outputs) if identifier else [direction.target] * len(outputs)
            into_pivot = read_into_pivot(kept, direction, len(sources)) if way == PIVOT else None
            for example, output, language in zip(made, outputs, languages):
                example.outputs.append(
                    Output(
                        scores.system,
                        way_title(way, scores.pivot),
                        output,
                        strayed=None if language == direction.target else language,
                        in_pivot=None if into_pivot is None else into_pivot[example.line - 1],
                    )
                )
    return made


def read_pair(text: Path, direction: Direction, shown: Sequence[Kept]) -> tuple[list[str], list[str]]:
    """Sources and references as they were scored; `InputError` if the sources are not those that were
    translated.
    """
    decoding = shown[0].run.scores.decoding
    paths = find_pair(text, decoding.get("split", "test"), *direction)
    checksum = sha256(paths[0])
    for kept in shown:
        made_with = next(iter(kept.made_with.values()))
        if made_with["sources"].get(str(direction), checksum) != checksum:
            raise InputError(
                f"{paths[0]} is not what {kept.run.folder} translated; give the folder of that test set with "
                "--text"
            )
    sources, references = (read_lines(path)[: decoding.get("lines")] for path in paths)
    return sources, references


def read_hypotheses(kept: Kept, direction: Direction, lines: int) -> dict[Way, list[str]]:
    """What a run kept of a direction, by the way it was decoded; `InputError` unless it is what was scored,
    with a line for each source.
    """
    paths = {way: hypotheses_file(kept.folder, way, direction) for way in kept.made_with}
    there = {way: path for way, path in paths.items() if path.is_file()}
    for way, path in there.items():
        if not is_as_translated(path, kept.made_with[way]):
            raise InputError(f"{path} is not what was scored; score the run again")
    return {way: read_whole(path, lines) for way, path in there.items()}


def read_whole(path: Path, lines: int) -> list[str]:
    """Hypotheses; `InputError` unless there is a line for each source."""
    hypotheses = read_lines(path, allow_empty_lines=True)
    if len(hypotheses) != lines:
        raise InputError(f"{path} has {len(hypotheses)} lines for {lines} sources; score the run again")
    return hypotheses


def read_into_pivot(kept: Kept, direction: Direction, lines: int) -> list[str] | None:
    """What the sources of a direction were in the pivot on their way through it; None where it is not there.

    It is kept once for all directions that share the sources: as a direct translation, where the run pivots
    itself and has the same sources there, else as `INTO_PIVOT` (`zsnmt.evaluation.hypotheses.pivot_jobs`).
    """
    checksum = kept.made_with[PIVOT]["sources"].get(str(direction))
    sharing = kept.sharing.get((direction.source, checksum), [])
    paths = [hypotheses_file(kept.folder, INTO_PIVOT, other) for other in sharing]
    first = Direction(direction.source, kept.run.scores.pivot)
    if "pivot_model" not in kept.run.scores.decoding and first in sharing:
        paths = [hypotheses_file(kept.folder, DIRECT, first)]
    return next((read_whole(path, lines) for path in paths if path.is_file()), None)


def kept_by(run: Run) -> Kept | None:
    """What a run kept of the hypotheses that its scores are of, in every way; None, and says so, where it did
    not.
    """
    system, decoding = run.scores.system, run.scores.decoding
    try:
        kept = Kept(run)
    except InputError as error:
        logger.warning("no examples of %s: %s", system, error)
        return None
    alike = {name: value for name, value in decoding.items() if name not in OF_PIVOT}
    alike["sources"] = next(iter(kept.made_with.values()))["sources"]
    if all(
        ({**decoding, **alike} if way == PIVOT else alike).items() <= made_with.items()
        for way, made_with in kept.made_with.items()
    ):
        return kept
    logger.warning("no examples of %s: what %s holds is not what was scored", system, kept.folder)
    return None


def sentence_identifier(scores: Scores, text: Path) -> Identifier | None:
    """The identifier that the off-target rates are by, or None where it cannot be made again."""
    signature = scores.signatures["off_target"]
    try:
        identifier, made = load_identifier(
            signature.split()[0], scores.languages, text, scripts=scores.scripts
        )
    except InputError:
        return None
    return identifier if made == signature else None
