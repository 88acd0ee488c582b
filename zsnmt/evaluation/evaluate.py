"""Scores of a run: every direction directly, and those without training text by people also through the
pivot.
"""

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

from tqdm import tqdm

from zsnmt.decoding.methods.settings import Method
from zsnmt.errors import InputError
from zsnmt.evaluation.earlier_translations import comparable_ways
from zsnmt.evaluation.hypotheses import (
    FIRST_HALVES,
    SOURCE_CHECKSUMS,
    Hypotheses,
    Job,
    Pair,
    direct_jobs,
    pivot_jobs,
    sources_of,
)
from zsnmt.evaluation.models import check_pivot, load_models
from zsnmt.evaluation.scorer import Scorer
from zsnmt.evaluation.settings import EvaluationSettings
from zsnmt.evaluation.text import read_text
from zsnmt.files.checksums import checksum_of, sha256
from zsnmt.languages import Direction
from zsnmt.runs.folder import BEFORE, HYPOTHESES, hypotheses_file, is_as_translated, kinds, piece_counts
from zsnmt.runs.score_file import record_fields
from zsnmt.runs.scores import Result, Scores
from zsnmt.runs.ways import DIRECT, INTO_OWN_PIVOT, INTO_PIVOT, OWN_PIVOT, PIVOT, Way
from zsnmt.scoring.comet import load_comet
from zsnmt.text.lines import read_lines

logger = logging.getLogger(__name__)


def evaluate(
    run: Path,
    settings: EvaluationSettings = EvaluationSettings(),
    *,
    pivot_run: Path | None = None,
    hypotheses: Path | None = None,
    scored: Callable[[Result], object] = lambda result: None,
) -> Scores:
    """Translate and score a split of text in every direction: directly, what is not supervised also through
    the pivot, and what some methods can translate by each of them.

    `run` is a run folder or its export; each model is loaded once. `pivot_run` is what translates through the
    pivot, where that is not the run itself. Translations are written to the folder `hypotheses`
    (RUN/hypotheses by default), and those made there before with the same settings are not made again.
    `scored` is told each result.
    """
    evaluation = Evaluation(run, settings, pivot_run)
    decoded = evaluation.hypotheses(hypotheses or run / HYPOTHESES)
    results = []
    for result in evaluation.results(decoded):
        results.append(result)
        scored(result)
    return evaluation.scores(results, before=evaluation.results_before(run / BEFORE, decoded))


class Evaluation:
    """The loaded models, the text that they are scored on, and all that the scores depend on.

    `by_run` translates, and `by_pivot` through the pivot: the same, unless there is a `pivot_run`. `kinds`:
    the kind of each direction; run.json lists those that were trained on synthetic text alone as
    `synthetic`, on a few lines as `few_shot`.
    """

    def __init__(self, run: Path, settings: EvaluationSettings, pivot_run: Path | None = None) -> None:
        scoring = settings.scoring
        comet = load_comet(scoring.comet) if scoring.comet else None  # first, as it may not be installed
        self.by_run, self.by_pivot = load_models(run, pivot_run, settings)
        self.own_pivot = settings.own_pivot and self.by_pivot is not self.by_run
        (model, self.translator, _), pivot = self.by_run, self.by_pivot.translator
        self.record = model.record
        self.counts = piece_counts(run) if any(method.mask for method in settings.methods) else None
        methods = [method.of(self.translator.languages) for method in settings.methods]
        check_given_once([*map(Way.of_method, methods)])
        folder = settings.text.text or Path(self.record["text"])
        self.text = read_text(settings.text, folder, self.translator, normalise=scoring.normalise_references)
        if pivot_run:
            check_pivot(pivot_run, pivot, self.translator.pivot, directions=self.text.pairs)
        self.scorer = Scorer(
            self.text, run, languages=self.translator.languages, scoring=scoring, comet=comet
        )
        kind = kinds(self.record, self.translator.trained)
        self.kinds = {direction: kind(direction) for direction in self.text.pairs}
        self.by_methods = [
            (
                method,
                self.translator.by(method, self.counts),
                self.translatable_pairs(method, settings.text.directions is not None),
            )
            for method in methods
        ]

    def hypotheses(self, folder: Path) -> "Decoded":
        """The hypotheses in a folder, with what they are made with."""
        sources = {SOURCE_CHECKSUMS: self.text.checksums()}
        by_run, by_pivot = (
            partial(Hypotheses, folder, settings={**by.decoding, **sources}, translator=by.translator)
            for by in (self.by_run, self.by_pivot)
        )
        counts = {"pieces": checksum_of(self.counts)} if self.counts else {}
        pivots = [(by_pivot(PIVOT), by_pivot(INTO_PIVOT))]
        if self.own_pivot:
            pivots.append((by_run(OWN_PIVOT), by_run(INTO_OWN_PIVOT)))
        methods = []
        for method, translator, pairs in self.by_methods:
            made_with = {**self.by_run.decoding, **sources, **(counts if method.mask else {})}
            kept = by_run(Way.of_method(method), settings=made_with, translator=translator)
            methods.append((pairs, kept))
        return Decoded(by_run(DIRECT), pivots, methods)

    def results(self, decoded: "Decoded") -> Iterator[Result]:
        """Each result, as soon as it is translated or where it was before."""
        to_do = [*direct_jobs(decoded.direct, self.text.pairs)]
        for through, into in decoded.pivots:
            to_do += pivot_jobs(decoded.direct, through, into, pairs=self.text.pairs, kinds=self.kinds)
        for pairs, by_method in decoded.methods:
            to_do += direct_jobs(by_method, pairs)
        for kept, direction, lines in translate_jobs(to_do):
            result = self.scorer.result(direction, self.kinds[direction], kept.way, hypotheses=lines)
            yield add_cost(result, kept, decoded.direct)

    def translatable_pairs(self, method: Method, named: bool) -> dict[Direction, Pair]:
        """The text of the directions that a method can translate, which may be none, as an ensemble's of a
        test set with the pivot alone; says which are left out. `InputError` for none where the directions
        were `named`.
        """
        faults = {direction: method.fault(direction) for direction in self.text.pairs}
        pairs = {direction: pair for direction, pair in self.text.pairs.items() if faults[direction] is None}
        left_out = {direction: fault for direction, fault in faults.items() if fault is not None}
        first = next(iter(left_out.values()), "")
        if named and not pairs:
            raise InputError(f"no direction can be translated so: {first}")
        if left_out:
            logger.warning("not scored by %s: %s; %s", method.name, ", ".join(map(str, left_out)), first)
        return pairs

    def results_before(self, folder: Path, decoded: "Decoded") -> list[Result]:
        """The results of the run that an adapted one goes on from, whose hypotheses it keeps in a folder,
        with the share `unchanged`.

        Only of what was decoded alike, from the same sources, by the model that it goes on from.
        """
        now, results = {kept.way: kept for kept in decoded.all}, []
        base = (self.record.get("adapted_from") or {}).get("model")  # older runs do not say
        direct, pivot = self.by_run.decoding, self.by_pivot.decoding
        for way, settings in comparable_ways(folder, base, direct=direct, pivot=pivot):
            for direction, (sources, _) in self.text.files.items():
                path = hypotheses_file(folder, way, direction)
                if (
                    way in now
                    and sources_of(settings).get(str(direction)) == sha256(sources)
                    and path.is_file()
                    and is_as_translated(path, settings)
                ):
                    old, new = read_lines(path, allow_empty_lines=True), now[way].of(direction)
                    result = self.scorer.result(direction, self.kinds[direction], way, hypotheses=old)
                    share = fmean(one == other for one, other in zip(old, new))
                    results.append(replace(result, figures={**result.figures, "unchanged": share}))
        return results

    def scores(self, results: Sequence[Result], *, before: Sequence[Result]) -> Scores:
        """All that the score file says."""
        named = self.by_pivot.model.name_beside(self.record["config"])
        return Scores(
            **record_fields(self.record),
            pivot_by=named if self.by_pivot is not self.by_run else None,
            pivot=self.translator.pivot,
            decoding=self.by_pivot.decoding,
            before=before,
            **self.scorer.fields(results),
        )


class Decoded(NamedTuple):
    """The hypotheses of a run: direct; those through each pivot and into it, by the baseline and, where
    it is to pivot as well, by the run itself; and those by each method, with the text that it can translate.
    """

    direct: Hypotheses
    pivots: Sequence[tuple[Hypotheses, Hypotheses]]
    methods: Sequence[tuple[Mapping[Direction, Pair], Hypotheses]]

    @property
    def all(self) -> list[Hypotheses]:
        """Those of every way."""
        return [self.direct, *chain.from_iterable(self.pivots), *(kept for _, kept in self.methods)]


def add_cost(result: Result, kept: Hypotheses, direct: Hypotheses) -> Result:
    """A result with the processor's seconds, and, of other ways than the direct one, their ratio to it, where
    they are known.
    """
    seconds, directly = (each.seconds_of(result.direction) for each in (kept, direct))
    figures = dict(result.figures)
    if seconds is not None:
        figures["seconds"] = seconds
        if kept is not direct and directly:
            figures["cost"] = seconds / directly
    return replace(result, figures=figures)


def check_given_once(ways: Sequence[Way]) -> None:
    """`InputError` for a way that is given twice, if by two names: through the pivot, and through its
    language.
    """
    if twice := [way for place, way in enumerate(ways) if way in ways[:place]]:
        raise InputError(f"a way is given twice: {twice[0].label}; name each once")


def translate_jobs(to_do: Sequence[Job]) -> Iterator[tuple[Hypotheses, Direction, list[str]]]:
    """Hypotheses, direction and translations of a test set, as they are made or were before; shows what is
    left to translate.
    """
    with tqdm(
        total=sum(job.work() for job in to_do), unit=" sentences", unit_scale=True, disable=None, leave=False
    ) as bar:
        for job in to_do:
            job.run(bar.update)
            if job.kept.way in FIRST_HALVES:
                continue
            for direction in job.legs:
                yield job.kept, direction, job.kept.of(direction)
