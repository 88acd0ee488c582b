"""The systems of an experiment side by side, from their score files."""

from collections.abc import Callable, Mapping, Sequence
from statistics import fmean, stdev

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


def mean_over_directions(scores: dict, kind: str, figure: str) -> float | None:
    """The plain mean of a figure over a run's directions of one kind, as the paper takes it; None without any."""
    values = [result[figure] for result in scores["directions"] if result["kind"] == kind]
    return fmean(values) if values else None


def check_comparable(all_scores: Sequence[dict]) -> None:
    """`InputError` unless the runs are of one experiment, scored alike, each once."""
    def conditions(scores: dict) -> tuple:
        decoding = {key: value for key, value in scores.get("decoding", {}).items() if key != "model"}
        return scores["config"], scores["signatures"], decoding

    for scores in all_scores[1:]:
        for one, other in zip(conditions(all_scores[0]), conditions(scores)):
            if one != other:
                raise InputError(f"these runs cannot stand in one table, they differ in {one} against {other}; make two tables")
    names = [(scores["system"], scores["seed"]) for scores in all_scores]
    if len(set(names)) < len(names):
        raise InputError(f"a run is given twice: {', '.join(f'{system} seed {seed}' for system, seed in names)}")


def by_system(all_scores: Sequence[dict]) -> dict[str, list[dict]]:
    """The runs of each system, in the order of their first one."""
    systems: dict[str, list[dict]] = {}
    for scores in all_scores:
        systems.setdefault(scores["system"], []).append(scores)
    return systems


def cells(runs: Sequence[dict], columns: Mapping[str, tuple[str, str]] = COLUMNS) -> list[str]:
    """A system's figures as text: the mean over its seeds, with the deviation where there are several."""
    return [cell([mean_over_directions(scores, *column) for scores in runs], column[1]) for column in columns.values()]


def cell(values: Sequence[float | None], figure: str) -> str:
    """One figure over the seeds: mean and standard deviation; a dash where a kind of direction was not scored."""
    if None in values:
        return "–"
    factor, unit = (100, " %") if figure == "off_target" else (1, "")
    deviation = f" ± {factor * stdev(values):.1f}" if len(values) > 1 else ""
    return f"{factor * fmean(values):.1f}{deviation}{unit}"


def caption(all_scores: Sequence[dict]) -> str:
    """What the figures are: directions, metric, identifier and its error, seeds."""
    first = all_scores[0]
    count = {kind: sum(result["kind"] == kind for result in first["directions"]) for kind in ("supervised", "zero_shot")}
    error = max(result["reference_error"] for scores in all_scores for result in scores["directions"])
    seeds = ", ".join(map(str, sorted({scores["seed"] for scores in all_scores})))
    return (
        f"BLEU (sacreBLEU {first['signatures']['bleu']}), means over {count['supervised']} supervised and "
        f"{count['zero_shot']} zero-shot directions, the latter also through {first['pivot']}; off-target: share of "
        f"outputs in another language than asked for, by {first['signatures']['off_target']} (wrong on at most "
        f"{100 * error:.1f} % of the references of a direction); beam {first['decoding']['beam']}, seed {seeds}."
        f"{lines_note(first)}{overlap_note(first)}"
    )


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


def text_table(all_scores: Sequence[dict]) -> str:
    """The comparison for a terminal; `InputError` for runs that cannot be compared."""
    check_comparable(all_scores)
    rows = [["system", *COLUMNS], *([system, *cells(runs)] for system, runs in by_system(all_scores).items())]
    widths = [max(map(len, column)) for column in zip(*rows)]
    first: Callable[[str, int], str] = str.ljust
    lines = [
        "  ".join([first(row[0], widths[0]), *(text.rjust(width) for text, width in zip(row[1:], widths[1:]))])
        for row in rows
    ]
    return "\n".join([lines[0], "-" * len(lines[0]), *lines[1:], "", caption(all_scores)])


def markdown_table(all_scores: Sequence[dict]) -> str:
    """The comparison for RESULTS.md, with what made each run; `InputError` for runs that cannot be compared."""
    check_comparable(all_scores)
    columns = COLUMNS | CHRF_COLUMNS
    rows = [["system", *columns], ["---", *["---:"] * len(columns)]]
    rows += [[f"`{system}`", *cells(runs, columns)] for system, runs in by_system(all_scores).items()]
    lines = [f"| {' | '.join(row)} |" for row in rows]
    made = [
        f"* `{scores['system']}`, seed {scores['seed']}: commit {short_commit(scores['commit'])}, {scores['training']}, "
        f"`{scores['command']}`"
        for scores in all_scores
    ]
    return "\n".join([*lines, "", caption(all_scores), "", *made])


def short_commit(commit: str) -> str:
    """Twelve digits of a commit and the mark of uncommitted changes, if there is one."""
    digits, *changes = commit.split("+")
    return "+".join([digits[:12], *changes])


def directions_table(all_scores: Sequence[dict]) -> str:
    """Every direction of every system in Markdown: BLEU, chrF++ and off-target, direct and through the pivot."""
    lines = ["| system | seed | direction | kind | BLEU | chrF++ | off-target |", "|---|---|---|---|---:|---:|---:|"]
    for scores in all_scores:
        for result in scores["directions"]:
            lines.append(
                f"| `{scores['system']}` | {scores['seed']} | {result['direction']} | {result['kind'].replace('_', '-')} "
                f"| {result['bleu']:.1f} | {result['chrf']:.1f} | {100 * result['off_target']:.1f} % |"
            )
    return "\n".join(lines)


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
