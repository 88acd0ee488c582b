"""The recipe of MultiNLI and XNLI at toy size, from files in the form of the releases: what it leaves and
what it refuses.
"""

import fcntl
import json
import shutil
from argparse import Namespace

import pytest
from fairseq import options

from tests.conftest import ROOT, run_command
from tests.support.nli import DEV, LANGUAGES, TEST, TRAIN, write_releases, write_text
from zsnmt.errors import InputError
from zsnmt.masked_lm.config import XnliConfig
from zsnmt.masked_lm.nli import score_run
from zsnmt.training.config_file import ConfigFile, keys_of

pytestmark = pytest.mark.slow

CONFIG = """\
TEXT={base}/text
MULTINLI={base}/releases/multinli_1.0
XNLI={base}/releases/XNLI-1.0
LANGUAGES="en de hi"
VOCABULARY=90
LONGEST=30
SYSTEMS=tupe_absolute
SEEDS=3
MODEL="--arch zs_bert --encoder-layers 2 --encoder-embed-dim 16 --encoder-ffn-embed-dim 24
  --encoder-attention-heads 2 --max-positions 33
  --dropout 0 --attention-dropout 0 --pooler-dropout 0"
DEVICE_BATCH=8
PRETRAINING_BATCH=16
PRETRAINING_EPOCHS=1
PRETRAINING="--optimizer adam --lr 5e-3 --warmup-updates 3"
FINETUNING_BATCH=8
FINETUNING_EPOCHS=6
FINETUNING="--optimizer adam --lr 5e-3"
"""


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    """A finished recipe: its config, the experiment's folder, that of its one run, and what was printed."""
    base = tmp_path_factory.mktemp("xnli")
    write_text(base / "text")
    write_releases(base / "releases", json_lines=False)
    config = base / "toy.conf"
    config.write_text(CONFIG.format(base=base))
    printed = run_command("recipes/xnli.sh", config, runs=base / "runs")
    assert printed.returncode == 0, printed.stderr
    experiment = base / "runs" / "toy"
    return Namespace(
        base=base,
        config=config,
        experiment=experiment,
        run=experiment / "tupe_absolute" / "seed3",
        printed=printed,
    )


def test_scores_say_what_made_them_and_how_often_the_model_was_right(done):
    scores = json.loads((done.run / "xnli.json").read_text())
    expected = {
        "config": "toy",
        "condition": "en+de+hi",
        "system": "tupe_absolute",
        "seed": 3,
        "command": f"bash recipes/xnli.sh {done.config}",
    }
    assert expected.items() <= scores.items() and scores["commit"] and scores["versions"]["torch"]
    assert scores["pairs"] == {
        "train": TRAIN,
        "valid": DEV,
        **{f"test_{language}": TEST for language in LANGUAGES},
    }
    assert [*scores["accuracy"]] == [*LANGUAGES]
    for accuracy in scores["accuracy"].values():
        assert 0 <= accuracy <= 1 and accuracy * TEST == pytest.approx(round(accuracy * TEST))
    assert scores["accuracy"]["en"] > 0.6  # chance is a third


def test_the_table_of_the_paper_is_printed(done):
    scores = json.loads((done.run / "xnli.json").read_text())
    rows = [line.split() for line in done.printed.stdout.splitlines()]
    assert ["en", f"{100 * scores['accuracy']['en']:.1f}", "%"] in rows and [
        "encoding",
        "TUPE",
        "(absolute)",
    ] in rows
    assert f"fine-tuned on {TRAIN} pairs in en" in " ".join(done.printed.stdout.split())


def test_the_rate_falls_to_nothing_in_the_epochs_of_each_stage(done):
    lines = sum(150 + place for place in range(3))
    for stage, updates in (("pretraining", -(-lines // 16)), ("finetuning", 6 * -(-TRAIN // 8))):
        log = (done.run / stage / "train.log").read_text()
        assert f'"train_num_updates": "{updates}"' in log and '"train_lr": "0"' in log


def test_a_finished_recipe_that_is_run_again_does_nothing_though_checkpoints_are_gone(done):
    checkpoints = done.run / "finetuning" / "checkpoints"
    aside = checkpoints.rename(done.base / "aside")
    before = {
        path: path.stat().st_mtime_ns
        for path in done.experiment.rglob("*")
        if path.suffix in (".bin", ".pt", ".json", ".log")
    }
    again = run_command("recipes/xnli.sh", done.config, runs=done.base / "runs")
    after = {path: path.stat().st_mtime_ns for path in before}
    came_back = checkpoints.exists()
    aside.rename(checkpoints)
    assert again.returncode == 0 and before == after and not came_back, again.stderr
    assert again.stdout == done.printed.stdout and "tupe_absolute/seed3: scored before" in again.stderr


def test_a_model_is_scored_alike_again(done, tmp_path):
    shutil.copy(done.run / "run.json", tmp_path)
    printed = run_command(
        "python",
        "-m",
        "zsnmt",
        "evaluate-nli",
        tmp_path,
        done.experiment / "nli",
        "--checkpoint",
        done.run / "finetuning" / "checkpoints" / "checkpoint_last.pt",
    )
    assert printed.returncode == 0, printed.stderr
    assert (tmp_path / "xnli.json").read_text() == (done.run / "xnli.json").read_text()
    assert [line.split()[::2] for line in printed.stdout.splitlines()[1:]] == [
        [language, str(TEST)] for language in LANGUAGES
    ]


def test_what_is_no_fine_tuned_model_is_refused(done, tmp_path):
    with pytest.raises(InputError, match="run.json is missing; make a run folder with zsnmt xnli"):
        score_run(tmp_path, tmp_path / "model.pt", done.experiment / "nli")
    shutil.copy(done.run / "run.json", tmp_path)
    with pytest.raises(InputError, match="model.pt is missing; train the model to its end first"):
        score_run(tmp_path, tmp_path / "model.pt", done.experiment / "nli")
    (tmp_path / "model.pt").write_text("no model")
    with pytest.raises(InputError, match="model.pt cannot be loaded: it is truncated, no checkpoint"):
        score_run(tmp_path, tmp_path / "model.pt", done.experiment / "nli")
    with pytest.raises(InputError, match="was trained for another task than sentence_prediction"):
        score_run(
            tmp_path,
            done.run / "pretraining" / "checkpoints" / "checkpoint_last.pt",
            done.experiment / "data",
        )
    assert not (tmp_path / "xnli.json").exists()


@pytest.mark.parametrize(
    "change, message",
    [
        (("SEEDS=3", "SEEDS=a"), "sets SEEDS=a; seeds are whole numbers with spaces between"),
        (("SEEDS=3", 'SEEDS="3 03"'), "sets SEEDS=3 03: '3' is there twice; name each seed once"),
        (("SEEDS=3", ""), "does not set SEEDS, a run for each; configs/bert_xnli.conf shows every key"),
        (("SEEDS=3", "SEEDS=3\nBEAM=3"), "sets 'BEAM', which is not a key"),
        (("LONGEST=30", "LONGEST=long"), "sets LONGEST=long; it must be a whole number above 0"),
        (
            ("FINETUNING_BATCH=8", "FINETUNING_BATCH=12"),
            "sets FINETUNING_BATCH=12; it must be a multiple of DEVICE_BATCH=8",
        ),
        (("/releases/XNLI", "/nowhere"), "which is not a folder"),
        (("=tupe_absolute", "=tupe"), "there is no system 'tupe'"),
        (
            ("VOCABULARY=90", "VOCABULARY=91"),
            "was made with another toy.conf; remove the folder, or give the config a new name",
        ),
    ],
)
def test_a_config_that_does_not_fit_is_refused(done, tmp_path, change, message):
    config = tmp_path / "toy.conf"
    config.write_text(CONFIG.format(base=done.base).replace(*change))
    refused = run_command("recipes/xnli.sh", config, runs=done.base / "runs")
    assert refused.returncode == 1 and message in refused.stderr, refused.stderr


def test_a_broken_release_is_refused_and_leaves_what_was_there(done, tmp_path):
    multinli, xnli = write_releases(tmp_path, json_lines=False)
    test_set = xnli / "xnli.test.tsv"
    test_set.write_text(test_set.read_text().replace("contradiction", "contradictory", 1))
    before = tmp_path / "nli" / "label" / "dict.txt"
    before.parent.mkdir(parents=True)
    before.touch()
    refused = run_command(
        "python",
        "-m",
        "zsnmt",
        "prepare-xnli",
        done.experiment / "data",
        tmp_path / "nli",
        "--multinli",
        multinli,
        "--xnli",
        xnli,
        "--languages",
        *LANGUAGES,
    )
    assert refused.returncode == 1 and refused.stderr.count("\n") == 1
    assert (
        f"{test_set}, line 4 has the label 'contradictory', which is not one of entailment, neutral, "
        "contradiction" in refused.stderr
    )
    assert [path for path in (tmp_path / "nli").rglob("*") if path.is_file()] == [before]


def test_a_run_of_other_data_is_refused_and_one_that_another_process_is_at_is_passed_over(done):
    made_from = (done.run / "made_from").read_text()
    (done.run / "made_from").write_text("other data")
    refused = run_command("recipes/xnli.sh", done.config, runs=done.base / "runs")
    assert (
        refused.returncode == 1
        and "was made from other text or releases than are there now; remove it" in refused.stderr
    )
    with (done.run / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        passed = run_command("recipes/xnli.sh", done.config, runs=done.base / "runs")
    (done.run / "made_from").write_text(made_from)
    assert passed.returncode == 0 and passed.stdout == done.printed.stdout
    assert f"another process is at work in {done.run}, which is passed over" in passed.stderr


def test_the_config_that_comes_with_it_has_every_key_and_the_papers_numbers():
    file = ConfigFile(ROOT / "configs" / "bert_xnli.conf", keys_of(XnliConfig), {})
    found = {key: setting.value for key, setting in file.settings.items()}
    assert (
        len(found) == 16
        and all(found.values())
        and found["SEEDS"] == "0 42"
        and found["LANGUAGES"] == "en de hi"
    )
    assert (found["PRETRAINING_EPOCHS"], found["FINETUNING_EPOCHS"]) == ("2", "3")
    for stage, task, rate in (
        ("PRETRAINING", "zs_masked_lm", 1e-4),
        ("FINETUNING", "sentence_prediction", 2e-5),
    ):
        given = ["DATA", *found["MODEL"].split(), "--lr-scheduler", "polynomial_decay", *found[stage].split()]
        read = options.parse_args_and_arch(options.get_training_parser(task), given)
        assert (read.encoder_layers, read.encoder_embed_dim, read.encoder_attention_heads) == (
            12,
            768,
            12,
        ) and read.lr == [rate]
