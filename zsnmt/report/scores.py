"""The systems of an experiment side by side, from their score files."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from statistics import fmean

from zsnmt.decoding.length_penalty import GNMT
from zsnmt.errors import InputError
from zsnmt.languages import Direction, parse_direction
from zsnmt.report.table import FORMS, joined
from zsnmt.runs.systems import BASELINE

COLUMNS: dict[str, tuple[str, str]] = {  # title: kind of direction, figure
    "supervised": ("supervised", "bleu"),
    "zero-shot": ("zero_shot", "bleu"),
    "through pivot": ("pivot", "bleu"),
    "off-target": ("zero_shot", "off_target"),
    "off-target through pivot": ("pivot", "off_target"),
}
CHRF_COLUMNS = {  # where there is room for them
    "supervised chrF++": ("supervised", "chrf"),
    "zero-shot chrF++": ("zero_shot", "chrf"),
    "chrF++ through pivot": ("pivot", "chrf"),
}
COMET_COLUMNS = {
    "supervised COMET": ("supervised", "comet"),
    "zero-shot COMET": ("zero_shot", "comet"),
    "COMET through pivot": ("pivot", "comet"),
}


def mean_over_directions(scores: dict, kind: str, figure: str, directions: Collection[Direction] | None = None) -> float | None:
    """The plain mean of a figure over a run's directions of one kind, or over some of them, as the paper takes it.

    None without any, and where one of them was not scored.
    """
    of_kind = results(scores, kind)
    values = [of_kind.get(direction, {}).get(figure) for direction in (of_kind if directions is None else directions)]
    return fmean(values) if values and None not in values else None


def results(scores: dict, kind: str) -> dict[Direction, dict]:
    """The results of one kind by direction."""
    return {parse_direction(result["direction"]): result for result in scores["directions"] if result["kind"] == kind}


def all_directions(all_scores: Sequence[dict]) -> dict[Direction, str]:
    """Every direction with its kind (supervised or zero_shot), the zero-shot ones first, in the order of the score files."""
    return {direction: kind for kind in ("zero_shot", "supervised") for scores in all_scores for direction in results(scores, kind)}


def check_comparable(all_scores: Sequence[dict]) -> None:
    """`InputError` unless the runs are of one experiment, scored alike in the same directions, each once."""
    names = [f"{scores['system']} seed {scores['seed']}" for scores in all_scores]
    check_alike([*zip(names, map(conditions, all_scores))], "score them alike or make two tables")
    if len(set(names)) < len(names):
        raise InputError(f"a run is given twice: {', '.join(names)}")
    check_adaptations(all_scores)


def check_alike(conditions: Sequence[tuple[str, Mapping[str, set[str]]]], remedy: str) -> None:
    """`InputError` unless every run, given by name, has the same values of each condition as the first."""
    (name, first), *others = conditions
    for other_name, other in others:
        for what, of_first in first.items():
            sides = (name, of_first - other[what]), (other_name, other[what] - of_first)
            if found := ", ".join(f"only {run} has {listed(alone)}" for run, alone in sides if alone):
                raise InputError(f"these runs cannot stand in one table, their {what} differ: {found}; {remedy}")


def conditions(scores: dict) -> dict[str, set[str]]:
    """What must be equal of runs in one table, by name."""
    decoding = {key: value for key, value in scores.get("decoding", {}).items() if key not in ("model", "pivot_model")}
    return {
        "configs": {scores["config"]},
        "signatures": {f"{name} {signature}" for name, signature in scores["signatures"].items()},
        "ways of decoding": {f"{name} {value}" for name, value in decoding.items()},
        "directions": {f"{result['direction']} ({result['kind'].replace('_', '-')})" for result in scores["directions"]},
        "test sets": {scores.get("test_set", "one that was not recorded")},
    }


def check_adaptations(all_scores: Sequence[dict]) -> None:
    """`InputError` unless adapted runs began with the same languages, and the runs of a system were made alike."""
    old = {", ".join(scores["adapted_from"]["languages"]) for scores in all_scores if "adapted_from" in scores}
    if len(old) > 1:
        found = "; ".join(sorted(old))
        raise InputError(f"these runs cannot stand in one table, they add languages to different ones: {found}; make two tables")
    for system, runs in by_system(all_scores).items():
        if len(ways := {how_made(scores) for scores in runs}) > 1:
            found = "; ".join(sorted(ways))
            raise InputError(f"the runs of {system} are not seeds of one system: {found}; make two tables or give them two names")
        for scores in runs:
            check_before(scores)


def check_before(scores: dict) -> None:
    """`InputError` if a direction was scored on more or fewer lines before the run was adapted."""
    lines = {(result["direction"], result["kind"]): result["lines"] for result in scores["directions"]}
    for result in scores.get("before", []):
        after = lines.get((result["direction"], result["kind"]), result["lines"])
        if result["lines"] != after:
            raise InputError(
                f"{scores['system']} seed {scores['seed']} cannot be compared with its base: {result['direction']} has "
                f"{result['lines']} lines before and {after} after; score both on the same lines, the base first"
            )


def how_made(scores: dict) -> str:
    """Whether a run was trained or adapted, and from which system."""
    if not (base := scores.get("adapted_from")):
        return "trained"
    return f"adapted from {base['config']} {base['system']}, {base['mode']}"


def listed(things: Collection[str], most: int = 4) -> str:
    """The first few things in order, and how many more there are."""
    more = len(things) - most
    return ", ".join(sorted(things)[:most]) + f" and {more} more" * (more > 0)


def by_system(all_scores: Sequence[dict]) -> dict[str, list[dict]]:
    """The runs of each system, the baseline's before the others, those in the order of their first one."""
    systems: dict[str, list[dict]] = {}
    for scores in sorted(all_scores, key=lambda scores: scores["system"] != BASELINE.name):
        systems.setdefault(scores["system"], []).append(scores)
    return systems


def seeds(runs: Sequence[dict]) -> str:
    """The seeds of a system's runs."""
    return ", ".join(str(scores["seed"]) for scores in runs)


def signature_note(all_scores: Sequence[dict]) -> str:
    """What every figure depends on: signatures and seeds."""
    first = all_scores[0]
    listed = "; ".join(f"{system} seed {seeds(runs)}" for system, runs in by_system(all_scores).items())
    return joined([signatures(first, first["signatures"]), f"Runs: {listed}."])


def signatures(scores: dict, figures: Iterable[str]) -> str:
    """What some figures depend on, as far as it is known."""
    titles, known = {figure: form.title for figure, form in FORMS.items()}, scores["signatures"]
    found = "; ".join(f"{titles.get(figure, figure)}: {known[figure]}" for figure in figures if figure in known)
    return found and f"{found}."


def caption(all_scores: Sequence[dict]) -> str:
    """What the figures are: directions, metric, identifier and its error, search."""
    first = all_scores[0]
    count = {kind: sum(result["kind"] == kind for result in first["directions"]) for kind in ("supervised", "zero_shot")}
    error = max(result["reference_error"] for scores in all_scores for result in scores["directions"])
    if count["zero_shot"]:
        over = f"{count['supervised']} supervised and {count['zero_shot']} zero-shot directions, the latter also through {first['pivot']}"
    else:
        over = f"{count['supervised']} supervised direction{'s' * (count['supervised'] != 1)}"
    return (
        f"BLEU (sacreBLEU {first['signatures']['bleu']}), means over {over}; off-target: share of "
        f"outputs in another language than asked for, by {first['signatures']['off_target']} (wrong on at most "
        f"{100 * error:.1f} % of the references of a direction); {search_note(first)}."
        f"{lines_note(first)}{overlap_note(first)}{pivot_note(all_scores)}"
    )


def search_note(scores: dict) -> str:
    """Beam, length penalty and engine, the latter two where they are not fairseq's."""
    decoding = scores["decoding"]
    penalty, form = decoding.get("length_penalty", 1.0), decoding.get("length_penalty_form")
    named = f", length penalty {penalty}{' in the form of GNMT' * (form == GNMT)}"
    engine = f", by {decoding['engine']}" if "engine" in decoding else ""
    return f"beam {decoding['beam']}{named if form or penalty != 1.0 else ''}{engine}"


def pivot_note(all_scores: Sequence[dict]) -> str:
    """Which run translates through the pivot, where it is not the system itself."""
    by = [f"{scores['system']}, seed {scores['seed']}, by {scores['pivot_by']}" for scores in all_scores if "pivot_by" in scores]
    return f" Through the pivot: {'; '.join(by)}." if by else ""


def lines_note(scores: dict) -> str:
    """How much of the test set was scored, where it was not all."""
    lines = scores["decoding"].get("lines")
    return f" Only the first {lines} lines of the test set are scored." if lines else ""


def overlap_note(scores: dict) -> str:
    """What the overlap check found before training, where it was run."""
    if not (pairs := scores.get("overlap", {}).values()):
        return ""
    removed, lines = (sum(of_pair[count] for of_pair in pairs) for count in ("removed", "lines"))
    return f" Of {lines:,} training pairs {removed:,} had a sentence of the validation or test sets and were left out."


def short_commit(commit: str) -> str:
    """Twelve digits of a commit and the mark of uncommitted changes, if there is one."""
    digits, *changes = commit.split("+")
    return "+".join([digits[:12], *changes])
