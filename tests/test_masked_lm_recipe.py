"""The recipe of the masked-LM study, from made-up trees to tables: what it makes, what it keeps, what it
refuses.
"""

import json

import numpy as np
import pytest
from fairseq.data import Dictionary, data_utils

from tests.conftest import ROOT, changed, run_command
from zsnmt.masked_lm.fake_language import FakeLanguage
from zsnmt.text.lines import iterate_lines, read_lines

pytestmark = pytest.mark.slow

TINY = changed(
    (ROOT / "configs" / "bert_tiny.conf")
    .read_text(encoding="utf-8")
    .replace("--total-num-update 800 --max-update 800\n  --batch-size 64 ", ""),
    EPOCHS="3",
    BATCH="64",
    SYNTHETIC="--number 1 --sentences 90 --valid 30 --concepts 60",
    CONDITIONS="same velan none",
    SYSTEMS="learned",
    VOCABULARY="90",
    LAYERS="0 1",
    MODEL="--encoder-layers 2 --encoder-embed-dim 16 --encoder-ffn-embed-dim 24 --max-positions 64",
)
STUDY = "recipes/masked_lm.sh"


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """A folder of runs with the three conditions of a study of seconds."""
    base = tmp_path_factory.mktemp("study")
    config = base / "small.conf"
    config.write_text(TINY)
    done = run_command(STUDY, config, "--jobs", "2", runs=base / "runs")
    assert done.returncode == 0, done.stderr
    return config, base / "runs" / "small", done


def scores_of(folder, condition: str) -> dict:
    return json.loads((folder / condition / "learned" / "seed0" / "masked_lm.json").read_text())


def test_every_run_of_the_grid_is_scored(study):
    _, folder, _ = study
    found = {condition: scores_of(folder, condition) for condition in ("same", "velan", "none")}
    for condition, scores in found.items():
        assert (scores["condition"], scores["system"], scores["seed"]) == (condition, "learned", 0)
        # batches of 64 lines of 90 sentences in two languages, and in one: the same number of epochs
        assert scores["updates"] == (6 if condition == "none" else 9) and scores["epochs"] == 3
        assert scores["layers"] == [0, 1]
        assert scores["trees"]["train"]["read"] == scores["trees"]["train"]["kept"] == 90
        assert scores["procrustes"]["undivided"] and scores["procrustes_keys"]["median"]
        assert scores["sentences"] == (
            {"train": 90, "valid": 30} if condition == "none" else {"train": 180, "valid": 60}
        )
        assert scores["perplexity"].keys() == {"full", "full_by_token", "first", "first_by_token"}
        assert scores["command"].endswith(f"--conditions {condition} --systems learned --seeds 0")
        assert len(scores["correlations"]["words"]) == len(scores["correlations"]["values"]) <= 40
        assert np.shape(scores["correlations"]["values"])[1] == scores["positions"] > 10
    assert found["none"]["perplexity"]["full"] == found["none"]["perplexity"]["first"]
    assert found["none"]["ml_score"] is None and found["none"]["retrieval"] is None
    for scores in (found["same"], found["velan"]):
        shares = [
            scores[task][layer]["mean"] for task in ("retrieval", "translation") for layer in ("0", "1")
        ]
        assert scores["ml_score"] == pytest.approx(np.mean(shares)) and min(shares) >= 0


def test_one_sentence_is_shown_in_all_orders(study):
    _, folder, done = study
    same, velan, none = (scores_of(folder, condition)["example"] for condition in ("same", "velan", "none"))
    assert same["first"] == same["second"] == velan["first"] == none["first"] and "second" not in none
    assert sorted(velan["second"].split()) == sorted(velan["first"].split())
    assert same["first"] in read_lines(folder / "text" / "same.train.source")
    assert velan["second"] in (folder / "report" / "orders.txt").read_text()


def test_the_fake_half_is_the_shifted_half_in_the_order_of_the_condition(study):
    _, folder, _ = study
    for condition in ("same", "velan"):
        data = folder / "data" / condition
        dictionary = Dictionary.load(str(data / "dict.txt"))
        assert len(dictionary) == 2 * 90
        first, fake = (
            data_utils.load_indexed_dataset(str(data / f"train.{language}"), dictionary)
            for language in ("en", "fake")
        )
        shifted = [FakeLanguage(90, 5).shift(line.numpy()).tolist() for line in first]
        moved = sum(line != copy.tolist() for line, copy in zip(shifted, fake))
        assert (moved == 0) if condition == "same" else (moved > 45)
    source, reordered = (
        [*iterate_lines(folder / "text" / f"velan.train.{kind}")] for kind in ("source", "reordered")
    )
    assert all(
        sorted(one.split()) == sorted(other.split()) for one, other in zip(source, reordered, strict=True)
    )
    assert source == [*iterate_lines(folder / "text" / "same.train.source")]


def test_tables_are_drawn_and_printed(study):
    _, folder, done = study
    assert "ML score" in done.stdout and (folder / "report" / "masked_lm.html").is_file()


def test_a_second_time_nothing_is_done_again(study):
    config, folder, _ = study
    times = {path: path.stat().st_mtime_ns for path in folder.rglob("*.pt")}
    scores = folder / "same" / "learned" / "seed0" / "masked_lm.json"
    former = scores.rename(scores.with_name("compression.json"))  # as version 0.1 named it
    again = run_command("recipes/compression.sh", config, runs=folder.parent)
    former.rename(scores)
    assert again.returncode == 0 and times == {path: path.stat().st_mtime_ns for path in folder.rglob("*.pt")}
    assert again.stderr.count(": train: done before") == 3 and again.stderr.count(": score: done before") == 3


def test_a_failed_run_fails_the_recipe_when_the_others_are_done(study):
    config, folder, _ = study
    wrong = folder / "none" / "learned" / "seed7"
    wrong.mkdir()
    (wrong / "config.conf").write_text("of another study")
    options = "--conditions", "none", "--seeds", "7", "0", "--jobs", "1"
    stopped = run_command(STUDY, config, *options, runs=folder.parent)
    assert stopped.returncode == 1 and "seed7 was made with another small.conf" in stopped.stderr
    assert "some runs failed (see above)" in stopped.stderr and ": score: done before" in stopped.stderr


def test_a_dry_run_prints_the_grid_and_does_nothing(study, tmp_path):
    config, folder, _ = study
    shown = run_command(
        STUDY, config, "--dry-run", "--systems", "learned none", "--seeds", "0", "42", runs=folder.parent
    )
    assert shown.stdout.splitlines() == [
        f"{condition}/{system}/seed{seed}" + " (done before)" * (system == "learned" and seed == 0)
        for condition in ("same", "velan", "none")
        for system in ("learned", "none")
        for seed in (0, 42)
    ]
    assert (
        run_command(STUDY, config, "--dry-run", runs=tmp_path / "no").returncode == 0
        and not (tmp_path / "no").exists()
    )


@pytest.mark.parametrize(
    "settings, options, message",
    [
        ({}, ["--systems", "lerned"], "there is no system 'lerned'; choose from sinusoidal, learned"),
        (
            {"SYSTEMS": "learned lerned"},
            [],
            "sets SYSTEMS=learned lerned: there is no system 'lerned'; choose from sinusoidal, learned",
        ),
        ({}, ["--conditions", "xx"], "there is no treebank of 'xx', a condition"),
        ({}, ["--seeds"], "argument --seeds: expected at least one argument"),
        ({}, ["--jobs", "0"], "argument --jobs: '0' is not a whole number above 0"),
        ({}, ["--what"], "unrecognized arguments: --what"),
        ({"LAYERS": "8"}, [], "sets LAYERS=8; it must be two different layers"),
        ({"WORDS": "8"}, [], "sets 'WORDS', which is not a key"),
        ({"TRAIN": "x"}, [], "sets SYNTHETIC, which makes the text"),
        ({"SYNTHETIC": ""}, [], "must say where text comes from"),
        ({"SYNTHETIC": "", "TRAIN": "no.txt", "VALID": "no.txt"}, [], "there is no file no.txt"),
    ],
)
def test_what_is_wrong_is_said_before_anything_is_trained(study, tmp_path, settings, options, message):
    config = tmp_path / "wrong.conf"
    config.write_text(changed(TINY, **settings))
    stopped = run_command(STUDY, config, *options, runs=tmp_path / "runs")
    assert stopped.returncode in (1, 2) and message in stopped.stderr
    assert not [*tmp_path.rglob("checkpoints")]


def test_a_condition_with_another_word_order_needs_trees(tmp_path):
    text = tmp_path / "text"
    text.write_text("a b c d .\nb c d a .\n" * 30)
    config = tmp_path / "lines.conf"
    config.write_text(changed(TINY, SYNTHETIC="", TRAIN=str(text), VALID=str(text), VOCABULARY="16"))
    stopped = run_command(STUDY, config, "--conditions", "fi", runs=tmp_path / "runs")
    assert (
        stopped.returncode == 1
        and "condition fi needs trees: TRAIN and VALID must be CoNLL-U files" in stopped.stderr
    )


@pytest.mark.parametrize(
    "name", [path.name for path in sorted((ROOT / "configs").glob("bert_*.conf")) if "nli" not in path.stem]
)
def test_configs_of_the_study_name_a_whole_grid(name, tmp_path):
    shown = run_command(STUDY, f"configs/{name}", "--dry-run", runs=tmp_path)
    runs = shown.stdout.split()
    assert shown.returncode == 0 and len(runs) == len({*runs}) > 2, shown.stderr
    for condition in {run.split("/")[0] for run in runs} - {"same", "none"}:
        assert (
            f"{condition}:" in (ROOT / "configs" / name).read_text()
            or "SYNTHETIC" in (ROOT / "configs" / name).read_text()
        )
