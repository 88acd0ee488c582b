"""Access to the scores of runs: which figures there are in which kinds and ways, their means, and what they
depend on.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import NamedTuple, Protocol, TypeVar

from zsnmt.decoding.length_penalty import GNMT
from zsnmt.errors import InputError
from zsnmt.languages import FEW_SHOT, KINDS, SUPERVISED, ZERO_RESOURCE, ZERO_SHOT, Direction, kind_name
from zsnmt.report.table import FORMS, complete, join_sentences
from zsnmt.runs.scores import DIRECT, PIVOT, Scores, Way, order_groups, read_scores
from zsnmt.runs.systems import BASELINE
from zsnmt.scoring.figures import FIGURES, MAIN, figures_shown_in

NOT_SUPERVISED = "without text by people", "without text by people, or with a few lines"


@dataclass(frozen=True)
class Run:
    """A run folder and its score file."""

    folder: Path
    scores: Scores


def read_runs(folders: Sequence[Path]) -> list[Run]:
    """The runs with their scores; `InputError` for one without, and for runs that cannot be compared."""
    runs = [Run(folder, read_scores(folder)) for folder in folders]
    check_comparable([run.scores for run in runs])
    return runs


class Column(NamedTuple):
    """A figure in the directions of a kind, decoded in a way."""

    kind: str
    way: Way
    figure: str

    @property
    def title(self) -> str:
        """What tables call it: `zero-shot`, `off-target through pivot`. Zero-shot and BLEU go without saying
        where something else is said.
        """
        figure = "" if self.figure == MAIN else FORMS[self.figure].title
        implied = self.kind == ZERO_SHOT and (self.way == PIVOT or not FIGURES[self.figure].of_supervised)
        return words("" if implied else kind_name(self.kind), figure, self.way.phrase)


class WayDifference(NamedTuple):
    """The main figure in the directions of a kind, decoded in a way, minus that in another way."""

    kind: str
    way: Way
    other: Way

    @property
    def sides(self) -> tuple[Column, Column]:
        """Of what it is the difference."""
        return Column(self.kind, self.way, MAIN), Column(self.kind, self.other, MAIN)

    @property
    def title(self) -> str:
        """What tables call it: `zero-shot minus pivot`."""
        return f"{self.sides[0].title} minus {self.other.label}"


def words(*parts: str) -> str:
    """Those that say something, with a space between."""
    return " ".join(filter(None, parts))


def groups_of(all_scores: Iterable[Scores]) -> list[tuple[str, Way]]:
    """The kinds and ways that some score files have results of, as tables list them."""
    return order_groups(group for scores in all_scores for group in scores.groups)


def ways_of(all_scores: Iterable[Scores]) -> list[Way]:
    """The ways that some score files have results of, direct and pivot first."""
    return [way for _, way in order_groups((SUPERVISED, way) for _, way in groups_of(all_scores))]


def column_groups(all_scores: Sequence[Scores]) -> list[tuple[str, Way]]:
    """The kinds and ways that have columns beside one another. Two or more methods of decoding have none:
    their rows are a table of their own.
    """
    methods = methods_of(all_scores)
    apart = methods if len(methods) > 1 else []
    return [(kind, way) for kind, way in groups_of(all_scores) if way not in apart]


def methods_of(all_scores: Iterable[Scores]) -> list[Way]:
    """The ways of decoding that are neither direct nor through the pivot."""
    return [way for way in ways_of(all_scores) if way not in (DIRECT, PIVOT)]


def columns_of(all_scores: Sequence[Scores], *tables: str) -> list[Column]:
    """What there is of the figures that some sorts of tables show of systems, by figure, kind and way."""
    return [
        Column(kind, way, figure)
        for figure in figures_shown_in(*tables)
        for kind, way in column_groups(all_scores)
        if kind != SUPERVISED or FIGURES[figure].of_supervised
    ]


def way_differences(groups: Sequence[tuple[str, Way]]) -> list[WayDifference]:
    """The differences of ways, see `way_pairs`, for each of the kinds."""
    kinds = dict.fromkeys(kind for kind, _ in groups)
    return [
        WayDifference(kind, *pair)
        for kind in kinds
        for pair in way_pairs([way for of, way in groups if of == kind])
    ]


def way_pairs(ways: Sequence[Way]) -> list[tuple[Way, Way]]:
    """Each way but the pivot, with what tables subtract from it: direct translation and the pivot, where
    there are results of them.
    """
    return [
        (way, other)
        for way in ways
        if way != PIVOT
        for other in (DIRECT, PIVOT)
        if other != way and other in ways
    ]


def mean_over_directions(
    scores: Scores, column: Column, directions: Collection[Direction] | None = None
) -> float | None:
    """The plain mean of a figure over a run's directions of a kind, or over some of them, as the paper takes
    it.

    None without any, and where one of them was not scored.
    """
    results = scores.select(column.kind, column.way)
    chosen = results if directions is None else directions
    values = complete(
        [
            results[direction].figures.get(column.figure) if direction in results else None
            for direction in chosen
        ]
    )
    return fmean(values) if values else None


def all_directions(all_scores: Sequence[Scores]) -> dict[Direction, str]:
    """Every direction with its kind to some of the systems, the supervised ones last, in the order of the
    score files. What is zero-shot to one of them is so here.
    """
    kinds = (*(kind for kind in reversed(KINDS) if kind != SUPERVISED), SUPERVISED)
    return {
        result.direction: kind
        for kind in kinds
        for scores in all_scores
        for result in scores.results
        if result.kind == kind
    }


def system_kind(runs: Sequence[Scores], direction: Direction, otherwise: str) -> str:
    """The kind of a direction to a system, which may have learned from synthetic text what is zero-shot to
    others; `otherwise` where it was not scored.
    """
    return runs[0].kinds.get(direction, otherwise)


def other_kind(scores: Scores) -> str:
    """The kind of a run's directions that have no training text: one learned otherwise, if there is."""
    learned = (kind for kind in (ZERO_RESOURCE, FEW_SHOT) if scores.select(kind))
    return next(learned, ZERO_SHOT)


def check_comparable(all_scores: Sequence[Scores]) -> None:
    """`InputError` unless the runs are of one experiment, scored alike in the same directions, each once.

    A method of decoding may be scored for some of them alone. What is zero-shot to one may be zero-resource
    or few-shot to another.
    """
    names = [scores.name for scores in all_scores]
    kinds = {kind: kind_name(kind) for kind, _ in groups_of(all_scores)}
    if len(others := {*kinds} - {SUPERVISED}) > 1:
        kinds |= dict.fromkeys(others, NOT_SUPERVISED[FEW_SHOT in others])
    remedy = "score them alike or make two tables"
    check_alike([(scores.name, conditions(scores, kinds)) for scores in all_scores], remedy)
    for method in methods_of(all_scores):
        scored = [scores for scores in all_scores if any(result.way == method for result in scores.results)]
        check_alike([(scores.name, directions_by([method], scores, kinds)) for scores in scored], remedy)
    if len(set(names)) < len(names):
        raise InputError(f"a run is given twice: {', '.join(names)}")
    check_adaptations(all_scores)


def check_alike(conditions: Sequence[tuple[str, Mapping[str, set[str]]]], remedy: str) -> None:
    """`InputError` unless every run, given by name, has the same values of each condition as the first."""
    (name, first), *others = conditions
    for other_name, other in others:
        for what, of_first in first.items():
            sides = (name, of_first - other[what]), (other_name, other[what] - of_first)
            if found := ", ".join(f"only {run} has {list_some(alone)}" for run, alone in sides if alone):
                raise InputError(
                    f"these runs cannot stand in one table, their {what} differ: {found}; {remedy}"
                )


def conditions(scores: Scores, kinds: Mapping[str, str]) -> dict[str, set[str]]:
    """What must be equal of runs in one table, by name; `kinds` says as what those of directions count."""
    decoding = {key: value for key, value in scores.decoding.items() if key not in ("model", "pivot_model")}
    return {
        "configs": {scores.config},
        "signatures": {f"{name} {signature}" for name, signature in scores.signatures.items()},
        "settings of decoding": {f"{name} {value}" for name, value in decoding.items()},
        **directions_by((DIRECT, PIVOT), scores, kinds),
        "test sets": {scores.test_set or "one that was not recorded"},
    }


def directions_by(ways: Sequence[Way], scores: Scores, kinds: Mapping[str, str]) -> dict[str, set[str]]:
    """The directions that were scored by some ways, as a condition."""
    return {
        "directions": {
            f"{result.direction} ({words(kinds[result.kind], result.way.phrase)})"
            for result in scores.results
            if result.way in ways
        }
    }


def check_adaptations(all_scores: Sequence[Scores]) -> None:
    """`InputError` unless adapted runs began with the same languages, and the runs of a system were made
    alike.
    """
    old = {", ".join(scores.adapted_from["languages"]) for scores in all_scores if scores.adapted_from}
    if len(old) > 1:
        found = "; ".join(sorted(old))
        raise InputError(
            f"these runs cannot stand in one table, they add languages to different ones: {found}; make two "
            "tables"
        )
    for system, runs in runs_by_system(all_scores).items():
        if len(ways := {describe_training(scores) for scores in runs}) > 1:
            found = "; ".join(sorted(ways))
            raise InputError(
                f"the runs of {system} are not seeds of one system: {found}; make two tables or give them "
                "two names"
            )
        for scores in runs:
            check_before(scores)


def check_before(scores: Scores) -> None:
    """`InputError` if a direction was scored on more or fewer lines before the run was adapted."""
    for result in scores.before:
        lines, after = (
            result.figures["lines"],
            scores.select(result.kind, result.way).get(result.direction, result).figures["lines"],
        )
        if lines != after:
            raise InputError(
                f"{scores.name} cannot be compared with its base: {result.direction} has {lines} lines "
                f"before and {after} after; score both on the same lines, the base first"
            )


def describe_training(scores: Scores) -> str:
    """Whether a run was trained or adapted, and from which system, and on what checkpoints were chosen."""
    chosen = ", checkpoints chosen on zero-shot validation" if scores.chosen_on else ""
    if not (base := scores.adapted_from):
        return f"trained{chosen}"
    return f"adapted from {base['config']} {base['system']}, {base['mode']}{chosen}"


def list_some(things: Collection[str], most: int = 4) -> str:
    """The first few things in order, and how many more there are."""
    more = len(things) - most
    return ", ".join(sorted(things)[:most]) + f" and {more} more" * (more > 0)


class RunResult(Protocol):
    """What is of a run with some seed of a system: its scores, its probes."""

    @property
    def system(self) -> str: ...

    @property
    def seed(self) -> int: ...


AnyRunResult = TypeVar("AnyRunResult", bound=RunResult)


def runs_by_system(runs: Sequence[AnyRunResult]) -> dict[str, list[AnyRunResult]]:
    """The runs of each system, the baseline's before the others, those in the order of their first one."""
    systems: dict[str, list[AnyRunResult]] = {}
    for run in sorted(runs, key=lambda run: run.system != BASELINE.name):
        systems.setdefault(run.system, []).append(run)
    return systems


def seeds(runs: Sequence[RunResult]) -> str:
    """The seeds of a system's runs."""
    return ", ".join(str(run.seed) for run in runs)


def signature_note(all_scores: Sequence[Scores]) -> str:
    """What every figure depends on: signatures and seeds."""
    first = all_scores[0]
    listed = "; ".join(f"{system} seed {seeds(runs)}" for system, runs in runs_by_system(all_scores).items())
    return join_sentences([signatures(first, first.signatures), f"Runs: {listed}."])


def signatures(scores: Scores, figures: Iterable[str]) -> str:
    """What some figures depend on, as far as it is known."""
    titles, known = {figure: form.title for figure, form in FORMS.items()}, scores.signatures
    found = "; ".join(
        f"{titles.get(figure, figure)}: {known[figure]}" for figure in figures if figure in known
    )
    return found and f"{found}."


def caption(all_scores: Sequence[Scores]) -> str:
    """What the figures are: directions, metric, identifier and its error, search."""
    first = all_scores[0]
    error = max(result.figures["reference_error"] for scores in all_scores for result in scores.results)
    return (
        f"BLEU (sacreBLEU {first.signatures['bleu']}), means over {describe_directions(all_scores)}; "
        "off-target: share of outputs in another language than asked for, by "
        f"{first.signatures['off_target']} (wrong on at most {100 * error:.1f} % of the references of a "
        f"direction); {search_note(first)}.{lines_note(first)}{overlap_note(first)}"
    )


def describe_directions(all_scores: Sequence[Scores]) -> str:
    """How many directions of each kind there are to the first system, and to others where that is not the
    same.
    """
    systems = {system: count_directions(first) for system, (first, *_) in runs_by_system(all_scores).items()}
    first, *_ = systems.values()
    others = [f"; to {system} {counted}" for system, counted in systems.items() if counted != first]
    return first + "".join(others)


def count_directions(scores: Scores) -> str:
    """How many directions of each kind there are, and in which other ways than directly they were decoded."""
    numbers = {
        kind: len({result.direction for result in scores.results if result.kind == kind}) for kind in KINDS
    }
    counted = [
        f"{number} {kind_name(kind)}" for kind, number in numbers.items() if number or kind == SUPERVISED
    ]
    listed = " and ".join(filter(None, [", ".join(counted[:-1]), counted[-1]]))
    directions = f"{listed} direction{'s' * (sum(numbers.values()) != 1)}"
    others = [(kind, way) for kind, way in scores.groups if way != DIRECT]
    if not others:
        return directions
    which = (
        "the latter"
        if {kind for kind, _ in others} == {scores.groups[-1][0]} and len(counted) > 1
        else "some"
    )
    ways = dict.fromkeys(way_title(way, scores.pivot) for _, way in others)
    return f"{directions}, {which} also {', '.join(ways)}"


def way_title(way: Way, pivot: str) -> str:
    """A way of decoding as text: `direct`, `through en`, `by mask (keep 0.9)`."""
    return f"through {pivot}" if way == PIVOT else way.phrase or way.label


def search_note(scores: Scores) -> str:
    """Beam, length penalty and engine, the latter two where they are not fairseq's."""
    decoding = scores.decoding
    penalty, form = decoding.get("length_penalty", 1.0), decoding.get("length_penalty_form")
    named = f", length penalty {penalty}{' in the form of GNMT' * (form == GNMT)}"
    engine = f", by {decoding['engine']}" if "engine" in decoding else ""
    return f"beam {decoding['beam']}{named if form or penalty != 1.0 else ''}{engine}"


def pivot_note(all_scores: Sequence[Scores]) -> str:
    """Which run translates through the pivot, where it is not the system itself."""
    others, pivots = [scores for scores in all_scores if scores.pivot_by], pivots_of(all_scores)
    if len(others) > 1 and len(pivots) == 1 and ", seed " not in (pivot := pivots.pop()):
        systems = ", ".join(dict.fromkeys(scores.system for scores in others))
        return f" Through the pivot: {systems}, by {pivot} of the same seed."
    by = [f"{scores.system}, seed {scores.seed}, by {scores.pivot_by}" for scores in others]
    return f" Through the pivot: {'; '.join(by)}." if by else ""


def pivots_of(runs: Iterable[Scores]) -> set[str]:
    """What translates through the pivot for some of the runs; its seed is theirs unless one is named."""
    return {scores.pivot_by.removesuffix(f", seed {scores.seed}") for scores in runs if scores.pivot_by}


def lines_note(scores: Scores) -> str:
    """How much of the test set was scored, where it was not all."""
    lines = scores.decoding.get("lines")
    return f" Only the first {lines} lines of the test set are scored." if lines else ""


def overlap_note(scores: Scores) -> str:
    """What the overlap check found before training, where it was run."""
    if not (pairs := scores.overlap.values()):
        return ""
    removed, lines = (sum(of_pair[count] for of_pair in pairs) for count in ("removed", "lines"))
    return (
        f" Of {lines:,} training pairs {removed:,} had a sentence of the validation or test sets and "
        "were left out."
    )


def short_commit(commit: str) -> str:
    """Twelve digits of a commit and the mark of uncommitted changes, if there is one."""
    digits, *changes = commit.split("+")
    return "+".join([digits[:12], *changes])
