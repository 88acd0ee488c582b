"""The systems of an experiment side by side, from their score files."""

from collections.abc import Collection, Mapping, Sequence
from statistics import fmean

from zsnmt.errors import InputError

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


def mean_over_directions(scores: dict, kind: str, figure: str) -> float | None:
    """The plain mean of a figure over a run's directions of one kind, as the paper takes it; None without any."""
    values = [result.get(figure) for result in scores["directions"] if result["kind"] == kind]
    return fmean(values) if values and None not in values else None


def check_comparable(all_scores: Sequence[dict]) -> None:
    """`InputError` unless the runs are of one experiment, scored alike in the same directions, each once."""
    names = [f"{scores['system']} seed {scores['seed']}" for scores in all_scores]
    (name, first), *others = zip(names, map(conditions, all_scores))
    for other_name, other in others:
        for what, of_first in first.items():
            sides = (name, of_first - other[what]), (other_name, other[what] - of_first)
            if found := ", ".join(f"only {run} has {listed(alone)}" for run, alone in sides if alone):
                remedy = "score them alike or make two tables"
                raise InputError(f"these runs cannot stand in one table, their {what} differ: {found}; {remedy}")
    if len(set(names)) < len(names):
        raise InputError(f"a run is given twice: {', '.join(names)}")


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


def listed(things: Collection[str], most: int = 4) -> str:
    """The first few things in order, and how many more there are."""
    more = len(things) - most
    return ", ".join(sorted(things)[:most]) + f" and {more} more" * (more > 0)


def by_system(all_scores: Sequence[dict]) -> dict[str, list[dict]]:
    """The runs of each system, in the order of their first one."""
    systems: dict[str, list[dict]] = {}
    for scores in all_scores:
        systems.setdefault(scores["system"], []).append(scores)
    return systems


def caption(all_scores: Sequence[dict]) -> str:
    """What the figures are: directions, metric, identifier and its error, beam."""
    first = all_scores[0]
    count = {kind: sum(result["kind"] == kind for result in first["directions"]) for kind in ("supervised", "zero_shot")}
    error = max(result["reference_error"] for scores in all_scores for result in scores["directions"])
    return (
        f"BLEU (sacreBLEU {first['signatures']['bleu']}), means over {count['supervised']} supervised and "
        f"{count['zero_shot']} zero-shot directions, the latter also through {first['pivot']}; off-target: share of "
        f"outputs in another language than asked for, by {first['signatures']['off_target']} (wrong on at most "
        f"{100 * error:.1f} % of the references of a direction); beam {first['decoding']['beam']}."
        f"{lines_note(first)}{overlap_note(first)}{pivot_note(all_scores)}"
    )


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


def round_trip_table(measured: dict) -> str:
    """What a text pipeline gives back of real sentences, by language, in Markdown; see `zsnmt.text.round_trip`."""
    columns = ["respelt", "exact", "spaced", "recased", "lost"]
    lines = [f"| language | tokenisation | sentences | {' | '.join(columns)} |", f"|---|---|---:|{'---:|' * len(columns)}"]
    for language, row in measured["languages"].items():
        shares = " | ".join(f"{row[column]:.2f} %" for column in columns)
        lines.append(f"| {language} | `{row['kind']}` | {row['sentences']:,} | {shares} |")
    return "\n".join([*lines, "", f"Commit {short_commit(measured['commit'])}, {measured['units']}."])


def overlap_table(corpora: Mapping[str, Mapping[str, Mapping[str, int]]]) -> str:
    """Training pairs of each corpus that have a held-out sentence, in Markdown; counts by pair as in overlap.json."""
    lines = ["| corpus | pairs of languages | training pairs | with a validation sentence | with a test sentence | left out |",
             "|---|---:|---:|---:|---:|---:|"]  # fmt: skip
    for corpus, pairs in corpora.items():
        sums = (sum(counts[column] for counts in pairs.values()) for column in ("lines", "valid", "test", "removed"))
        lines.append(f"| {corpus} | {len(pairs)} | {' | '.join(f'{number:,}' for number in sums)} |")
    return "\n".join(lines)
