"""Table 4 of Ravishankar and Søgaard (2021) over corpora: means over word orders, and what is published."""

from collections.abc import Sequence
from functools import partial

from zsnmt.masked_lm.report.columns import FIRST, FULL, ML_SCORE, Column, layer_accuracy
from zsnmt.masked_lm.report.kept_scores import FOLDER
from zsnmt.masked_lm.report.runs import (
    ENCODINGS,
    NONE,
    REORDERED,
    SAME,
    check_comparable,
    common_training,
    group_label,
    groups,
    read,
    runs_by_seed,
)
from zsnmt.masked_lm.runs import score_file
from zsnmt.masked_lm.score_file import MEASURES, MaskedLM
from zsnmt.report.papers.layout import PaperTable, Rows, Source
from zsnmt.report.papers.published import RAVISHANKAR
from zsnmt.report.papers.tables import kept_block
from zsnmt.report.scores import short_commit

PAPER_LAYERS = "0", "8"  # that the paper scores
COLUMNS = (
    FULL,
    FIRST,
    *(
        Column(f"{measure}, layer {layer}", measure, layer_accuracy(measure, layer))
        for measure in MEASURES
        for layer in PAPER_LAYERS
    ),
    ML_SCORE,
)


def bilingual(run: MaskedLM) -> bool:
    """Whether a run has two languages, scored in the paper's layers."""
    return run.condition != NONE and {*PAPER_LAYERS} <= {*run.retrieval}


def encodings(runs: Sequence[MaskedLM]) -> Rows:
    """A row for each encoding, means over the conditions that are shown."""
    conditions = shown_conditions(runs)
    data_set = f"{runs[0].config}, {group_label(conditions)}"
    return {
        (data_set, label): {column.title: column.mean([*of_system.values()]) for column in COLUMNS}
        for system, label in ENCODINGS.items()
        if (of_system := runs_by_seed(runs, system, conditions))
    }


def shown_conditions(runs: Sequence[MaskedLM]) -> list[str]:
    """The reordered conditions, or EN+[EN] where there are no others."""
    by_group = groups(runs)
    return by_group[REORDERED if REORDERED in by_group else SAME]


def counted(runs: Sequence[MaskedLM]) -> list[MaskedLM]:
    """The runs that rows are means over: those of seeds that have all the conditions that are shown."""
    conditions = shown_conditions(runs)
    return [
        run
        for system in ENCODINGS
        for of_seed in runs_by_seed(runs, system, conditions).values()
        for run in of_seed
    ]


def provenance(runs: Sequence[MaskedLM]) -> str:
    """What made each run, a Markdown item each."""
    return "\n".join(
        f"* `{run.system}`, {run.condition}, seed {run.seed}: commit {short_commit(run.commit)}, "
        f"{run.epochs:g} epochs, `{run.command}`"
        for run in runs
    )


TABLES = {
    "ravishankar_table_4": PaperTable(
        name="ravishankar_table_4",
        paper=RAVISHANKAR,
        number="Table 4",
        title="Position encodings of masked language models",
        about="Means over the word orders of the second language. Perplexity: lower is better; retrieval, "
        "translation and ML score: higher is better. The paper's values are means over three seeds and seven "
        "word orders; some of its ML scores of Wiki/CC are not the mean of its four columns.",
        keys=("corpus", "encoding"),
        columns={column.title: column.figure for column in COLUMNS},
        source=Source(
            read=lambda path: read(path if path.is_file() else score_file(path)),
            config=lambda run: run.config,
            system=lambda run: run.system,
            seed=lambda run: run.seed,
            check=check_comparable,
            signature=lambda runs: common_training(runs).removesuffix("."),
            provenance=provenance,
            kept=f"*/{FOLDER}/*.json",
            training="zsnmt masked-lm",
            remedy="make the runs of a seed in all conditions with zsnmt masked-lm",
        ),
        systems=[*ENCODINGS],
        takes=lambda run: run.system in ENCODINGS and bilingual(run),
        of=f"runs of two languages that were scored in layers {' and '.join(PAPER_LAYERS)}",
        rows=encodings,
        counted=counted,
        counterparts={
            **dict.fromkeys(("bert_fake_english", "bert_fake_english_orders", "bert_bible_cpu"), "Bible"),
            "bert_wikipedia": "Wiki/CC",
        },
    )
}
MAKERS = {name: partial(kept_block, paper_table) for name, paper_table in TABLES.items()}
