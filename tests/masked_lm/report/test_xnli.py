"""The table of accuracy on XNLI, from made-up score files."""

import json
from pathlib import Path

import pytest

from tests.conftest import run_command
from zsnmt.errors import InputError
from zsnmt.masked_lm.report.kept_inference import keep_inference, kept_inference
from zsnmt.masked_lm.report.xnli import accuracy_table, read_runs
from zsnmt.masked_lm.report.xnli_bars import accuracy_bars
from zsnmt.report.documents import fill
from zsnmt.report.table import markdown_rows, text_rows
from zsnmt.results import makers

ACCURACY = {
    ("learned", 0): (0.81, 0.70, 0.61),
    ("learned", 42): (0.79, 0.68, 0.63),
    ("tupe_absolute", 0): (0.83, 0.64, 0.55),
}
PAIRS = {"train": 392702, "valid": 2490, "test_en": 5010, "test_de": 5010, "test_hi": 5010}


def write_run(folder: Path, system: str, seed: int, **others) -> Path:
    run = folder / system / f"seed{seed}"
    run.mkdir(parents=True)
    scores = {
        "config": "made_up",
        "condition": "en+de+hi",
        "system": system,
        "seed": seed,
        "command": f"bash recipes/xnli.sh {folder}/made_up.conf",
        "commit": "0123456789abcdef0123456789abcdef01234567",
        "versions": {"torch": "2.13.0"},
        "pairs": PAIRS,
        "accuracy": dict(zip(("en", "de", "hi"), ACCURACY.get((system, seed), (0.5, 0.4, 0.3)))),
    }
    (run / "xnli.json").write_text(json.dumps(scores | others))
    return run


@pytest.fixture
def folder(tmp_path) -> Path:
    for system, seed in reversed(ACCURACY):
        write_run(tmp_path, system, seed)
    return tmp_path


def test_a_row_is_the_mean_over_the_seeds_of_an_encoding_in_the_papers_order(folder):
    write_run(folder, "sinusoidal", 42)
    table = accuracy_table(read_runs([folder]))
    assert table.columns == ["encoding", "seeds", "en", "de", "hi"]
    assert [row[:2] for row in table.rows] == [
        ["Sinusoidal", "42"],
        ["Absolute", "0, 42"],
        ["TUPE (absolute)", "0"],
    ]
    assert [cell.mean for cell in table.rows[1][2:]] == pytest.approx([0.80, 0.69, 0.62])
    assert [cell.deviation for cell in table.rows[2][2:]] == [None] * 3
    assert "80.0 ± 1.4 %" in text_rows(table) and "392,702 pairs in en" in table.note


def test_runs_and_folders_of_runs_give_the_same_table(folder):
    runs = [folder / system / f"seed{seed}" for system, seed in ACCURACY]
    assert accuracy_table(read_runs(runs)) == accuracy_table(read_runs([folder]))


@pytest.mark.slow
def test_the_script_prints_every_form(folder):
    assert "TUPE (absolute)" in run_command("python", "-m", "zsnmt", "xnli-table", folder).stdout
    assert (
        "| Absolute | 0, 42 | 80.0 ± 1.4 % |"
        in run_command("python", "-m", "zsnmt", "xnli-table", folder, "--markdown").stdout
    )
    rows = [
        line.split("\t")
        for line in run_command("python", "-m", "zsnmt", "xnli-table", folder, "--tsv").stdout.splitlines()
    ]
    assert float(rows[2][rows[0].index("de")]) == 0.64


@pytest.mark.parametrize(
    "others, message",
    [
        ({"config": "another"}, "their configs differ"),
        ({"accuracy": {"en": 0.8, "de": 0.7}}, "their languages differ"),
        ({"pairs": PAIRS | {"train": 100}}, "their numbers of pairs differ"),
    ],
)
def test_runs_that_were_not_made_alike_stand_in_no_table(folder, others, message):
    write_run(folder, "sinusoidal", 0, **others)
    with pytest.raises(InputError, match=message):
        accuracy_table(read_runs([folder]))


def test_what_is_missing_or_given_twice_is_refused(folder, tmp_path):
    (tmp_path / "empty").mkdir()
    with pytest.raises(
        InputError,
        match="empty holds no xnli.json, neither of a run nor of runs SYSTEM/seedK; score the run with",
    ):
        read_runs([tmp_path / "empty"])
    with pytest.raises(InputError, match="a run is given twice: learned seed 0"):
        accuracy_table(read_runs([folder, folder / "learned" / "seed0"]))
    (folder / "learned" / "seed0" / "xnli.json").write_text("{")
    with pytest.raises(InputError, match="xnli.json is damaged"):
        read_runs([folder])


def test_bars_are_the_means_with_their_seeds_beside_chance(folder):
    name, _, figure = accuracy_bars(read_runs([folder]))
    (axes,) = figure.axes
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["chance", "Absolute", "TUPE (absolute)"]
    assert [label.get_text() for label in axes.get_xticklabels()] == ["en", "de", "hi"]
    assert [bar.get_height() for bar in axes.patches] == pytest.approx([80, 69, 62, 83, 64, 55])
    assert all(bar.get_y() == 0 for bar in axes.patches) and name == "xnli"
    dots = [sorted(line.get_ydata()) for line in axes.get_lines() if line.get_marker() == "o"]
    assert dots[:2] == [pytest.approx([79, 81]), pytest.approx([68, 70])] and len(dots) == 6


def test_an_ablation_has_bars_in_the_colour_of_what_it_is_of(folder):
    write_run(folder, "no_word_position", 0)
    (axes,) = accuracy_bars(read_runs([folder]))[2].figure.axes
    edges = [bar.get_edgecolor() for bar in axes.patches]
    assert len(edges) == 9 and edges[0] == edges[-1] != edges[3]
    assert axes.patches[0].get_hatch() != axes.patches[-1].get_hatch()


@pytest.mark.slow
def test_the_command_draws_them_where_it_is_asked_to(folder, tmp_path):
    drawn = tmp_path / "figures"
    done = run_command("python", "-m", "zsnmt", "xnli-table", folder, "--figures", drawn)
    assert done.returncode == 0 and "TUPE (absolute)" in done.stdout
    assert {path.name for path in drawn.iterdir()} == {"xnli.png", "xnli.svg"}


def test_kept_accuracies_have_the_table_of_their_runs_and_name_no_machine(folder, tmp_path):
    kept = tmp_path / "kept"
    paths = [keep_inference(folder / system / f"seed{seed}", kept) for system, seed in ACCURACY]
    assert paths[0] == kept / "made_up" / "xnli" / "learned.seed0.json"
    assert str(tmp_path) not in paths[0].read_text()
    block = "<!-- begin made_up:xnli -->\n<!-- end made_up:xnli -->"
    filled = fill(block, kept, makers())
    assert markdown_rows(accuracy_table(read_runs([folder]))) in filled
    assert "| Absolute | 42 | 0123456789ab | torch 2.13.0 | bash recipes/xnli.sh made_up.conf |" in filled
    assert fill(filled, kept, makers()) == filled
    assert [run["system"] for run in kept_inference(kept, "made_up")] == [
        "learned",
        "learned",
        "tupe_absolute",
    ]


def test_without_accuracies_the_block_says_what_to_add(tmp_path):
    with pytest.raises(
        InputError, match="holds no accuracies; add runs of zsnmt xnli with zsnmt results RUN"
    ):
        fill("<!-- begin made_up:xnli -->\n<!-- end made_up:xnli -->", tmp_path, makers())
