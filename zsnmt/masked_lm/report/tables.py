"""Tables of the masked-LM study of position encodings: Tables 4 and 5 of Ravishankar & Søgaard 2021,
ablations, Procrustes losses.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from statistics import fmean, median
from typing import NamedTuple

from zsnmt.analysis.position_encodings import peak_share
from zsnmt.analysis.procrustes import wilcoxon
from zsnmt.masked_lm.report.runs import (
    ABLATIONS,
    ENCODINGS,
    LABELS,
    NONE,
    REORDERED,
    SAME,
    condition_label,
    conditions_of,
    group_label,
    groups,
    runs_by_seed,
    runs_of,
)
from zsnmt.report.comparison import fold
from zsnmt.report.scores import short_commit
from zsnmt.report.table import (
    Cell,
    Measured,
    Table,
    complete,
    join_sentences,
    markdown_rows,
    markdown_table,
    seed_cell,
    text_rows,
    wrap,
)

ENCODINGS_TABLE = "encodings_"  # begins the names of those
TEXT_TABLES = ("orders", "sizes")  # tables of what the runs were trained on
TREE_COUNTS = {
    "read": "trees read",
    "non_projective": "not projective",
    "too_many_children": "too many children",
}
RunFigure = Callable[[dict], float | None]


class Column(NamedTuple):
    """A figure of a run: its title, its form, where it is found, and whether less of it is better."""

    title: str
    figure: str
    of: RunFigure
    lower: bool = False

    def mean(self, of_seeds: Sequence[Sequence[dict]]) -> Measured | None:
        """The mean over the conditions of each seed, then over the seeds; None where a run has none."""
        values = [complete([self.of(run) for run in of_seed]) for of_seed in of_seeds]
        return seed_cell(self.figure, [None if of_seed is None else fmean(of_seed) for of_seed in values])


def perplexity(part: str) -> RunFigure:
    """The perplexity of both languages (full) or the first."""
    return lambda run: run["perplexity"][part]


def layer_accuracy(measure: str, layer: str) -> RunFigure:
    """How often the nearest one is the right one in a layer, the mean of both directions."""
    return lambda run: run[measure] and run[measure][layer]["mean"]


def waves(run: dict) -> float | None:
    """The mean over the drawn dimensions of what `peak_share` says of how far one is a wave, 0–1; None of
    runs without a table, or kept before its curves were.
    """
    return run["curves"] and float(peak_share(run["curves"]["values"]).mean())


def median_loss(run: dict) -> float | None:
    """The median over the offsets of the median Procrustes loss."""
    return run["procrustes"] and median(run["procrustes"]["median"])


def median_keys_loss(run: dict) -> float | None:
    """The same of positions as keys."""
    keys = run.get("procrustes_keys")
    return keys and median(keys["median"])


def undivided_loss(run: dict) -> float | None:
    """The mean over the offsets of the mean loss that is not divided; None where it was not kept."""
    losses = run["procrustes"] and run["procrustes"].get("undivided")
    return losses and fmean(losses)


FULL, FIRST = (
    Column("perplexity, full", "perplexity", perplexity("full"), lower=True),
    Column("perplexity, L1", "perplexity", perplexity("first"), lower=True),
)
ML_SCORE = Column("ML score", "ml_score", lambda run: run["ml_score"])
BANDS = Column("bands", "bands", lambda run: run.get("bands") and run["bands"]["positions"])
WAVES = Column("waves", "bands", waves)
MEDIAN_LOSS = Column("median Procrustes loss", "procrustes", median_loss, lower=True)
KEYS_LOSS = Column("median loss of p·W^K", "procrustes", median_keys_loss, lower=True)
UNDIVIDED = Column("mean loss, undivided", "procrustes", undivided_loss, lower=True)


def columns(runs: Sequence[dict]) -> list[Column]:
    """The columns of Table 4: those of perplexity and, with two languages, those of every layer that was
    scored.
    """
    bilingual = next((run for run in runs if run["condition"] != NONE), None)
    if bilingual is None:
        return [FULL, FIRST]
    measures = [
        Column(f"{measure}, layer {layer}", measure, layer_accuracy(measure, layer))
        for measure in ("retrieval", "translation")
        for layer in sorted(bilingual[measure], key=int)
    ]
    return [FULL, FIRST, *measures, ML_SCORE]


def tables(runs: Sequence[dict]) -> dict[str, Table]:
    """All tables that the runs have something for, by name."""
    by_group = [make(runs, group) for make in (encodings_table, ablations_table) for group in groups(runs)]
    text_tables = [orders_table(runs), sizes_table(runs)]
    made = [*by_group, procrustes_table(runs), *text_tables, conditions_table(runs), runs_table(runs)]
    return {table.name: table.without_empty_columns() for table in made if table is not None}


def encodings_table(runs: Sequence[dict], group: str) -> Table | None:
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


def corpora_tables(studies: Sequence[Sequence[dict]]) -> list[Table]:
    """Table 4 of the paper as it is printed: the tables of encodings of several studies, each with runs of
    one config, side by side; those groups of conditions that all have.
    """
    named = {runs[0]["config"]: runs for runs in studies}
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


def ablations_table(runs: Sequence[dict], group: str) -> Table | None:
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
    runs: Sequence[dict], systems: dict[str, str], conditions: Sequence[str], shown: Sequence[Column]
) -> list[list[Cell]]:
    """One row per system that has seeds in all conditions: label, seeds, and means over the conditions."""
    found = {label: runs_by_seed(runs, system, conditions) for system, label in systems.items()}
    return [
        [label, ", ".join(map(str, of_system)), *(column.mean([*of_system.values()]) for column in shown)]
        for label, of_system in found.items()
        if of_system
    ]


def incomplete_note(runs: Sequence[dict], systems: dict[str, str], conditions: Sequence[str]) -> str:
    """Which seeds a table leaves out, since they lack one of its conditions."""
    missing = []
    for system, label in systems.items():
        there = {run["seed"] for condition in conditions for run in runs_of(runs, system, condition)}
        if lacking := sorted(there - {*runs_by_seed(runs, system, conditions)}):
            missing.append(f"{label} seed {', '.join(map(str, lacking))}")
    return f"Left out, since they lack some of the conditions: {'; '.join(missing)}." if missing else ""


def conditions_table(runs: Sequence[dict]) -> Table:
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


def procrustes_table(runs: Sequence[dict]) -> Table | None:
    """How far each table of positions is from compositional, with tests of the differences; None where
    none was measured.
    """
    losses = {
        (condition, system): losses_of(of_system)
        for condition in conditions_of(runs)
        for system in LABELS
        if (of_system := runs_with_losses(runs_of(runs, system, condition)))
    }
    if not losses:
        return None
    rows = [
        [
            condition_label(condition),
            LABELS[system],
            seeds(of_system := runs_with_losses(runs_of(runs, system, condition))),
            seed_cell("procrustes", [fmean(run["procrustes"]["mean"]) for run in of_system]),
            MEDIAN_LOSS.mean([[run] for run in of_system]),
            UNDIVIDED.mean([[run] for run in of_system]),
            KEYS_LOSS.mean([[run] for run in of_system]),
            BANDS.mean([[run] for run in of_system]),
            p_value(of_pair, losses.get((NONE, system))) if condition != NONE else None,
            p_value(of_pair, losses.get((condition, "tupe_absolute"))) if system != "tupe_absolute" else None,
        ]
        for (condition, system), of_pair in losses.items()
    ]
    titles = [
        "condition",
        "encoding",
        "seeds",
        "mean loss",
        "median loss",
        UNDIVIDED.title,
        KEYS_LOSS.title,
        "bands",
        "p against EN alone",
        "p against TUPE (absolute)",
    ]
    offsets = max((run["procrustes"]["offsets"] for run in runs_with_losses(runs)), key=len)
    noise = median(run["procrustes"]["noise"] for run in runs_with_losses(runs))
    more = (
        " Undivided: as the paper prints it; it grows with the vectors, so it compares within an encoding. "
        "p·W^K: positions as keys of the first layer. Of relative encodings the table is over offsets, the "
        "first layer's."
        if any(run["procrustes"].get("undivided") for run in runs_with_losses(runs))
        else ""
    )
    about = (
        f"Relative loss of one rotation from positions to those k further, over k = {offsets[0]} to "
        f"{offsets[-1]}: 0 where it holds everywhere; independent vectors have a median of about "
        f"{noise:.2f}, and sinusoids say how low it is measured on tables of this size. Bands: the share of "
        "the variance of word–position correlations that positions explain, whatever the word; chance is "
        "one part in as many as there are words. p: two-sided Wilcoxon signed-rank test of the median "
        "losses, means over the seeds, paired by k: whether two curves differ, not whether those of other "
        f"seeds would.{more}"
    )
    return Table(
        "procrustes",
        "Positions: Procrustes loss and bands",
        titles,
        rows=rows,
        about=about,
        headers=2,
        signatures=common_training(runs),
    )


def orders_table(runs: Sequence[dict]) -> Table | None:
    """Table 2: a sentence in all orders; None where there is none of another language."""
    examples = {run["condition"]: run["example"] for run in runs if run.get("example")}
    reordered = [condition for condition in groups(runs).get(REORDERED, []) if condition in examples]
    if not reordered:
        return None
    rows: list[list[Cell]] = [["EN", examples[reordered[0]]["first"]]]
    rows += [[f"EN∼{condition.upper()}", examples[condition]["second"]] for condition in reordered]
    about = "A sentence of the training text, and what the second language of each condition makes of it."
    return Table("orders", "A sentence in all orders", ["text", "sentence"], rows=rows, about=about)


def sizes_table(runs: Sequence[dict]) -> Table | None:
    """Table 3: how many sentences there are, and trees that were left out of all conditions; None where no
    run has two languages.
    """
    bilingual = [run for run in runs if run["condition"] != NONE]
    if not bilingual:
        return None
    sentences = bilingual[0]["sentences"]
    trees: dict = next((run["trees"] for run in bilingual if run.get("trees")), {})
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
    return Table("sizes", f"Sentences of {runs[0]['config']}", titles, rows=rows, about=about)


def seeds(runs: Sequence[dict]) -> str:
    """The seeds of a system's runs."""
    return ", ".join(str(run["seed"]) for run in runs)


def runs_with_losses(runs: Sequence[dict]) -> list[dict]:
    """The runs whose Procrustes loss was measured."""
    return [run for run in runs if run["procrustes"]]


def losses_of(runs: Sequence[dict]) -> list[float]:
    """The median Procrustes loss by offset, the mean over the seeds."""
    return [fmean(of_offset) for of_offset in zip(*(run["procrustes"]["median"] for run in runs))]


def p_value(losses: Sequence[float], others: Sequence[float] | None) -> str | None:
    """That of the two-sided Wilcoxon signed-rank test; None without others at the same offsets."""
    if others is None or len(others) != len(losses):
        return None
    # a fixed table is the same in every condition
    return f"{1.0 if losses == others else wilcoxon(losses, others):.2g}"


def runs_table(runs: Sequence[dict]) -> Table:
    """What made each run."""
    rows: list[list[Cell]] = [
        [
            condition_label(run["condition"]),
            LABELS[run["system"]],
            str(run["seed"]),
            f"{run['epochs']:g} epochs, {run['updates']:,} updates",
            short_commit(run["commit"]),
            ", ".join(f"{package} {version}" for package, version in run["versions"].items()),
            run["command"],
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


def common_training(runs: Sequence[dict]) -> str:
    """What all runs have in common."""
    *_, last = runs  # of two languages, if there are any
    languages = 1 if last["condition"] == NONE else 2
    train, valid = (last["sentences"][part] // languages for part in ("train", "valid"))
    epochs = f"{last['epochs']:g} epochs"
    if alone := [run["epochs"] for run in runs if run["condition"] == NONE and languages == 2]:
        epochs += f", of EN alone {alone[0]:g}"
    return f"{train:,} sentences of a language to train on, {valid:,} to score; {epochs}."


def mark_best(table: Table, mark: str) -> Table:
    """A table of encodings with its best figures in a mark such as `**{}**`, as text or as the markup that
    it is; else as it was.
    """
    lower = {column.title for column in (FULL, FIRST)}
    rows = [[*row] for row in table.rows]
    for place, title in enumerate(table.columns):
        means = [cell.mean for row in rows if isinstance(cell := row[place], Measured)]
        if len(means) > 1 and table.name.startswith(ENCODINGS_TABLE):
            best = min(means) if title.split(": ")[-1] in lower else max(means)
            for row in rows:
                if isinstance(cell := row[place], Measured) and cell.mean == best:
                    row[place] = mark.format(cell)
    return replace(table, rows=rows)


def text_of(table: Table) -> str:
    """A table for a terminal, with its title and what it holds; stars at the best encodings."""
    return "\n\n".join(
        [
            f"{table.title}:",
            text_rows(mark_best(table, "{} *")),
            wrap(join_sentences([table.note, table.signatures])),
        ]
    )


def markdown_of(table: Table) -> str:
    """A table with its title and note in Markdown; the best encodings in bold."""
    return markdown_table(mark_best(table, "**{}**"))


def text_report(runs: Sequence[dict]) -> str:
    """Table 4 for a terminal."""
    return "\n\n".join(
        text_of(table) for name, table in tables(runs).items() if name.startswith(ENCODINGS_TABLE)
    )


def markdown_report(runs: Sequence[dict]) -> str:
    """For RESULTS.md: Table 4, ablations and Procrustes losses, with Table 5 and what made the runs
    folded.
    """

    def part(table: Table) -> str:
        return f"{markdown_rows(mark_best(table, '**{}**'))}\n\n{table.note}".strip()

    *shown, conditions, made = (table for name, table in tables(runs).items() if name not in TEXT_TABLES)
    below = [fold(table.title, part(table)) for table in (conditions, made)]
    return "\n\n".join(
        [*(f"{table.title}:\n\n{part(table)}" for table in shown), common_training(runs), *below]
    )
