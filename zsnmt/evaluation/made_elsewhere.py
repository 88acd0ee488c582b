"""Translations that another toolkit made of a run's test set, scored as the run's own are.

They lie in a folder, a file for each direction, `de-fr.txt`, with a line for each line of the test set. Their
scores are written beside them, so that tables and pages take the folder as they take that of a run.
"""

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from zsnmt.decoding.options import EngineChoice
from zsnmt.decoding.search import Search
from zsnmt.errors import InputError
from zsnmt.evaluation.evaluate import Model
from zsnmt.evaluation.hypotheses import SOURCE_CHECKSUMS
from zsnmt.evaluation.scorer import Scorer, means
from zsnmt.evaluation.settings import EvaluationSettings
from zsnmt.evaluation.text import read_text, word_orders
from zsnmt.files.checksums import checksum_of, sha256
from zsnmt.files.records import write_json
from zsnmt.languages import SUPERVISED, UNKNOWN, Direction, parse_direction
from zsnmt.report.comparability import list_some
from zsnmt.runs.folder import (
    HYPOTHESES,
    HYPOTHESES_CHECKSUMS,
    PIPELINE_FOLDER,
    RECORD_FILE,
    commit,
    hypotheses_file,
    settings_file,
)
from zsnmt.runs.score_file import SCORES_FILE, write_score_file
from zsnmt.runs.scores import Result, Scores
from zsnmt.runs.ways import DIRECT
from zsnmt.scoring.comet import load_comet
from zsnmt.text.lines import read_lines, write_lines

logger = logging.getLogger(__name__)

SOURCES = "sources"  # folder of what is to be translated


@dataclass(frozen=True)
class OtherSystem:
    """What is known of a system of another toolkit; `kind`: what directions without the pivot are to it."""

    name: str
    seed: int = 1
    kind: str = UNKNOWN
    command: str = "unknown"


class RunTestSet:
    """The test set of a run or of its export, as its own translations are scored on it."""

    def __init__(self, run: Path, settings: EvaluationSettings) -> None:
        self.comet = load_comet(settings.scoring.comet) if settings.scoring.comet else None
        self.run, self.settings, self.model = run, settings, Model(run)
        self.translator = self.model.load(Search(), EngineChoice())  # for its languages and spelling
        folder = settings.text.text or Path(self.model.record["text"])
        self.text = read_text(
            settings.text, folder, [self.translator], normalise=settings.scoring.normalise_references
        )

    def write_sources(self, folder: Path) -> list[Path]:
        """Write what is to be translated into a folder, a file for each direction; returns the files."""
        paths = {direction: folder / f"{direction}.txt" for direction in self.text.pairs}
        folder.mkdir(parents=True, exist_ok=True)
        for direction, path in paths.items():
            write_lines(path, self.text.pairs[direction][0])
        return [*paths.values()]

    def read(self, folder: Path) -> dict[Direction, list[str]]:
        """The translations in a folder, by direction, in the order of the test set; says which are missing.

        Raises `InputError` for a folder without any, for one of a direction that the test set has not, and
        for more or fewer lines than it has.
        """
        files = translation_files(folder)
        if others := [direction for direction in files if direction not in self.text.pairs]:
            raise InputError(
                f"{files[others[0]]}: the test set has no direction {others[0]}; it has "
                f"{list_some([*map(str, self.text.pairs)])}; rename or remove the file"
            )
        if missing := [str(direction) for direction in self.text.pairs if direction not in files]:
            logger.warning("not scored, since %s has no file for them: %s", folder, ", ".join(missing))
        return {
            direction: self.lines_of(direction, files[direction])
            for direction in self.text.pairs
            if direction in files
        }

    def lines_of(self, direction: Direction, path: Path) -> list[str]:
        """The translations of a direction; `InputError` unless there is one for each source."""
        lines, (sources, _) = read_lines(path, allow_empty_lines=True), self.text.pairs[direction]
        if len(lines) != len(sources):
            some = f" (the first {len(sources)} are scored)" * (self.settings.text.lines is not None)
            raise InputError(
                f"{path} has {len(lines)} lines, and {self.text.files[direction][0]} has {len(sources)} to "
                f"translate{some}; give a line for each, empty where there is no translation"
            )
        return lines

    def score(
        self,
        translations: Mapping[Direction, list[str]],
        system: OtherSystem,
        scored: Callable[[Result], object] = lambda result: None,
    ) -> Scores:
        """The scores of a system's translations; `scored` is told each result."""
        languages, text, record = self.translator.languages, self.text, self.model.record
        scorer = Scorer(text, self.run, languages=languages, scoring=self.settings.scoring, comet=self.comet)
        results = []
        for direction, lines in translations.items():
            kind = SUPERVISED if self.translator.pivot in direction else system.kind
            results.append(scorer.result(direction, kind, DIRECT, hypotheses=lines))
            scored(results[-1])
        return Scores(
            config=record["config"],
            system=system.name,
            seed=system.seed,
            command=system.command,
            commit=commit(),
            text=str(text.folder),
            training="by another toolkit",
            made_elsewhere=True,
            languages=languages,
            pivot=self.translator.pivot,
            word_orders=word_orders(text.folder, languages),
            decoding=self.decoding(),
            test_set=checksum_of(text.pairs),
            signatures=scorer.signatures(),
            scripts=scorer.scripts,
            results=results,
            means=means(results),
        )

    def decoding(self) -> dict[str, object]:
        """What is known of how the translations were made: which lines they are of."""
        lines = self.settings.text.lines
        return {"split": self.settings.text.split, **({"lines": lines} if lines else {})}

    def keep(self, folder: Path, translations: Mapping[Direction, list[str]], scores: Scores) -> Path:
        """Write scores and translations into a folder in the form that tables and pages read; returns the
        score file.
        """
        kept = folder / HYPOTHESES
        kept.mkdir(exist_ok=True)
        paths = {direction: hypotheses_file(kept, DIRECT, direction) for direction in translations}
        for direction, path in paths.items():
            write_lines(path, translations[direction])
        checksums = {path.name: sha256(path) for path in paths.values()}
        made_with = {SOURCE_CHECKSUMS: self.text.checksums(), HYPOTHESES_CHECKSUMS: checksums}
        write_json(settings_file(kept, DIRECT), {**self.decoding(), **made_with})
        write_score_file(folder / SCORES_FILE, scores)
        return folder / SCORES_FILE


def translation_files(folder: Path) -> dict[Direction, Path]:
    """The files of translations in a folder, by direction; `InputError` where there are none."""
    if not folder.is_dir():
        raise InputError(f"there is no folder {folder}; give one with a file for each direction, de-fr.txt")
    files: dict[Direction, Path] = {}
    for path in sorted(folder.glob("*.txt")):
        name = path.stem.removeprefix(f"{DIRECT.file_name}.")
        try:
            direction = parse_direction(name)
        except InputError:  # a file of something else
            continue
        if direction in files:
            raise InputError(f"{files[direction]} and {path} are of one direction; leave one of them")
        files[direction] = path
    if not files:
        raise InputError(
            f"{folder} has no translations; give a file for each direction, de-fr.txt, with a line for each "
            "line of the test set (--sources writes those lines)"
        )
    return files


def check_place(folder: Path) -> None:
    """`InputError` for a folder in which scores would replace, or lie among, what a run keeps."""
    for place in (folder, folder.resolve().parent):
        if (place / RECORD_FILE).is_file() or (place / PIPELINE_FOLDER).is_dir():
            raise InputError(
                f"{folder} is that of a run, which keeps its own scores; copy the translations to another "
                "folder"
            )
