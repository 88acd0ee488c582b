"""Run folders: what is kept in them, and what is refused."""

import json
import os
import shlex
import subprocess
from contextlib import nullcontext
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.support.runs import log_line, validate
from zsnmt.errors import InputError
from zsnmt.files.records import write_json
from zsnmt.runs import folder
from zsnmt.runs.commands import recipe_command, same_command
from zsnmt.runs.folder import check_trained, commit, describe_run, languages_of, piece_counts, read_record
from zsnmt.runs.start import ADAPTED_FROM, BEGAN_WITH, TAUGHT_BY, Beginning, check_same_run, start_run


@pytest.fixture
def made(tmp_path):
    data, config = tmp_path / "data", tmp_path / "x.conf"
    data.mkdir()
    (data / "languages.txt").write_text("en\nde\n")
    (data / "dict.en.txt").write_text("a 1\n")
    (data / "subwords.model").write_bytes(b"model")
    (data / "pipeline.json").write_text("{}")
    (data / "train.de-en.de.bin").write_bytes(b"not part of a run")
    config.write_text("LANGUAGES=x\n")

    def start():
        command = "bash recipes/train.sh x"
        start_run(tmp_path / "run", Beginning(config, data, tmp_path / "text", "baseline", 1, command))

    start()
    (checkpoints := tmp_path / "run" / "checkpoints").mkdir()
    (checkpoints / "checkpoint_last.pt").write_bytes(b"weights")
    return tmp_path, start


def test_a_run_keeps_the_pipeline_and_the_record_of_its_start(made):
    folder, start = made
    run = folder / "run"
    assert sorted(path.name for path in (run / "pipeline").iterdir()) == [
        "dict.en.txt",
        "languages.txt",
        "pipeline.json",
        "subwords.model",
    ]
    record = json.loads((run / "run.json").read_text())
    record["commit"] = "0" * 40
    (run / "run.json").write_text(json.dumps(record))
    start()  # goes on: the commit at the start counts
    assert read_record(run)["commit"] == "0" * 40


def test_a_run_says_how_many_shards_its_data_have(made):
    folder, start = made
    assert "shards" not in read_record(folder / "run")
    (folder / "data" / "shard2").mkdir()
    (folder / "run" / "run.json").unlink()
    start()
    assert read_record(folder / "run")["shards"] == 2


def test_a_run_says_what_text_it_was_trained_on_whatever_is_tested(made):
    folder, start = made
    assert "training_text" not in read_record(folder / "run")  # there was none
    found = []
    for name, line in (("train.de-en.de", "ein"), ("test.de", "zwei"), ("train.de-en.de", "drei")):
        (folder / "text").mkdir(exist_ok=True)
        (folder / "text" / name).write_text(f"{line}\n")
        (folder / "run" / "run.json").unlink()
        start()
        found.append(read_record(folder / "run")["training_text"])
    assert found[0] == found[1] != found[2]


def test_another_config_or_pipeline_is_refused(made):
    folder, start = made
    (folder / "data" / "subwords.model").write_bytes(b"another")
    with pytest.raises(InputError, match="other subwords"):
        start()
    (folder / "x.conf").write_text("LANGUAGES=y\n")
    with pytest.raises(InputError, match="another x.conf"):
        start()
    with pytest.raises(InputError, match="is not a run folder"):
        read_record(folder)
    (folder / "run.json").write_text("{")
    with pytest.raises(InputError, match="run.json is damaged"):
        read_record(folder)


def test_a_config_may_change_in_comments_and_in_where_the_text_is(made):
    folder, start = made
    (folder / "x.conf").write_text("# A note.\nTEXT=elsewhere\n\nLANGUAGES=x\n")
    start()
    assert (folder / "run" / "config.conf").read_bytes() == (folder / "x.conf").read_bytes()
    (folder / "x.conf").write_text("LANGUAGES=x\nBEAM=2\n")
    with pytest.raises(InputError, match="another x.conf"):
        start()


def test_a_text_that_was_moved_with_its_run_is_where_it_is_now(tmp_path):
    run = tmp_path / "mine" / "baseline" / "seed1"
    run.mkdir(parents=True)
    record = dict.fromkeys(("config", "system", "command", "commit"), "a") | {"seed": 1, "text": "/gone/text"}
    (run / "run.json").write_text(json.dumps(record))
    assert read_record(run)["text"] == "/gone/text"
    (tmp_path / "mine" / "text").mkdir()
    assert read_record(run)["text"] == str(tmp_path / "mine" / "text")
    (tmp_path / "first").mkdir()
    (run / "run.json").write_text(json.dumps({**record, "text": str(tmp_path / "first")}))
    assert read_record(run)["text"] == str(tmp_path / "first")  # which is there


@pytest.mark.parametrize("found", [5, [5], {"de-fr": 1}])
def test_directions_of_another_kind_are_damage(tmp_path, found):
    record = dict.fromkeys(("config", "system", "command", "commit", "text"), "a") | {"seed": 1}
    (tmp_path / "run.json").write_text(json.dumps(record | {"synthetic": found}))
    with pytest.raises(InputError, match="run.json is damaged"):
        read_record(tmp_path)


def test_the_training_is_told_by_its_validations_where_the_log_was_cut(tmp_path):
    record = dict.fromkeys(("config", "system", "command", "commit", "text"), "a") | {
        "seed": 1,
        "versions": {},
    }
    (tmp_path / "run.json").write_text(json.dumps(record))
    assert describe_run(tmp_path) == record | {"training": "without a log"}
    (tmp_path / "train.log").write_text(log_line(100, 7.5))
    assert describe_run(tmp_path)["training"].startswith(
        "1 epochs, 100 updates, best validation loss 7.5 bits"
    )
    (tmp_path / "checkpoints").mkdir()
    for epoch in (1, 2, 3):
        validate(tmp_path / "checkpoints", epoch, ["en-de"], ["en-de"])
    assert describe_run(tmp_path)["training"] == (
        "3 epochs, 300 updates, best validation loss 5 bits a token in epoch 3 after 300 updates"
    )


@pytest.mark.parametrize(
    "key, did", [(TAUGHT_BY, "was taught by"), (BEGAN_WITH, "began with"), (ADAPTED_FROM, "was adapted from")]
)
def test_a_run_goes_on_only_while_the_models_that_it_goes_back_to_are_the_same(made, key, did):
    folder, _ = made
    run, command = folder / "run", read_record(folder / "run")["command"]
    for before, now, same in (
        ({"model": "a"}, {"model": "a"}, True),
        ({"system": "of an older record"}, {"model": "a"}, True),
        ({"model": "a"}, {"model": "b"}, False),
        ({"model": "a", "beside": [{"model": "b"}]}, {"model": "a", "beside": [{"model": "c"}]}, False),
    ):
        (run / "run.json").write_text(json.dumps(read_record(run) | {key: before}))
        refused = pytest.raises(InputError, match=f"run {did} another model than is now at other; choose")
        with nullcontext() if same else refused:
            check_same_run(run, command, {key: {"run": "other", **now}})


def test_a_recorded_command_can_be_given_to_a_shell(tmp_path, monkeypatch):
    config = tmp_path / "my own.conf"
    command = recipe_command("train", config, "arch", "--name", "it's mine", "--", "--lr", "(1,2)")
    assert shlex.split(command) == [
        *("bash", "recipes/train.sh", str(config)),
        *("arch", "--name", "it's mine", "--", "--lr", "(1,2)"),
    ]
    monkeypatch.chdir(tmp_path)
    assert recipe_command("train", Path("my own.conf"), "arch").split("'")[1] == str(config)
    assert recipe_command("train", ROOT / "configs/demo.conf") == "bash recipes/train.sh configs/demo.conf"


@pytest.mark.parametrize(
    "made, same",
    [
        ("bash recipes/train.sh configs/my own.conf arch --name it's -- --lr (1,2)", True),  # of version 0.1
        ("bash recipes/train.sh '/elsewhere/my own.conf' arch --name 'it'\"'\"'s' -- --lr '(1,2)'", True),
        ("bash recipes/train.sh configs/my own.conf arch --name it's -- --lr (1,3)", False),
        ("bash recipes/train.sh configs/my own.conf other --name it's -- --lr (1,2)", False),
        ("bash recipes/adapt.sh configs/my own.conf arch --name it's -- --lr (1,2)", False),
        ("bash recipes/train.sh configs/own.conf arch --name it's -- --lr (1,2)", False),
        ("fairseq-train", False),
    ],
)
def test_a_command_is_that_of_before_wherever_its_config_is_now(tmp_path, made, same):
    config = tmp_path / "my own.conf"
    command = recipe_command("train", config, "arch", "--name", "it's", "--", "--lr", "(1,2)")
    assert same_command(command, command) and same_command(made, command) == same


def test_a_run_is_the_same_whether_its_command_gave_the_name_or_left_it_to_the_verb(tmp_path):
    """The baseline trained further by hand is that of `zsnmt direct`, which gives all names."""
    words = "distill", tmp_path / "x.conf", "runs/x/zs_transformer/seed1"
    command, *named = (
        recipe_command(*words, *name, "--sides", "none")
        for name in ((), ("--name", "continued"), ("--name=continued",))
    )
    assert all(same_command(command, each) and same_command(each, command) for each in named)
    assert not same_command(command, recipe_command(*words, "--sides", "self"))


def test_a_command_is_that_of_before_wherever_the_folder_of_runs_is_now(tmp_path):
    made, now, other, seed = (
        recipe_command("distill", tmp_path / "x.conf", f"{folder}/x/{system}/seed{seed}", "--epochs", "3")
        for folder, system, seed in (("/a", "s", 1), ("runs", "s", 1), ("/a", "t", 1), ("/a", "s", 2))
    )
    assert same_command(made, now) and not same_command(made, other) and not same_command(made, seed)


def test_a_run_without_checkpoints_is_begun_anew_with_other_options_config_and_pipeline(made):
    folder, start = made
    run, config = folder / "run", folder / "x.conf"
    (run / "checkpoints" / "checkpoint_last.pt").unlink()
    (run / "train.log").write_text("why the options were refused\n")
    record = read_record(run) | {
        "command": "bash recipes/train.sh x -- --encoder-layers 0",
        "commit": "0" * 40,
    }
    (run / "run.json").write_text(json.dumps(record))
    (run / "before").mkdir()
    config.write_text("LANGUAGES=y\n")
    (folder / "data" / "subwords.model").write_bytes(b"another")
    start()
    made_by = read_record(run)
    assert made_by["command"] == "bash recipes/train.sh x" and made_by["commit"] != "0" * 40
    assert (run / "config.conf").read_text() == config.read_text()
    assert (run / "pipeline" / "subwords.model").read_bytes() == b"another" and not (run / "before").exists()
    assert (run / "train.log").is_file()


def test_data_without_a_pipeline_are_refused_before_a_run_is_trained_on_them(made):
    folder, start = made
    (folder / "data" / "pipeline.json").unlink()
    with pytest.raises(InputError, match="data/pipeline.json is missing; remove .*data and give the same"):
        start()


def test_what_was_zero_resource_to_a_run_is_so_to_the_one_that_goes_on_from_it(made):
    folder, _ = made
    run = folder / "run"
    (run / "model.pt").write_bytes(b"weights")
    record = read_record(run)
    (run / "run.json").write_text(json.dumps(record | {"synthetic": ["de-fr", "fr-de"]}))
    beginning = Beginning(
        folder / "x.conf",
        folder / "data",
        folder / "text",
        system="adapted",
        seed=1,
        command="bash recipes/adapt.sh x",
        adapted_from=run,
        mode="full",
    )
    start_run(folder / "adapted", beginning)
    assert read_record(folder / "adapted")["synthetic"] == ["de-fr", "fr-de"]
    assert "synthetic" not in record


@pytest.mark.parametrize(
    "changed, marked", [("zsnmt/a.py", True), ("configs/a.conf", True), ("docs/a.md", False), ("R.md", False)]
)
def test_the_commit_is_marked_where_what_makes_runs_differs_from_it(tmp_path, monkeypatch, changed, marked):
    def git(*words: str) -> None:
        subprocess.run(["git", "-C", str(tmp_path), *words], check=True, capture_output=True)

    for name in ("zsnmt/a.py", "configs/a.conf", "docs/a.md", "R.md"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("as it was")
    git("init")
    git("add", ".")
    git("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-m", "all")
    monkeypatch.setattr(folder, "CHECKOUT", tmp_path)
    os.utime(tmp_path / "R.md", (0, 0))
    os.utime(tmp_path / "zsnmt" / "a.py", (0, 0))
    index = (tmp_path / ".git" / "index").read_bytes()
    assert not commit().endswith("+changes")
    assert (tmp_path / ".git" / "index").read_bytes() == index, "git writes its index where it is only asked"
    (tmp_path / changed).write_text("otherwise")
    assert commit().endswith("+changes") == marked


def test_the_run_that_is_meant_is_named(tmp_path):
    run = tmp_path / "mine" / "zs_transformer" / "seed1"
    run.mkdir(parents=True)
    command = "bash recipes/train.sh mine.conf --seeds 1"
    record = {"config": "mine", "system": "x", "text": "t", "seed": 1, "command": command}
    write_json(run / "run.json", record)
    for ask in (check_trained, read_record):
        with pytest.raises(InputError, match=f"mine is not a run folder; did you mean {run}[?]"):
            ask(tmp_path / "mine")
        with pytest.raises(InputError, match="there is no folder .*other; give a run, made by zsnmt train"):
            ask(tmp_path / "other")
        for place, remedy in (
            (run / "int8", f"here give the folder of its run, {run}$"),
            (tmp_path / "int8", "its run$"),
        ):
            (place / "pipeline").mkdir(parents=True, exist_ok=True)
            write_json(place / "export.json", {})
            with pytest.raises(InputError, match=f"{place} is an export, which zsnmt translate, .*{remedy}"):
                ask(place)
    (run / "int8" / "pipeline").rmdir()
    without = f"int8 is an export, but has no pipeline, .*: zsnmt does not use it; give the folder .*, {run}$"
    with pytest.raises(InputError, match=without):
        languages_of(run / "int8")
    with pytest.raises(InputError, match="there is no folder .*other; give a run, made by zsnmt train"):
        piece_counts(tmp_path / "other")
    with pytest.raises(InputError, match="train it on with zsnmt train mine.conf --seeds 1, or leave it out"):
        check_trained(run)
