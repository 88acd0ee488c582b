"""Scores of a run: every direction, the zero-shot ones also through the pivot.

A result is a dictionary: `direction`, `kind` (supervised, zero_shot, pivot), `bleu` and `chrf`
(0–100, sacreBLEU on raw text), `off_target` (share 0–1 of outputs not in the target language),
`reference_error` (the same for the references: the identifier's error), `identified` (share of
each language among the outputs), `lines`, `empty`, `copied` (share 0–1 of outputs that are their
source), `length_ratio` (of outputs to references), `comet` where it was asked for; `intervals` of
the first three, and `resampled`, their bootstrap resamples (see `zsnmt.scoring.bootstrap`). An adapted run
also has results of the run it goes on from, as `before`, with the share of translations `unchanged`.
"""

import functools
import itertools
import logging
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean

import numpy as np
from tqdm import tqdm

from zsnmt.corpora.parallel_text import check_pair, find_pair, pairs_of_split
from zsnmt.decoding.length_penalty import POWER
from zsnmt.decoding.options import EngineChoice
from zsnmt.decoding.search import Search
from zsnmt.errors import InputError
from zsnmt.evaluation.hypotheses import Hypotheses, Job, TestSet, jobs
from zsnmt.files import checksum_of, read_json, sha256
from zsnmt.inference.export.folder import describe_export, is_export
from zsnmt.inference.translator import Translator
from zsnmt.languages import Direction, check_known, supervised_directions, zero_shot_directions
from zsnmt.runs.folder import (
    BEFORE,
    DIRECT,
    HYPOTHESES,
    INTO_PIVOT,
    MODEL_FILE,
    PIPELINE_FOLDER,
    PIVOT,
    describe_run,
    hypotheses_file,
    settings_file,
)
from zsnmt.scoring.bootstrap import SIGNATURE, unpacked
from zsnmt.scoring.comet import Comet
from zsnmt.scoring.language_identification import load_identifier, scripts_of
from zsnmt.scoring.metrics import RANGES, Metrics, measure, uncertainty
from zsnmt.text.lines import read_lines
from zsnmt.text.subword import MODEL_FILE as SUBWORD_FILE

logger = logging.getLogger(__name__)

KINDS = ("supervised", "zero_shot", PIVOT)
NORMALISED = "|ref:normalised"  # in a signature


def evaluate(
    run: Path,
    text: Path | None = None,
    split: str = "test",
    identifier_kind: str = "py3langid",
    bleu_tokenizer: str = "13a",
    beam: int = 4,
    length_penalty: float = 1.0,
    length_penalty_form: str = POWER,
    directions: Sequence[Direction] | None = None,
    scored: Callable[[dict], object] = lambda result: None,
    kept: Path | None = None,
    lines: int | None = None,
    normalise: bool = False,
    pivot_run: Path | None = None,
    comet: Comet | None = None,
    choice: EngineChoice = EngineChoice(),
) -> dict:
    """Translate and score a split of `text` (the run's own by default) in every direction, for scores.json.

    A model, of a run or of its export, is loaded once; beam, length penalty and choice of the engine are those of `Translator`. Zero-shot directions are also translated
    through the pivot, by the model itself or by that of `pivot_run`. `scored` is told each result; the hypotheses are kept in
    `kept` (RUN/hypotheses by default). `lines` scores only that many, the first ones. With `normalise` references are spelt as
    the run's tokenisation spells its output, which the signatures say.
    """
    record, model = describe(run)
    if pivot_run:
        pivot_record, pivot_model = describe(pivot_run)
        record["pivot_by"] = name_of(pivot_record)
    text = text or Path(record["text"])
    # fairseq's form is not recorded, as in score files of a time without another.
    form = {} if length_penalty_form == POWER else {"length_penalty_form": length_penalty_form}
    search = {"beam": beam, "length_penalty": length_penalty, **form}
    translator = Translator.open(run, Search(**search), choice)
    pivoting = Translator.open(pivot_run, Search(**search), choice) if pivot_run else translator
    directions = list(directions or worth_scoring(directions_with_text(text, split, translator.languages), translator))
    for known in (translator.languages, pivoting.languages):
        for language in {language for direction in directions for language in direction}:
            check_known(language, known)
    files = {direction: find_pair(text, split, *direction) for direction in directions}
    sets = read_sets(files, lines, translator.pipeline.normalise if normalise else lambda reference, language: reference)
    scripts = scripts_of({language: side for direction, sides in sets.items() for language, side in zip(direction, sides)})
    identifier, identifier_signature = load_identifier(identifier_kind, translator.languages, text, scripts)
    metrics = Metrics(bleu_tokenizer, run / PIPELINE_FOLDER / SUBWORD_FILE)
    engine = {"engine": translator.signature} if translator.signature else {}  # fairseq's own hypotheses have none
    decoding = {"model": model, **search, **engine, "split": split, **({"lines": lines} if lines else {})}
    pivoted_by = {"pivot_model": pivot_model} if pivot_run else {}
    ways = hypotheses_of(kept or run / HYPOTHESES, decoding, pivoted_by, files, translator, pivoting)

    def result(kind: str, direction: Direction, hypotheses: Sequence[str]) -> dict:
        sources, references = sets[direction]
        figures = measure(sources, hypotheses, references, direction.target, metrics, identifier)
        if comet:
            figures["comet"] = comet.score(sources, hypotheses, references)
        return {"direction": str(direction), "kind": kind, **figures}

    results = []
    for translation in translated([*jobs(*ways, sets)]):
        results.append(result(*translation))
        scored(results[-1])
    before = []
    for kind, direction, old in translated_before(run / BEFORE, files, decoding, translator.trained):
        new = ways[kind == PIVOT].of(direction)
        before.append(result(kind, direction, old) | {"unchanged": fmean(one == other for one, other in zip(old, new))})
    order = [str(direction) for direction in sets]
    results.sort(key=lambda result: (KINDS.index(result["kind"]), order.index(result["direction"])))
    return {
        **record,
        "languages": translator.languages,
        "pivot": translator.pivot,
        **word_orders(text, translator.languages),
        "decoding": decoding | pivoted_by,
        "test_set": checksum_of(sets),  # scores with the same one can be compared line by line
        "signatures": {
            **{metric: signature + NORMALISED * normalise for metric, signature in metrics.signatures().items()},
            "off_target": identifier_signature,
            "intervals": SIGNATURE,
            **({"comet": comet.signature} if comet else {}),
        },
        "scripts": scripts,
        "directions": results,
        **({"before": before} if before else {}),
        **means(results),
    }


def describe(folder: Path) -> tuple[dict, str]:
    """What a score file says of a run, given by its folder or its export, and the checksum of its model."""
    if is_export(folder):
        export = describe_export(folder)
        return export["run"], export["model"]
    return describe_run(folder), sha256(folder / MODEL_FILE)


def word_orders(text: Path, languages: Sequence[str]) -> dict[str, dict[str, str]]:
    """The word order of each language, `{"word_orders": {"velan": "SOV"}}`; empty unless the text has `word_order.{lang}` of all."""
    files = {language: text / f"word_order.{language}" for language in languages}
    if not all(map(Path.is_file, files.values())):
        return {}
    return {"word_orders": {language: " ".join(read_lines(file)) for language, file in files.items()}}


def hypotheses_of(
    folder: Path, decoding: dict, pivot_model: dict, files: Mapping[Direction, tuple[Path, Path]], translator: Translator, pivoting: Translator
) -> tuple[Hypotheses, Hypotheses, Hypotheses]:
    """The direct hypotheses, those through the pivot and those into it, each with what it is made with."""
    made_with = {**decoding, "sources": {str(direction): sha256(source) for direction, (source, _) in files.items()}}
    through, into = (Hypotheses(folder, way, made_with | pivot_model, pivoting) for way in (PIVOT, INTO_PIVOT))
    return Hypotheses(folder, DIRECT, made_with, translator), through, into


def translated(to_do: Sequence[Job]) -> Iterator[tuple[str, Direction, list[str]]]:
    """Kind, direction and translations of a test set, as they are made or were before; shows what is left to translate."""
    with tqdm(total=sum(job.work() for job in to_do), unit=" sentences", unit_scale=True, disable=None, leave=False) as bar:
        for job in to_do:
            job.run(bar.update)
            if job.kept.way == INTO_PIVOT:
                continue
            for direction in job.legs:
                yield kind_of(job.kept.way, direction, job.kept.translator.trained), direction, job.kept.of(direction)


def translated_before(
    folder: Path, files: Mapping[Direction, tuple[Path, Path]], decoding: dict, trained: Collection[Direction]
) -> Iterator[tuple[str, Direction, list[str]]]:
    """Kind, direction and translations that an adapted run keeps of the run it goes on from, made alike of the same sources."""
    for way in (DIRECT, PIVOT):
        if not settings_file(folder, way).is_file():
            continue
        settings = read_json(settings_file(folder, way), "adapt the run again")
        if any(settings.get(name) != decoding.get(name) for name in ("beam", "length_penalty", "length_penalty_form", "engine", "split", "lines")):
            logger.warning(
                "no scores of before: the run that this one goes on from was scored with another beam, length penalty, split or number of lines"
            )
            continue
        for direction, (source, _) in files.items():
            path = hypotheses_file(folder, way, direction)
            if settings["sources"].get(str(direction)) == sha256(source) and path.is_file():
                yield kind_of(way, direction, trained), direction, read_lines(path, allow_empty_lines=True)


def kind_of(way: str, direction: Direction, trained: Collection[Direction]) -> str:
    """What a result is called: supervised, zero_shot or pivot."""
    return PIVOT if way == PIVOT else "supervised" if direction in trained else "zero_shot"


def name_of(record: dict) -> str:
    """A run as tables name it."""
    return f"{record['system']}, seed {record['seed']}"


def means(results: Sequence[dict]) -> dict[str, dict]:
    """Intervals and resamples of the means over the directions of each kind."""
    found: dict[str, dict] = {"intervals": {}, "resampled": {}}
    for kind in dict.fromkeys(result["kind"] for result in results):
        of_kind = [result["resampled"] for result in results if result["kind"] == kind]
        averaged = {figure: np.mean([unpacked(resampled[figure], top) for resampled in of_kind], axis=0) for figure, top in RANGES.items()}
        for name, of_figures in uncertainty(averaged).items():
            found[name][kind] = of_figures
    return found


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


def read_sets(
    files: dict[Direction, tuple[Path, Path]], lines: int | None, respell: Callable[[str, str], str]
) -> dict[Direction, TestSet]:
    """The first lines (or all) of each direction's checked files, the references spelt anew; a file is read and spelt once."""
    for pair in files.values():
        check_pair(*pair)
    read = functools.cache(lambda path: read_lines(path)[:lines])
    references = functools.cache(lambda path, language: [respell(line, language) for line in read(path)])
    return {
        direction: (read(source), references(target, direction.target)) for direction, (source, target) in files.items()
    }
