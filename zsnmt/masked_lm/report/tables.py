"""Tables of the masked-LM study of position encodings: Tables 4 and 5 of Ravishankar & Søgaard 2021,
ablations, Procrustes losses.
"""

from collections.abc import Sequence

from zsnmt.masked_lm.report.columns import FIRST, FULL, MEDIAN_LOSS, ML_SCORE, Column, columns
from zsnmt.masked_lm.report.procrustes import procrustes_table
from zsnmt.masked_lm.report.runs import (
    ABLATIONS,
    ENCODINGS,
    LABELS,
    NONE,
    REORDERED,
    SAME,
    common_training,
    condition_label,
    conditions_of,
    group_label,
    groups,
    runs_by_seed,
    runs_of,
)
from zsnmt.masked_lm.score_file import MaskedLM
from zsnmt.report.scores import seeds, short_commit, versions_in_short
from zsnmt.report.table import Cell, Table, join_sentences, numbers_in_short

ENCODINGS_TABLE = "encodings_"  # begins the names of those
TEXT_TABLES = ("orders", "sizes")  # tables of what the runs were trained on
TREE_COUNTS = {
    "read": "trees read",
    "non_projective": "not projective",
    "too_many_children": "too many children",
}


def tables(runs: Sequence[MaskedLM]) -> dict[str, Table]:
    """All tables that the runs have something for, by name."""
    by_group = [make(runs, group) for make in (encodings_table, ablations_table) for group in groups(runs)]
    text_tables = [orders_table(runs), sizes_table(runs)]
    made = [*by_group, procrustes_table(runs), *text_tables, conditions_table(runs), runs_table(runs)]
    return {table.name: table.without_empty_columns() for table in made if table is not None}


def encodings_table(runs: Sequence[MaskedLM], group: str) -> Table | None:
    """Table 4: one row per encoding, means over the conditions of a group; None where no encoding has all of
    them.
    """
    conditions = groups(runs)[group]
    rows = mean_rows(runs, ENCODINGS, conditions, shown=columns(runs))
    if not rows:
        return None
    titles = ["encoding", "seeds", *(column.title for column in columns(runs))]
    about = [
        "Perplexity of masked tokens, of all text (full) and of the first language (L1): lower is better.",
        "Retrieval of sentences and translation of words: how often the nearest is the right one, the mean "
        "of both directions; ML score: the mean of these four columns; higher is better."
        if group != NONE
        else "",
        "A model of English alone, the control." if group == NONE else "",
        "The best of each column is marked." if len(rows) > 1 else "",
        incomplete_note(runs, ENCODINGS, conditions),
    ]
    title = f"Position encodings: {group_label(conditions)}"
    return Table(
        f"{ENCODINGS_TABLE}{group}",
        title,
        titles,
        rows=rows,
        about=join_sentences(about),
        signatures=common_training(runs),
    )


def corpora_tables(studies: Sequence[Sequence[MaskedLM]]) -> list[Table]:
    """Table 4 of the paper as it is printed: the tables of encodings of several studies, each with runs of
    one config, side by side; those groups of conditions that all have.
    """
    named = {runs[0].config: runs for runs in studies}
    made = []
    for group in (SAME, REORDERED, NONE):
        found = {
            config: encodings_table(runs, group) for config, runs in named.items() if group in groups(runs)
        }
        beside = {config: table for config, table in found.items() if table is not None}
        if len(beside) < len(named):
            continue
        rows: dict[str, list[Cell]] = {label: [label] for label in ENCODINGS.values()}
        for table in beside.values():
            cells = {row[0]: row[1:] for row in table.rows}
            for label, row in rows.items():
                row += cells.get(label, [None] * (len(table.columns) - 1))
        there = [row for row in rows.values() if any(cell is not None for cell in row[1:])]
        titles = [f"{config}: {title}" for config, table in beside.items() for title in table.columns[1:]]
        about = " ".join(
            f"{config}: {group_label(groups(runs)[group])}; {common_training(runs)}"
            for config, runs in named.items()
        )
        title = "Position encodings by corpus"
        made.append(
            Table(f"{ENCODINGS_TABLE}beside_{group}", title, ["encoding", *titles], rows=there, about=about)
        )
    return made


def ablations_table(runs: Sequence[MaskedLM], group: str) -> Table | None:
    """The figures of Figure 7: learned positions and what was taken from them; None where no ablation has
    a row.
    """
    conditions = groups(runs)[group]
    systems = {"learned": LABELS["learned"], **ABLATIONS}
    shown = [FULL, FIRST, ML_SCORE, MEDIAN_LOSS]
    rows = mean_rows(runs, systems, conditions, shown=shown)
    if not {row[0] for row in rows} & {*ABLATIONS.values()}:
        return None
    about = [
        "Perplexity and ML score as of the encodings; Procrustes loss: the median over the offsets.",
        incomplete_note(runs, systems, conditions),
    ]
    title = f"Ablations of absolute positions: {group_label(conditions)}"
    titles = ["system", "seeds", *(column.title for column in shown)]
    return Table(
        f"ablations_{group}",
        title,
        titles,
        rows=rows,
        about=join_sentences(about),
        signatures=common_training(runs),
    )


def mean_rows(
    runs: Sequence[MaskedLM], systems: dict[str, str], conditions: Sequence[str], shown: Sequence[Column]
) -> list[list[Cell]]:
    """One row per system that has seeds in all conditions: label, seeds, and means over the conditions."""
    found = {label: runs_by_seed(runs, system, conditions) for system, label in systems.items()}
    return [
        [label, numbers_in_short(of_system), *(column.mean([*of_system.values()]) for column in shown)]
        for label, of_system in found.items()
        if of_system
    ]


def incomplete_note(runs: Sequence[MaskedLM], systems: dict[str, str], conditions: Sequence[str]) -> str:
    """Which seeds a table leaves out, since they lack one of its conditions."""
    missing = []
    for system, label in systems.items():
        there = {run.seed for condition in conditions for run in runs_of(runs, system, condition)}
        if lacking := sorted(there - {*runs_by_seed(runs, system, conditions)}):
            missing.append(f"{label} seed {numbers_in_short(lacking)}")
    return f"Left out, since they lack some of the conditions: {'; '.join(missing)}." if missing else ""


def conditions_table(runs: Sequence[MaskedLM]) -> Table:
    """Table 5: one row per condition and system."""
    found = [
        (condition, label, of_system)
        for condition in conditions_of(runs)
        for system, label in LABELS.items()
        if (of_system := runs_of(runs, system, condition))
    ]
    rows = [
        [
            condition_label(condition),
            label,
            seeds(of_system),
            *(column.mean([[run] for run in of_system]) for column in columns(runs)),
        ]
        for condition, label, of_system in found
    ]
    titles = ["condition", "encoding", "seeds", *(column.title for column in columns(runs))]
    about = (
        "Of EN alone there is one language, and nothing to retrieve or translate; its perplexity, full, "
        "is of English."
    )
    return Table(
        "conditions",
        "Every condition",
        titles,
        rows=rows,
        about=about if NONE in conditions_of(runs) else "",
        headers=2,
        signatures=common_training(runs),
    )


def orders_table(runs: Sequence[MaskedLM]) -> Table | None:
    """Table 2: a sentence in all orders; None where there is none of another language."""
    examples = {run.condition: run.example for run in runs if run.example}
    reordered = [condition for condition in groups(runs).get(REORDERED, []) if condition in examples]
    if not reordered:
        return None
    rows: list[list[Cell]] = [["EN", examples[reordered[0]].first]]
    rows += [[f"EN∼{condition.upper()}", examples[condition].second] for condition in reordered]
    about = "A sentence of the training text, and what the second language of each condition makes of it."
    return Table("orders", "A sentence in all orders", ["text", "sentence"], rows=rows, about=about)


def sizes_table(runs: Sequence[MaskedLM]) -> Table | None:
    """Table 3: how many sentences there are, and trees that were left out of all conditions; None where no
    run has two languages.
    """
    bilingual = [run for run in runs if run.condition != NONE]
    if not bilingual:
        return None
    sentences = bilingual[0].sentences
    trees = next((run.trees for run in bilingual if run.trees), {})
    rows: list[list[Cell]] = [
        [
            title,
            f"{sentences[split] // 2:,}",
            f"{sentences[split]:,}",
            *(f"{trees[split][count]:,}" if split in trees else None for count in TREE_COUNTS),
        ]
        for split, title in (("train", "training"), ("valid", "validation"))
    ]
    titles = ["text", "sentences of a language", "of two languages", *TREE_COUNTS.values()]
    about = (
        "Left out of all conditions are sentences whose tree is not projective, or where a word has too many "
        "children to weigh all their orders."
        if trees
        else ""
    )
    return Table("sizes", f"Sentences of {runs[0].config}", titles, rows=rows, about=about)


def runs_table(runs: Sequence[MaskedLM]) -> Table:
    """What made each run."""
    rows: list[list[Cell]] = [
        [
            condition_label(run.condition),
            LABELS[run.system],
            str(run.seed),
            f"{run.epochs:g} epochs, {run.updates:,} updates",
            short_commit(run.commit),
            versions_in_short(run.versions),
            run.command,
        ]
        for run in runs
    ]
    titles = ["condition", "encoding", "seed", "training", "commit", "versions", "command"]
    return Table(
        "runs",
        "How the runs were made",
        titles,
        rows=rows,
        about="",
        headers=3,
        signatures=common_training(runs),
    )
