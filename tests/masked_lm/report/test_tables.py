"""Tables of the masked-LM study."""

from dataclasses import replace
from statistics import fmean, median, stdev

import pytest
from scipy.stats import wilcoxon

from tests.support.masked_lms import OFFSETS, SEEDS, grid, made_up_content, made_up_masked_lm
from zsnmt.masked_lm.report.runs import ABLATIONS, ENCODINGS, LABELS, sort_runs
from zsnmt.masked_lm.report.tables import TEXT_TABLES, corpora_tables, tables
from zsnmt.masked_lm.report.text_tables import mark_best, markdown_of, markdown_report, text_of, text_report
from zsnmt.report.table import Measured, markdown_rows, tsv
from zsnmt.runs.systems import CLIPPED

ABLATED = ("learned", *ABLATIONS)
RUNS = sort_runs(grid(conditions=("none", "same", "de", "fi")) + grid(tuple(ABLATIONS), ("same",)))
TABLES = tables(RUNS)


def rows(table):
    return {tuple(row[: table.headers]): dict(zip(table.columns, row)) for row in table.rows}


def of(system, condition, seed, *keys):
    value = made_up_content(system, condition, seed)
    for key in keys:
        value = value[key]
    return value


@pytest.mark.parametrize(
    "title, keys",
    [
        ("perplexity, full", ["perplexity", "full"]),
        ("perplexity, L1", ["perplexity", "first"]),
        ("retrieval, layer 0", ["retrieval", "0", "mean"]),
        ("retrieval, layer 8", ["retrieval", "8", "mean"]),
        ("translation, layer 0", ["translation", "0", "mean"]),
        ("translation, layer 8", ["translation", "8", "mean"]),
        ("ML score", ["ml_score"]),
    ],
)
def test_table_4_has_means_over_conditions_and_then_over_seeds(title, keys):
    for group, conditions in {"same": ["same"], "reordered": ["de", "fi"]}.items():
        table = TABLES[f"encodings_{group}"]
        assert [row[0] for row in table.rows] == [*ENCODINGS.values()]
        for system, label in ENCODINGS.items():
            values = [fmean(of(system, condition, seed, *keys) for condition in conditions) for seed in SEEDS]
            cell = rows(table)[label,][title]
            assert (cell.mean, cell.deviation) == (pytest.approx(fmean(values)), pytest.approx(stdev(values)))


def test_the_control_has_perplexity_alone():
    assert TABLES["encodings_none"].columns == ["encoding", "seeds", "perplexity, full", "perplexity, L1"]
    assert (
        "the control" in TABLES["encodings_none"].about and "Retrieval" not in TABLES["encodings_none"].about
    )
    assert "encodings_none" not in tables(sort_runs(grid(conditions=("same",))))


def test_the_best_of_a_column_is_the_lowest_perplexity_and_the_highest_score():
    bold = [
        [cell.startswith("**") for cell in map(str, row)]
        for row in mark_best(TABLES["encodings_same"], "**{}**").rows
    ]
    lowest, highest = bold[-1], bold[0]  # perplexity and ML score fall from system to system
    assert (
        lowest == [False] * 2 + [True] * 2 + [False] * 5 and highest == [False] * 2 + [False] * 2 + [True] * 5
    )
    assert not any(any(row) for row in bold[1:-1])
    assert mark_best(TABLES["conditions"], "**{}**") == TABLES["conditions"]
    alone = tables([made_up_masked_lm()])["encodings_same"]
    assert mark_best(alone, "**{}**") == alone and "marked" not in alone.about


def test_equals_are_all_the_best():
    runs = sort_runs(
        [
            made_up_masked_lm(system, perplexity={"full": 9.0, "first": 8.0})
            for system in ("learned", "sinusoidal")
        ]
    )
    column = [row[2] for row in mark_best(tables(runs)["encodings_same"], "<{}>").rows]
    assert column == ["<9.0>", "<9.0>"]


def test_seeds_and_systems_that_lack_conditions_are_left_out_and_named():
    missing = {("relative_key", seed) for seed in SEEDS} | {("learned", 42)}
    runs = [run for run in RUNS if run.condition != "fi" or (run.system, run.seed) not in missing]
    table = tables(runs)["encodings_reordered"]
    assert rows(table)["Absolute",]["seeds"] == "0, 100" and ("Relative (key)",) not in rows(table)
    assert (
        "Left out, since they lack some of the conditions: Absolute seed 42; Relative (key) seed 0, 42, 100."
        in table.about
    )
    assert "Left out" not in TABLES["encodings_reordered"].about


def test_table_5_has_a_row_for_every_condition_and_system():
    found = rows(TABLES["conditions"])
    assert len(found) == 4 * len(ENCODINGS) + len(ABLATIONS)
    row = found["EN+[EN∼FI]", "TUPE (relative)"]
    assert row["ML score"].mean == pytest.approx(
        fmean(of("tupe_relative", "fi", seed, "ml_score") for seed in SEEDS)
    )
    assert found["EN alone", "TUPE (relative)"]["ML score"] is None


def test_table_4_has_the_corpora_side_by_side():
    others = sort_runs(
        [replace(run, config="other", epochs=7) for run in grid(("learned",), ("same", "none"), (0,))]
    )
    same, none = corpora_tables([RUNS, others])  # the second has no reordered condition
    assert (same.name, none.name) == ("encodings_beside_same", "encodings_beside_none")
    found = rows(same)["Absolute",]
    alone = rows(TABLES["encodings_same"])["Absolute",]
    assert found["made_up: ML score"] == alone["ML score"] and found["made_up: seeds"] == "0, 42, 100"
    assert (
        found["other: ML score"].mean == of("learned", "same", 0, "ml_score") and found["other: seeds"] == "0"
    )
    assert rows(same)["Sinusoidal",]["other: ML score"] is None and len(same.rows) == len(ENCODINGS)
    best = [row[0] for row in mark_best(same, "**{}**").rows if str(row[2]).startswith("**")]
    assert same.columns[2] == "made_up: perplexity, full" and best == ["No positions"]  # the lowest
    assert "other: EN+[EN]" in same.about and "7 epochs" in same.about


def test_ablations_stand_beside_absolute_positions_where_there_are_some():
    table = TABLES["ablations_same"]
    assert [row[0] for row in table.rows] == ["Absolute", *ABLATIONS.values()]
    assert not {"ablations_reordered", "ablations_none"} & {*TABLES}
    cell = rows(table)["no word–position",]["median Procrustes loss"]
    assert cell.mean == pytest.approx(
        fmean(median(of("no_word_position", "same", seed, "procrustes", "median")) for seed in SEEDS)
    )


def test_procrustes_losses_are_tested_against_the_control_and_tupe():
    found = rows(TABLES["procrustes"])
    without = {LABELS[system] for system in LABELS if system.startswith("relative_key") or system == "none"}
    assert {label for _, label in found} == {*ENCODINGS.values(), *ABLATIONS.values()} - without

    def losses(system, condition, kind="median"):
        return [
            fmean(of(system, condition, seed, "procrustes", kind, place) for seed in SEEDS)
            for place in range(len(OFFSETS))
        ]

    row = found["EN+[EN]", "Absolute"]
    assert row["mean loss"].mean == pytest.approx(fmean(losses("learned", "same", "mean")))
    for title, other in {
        "p against EN alone": ("learned", "none"),
        "p against TUPE (absolute)": ("tupe_absolute", "same"),
    }.items():
        assert float(row[title]) == pytest.approx(
            wilcoxon(losses("learned", "same"), losses(*other)).pvalue, rel=0.05
        )
    assert found["EN alone", "Absolute"]["p against EN alone"] is None
    assert found["EN+[EN]", "TUPE (absolute)"]["p against TUPE (absolute)"] is None
    assert found["EN+[EN]", "Sinusoidal"]["p against EN alone"] == "1"  # the same table in every condition


def test_undivided_losses_those_of_keys_and_short_tables_have_their_place():
    def measured(system, size, **others):
        losses = {
            "offsets": [*range(1, size + 1)],
            "mean": [0.5] * size,
            "median": [0.4 + 0.01 * size] * size,
        }
        return made_up_masked_lm(
            system, procrustes={**losses, "undivided": [9.0] * size, "noise": 1.5}, **others
        )

    keys = {"offsets": [1, 2], "mean": [0.7, 0.7], "median": [0.6, 0.8]}
    runs = sort_runs(
        [measured("learned", 9, procrustes_keys=keys), measured("tupe_absolute", 9), measured(CLIPPED, 4)]
    )
    table = tables(runs)["procrustes"]
    found = rows(table)
    absolute, clipped = found["EN+[EN]", "Absolute"], found["EN+[EN]", "Relative (key, k = 16)"]
    assert absolute["mean loss, undivided"].mean == clipped["mean loss, undivided"].mean == 9
    assert absolute["median loss of p·W^K"].mean == 0.7 and clipped["median loss of p·W^K"] is None
    assert absolute["p against TUPE (absolute)"] == "1" and clipped["p against TUPE (absolute)"] is None
    assert "over k = 1 to 9" in table.about and "Undivided: as the paper prints it" in table.about
    assert "Undivided" not in TABLES["procrustes"].about  # score files made before say nothing of it


def test_what_was_not_measured_has_no_table_and_no_column():
    runs = sort_runs(grid(("relative_key", "relative_key_query"), ("same",)))
    assert [*tables(runs)] == ["encodings_same", "sizes", "conditions", "runs"]
    without_control = tables(sort_runs(grid(("learned",), ("same",))))["procrustes"]
    assert without_control.columns == ["condition", "encoding", "seeds", "mean loss", "median loss"]
    assert [*tables(sort_runs(grid(conditions=("none",))))] == [
        "encodings_none",
        "procrustes",
        "conditions",
        "runs",
    ]


def test_table_2_has_a_sentence_in_all_orders():
    said = {"none": {"first": "a b c"}, "de": {"first": "a b c", "second": "c a b"}, "fi": None}
    runs = [
        made_up_masked_lm(
            condition=condition, seed=seed, **({"example": said[condition]} if condition in said else {})
        )
        for condition in ("none", "same", "de", "fi")
        for seed in (0, 42)
    ]
    table = tables(sort_runs(runs))["orders"]
    assert table.rows == [["EN", "a b c"], ["EN∼DE", "c a b"]]
    assert "orders" not in TABLES and "orders" not in tables(sort_runs(runs[:4]))


def test_table_3_has_the_sentences_and_the_trees_that_were_left_out():
    counts = {
        "train": {"read": 3100, "non_projective": 500, "too_many_children": 100, "kept": 2500},
        "valid": {"read": 150, "non_projective": 0, "too_many_children": 0, "kept": 150},
    }
    table = tables([made_up_masked_lm(trees=counts)])["sizes"]
    assert table.rows == [
        ["training", "2,500", "5,000", "3,100", "500", "100"],
        ["validation", "150", "300", "150", "0", "0"],
    ]
    assert "not projective" in table.about
    assert TABLES["sizes"].columns == ["text", "sentences of a language", "of two languages"]
    assert TABLES["sizes"].about == "" and "sizes" not in tables([made_up_masked_lm(condition="none")])
    assert all(TABLES[name].title not in markdown_report(RUNS) for name in TEXT_TABLES if name in TABLES)


def test_what_made_the_runs_is_said():
    row = rows(TABLES["runs"])["EN+[EN∼DE]", "Absolute", "42"]
    assert row["command"] == made_up_masked_lm("learned", "de", 42).command and row["commit"] == "b" * 12
    assert row["training"] == "10 epochs, 1,200 updates" and row["versions"] == "torch 9.9, python 3.11"
    assert (
        TABLES["conditions"].signatures
        == "2,500 sentences of a language to train on, 150 to score; 10 epochs, of EN alone 10."
    )


def test_terminal_and_markdown_mark_the_best_and_tsv_has_plain_numbers():
    table = TABLES["encodings_same"]
    best = max((row[-1] for row in table.rows), key=lambda cell: cell.mean)
    assert f"**{best}**" in markdown_of(table) and f"{best} *" in text_of(table)
    assert str(best.mean) in tsv(table) and "*" not in tsv(table)
    assert text_report(RUNS) == "\n\n".join(
        text_of(TABLES[f"encodings_{group}"]) for group in ("same", "reordered", "none")
    )
    report = markdown_report(RUNS)
    shown, folded = report.split("<details>", 1)
    assert markdown_rows(TABLES["conditions"]) in folded and markdown_rows(TABLES["procrustes"]) in shown
    assert all(isinstance(cell, (str, Measured, type(None))) for row in table.rows for cell in row)
    assert "~" not in report  # which would strike text through
