"""Translations that another toolkit made of a run's test set, scored as the run's own are.

They lie in a folder, a file for each direction with a line for each line of the test set: `de-fr.txt` of
direct translations, `pivot.de-fr.txt` of those through the pivot. Scores are written beside them, so that
tables and pages take the folder as they take that of a run.
"""

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from zsnmt.corpora.parallel_text import number_of_lines
from zsnmt.decoding.options import EngineChoice
from zsnmt.decoding.search import Search
from zsnmt.errors import InputError
from zsnmt.evaluation.hypotheses import SOURCE_CHECKSUMS
from zsnmt.evaluation.models import Model
from zsnmt.evaluation.scorer import Scorer
from zsnmt.evaluation.settings import EvaluationSettings
from zsnmt.evaluation.text import read_text
from zsnmt.files.checksums import sha256
from zsnmt.files.records import write_json
from zsnmt.files.replacing import check_output
from zsnmt.languages import SUPERVISED, UNKNOWN
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
from zsnmt.runs.scores import NO_SEED, Result, Scores
from zsnmt.runs.translated_files import WAYS, Translated, translated_in
from zsnmt.runs.ways import DIRECT, PIVOT
from zsnmt.scoring.comet import load_comet
from zsnmt.text.lines import read_lines, write_lines

logger = logging.getLogger(__name__)

SOURCES = "sources"  # folder of what is to be translated
MARKS_OF_PIECES = "▁", "@@ "  # of SentencePiece and of subword-nmt


@dataclass(frozen=True)
class OtherSystem:
    """What is known of a system of another toolkit; `kind`: what directions without the pivot are to it."""

    name: str
    seed: int = NO_SEED
    kind: str = UNKNOWN
    command: str = "unknown"


Translations = Mapping[Translated, list[str]]


class RunTestSet:
    """The test set of a run or of its export, as its own translations are scored on it."""

    def __init__(self, run: Path, settings: EvaluationSettings) -> None:
        scoring = settings.scoring
        self.comet = load_comet(scoring.comet) if scoring.comet else None  # first: it may not be installed
        self.run, self.settings, self.model = run, settings, Model(run)
        self.translator = self.model.load(Search(), EngineChoice())  # for its languages and spelling
        folder = settings.text.text or Path(self.model.record["text"])
        self.text = read_text(settings.text, folder, self.translator, normalise=scoring.normalise_references)

    def write_sources(self, folder: Path) -> list[Path]:
        """Write what is to be translated into a folder, a file for each direction; returns the files."""
        paths = {direction: folder / f"{direction}.txt" for direction in self.text.pairs}
        folder.mkdir(parents=True, exist_ok=True)
        for direction, path in paths.items():
            write_lines(path, self.text.pairs[direction][0])
        return [*paths.values()]

    def read(self, folder: Path) -> Translations:
        """The translations in a folder, in the order of the test set; says which are missing.

        Raises `InputError` for a folder without any, for a direction that the test set has not, and for more
        or fewer lines than it has.
        """
        files = translation_files(folder)
        strange = [each for each in files if each.direction not in self.text.pairs]
        if strange and not self.settings.text.directions:
            raise InputError(
                f"{files[strange[0]]}: the test set has no direction {strange[0].direction}; it has "
                f"{list_some([*map(str, self.text.pairs)])}; rename or remove the file"
            )
        if missing := [each for each in self.text.pairs if Translated(DIRECT, each) not in files]:
            unread = sorted({path.name for path in folder.iterdir() if path.is_file()} - names(files))
            also = f"; it also has {list_some(unread)}, which is not read" if unread else ""
            logger.warning(
                "not scored, since %s has no file for them: %s%s", folder, ", ".join(map(str, missing)), also
            )
        wanted = (Translated(way, direction) for way in WAYS for direction in self.text.pairs)
        translations = {each: self.lines_of(each, files[each]) for each in wanted if each in files}
        read = {files[each]: lines for each, lines in translations.items()}
        warn_of_pieces(read)
        warn_of_copies(read)
        return translations

    def lines_of(self, translated: Translated, path: Path) -> list[str]:
        """The translations of a direction; `InputError` unless there is one for each source. Of a file for
        the whole test set the first ones, where no more are scored.
        """
        direction = translated.direction
        if translated.way == PIVOT and self.translator.pivot in direction:
            raise InputError(f"{path}: {direction} has the pivot on one side; remove the file")
        lines, (sources, _) = read_lines(path, allow_empty_lines=True), self.text.pairs[direction]
        source_file = self.text.files[direction][0]
        whole = len(sources) if self.settings.text.lines is None else number_of_lines(source_file)
        if len(lines) not in (len(sources), whole):
            raise InputError(
                f"{path} has {len(lines)} lines, and {source_file} has {whole} to translate; give a line for "
                "each, empty where there is no translation"
            )
        return lines[: len(sources)]

    def score(
        self,
        translations: Translations,
        system: OtherSystem,
        scored: Callable[[Result], object] = lambda result: None,
    ) -> Scores:
        """The scores of a system's translations; `scored` is told each result."""
        record = self.model.record
        scorer = Scorer(
            self.text,
            self.run,
            languages=self.translator.languages,
            scoring=self.settings.scoring,
            comet=self.comet,
        )
        results = []
        for (way, direction), lines in translations.items():
            kind = SUPERVISED if self.translator.pivot in direction else system.kind
            results.append(scorer.result(direction, kind, way, hypotheses=lines))
            scored(results[-1])
        return Scores(
            config=record["config"],
            system=system.name,
            seed=system.seed,
            command=system.command,
            commit=commit(),
            text=str(self.text.folder),
            training="by another toolkit",
            made_elsewhere=True,
            pivot=self.translator.pivot,
            decoding=self.decoding(),
            **scorer.fields(results),
        )

    def decoding(self) -> dict[str, object]:
        """What is known of how the translations were made: which lines they are of."""
        lines = self.settings.text.lines
        return {"split": self.settings.text.split, **({"lines": lines} if lines else {})}

    def keep(self, folder: Path, translations: Translations, scores: Scores) -> Path:
        """Write scores and translations into a folder in the form that tables and pages read; returns the
        score file.
        """
        kept = folder / HYPOTHESES
        kept.mkdir(exist_ok=True)
        for way in WAYS:
            of_way = {
                hypotheses_file(kept, way, direction): lines
                for (made, direction), lines in translations.items()
                if made == way
            }
            for path in {settings_file(kept, way), *kept.glob(f"{way.file_name}.*.txt")} - {*of_way}:
                path.unlink(missing_ok=True)
            for path, lines in of_way.items():
                write_lines(path, lines)
            if of_way:
                checksums = {path.name: sha256(path) for path in of_way}
                made_with = {SOURCE_CHECKSUMS: self.text.checksums(), HYPOTHESES_CHECKSUMS: checksums}
                write_json(settings_file(kept, way), {**self.decoding(), **made_with})
        write_score_file(folder / SCORES_FILE, scores)
        return folder / SCORES_FILE


def translation_files(folder: Path) -> dict[Translated, Path]:
    """The files of translations in a folder, by what they are of; `InputError` where there are none."""
    if not folder.is_dir():
        found = f"{folder} is a file" if folder.exists() else f"there is no folder {folder}"
        raise InputError(f"{found}; give a folder with a file for each direction, de-fr.txt")
    files: dict[Translated, Path] = {}
    for path in sorted(folder.glob("*.txt")):
        translated = translated_in(path)
        if translated is None:
            continue
        if translated in files:
            raise InputError(f"{files[translated]} and {path} are of one direction; leave one of them")
        files[translated] = path
    if not files:
        raise InputError(
            f"{folder} has no translations; give a file for each direction, de-fr.txt, with a line for each "
            "line of the test set (--sources writes those lines)"
        )
    return files


def names(files: Mapping[Translated, Path]) -> set[str]:
    return {path.name for path in files.values()}


def warn_of_pieces(files: Mapping[Path, list[str]]) -> None:
    """Say which file seems to hold pieces of words, and not text, if one does."""
    for path, lines in files.items():
        marked = sum(any(mark in line for mark in MARKS_OF_PIECES) for line in lines)
        if marked > len(lines) / 2:
            logger.warning("%s holds pieces, and not text as a reader sees it; detokenise it first", path)
            return


def warn_of_copies(files: Mapping[Path, list[str]]) -> None:
    """Say which two files hold the same translations, if some do: one may have the name of the other."""
    first: dict[tuple[str, ...], Path] = {}
    for path, lines in files.items():
        if (other := first.setdefault(tuple(lines), path)) != path and any(lines):
            logger.warning("%s holds what %s holds; see whether each has its own translations", path, other)
            return


def check_apart_from_runs(folder: Path) -> None:
    """`InputError` for a folder in which scores would replace, or lie among, what a run keeps, or cannot be
    written.
    """
    for place in (folder, folder.resolve().parent):
        if (place / RECORD_FILE).is_file() or (place / PIPELINE_FOLDER).is_dir():
            raise InputError(
                f"{folder} is that of a run, which keeps its own scores; copy the translations to another "
                "folder"
            )
    check_output(folder / SCORES_FILE)
    if (folder / HYPOTHESES).is_file():
        raise InputError(f"{folder / HYPOTHESES} is a file, where a folder is to be; rename it")
