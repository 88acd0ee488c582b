"""A training as a process: its log, what the terminal shows of it, and how it is told that it failed."""

import json
import os
import shutil
import stat
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest

from zsnmt.errors import InputError, PassingError
from zsnmt.runs.time_left import TimeLeft
from zsnmt.training import fairseq_train as fairseq_train_module
from zsnmt.training.fairseq_options import training_options
from zsnmt.training.fairseq_train import fairseq_train, show_progress, train, training_inputs
from zsnmt.training.option_words import given_values
from zsnmt.training.precision import (
    WHOLE_PRECISION,
    begun_precision,
    fitting_precision,
    in_precision,
    precision_of,
)
from zsnmt.training.ranks import start_ranks
from zsnmt.training.steps import Steps, write_marker
from zsnmt.training.team import Team

TRACEBACK = """\
2026-01-01 00:00:00 | INFO | fairseq_cli.train | begun
Traceback (most recent call last):
  File "here.py", line 3, in f
    return g()
           ^^^
KeyError: 'first'

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "there.py", line 5, in <module>
    f()
RuntimeError: sizes differ:
        5 and 6
a thread that ends
"""
ARGPARSE = """\
usage: fairseq-train [-h] [--no-progress-bar]
                     [--log-interval LOG_INTERVAL]
fairseq-train: error: unrecognized arguments: --no-such-option 3
"""
REFUSED = "2026-01-01 | INFO | fairseq.tasks | begun\nerror: '9' names no layers of 3; give 1 to 3\n"


@pytest.fixture
def training(tmp_path, monkeypatch):
    """Trains in a folder with a script of Python in the place of fairseq-train."""

    def start(script: str, *options: str) -> Path:
        program = tmp_path / "bin" / "fairseq-train"
        program.parent.mkdir(exist_ok=True)
        program.write_text(f"#!{os.path.realpath('/proc/self/exe')}\n{script}")
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
        with monkeypatch.context() as patch:
            patch.setattr(sys, "executable", str(program.with_name("python")))
            train(tmp_path / "run", "a system", ["DATA", *options])
        return tmp_path / "run"

    return start


@pytest.mark.parametrize(
    "log, reason",
    [
        (TRACEBACK, "RuntimeError: sizes differ:"),
        (TRACEBACK.replace("RuntimeError", "zsnmt.errors.InputError"), "sizes differ:"),
        (TRACEBACK.replace("\n", "\n[rank1]: "), "RuntimeError: sizes differ:"),
        (ARGPARSE, "unrecognized arguments: --no-such-option 3"),
        (REFUSED, "'9' names no layers of 3; give 1 to 3"),
        ("2026-01-01 | INFO | fairseq.tasks | no Error here\nand an Error that is none\n", ""),
    ],
)
def test_what_is_wrong_is_found_in_a_log(log, reason):
    assert show_progress(log.split("\n"), "a system", TimeLeft({})) == reason


def test_sentences_that_are_left_out_are_told_of_once(capsys):
    line = (
        "2026-01-01 00:00:00 | WARNING | fairseq.tasks.fairseq_task | 1,204 samples have invalid sizes and "
        "will be skipped, max_positions=(1024, 512), first few sample ids=[5, 6]"
    )
    show_progress([line, line], "a system", TimeLeft({}))
    assert capsys.readouterr().err == (
        "a system: 1,204 training sentences, counted in each direction, are left out: they are longer than "
        "the 1024, 512 tokens that the model reads and writes\n"
    )


def test_the_log_is_written_by_the_training_itself_and_goes_on(training, capsys):
    line = '2026-01-01 | INFO | valid | {"epoch": %d, "valid_nll_loss": "7.1", "valid_num_updates": "10"}'
    for epoch in (1, 2):
        folder = training(f"print({line % epoch!r}, flush=True); print(end='half a line')")
    assert (folder / "train.log").read_text() == f"{line % 1}\nhalf a line{line % 2}\nhalf a line"
    shown = capsys.readouterr().err.splitlines()
    assert [line.partition(", validation")[0] for line in shown] == [
        "a system: epoch 1 ends",
        "a system: epoch 2 ends",
    ]


@pytest.mark.parametrize(
    "script, message",
    [
        ("raise ValueError('too long')", "a system: ValueError: too long; "),
        ("import sys; sys.exit(3)", "a system: fairseq-train ended with status 3; "),
        (
            "import os; os.kill(os.getpid(), 9)",
            "a system: fairseq-train was ended by SIGKILL, as the system does where memory is short; ",
        ),
        ("import os; os.kill(os.getpid(), 11)", "a system: fairseq-train was ended by SIGSEGV; "),
        ("import sys; sys.exit(143)", "a system: fairseq-train was told to end, by SIGTERM; "),
    ],
)
def test_a_training_that_fails_says_why_and_names_its_log(training, tmp_path, script, message):
    with pytest.raises(InputError) as error:
        training(script)
    ended_by_signal = "SIG" in message
    assert isinstance(error.value, PassingError) == ended_by_signal
    assert str(error.value) == f"{message}{tmp_path / 'run' / 'train.log'} has the whole log"


def test_a_checkpoint_for_which_there_is_no_room_is_said_to_be_so(training, tmp_path):
    fault = "RuntimeError: [enforce fail at inline_container.cc:672] . unexpected pos 64 vs 0"
    with pytest.raises(InputError, match=r"could not be written whole; the disk of .* has [\d,]+ bytes free"):
        training(f"raise RuntimeError({fault.partition(': ')[2]!r})")


def test_what_a_training_says_while_others_are_started_is_read_too(training, monkeypatch):
    """Its process moves the place in the file at which this one would begin to read."""

    @contextmanager
    def start_slowly(work, *arguments, **options):
        with start_ranks(work, *arguments, **options) as ranks:
            ranks.processes[0].wait()
            yield ranks

    monkeypatch.setattr(fairseq_train_module, "start_ranks", start_slowly)
    with pytest.raises(InputError, match="a system: ValueError: too long; "):
        training("raise ValueError('too long')")


SAVING = """
import signal, sys, time
def save(*_):
    print("2026-01-01 | INFO | zsnmt.compatibility.ending | told to end: saved after 12 updates", flush=True)
    sys.exit(143)
signal.signal(signal.SIGTERM, save)
print("ready", flush=True)
time.sleep(60)
"""


@pytest.mark.parametrize("ending", [KeyboardInterrupt, SystemExit(143)])
def test_who_ends_a_training_is_told_from_where_it_goes_on(training, monkeypatch, capsys, ending):
    def show(lines, *_):
        assert next(lines) == "ready"
        raise ending

    monkeypatch.setattr(fairseq_train_module, "show_progress", show)
    with pytest.raises(type(ending) if isinstance(ending, SystemExit) else ending):
        training(SAVING)
    first = "\na system: saves where it is, and ends; Ctrl-C again ends it without that\n"
    told = "a system: told to end: saved after 12 updates, from where the same command goes on\n"
    assert capsys.readouterr().err == (first if ending is KeyboardInterrupt else "") + told


def test_a_training_is_told_of_all_shards_and_done_again_when_one_changes(tmp_path, monkeypatch):
    data, run, given = tmp_path / "data", tmp_path / "run", []
    monkeypatch.setattr(
        fairseq_train_module, "train", lambda folder, title, words, team: given.append(words[:2])
    )
    (data / "shard2").mkdir(parents=True)
    (run / "checkpoints").mkdir(parents=True)
    for content in ("one", "one", "other"):
        (data / "shard2" / "train.de-en.de.bin").write_text(content)
        fairseq_train(Steps("train"), run, "a system", data, ["--lr"])
    assert given == [[f"{data}:{data / 'shard2'}", "--lr"]] * 2


@pytest.mark.parametrize(
    ("options", "updates", "workers"),
    [([], "1", "0"), (["--num-workers", "1"], "1", "1"), (["--keep-interval-updates=3"], "3", "0")],
)
def test_a_training_has_the_options_of_a_person_in_place_of_defaults(
    tmp_path, monkeypatch, options, updates, workers
):
    words = []
    monkeypatch.setattr(fairseq_train_module, "train", lambda folder, title, given, team: words.extend(given))
    (tmp_path / "data").mkdir()
    fairseq_train(Steps("train"), tmp_path / "run", "a system", tmp_path / "data", options)
    given = given_values(words)
    assert (given["--keep-interval-updates"], given["--num-workers"]) == (updates, workers)


def test_half_a_checkpoint_does_not_stay(training, tmp_path):
    checkpoints = tmp_path / "run" / "checkpoints"
    checkpoints.mkdir(parents=True)
    (checkpoints / "checkpoint_last.pt.part").touch()  # of a training before
    (checkpoints / "checkpoint_best.pt.tmp").touch()
    (checkpoints / "validation.jsonl").touch()
    with pytest.raises(InputError, match="SIGTERM"):
        training(
            f"import os; assert os.listdir({str(checkpoints)!r}) == ['validation.jsonl']; "
            f"open({str(checkpoints / 'checkpoint_last.pt.part')!r}, 'w'); os.kill(os.getpid(), 15)"
        )
    assert [path.name for path in checkpoints.iterdir()] == ["validation.jsonl"]


@pytest.fixture
def begun(tmp_path, monkeypatch):
    """Calls a training on made-up data with options; how often one was called, which leaves a checkpoint."""
    data, run, calls = tmp_path / "data", tmp_path / "run", []
    for name in ("train.de-en.de.bin", "test.de-en.de.bin"):
        (data / name).parent.mkdir(exist_ok=True)
        (data / name).write_text(name)

    def train(folder, *_, **__):
        calls.append(folder)
        (folder / "checkpoints").mkdir(parents=True, exist_ok=True)
        (folder / "checkpoints" / "checkpoint_last.pt").touch()

    def call(*options: str) -> int:
        fairseq_train(Steps("train"), run, "a system", data, options)
        return len(calls)

    monkeypatch.setattr(fairseq_train_module, "train", train)
    return data, run, call


def test_a_training_that_is_done_stays_so_where_a_test_set_is_added_or_the_project_is_moved(begun, tmp_path):
    data, _, call = begun
    weights = tmp_path / "sampling.json"
    weights.write_text("{}")
    assert (
        call(
            "--lr", "1", "--finetune-from-model", "/a/model.pt", "--sampling-weights-from-file", str(weights)
        )
        == 1
    )
    (data / "test.fr-en.fr.bin").touch()
    (tmp_path / "moved").mkdir()
    moved = weights.rename(tmp_path / "moved" / weights.name)
    assert (
        call("--lr", "1", "--finetune-from-model", "/b/model.pt", "--sampling-weights-from-file", str(moved))
        == 1
    )


def test_what_a_training_reads_is_found_in_both_forms_of_options(tmp_path):
    for name in ("data", "extra"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "train.de-en.de.bin").touch()
    extra, weights = json.dumps({"more": str(tmp_path / "extra")}), tmp_path / "sampling.json"
    given = {"--extra-data": extra, "--sampling-weights-from-file": str(weights)}
    apart = [word for option in given.items() for word in option]
    joined = [f"{name}={value}" for name, value in given.items()]
    found = training_inputs(tmp_path / "data", apart)
    assert found == training_inputs(tmp_path / "data", joined) and len(found) == 3


def test_a_run_whose_checkpoints_were_removed_is_done_while_it_has_their_mean(begun):
    _, run, call = begun
    assert call("--lr", "1") == 1
    (run / "model.pt").touch()
    shutil.rmtree(run / "checkpoints")
    assert call("--lr", "1") == 1
    with pytest.raises(InputError, match="choose another name with --name, or remove the folder to train"):
        call("--lr", "2")  # which would replace the mean
    (run / "model.pt").unlink()
    assert call("--lr", "2") == 2, "nothing of it is left"


@pytest.mark.parametrize("changed", ["options", "text"])
def test_checkpoints_of_another_training_are_not_gone_on_from(begun, changed):
    data, run, call = begun
    assert call("--lr", "1") == 1
    if changed == "text":
        (data / "train.de-en.de.bin").write_text("other")
    with pytest.raises(
        InputError, match="has checkpoints of a training on other text, or with other options"
    ):
        call("--lr", "2" if changed == "options" else "1")
    shutil.rmtree(run)
    assert call("--lr", "2") == 2


def test_a_training_that_was_stopped_goes_on_and_one_of_an_older_form_is_done(begun):
    data, run, call = begun
    assert call("--lr", "1") == 1
    (run / ".done" / "train").unlink()
    assert call("--lr", "1") == 2
    older = Steps("train").made_from([data], {"options": ["--lr", "1", "--word-distillation-model", "/a/b"]})
    write_marker(run, "train", older)
    (run / ".done" / "train.begun").unlink()
    for _ in range(2):
        assert call("--lr", "1", "--word-distillation-model", "/a/b") == 2
    (data / "test.de-en.de.bin").write_text("other")
    assert call("--lr", "1", "--word-distillation-model", "/c/b") == 2


# Half precision


@pytest.mark.parametrize("step", ["train", "train.begun"])
def test_a_training_is_the_same_in_another_precision(begun, step):
    data, run, call = begun
    assert call("--lr", "1") == 1
    named = Steps("train").made_from([data / "train.de-en.de.bin"], {"options": ["--lr", "1", "--fp16"]})
    write_marker(run, step, named)  # as before, when it was told apart
    if step == "train.begun":
        (run / ".done" / "train").unlink()
    assert call("--lr", "1", "--fp16") == (1 if step == "train" else 2)
    assert call("--lr", "1", "--amp") == call("--lr", "1") == (1 if step == "train" else 2)


@pytest.mark.parametrize("word", ["--fp16", "--bf16", "--amp"])
def test_half_precision_is_for_gpus_and_left_out_elsewhere(word):
    given = ["data", word, "--lr", "0.1"]
    assert fitting_precision(given, None, on_gpus=True) == (word, "")
    assert in_precision(given, word) == ["data", "--lr", "0.1", word]
    assert fitting_precision(given, None, on_gpus=False) == (
        WHOLE_PRECISION,
        f"trains on processors, where {word} would be slow: in float32",
    )
    assert in_precision(given, WHOLE_PRECISION) == ["data", "--lr", "0.1"]
    assert fitting_precision(["data"], None, on_gpus=False) == (WHOLE_PRECISION, "")


def test_the_last_word_for_half_precision_counts():
    assert precision_of(["--fp16", "data", "--amp", "--lr"]) == "--amp"
    efficient = "--memory-efficient-fp16"  # goes with the other word in any order
    assert precision_of([efficient, "--fp16"]) == precision_of(["--fp16", efficient]) == efficient
    assert precision_of([efficient, "--bf16"]) == "--bf16"
    assert vars(training_options("zs_transformer", ["--fp16", "--amp"]))["amp"]
    assert not vars(training_options("zs_transformer", ["--fp16", "--amp"]))["fp16"]


def test_what_was_begun_keeps_its_precision():
    assert fitting_precision(["--fp16"], WHOLE_PRECISION, on_gpus=True) == (
        WHOLE_PRECISION,
        "goes on as it was begun, in float32",
    )
    assert fitting_precision([], "--fp16", on_gpus=True) == ("--fp16", "goes on as it was begun, with --fp16")
    assert fitting_precision(["--fp16"], "--fp16", on_gpus=True) == ("--fp16", "")
    assert fitting_precision(["--fp16"], WHOLE_PRECISION, on_gpus=False)[0] == WHOLE_PRECISION
    with pytest.raises(InputError, match="was begun with --fp16, which is for GPUs; go on with one"):
        fitting_precision(["--fp16"], "--fp16", on_gpus=False)


def test_a_training_without_a_gpu_says_that_half_precision_is_left_out(training, monkeypatch, capsys):
    monkeypatch.setattr(Team, "on_gpus", False)
    folder = training("import sys; assert '--fp16' not in sys.argv", "--fp16")
    said = "a system: trains on processors, where --fp16 would be slow: in float32\n"
    assert capsys.readouterr().err == said
    assert "--fp16" not in (folder / "train.command").read_text()
    assert begun_precision(folder) is None  # it has no checkpoint
    (folder / "checkpoints").mkdir()
    (folder / "checkpoints" / "checkpoint_last.pt").touch()
    assert begun_precision(folder) == WHOLE_PRECISION
    (folder / "train.command").write_text("fairseq-train data --bf16\n")
    assert begun_precision(folder) == "--bf16"
    (folder / "train.command").write_text("fairseq-train 'data")
    with pytest.raises(InputError, match="train.command is damaged .*; remove it, then train the run again"):
        begun_precision(folder)
