"""Scores of a run: every direction directly, and those without training text by people also through the pivot."""

import functools
import itertools
import logging
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from statistics import fmean

import numpy as np
from tqdm import tqdm

from zsnmt.corpora.parallel_text import check_pair, find_pair, pairs_of_split
from zsnmt.decoding.options import EngineChoice
from zsnmt.decoding.search import Search
from zsnmt.errors import InputError
from zsnmt.evaluation.hypotheses import INTO_PIVOT, Hypotheses, Job, Pair, jobs, kept_ways
from zsnmt.files import checksum_of, sha256
from zsnmt.inference.export.folder import describe_export, is_export
from zsnmt.inference.translator import Translator
from zsnmt.languages import Direction, check_known, kind_of, parse_direction, supervised_directions, zero_shot_directions
from zsnmt.runs.folder import BEFORE, HYPOTHESES, MODEL_FILE, PIPELINE_FOLDER, describe_run, hypotheses_file
from zsnmt.runs.scores import DIRECT, PIVOT, Result, Scores, Uncertainty, Way, in_order, record_fields
from zsnmt.scoring.bootstrap import signature, unpacked
from zsnmt.scoring.comet import Comet
from zsnmt.scoring.figures import ranges
from zsnmt.scoring.language_identification import load_identifier, scripts_of
from zsnmt.scoring.metrics import Metrics, measure, uncertainty
from zsnmt.scoring.options import Scoring
from zsnmt.text.lines import read_lines
from zsnmt.text.subword import MODEL_FILE as SUBWORD_FILE

logger = logging.getLogger(__name__)

NORMALISED = "|ref:normalised"  # in a signature
ALIKE = (*(setting.name for setting in fields(Search)), "engine", "split", "lines")  # what the results of before share with those of now


@dataclass(frozen=True)
class Split:
    """What is translated and scored: a split of parallel text, that of the run by default.

    `directions`: all by default that have text and are of training or without the pivot. `lines`: the first ones only, all by
    default.
    """

    text: Path | None = None
    name: str = "test"
    directions: Sequence[Direction] | None = None
    lines: int | None = None


@dataclass(frozen=True)
class ScoredText:
    """A folder of parallel text, with the files and the checked lines of each direction to score."""

    folder: Path
    files: Mapping[Direction, tuple[Path, Path]]
    pairs: Mapping[Direction, Pair]

    @functools.cached_property
    def checksums(self) -> dict[str, str]:
        """The checksums of the source files, by direction."""
        return {str(direction): sha256(source) for direction, (source, _) in self.files.items()}


def evaluate(
    run: Path,
    split: Split = Split(),
    *,
    search: Search = Search(),
    engine: EngineChoice = EngineChoice(),
    scoring: Scoring = Scoring(),
    pivot_run: Path | None = None,
    hypotheses: Path | None = None,
    scored: Callable[[Result], object] = lambda result: None,
) -> Scores:
    """Translate and score a split of text in every direction: directly, and what is not supervised also through the pivot.

    `run` is a run folder or its export; each model is loaded once. `pivot_run` is what translates through the pivot, where that
    is not the run itself. Translations are written to the folder `hypotheses` (RUN/hypotheses by default), and those made there
    before with the same settings are not made again. `scored` is told each result.
    """
    comet = Comet(scoring.comet) if scoring.comet else None
    models = [Model(folder) for folder in (run, pivot_run) if folder]
    translators = [model.load(search, engine) for model in models]
    text = read_text(split, models[0], translators, scoring)
    scorer = Scorer(text, run, translators[0].languages, scoring, comet)
    kinds = kinds_of(text.pairs, models[0], translators[0])
    decoding = decoding_of(models, translators[0], search, split)
    ways = hypotheses_of(hypotheses or run / HYPOTHESES, decoding, text, translators)

    results = []
    for way, direction, lines in translated([*jobs(*ways, pairs=text.pairs, kinds=kinds)]):
        results.append(scorer.result(direction, kinds[direction], way, lines))
        scored(results[-1])
    before = scores_before(run / BEFORE, decoding, ways, text, kinds, scorer)
    return assembled(models, translators[0], decoding, text, scorer, results, before)


class Model:
    """A run folder or its export: what is known of it, and the checksum of its model."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        if is_export(folder):
            export = describe_export(folder)
            self.record, self.checksum = export["run"], export["model"]
        else:
            self.record, self.checksum = describe_run(folder), sha256(folder / MODEL_FILE)

    @property
    def name(self) -> str:
        """The run as tables name it."""
        return f"{self.record['system']}, seed {self.record['seed']}"

    def load(self, search: Search, engine: EngineChoice) -> Translator:
        """What translates with it."""
        return Translator(self.folder, **recorded(search), choice=engine)


def recorded(search: Search) -> dict:
    """A search as score files have it: beam and length penalty, and what else is not the default."""
    always = ("beam", "length_penalty")
    return {name: value for name, value in asdict(search).items() if name in always or value != getattr(Search, name)}


def decoding_of(models: Sequence[Model], translator: Translator, search: Search, split: Split) -> dict:
    """What translations are made with, as score files have it."""
    return {
        "model": models[0].checksum,
        **recorded(search),
        **({"engine": translator.signature} if translator.signature else {}),  # fairseq's own hypotheses have none
        "split": split.name,
        **({"lines": split.lines} if split.lines else {}),
        **{"pivot_model": model.checksum for model in models[1:]},
    }


def read_text(split: Split, model: Model, translators: Sequence[Translator], scoring: Scoring) -> ScoredText:
    """The text of a split in the directions to score; `InputError` where there is none or a model does not know a language."""
    folder, translator = split.text or Path(model.record["text"]), translators[0]
    directions = split.directions or worth_scoring(directions_with_text(folder, split.name, translator.languages), translator)
    for known in translators:
        for language in {language for direction in directions for language in direction}:
            check_known(language, known.languages)
    files = {direction: find_pair(folder, split.name, *direction) for direction in directions}
    respell = translator.pipeline.normalise if scoring.normalise_references else lambda reference, language: reference
    return ScoredText(folder, files, read_pairs(files, split.lines, respell))


def kinds_of(directions: Collection[Direction], model: Model, translator: Translator) -> dict[Direction, str]:
    """The kind of each direction; run.json lists those that were trained on synthetic text alone as `synthetic`."""
    synthetic = [*map(parse_direction, model.record.get("synthetic", []))]
    return {direction: kind_of(direction, translator.trained, synthetic) for direction in directions}


def hypotheses_of(
    folder: Path, decoding: Mapping, text: ScoredText, translators: Sequence[Translator]
) -> tuple[Hypotheses, Hypotheses, Hypotheses]:
    """The direct hypotheses, those through the pivot and those into it, each with what it is made with."""
    made_with = {name: value for name, value in decoding.items() if name != "pivot_model"} | {"sources": text.checksums}
    pivot, into_pivot = (Hypotheses(folder, way, made_with | decoding, translators[-1]) for way in (PIVOT, INTO_PIVOT))
    return Hypotheses(folder, DIRECT, made_with, translators[0]), pivot, into_pivot


def translated(to_do: Sequence[Job]) -> Iterator[tuple[Way, Direction, list[str]]]:
    """Way, direction and translations of a test set, as they are made or were before; shows what is left to translate."""
    with tqdm(total=sum(job.work() for job in to_do), unit=" sentences", unit_scale=True, disable=None, leave=False) as bar:
        for job in to_do:
            job.run(bar.update)
            if job.kept.way == INTO_PIVOT:
                continue
            for direction in job.legs:
                yield job.kept.way, direction, job.kept.of(direction)


class Scorer:
    """Scores translations of a text by the metrics of a run and a scoring."""

    def __init__(self, text: ScoredText, run: Path, languages: Sequence[str], scoring: Scoring, comet: Comet | None) -> None:
        sides = [(language, lines) for direction, pair in text.pairs.items() for language, lines in zip(direction, pair)]
        self.pairs, self.scoring, self.comet = text.pairs, scoring, comet
        self.scripts = scripts_of(dict(sides))
        self.identifier, self.identifier_signature = load_identifier(scoring.identifier, languages, text.folder, self.scripts)
        self.metrics = Metrics(scoring.bleu_tokenizer, run / PIPELINE_FOLDER / SUBWORD_FILE, scoring.bootstrap_samples)

    def result(self, direction: Direction, kind: str, way: Way, hypotheses: Sequence[str]) -> Result:
        """The figures of translations of a direction."""
        sources, references = self.pairs[direction]
        measured = measure(sources, hypotheses, references, target=direction.target, metrics=self.metrics, identifier=self.identifier)
        if self.comet:
            measured.figures["comet"] = self.comet.score(sources, hypotheses, references)
        return Result(direction, kind, way, *measured)

    def signatures(self) -> dict[str, str]:
        """What the figures depend on."""
        normalised = NORMALISED * self.scoring.normalise_references
        return {
            **{metric: signature + normalised for metric, signature in self.metrics.signatures().items()},
            "off_target": self.identifier_signature,
            "intervals": signature(self.scoring.bootstrap_samples),
            **({"comet": self.comet.signature} if self.comet else {}),
        }


def scores_before(
    folder: Path, decoding: Mapping, ways: Sequence[Hypotheses], text: ScoredText, kinds: Mapping[Direction, str], scorer: Scorer
) -> list[Result]:
    """The results of the run that an adapted one goes on from, made alike of the same sources, with the share `unchanged`."""
    now, sources, results = {kept.way: kept for kept in ways}, text.checksums, []
    for way, settings in kept_ways(folder, "adapt the run again").items():
        made_otherwise = any(settings.get(name) != decoding.get(name) for name in ALIKE)
        if made_otherwise:
            logger.warning("no scores of before, %s: the run that this one goes on from was scored with another beam, length penalty, "
                           "engine, split or number of lines", way.label)  # fmt: skip
            continue
        for direction in text.pairs:
            path = hypotheses_file(folder, way, direction)
            if way in now and settings["sources"].get(str(direction)) == sources[str(direction)] and path.is_file():
                old = read_lines(path, allow_empty_lines=True)
                result = scorer.result(direction, kinds[direction], way, old)
                result.figures["unchanged"] = fmean(one == other for one, other in zip(old, now[way].of(direction)))
                results.append(result)
    return results


def assembled(
    models: Sequence[Model], translator: Translator, decoding: dict, text: ScoredText, scorer: Scorer, results: list[Result], before: list[Result]
) -> Scores:
    """All that the score file says."""
    directions = [*text.pairs]
    groups = in_order((result.kind, result.way) for result in results)
    results.sort(key=lambda result: (groups.index((result.kind, result.way)), directions.index(result.direction)))
    return Scores(
        **record_fields(models[0].record),
        pivot_by=models[1].name if len(models) > 1 else None,
        languages=translator.languages,
        pivot=translator.pivot,
        word_orders=word_orders(text.folder, translator.languages),
        decoding=decoding,
        test_set=checksum_of(text.pairs),
        signatures=scorer.signatures(),
        scripts=scorer.scripts,
        results=results,
        before=before,
        means=means(results),
    )


def means(results: Sequence[Result]) -> dict[tuple[str, Way], Uncertainty]:
    """Intervals and resamples of the means over the directions of each kind in each way."""
    groups: dict[tuple[str, Way], list[Uncertainty]] = {}
    for result in results:
        groups.setdefault((result.kind, result.way), []).append(result.uncertainty)
    return {
        group: uncertainty({
            figure: np.mean([unpacked(each.resampled[figure], top) for each in members], axis=0)
            for figure, top in ranges().items()
            if all(figure in each.resampled for each in members)
        })
        for group, members in groups.items()
    }  # fmt: skip


def word_orders(text: Path, languages: Sequence[str]) -> dict[str, str]:
    """The word order of each language, `{"velan": "SOV"}`; empty unless the text has `word_order.{lang}` of all."""
    files = {language: text / f"word_order.{language}" for language in languages}
    if not all(map(Path.is_file, files.values())):
        return {}
    return {language: " ".join(read_lines(file)) for language, file in files.items()}


def directions_with_text(text: Path, split: str, languages: Sequence[str]) -> list[Direction]:
    """All directions that can be scored, those with the pivot (the first language) first.

    Says which pairs have no text in the split; `InputError` if none has.
    """
    pairs = pairs_of_split(text, split, languages)
    if not pairs:
        raise InputError(f"{text} has no text in split '{split}' for any two of {', '.join(languages)}")
    without = [f"{a}-{b}" for a, b in itertools.combinations(languages, 2) if (a, b) not in pairs]
    if without:
        logger.warning("not scored, for want of text in split '%s' of %s: %s", split, text, ", ".join(without))
    directions = supervised_directions(languages, languages[0]) + zero_shot_directions(languages, languages[0])
    return [direction for direction in directions if {direction, direction[::-1]} & {*pairs}]


def worth_scoring(directions: Sequence[Direction], translator: Translator) -> list[Direction]:
    """Those of training and those without the pivot: a run that learned one direction of a pair is no run for the other."""
    return [direction for direction in directions if direction in translator.trained or translator.pivot not in direction]


def read_pairs(
    files: Mapping[Direction, tuple[Path, Path]], lines: int | None, respell: Callable[[str, str], str]
) -> dict[Direction, Pair]:
    """The first lines (or all) of each direction's checked files, the references spelt anew; a file is read and spelt once."""
    for pair in files.values():
        check_pair(*pair)
    read = functools.cache(lambda path: read_lines(path)[:lines])
    references = functools.cache(lambda path, language: [respell(line, language) for line in read(path)])
    return {
        direction: (read(source), references(target, direction.target)) for direction, (source, target) in files.items()
    }
