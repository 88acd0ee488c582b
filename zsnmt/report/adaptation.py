"""What a language added to a trained run gains, and what it costs: the new directions, and the old ones before and after.

The score file of an adapted run says what the run began with, `adapted_from` (config, system, seed, the old languages with the
pivot first, and the mode, full or frozen), and has the results of that base as `before`, if it was scored: on the same lines,
by the same metrics and identifier.
"""

from collections.abc import Collection, Sequence
from statistics import fmean

from zsnmt.languages import Direction
from zsnmt.report.scores import all_directions, by_system, listed, mean_over_directions, results, seeds, signature_note
from zsnmt.report.significance import gain, mean_difference, minus_pivot, seed_note
from zsnmt.report.table import FORMS, Cell, Measured, Table, joined, over_seeds
from zsnmt.scoring.metrics import RANGES

OLD = "old"
WITH_PIVOT = "new → pivot", "pivot → new"
WITHOUT_PIVOT = "new → old", "old → new", "new → new"
GROUPS = (*WITH_PIVOT, *WITHOUT_PIVOT, OLD)

NEW_COLUMNS = {  # title: group, kind, figure
    **{group: (group, "supervised", "bleu") for group in WITH_PIVOT},
    **{group: (group, "zero_shot", "bleu") for group in WITHOUT_PIVOT},
    **{f"{group} off-target": (group, "zero_shot", "off_target") for group in WITHOUT_PIVOT},
}


def new_language_table(all_scores: Sequence[dict]) -> Table | None:
    """A row an adapted system: how well it translates from and into the new languages; None without any."""
    systems = adapted(all_scores)
    if not systems:
        return None
    rows = [new_language_cells(runs) for runs in systems.values()]
    new, old = new_languages(systems), old_languages(systems)
    about = (
        f"BLEU and off-target, means over directions. New: {', '.join(new)}; old: {', '.join(old[1:])}; pivot: {old[0]}. "
        "Mode full: every parameter was trained on; frozen: none that old directions use."
    )
    table = [[*row.values()] for row in rows]
    return Table("adaptation", title_of(new), [*rows[0]], table, about, signatures=signature_note(all_scores))


def new_language_cells(runs: Sequence[dict]) -> dict[str, Cell]:
    """The row of a system, by the titles of the columns."""
    pivoted = results(runs[0], "pivot")
    return {
        "system": runs[0]["system"],
        "seeds": seeds(runs),
        "mode": runs[0]["adapted_from"]["mode"],
        **{title: mean(runs, kind, figure, members(runs, kind, group)) for title, (group, kind, figure) in NEW_COLUMNS.items()},
        **{f"{group} minus pivot": minus_pivot(runs, [direction for direction in members(runs, "zero_shot", group) if direction in pivoted])
           for group in WITHOUT_PIVOT},
    }  # fmt: skip


def new_language_gains_table(all_scores: Sequence[dict]) -> Table | None:
    """What each adapted system gains over the first one with the new languages, marked as other gains; None for one system."""
    systems = adapted(all_scores)
    if len(systems) < 2:
        return None
    (base_name, base), *others = systems.items()
    rows = [
        [system, *(gain(runs, base, kind, figure, members(base, kind, group)) for group, kind, figure in NEW_COLUMNS.values())]
        for system, runs in others
    ]
    title = f"{title_of(new_languages(systems))}, difference from {base_name}"
    return Table("adaptation_gains", title, ["system", *NEW_COLUMNS], rows, seed_note(rows), signatures=signature_note(all_scores))


def forgetting_table(all_scores: Sequence[dict]) -> Table | None:
    """A row an adapted system: the old directions before and after; None without any."""
    systems = adapted(all_scores)
    if not systems:
        return None
    rows = [forgetting_cells(runs) for runs in systems.values()]
    about = joined([f"BLEU and off-target, means over directions between {', '.join(old_languages(systems))}.", *old_notes(systems)])
    table = [[*row.values()] for row in rows]
    return Table("forgetting", "Old directions before and after", [*rows[0]], table, about, signatures=signature_note(all_scores))


def forgetting_cells(runs: Sequence[dict]) -> dict[str, Cell]:
    """The row of a system, by the titles of the columns."""
    supervised, zero_shot = (members(runs, kind, OLD) for kind in ("supervised", "zero_shot"))
    return {
        "system": runs[0]["system"],
        "seeds": seeds(runs),
        **before_and_after("supervised", runs, "supervised", "bleu", supervised),
        **before_and_after("zero-shot", runs, "zero_shot", "bleu", zero_shot),
        **before_and_after("off-target", runs, "zero_shot", "off_target", zero_shot),
        FORMS["unchanged"].title: over_seeds("unchanged", [unchanged(scores) for scores in runs]),
    }


def unchanged(scores: dict) -> float | None:
    """The share (0–1) of translations of old directions, through the pivot or not, that are as before to the letter."""
    shares = [result["unchanged"] for result in scores.get("before", []) if "unchanged" in result]
    return fmean(shares) if shares else None


def adaptation_directions_table(all_scores: Sequence[dict]) -> Table | None:
    """A row a direction and adapted system, before and after; None without any."""
    systems = adapted(all_scores)
    if not systems:
        return None
    old = old_languages(systems)
    rows = [
        {
            "direction": str(direction), "kind": kind.replace("_", "-"), "group": group, "system": system,
            **before_and_after("BLEU", runs, kind, "bleu", {direction}),
            **before_and_after("off-target", runs, kind, "off_target", {direction}),
        }
        for group in GROUPS
        for direction, kind in all_directions(all_scores).items() if group_of(direction, old) == group
        for system, runs in systems.items()
    ]  # fmt: skip
    table, title = [[*row.values()] for row in rows], "Every direction before and after"
    return Table("adaptation_directions", title, [*rows[0]], table, joined(old_notes(systems)), 4, signature_note(all_scores))


ADAPTATION_TABLES = new_language_table, new_language_gains_table, forgetting_table  # a row a system


def group_of(direction: Direction, old: Sequence[str]) -> str:
    """Which of the groups a direction is in, by the old languages, the pivot first."""
    sides = ["new" if language not in old else "pivot" if language == old[0] else "old" for language in direction]
    return " → ".join(sides) if "new" in sides else OLD


def adapted(all_scores: Sequence[dict]) -> dict[str, list[dict]]:
    """The adapted runs of each system that has any."""
    return by_system([scores for scores in all_scores if "adapted_from" in scores])


def old_languages(systems: dict[str, list[dict]]) -> list[str]:
    """The languages of the bases, the pivot first."""
    return next(iter(systems.values()))[0]["adapted_from"]["languages"]


def new_languages(systems: dict[str, list[dict]]) -> list[str]:
    """The languages that the bases lack."""
    return [language for language in next(iter(systems.values()))[0]["languages"] if language not in old_languages(systems)]


def title_of(new: Sequence[str]) -> str:
    """The new languages as a title."""
    return f"New language{'s' * (len(new) > 1)}: {', '.join(new)}"


def members(runs: Sequence[dict], kind: str, group: str) -> list[Direction]:
    """The directions of a kind in a group."""
    return [direction for direction in results(runs[0], kind) if group_of(direction, runs[0]["adapted_from"]["languages"]) == group]


def mean(runs: Sequence[dict], kind: str, figure: str, directions: Collection[Direction]) -> Measured | None:
    """A figure of a system, its mean over some directions, over the seeds."""
    return over_seeds(figure, [mean_over_directions(scores, kind, figure, directions) for scores in runs])


def before_and_after(title: str, runs: Sequence[dict], kind: str, figure: str, directions: Collection[Direction]) -> dict[str, Cell]:
    """A figure of a system's bases, its own, and the difference, by the titles of the columns."""
    bases = [base_of(scores) for scores in runs]
    return {
        f"{title} before": mean(bases, kind, figure, directions),
        f"{title} after": mean(runs, kind, figure, directions),
        f"{title} difference": mean_difference(figure, (runs, kind), (bases, kind), directions, same_runs=True),
    }


def base_of(scores: dict) -> dict:
    """What an adapted run's score file has of that of its base."""
    return {"directions": scores.get("before", [])}


def old_notes(systems: dict[str, list[dict]]) -> list[str]:
    """What must be known of the old directions: which bases were not scored, and what frozen runs changed."""
    runs = [scores for of_system in systems.values() for scores in of_system]
    return [missing_note(runs), frozen_note(runs)]


def missing_note(runs: Sequence[dict]) -> str:
    """Which bases were not scored in every old direction, and what to do about it."""
    missing = {
        "{config} {system} seed {seed}".format(**scores["adapted_from"]): None
        for scores in runs
        for kind in ("supervised", "zero_shot")
        if {*members([scores], kind, OLD)} - {*results(base_of(scores), kind)}
    }
    remedy = "run recipes/adapt.sh again, which scores it where its text is there, then recipes/evaluate.sh"
    return f"Not scored before in every old direction: {', '.join(missing)}; {remedy}." if missing else ""


def frozen_note(runs: Sequence[dict]) -> str:
    """Of frozen runs, which figures of the old directions are exactly as before, and where one is not."""
    frozen = [scores for scores in runs if scores["adapted_from"]["mode"] == "frozen" and scores.get("before")]
    if not frozen:
        return ""
    changes = {FORMS[figure].title: changed(frozen, figure) for figure in RANGES}
    kept = ", ".join(title for title, places in changes.items() if not places)
    said = [f"exactly as before in every direction that the base was scored in: {kept}"] if kept else []
    said += [f"{title} not as before: {listed(places)}" for title, places in changes.items() if places]
    return f"Frozen runs: {'; '.join(said)}."


def changed(runs: Sequence[dict], figure: str) -> list[str]:
    """The runs and directions, whatever the kind, where a figure is not what it was before."""
    return [
        f"{scores['system']} seed {scores['seed']} {direction} ({kind.replace('_', '-')})"
        for scores in runs
        for kind in ("supervised", "zero_shot", "pivot")
        for after in [results(scores, kind)]
        for direction, before in results(base_of(scores), kind).items()
        if after.get(direction, before)[figure] != before[figure]
    ]
