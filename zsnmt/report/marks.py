"""The mark of systems whose checkpoints were chosen on validation text of zero-shot directions too."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from zsnmt.report.table import Table, join_sentences
from zsnmt.runs.scores import Scores

MARK = "†"


def marked(table: Table, all_scores: Iterable[Scores]) -> Table:
    """The table with the mark after these systems and the sentence that explains it, where there are any."""
    chosen = {scores.system for scores in all_scores if scores.chosen_on}
    if not chosen:
        return table
    place = table.columns.index("system") if "system" in table.columns else None
    there = chosen.intersection(str(row[place]) for row in table.rows) if place is not None else set()
    if not there:
        return table
    rows = [
        [f"{cell} {MARK}" if number == place and cell in there else cell for number, cell in enumerate(row)]
        for row in table.rows
    ]
    return replace(table, rows=rows, about=join_sentences([table.about, chosen_note(sorted(there))]))


def chosen_note(systems: Sequence[str]) -> str:
    """What the mark says."""
    return (
        f"{MARK} {', '.join(systems)}: checkpoints were chosen on validation text of zero-shot directions "
        "too (early stopping, as Liu et al. 2021 do on all of Europarl), so these are not quite zero-shot."
    )
