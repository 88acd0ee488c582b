"""What may stand in one table: runs of one experiment that were scored alike, and their scores."""

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from zsnmt.errors import InputError
from zsnmt.languages import FEW_SHOT, SUPERVISED, UNKNOWN, kind_name
from zsnmt.report.scores import Run, groups_of, methods_of, own_first, runs_by_system, words
from zsnmt.runs.score_file import read_scores
from zsnmt.runs.scores import Scores
from zsnmt.runs.ways import DIRECT, PIVOT, Way

NOT_SUPERVISED = "without text by people", "without text by people, or with a few lines"
WITHOUT_PIVOT = "without the pivot"


def read_runs(folders: Sequence[Path]) -> list[Run]:
    """The runs with their scores; `InputError` for one without, and for runs that cannot be compared."""
    runs = [Run(folder, read_scores(folder)) for folder in folders]
    runs.sort(key=lambda run: bool(run.scores.made_elsewhere))
    check_comparable([run.scores for run in runs])
    return runs


def check_comparable(all_scores: Sequence[Scores]) -> None:
    """`InputError` unless the runs are of one experiment, scored alike in the same directions, each once.

    A method of decoding may be scored for some of them alone. What is zero-shot to one may be zero-resource
    or few-shot to another. Of translations that were made elsewhere nobody knows the search, and they need
    not be there through the pivot.
    """
    names = [scores.name for scores in all_scores]
    kinds = {kind: kind_name(kind) for kind, _ in groups_of(all_scores)}
    if len(others := {*kinds} - {SUPERVISED}) > 1:
        kinds |= dict.fromkeys(others, not_supervised(others))
    remedy = "score them alike or make two tables"
    first, *compared = own_first(all_scores)
    for scores in compared:
        of = conditions_elsewhere if scores.made_elsewhere else conditions
        check_alike([(each.name, of(each, kinds)) for each in (first, scores)], remedy)
    for method in methods_of(all_scores):
        scored = [scores for scores in all_scores if any(result.way == method for result in scores.results)]
        check_alike([(scores.name, directions_by([method], scores, kinds)) for scores in scored], remedy)
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise InputError(f"a run is given twice: {list_some(twice)}; give each once")
    check_adaptations(all_scores)


def not_supervised(kinds: Collection[str]) -> str:
    """What the directions are that are of some kinds to some of the runs."""
    return WITHOUT_PIVOT if UNKNOWN in kinds else NOT_SUPERVISED[FEW_SHOT in kinds]


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
        **conditions_elsewhere(scores, kinds),
        "settings of decoding": {f"{name} {value}" for name, value in decoding.items()},
        **directions_by((DIRECT, PIVOT), scores, kinds),
    }


def conditions_elsewhere(scores: Scores, kinds: Mapping[str, str]) -> dict[str, set[str]]:
    """The same for translations that were made elsewhere, and what is compared with them."""
    return {
        "configs": {scores.config},
        "signatures": {f"{name} {signature}" for name, signature in scores.signatures.items()},
        **directions_by([DIRECT], scores, kinds),
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
        check_training_text(system, runs)
        for scores in runs:
            check_before(scores)


def check_training_text(system: str, runs: Sequence[Scores]) -> None:
    """`InputError` for seeds of a system that were trained on different text, as far as that is known."""
    by_text = {scores.training_text: scores for scores in runs if scores.training_text}
    if len(by_text) > 1:
        one, other, *_ = sorted(scores.seed for scores in by_text.values())
        raise InputError(
            f"the runs of {system} are not seeds of one system: seeds {one} and {other} were trained on "
            "different text; train one of them again, or make two tables or give them two names"
        )


def check_before(scores: Scores) -> None:
    """`InputError` if a direction was scored on more or fewer lines before the run was adapted."""
    for result in scores.before:
        lines, after = (
            result.figures.get("lines"),
            scores.select(result.kind, result.way).get(result.direction, result).figures.get("lines"),
        )
        if lines != after:
            raise InputError(
                f"{scores.name} cannot be compared with its base: {result.direction} has {lines} lines "
                f"before and {after} after; score both on the same lines, the base first"
            )


def describe_training(scores: Scores) -> str:
    """Whether a run was trained or adapted, and from which system, and on what checkpoints were chosen."""
    chosen = ", checkpoints chosen on zero-shot validation" if scores.chosen_on else ""
    if scores.made_elsewhere:
        return "of another toolkit"
    if not (base := scores.adapted_from):
        return f"trained{chosen}"
    return f"adapted from {base['config']} {base['system']}, {base['mode']}{chosen}"


def list_some(things: Collection[str], most: int = 4) -> str:
    """The first few things in order, and how many more there are."""
    more = len(things) - most
    return ", ".join(sorted(things)[:most]) + f" and {more} more" * (more > 0)
