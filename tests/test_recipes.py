"""Recipes from start to end on a tiny experiment: what they leave, how they resume, what they refuse."""

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

from tests.conftest import ROOT, TINY_CONFIG, changed, run_command
from tests.support import warm
from tests.support.waiting import wait_for
from zsnmt.corpora.invented.gloss import Dictionary, two_lines
from zsnmt.corpora.invented.options import parse_corpus
from zsnmt.decoding.options import EngineChoice
from zsnmt.errors import InputError
from zsnmt.evaluation.scored_run import settings_of
from zsnmt.runs.checkpoints import load_checkpoint
from zsnmt.runs.folder import describe_run
from zsnmt.runs.log import logged_validations
from zsnmt.runs.validation import read_validations
from zsnmt.training.config import read_config

SYSTEMS = ("zs_transformer", "zs_transformer_residual")
LANGUAGES = ("inglan", "velan", "tamun", "velor")


def test_the_demo_prints_its_table_and_sentences_with_what_each_word_means(tiny):
    printed = tiny.printed.stdout
    assert ["system", *SYSTEMS] in [line.split() for line in printed.split("\n")]
    assert (tiny.folder / "report.html").is_file()
    prose = " ".join(printed.split())  # which is wrapped
    assert "6 supervised and 6 zero-shot directions, the latter also through inglan" in prose
    assert "lexicon of inglan velan tamun velor" in prose
    text = tiny.folder / "text"
    order = {language: (text / f"word_order.{language}").read_text().strip() for language in LANGUAGES}
    assert order["velan"] != order["velor"]
    shown = [line.rstrip() for line in printed.split("\n")]
    dictionary = Dictionary(parse_corpus(read_config(tiny.config, {}).synthetic))
    for line, (source, target) in enumerate([("velan", "velor"), ("velor", "velan"), ("velan", "velor")]):
        roles = {source: "", target: ", as it should be"}
        files = {f"{name} ({order[name]}){role}": text / f"test.{name}" for name, role in roles.items()}
        files |= {name: tiny.run(name) / "hypotheses" / f"direct.{source}-{target}.txt" for name in SYSTEMS}
        for label, file in files.items():
            language = source if label.startswith(source) else target
            sentence = file.read_text().splitlines()[line]
            words, meanings = two_lines(dictionary.interlinear(sentence, language))
            place = shown.index(f"{label:<28} {words}".rstrip())
            assert shown[place + 1] == f"{'':<28} {meanings}".rstrip()
    progress = tiny.printed.stderr
    assert all(f"{system}, seed 1: epoch 2 ends, validation loss" in progress for system in SYSTEMS)


def test_a_run_folder_holds_what_it_was_made_of(tiny):
    for system in SYSTEMS:
        run = tiny.run(system)
        assert (run / "config.conf").read_text() == TINY_CONFIG
        record = json.loads((run / "run.json").read_text())
        assert record["system"] == system and record["seed"] == 1
        assert record["command"] == f"bash recipes/train.sh {tiny.config} {system} --seeds 1"
        assert record["versions"]["torch"] and record["commit"]
        assert {"languages.txt", "subwords.model", "dict.velan.txt"} <= set(os.listdir(run / "pipeline"))
        assert f"--arch {system} " in (run / "train.command").read_text()
        assert (run / "pipeline" / "languages.txt").read_text().split() == [*LANGUAGES]
    assert not list(tiny.folder.rglob("*.part"))


def test_scores_have_every_direction_of_every_kind(tiny):
    scores = json.loads((tiny.run() / "scores.json").read_text())
    groups = Counter((result["kind"], result["way"]) for result in scores["directions"])
    assert groups == {("supervised", "direct"): 6, ("zero_shot", "direct"): 6, ("zero_shot", "pivot"): 6}
    for result in scores["directions"]:
        assert result["lines"] == 11 and 0 <= result["bleu"] <= 100 and 0 <= result["chrf"] <= 100
        assert result["reference_error"] == 0 and 0 <= result["off_target"] <= 1
        assert sum(result["identified"].values()) == pytest.approx(1)
        assert ("inglan" in result["direction"]) == (result["kind"] == "supervised")
    assert "version:" in scores["signatures"]["bleu"] and "nw:2" in scores["signatures"]["chrf"]
    assert scores["pivot"] == "inglan" and "2 epochs" in scores["training"]


def test_a_finished_recipe_that_is_run_again_does_nothing(own_tiny):
    before = {path: path.stat().st_mtime_ns for path in own_tiny.folder.rglob("*.pt")}
    again = run_command("recipes/train.sh", own_tiny.config, "zs_transformer_residual", runs=own_tiny.runs)
    assert again.returncode == 0, again.stderr
    assert [
        f"train: {name}: done before" in again.stderr for name in ("text", "data", "train", "average")
    ] == [True] * 4
    assert before == {path: path.stat().st_mtime_ns for path in own_tiny.folder.rglob("*.pt")}


def test_an_evaluation_resumes_and_keeps_what_is_there(own_tiny):
    run = own_tiny.run("zs_transformer")
    scores = json.loads((run / "scores.json").read_text())
    lost = run / "hypotheses" / "direct.velan-tamun.txt"
    kept = {path: path.stat().st_mtime_ns for path in run.glob("hypotheses/*.txt") if path != lost}
    assert len(kept) == 17
    lost.unlink()
    (run / ".done" / "evaluate").unlink()
    again = run_command("recipes/evaluate.sh", run, runs=own_tiny.runs)
    assert again.returncode == 0, again.stderr
    assert lost.is_file() and kept == {path: path.stat().st_mtime_ns for path in kept}
    assert without_cost(json.loads((run / "scores.json").read_text())) == without_cost(scores)


def without_cost(scores):
    """Scores without what translations took, which is never the same twice."""
    results = [
        {name: value for name, value in result.items() if name not in ("seconds", "cost")}
        for result in scores["directions"]
    ]
    return scores | {"directions": results}


def test_the_pivot_starts_from_the_supervised_output(tiny):
    """What goes through the pivot is translated from the model's own pivot text, not from the reference."""
    from zsnmt.decoding.search import Search
    from zsnmt.inference.translator import Translator

    hypotheses = tiny.run() / "hypotheses"
    into_pivot = (hypotheses / "direct.velan-inglan.txt").read_text().split("\n")[:-1]
    translator = Translator.open(tiny.run(), Search(beam=2))
    assert (
        translator.translate(into_pivot, "tamun", "inglan")
        == (hypotheses / "pivot.velan-tamun.txt").read_text().split("\n")[:-1]
    )


@pytest.fixture
def killed(tmp_path):
    """A recipe that trains for six epochs: its command, its environment, the folder of runs, and that of
    its run.
    """
    config = tmp_path / "killed.conf"
    config.write_text(TINY_CONFIG.replace("--max-epoch 2", "--max-epoch 6"))
    runs = tmp_path / "runs"
    command = ["bash", ROOT / "recipes/train.sh", config, "zs_transformer"]
    environment = {**os.environ, "RUNS": str(runs)}
    return SimpleNamespace(
        config=config,
        command=command,
        environment=environment,
        runs=runs,
        run=runs / "killed" / "zs_transformer" / "seed1",
    )


def start(recipe, fresh: bool = False, **options) -> subprocess.Popen:
    """Start the recipe, in `fresh` processes where the system is to see all of them."""
    environment = {**recipe.environment, "VENV": sys.prefix if fresh else str(warm.environment())}
    return subprocess.Popen(recipe.command, env=environment, **{"stderr": subprocess.DEVNULL, **options})


def finish(recipe) -> str:
    """Call the recipe to its end; its training log, which goes on where the one before was killed."""
    done = run_command("recipes/train.sh", recipe.config, "zs_transformer", runs=recipe.runs)
    assert done.returncode == 0, done.stderr
    assert (recipe.run / "model.pt").is_file()
    log = (recipe.run / "train.log").read_text()
    assert "Loaded checkpoint" in log and '"epoch": 6' in log
    assert log.count("| valid |") <= 6 + 1  # at most the epoch in which it was killed was trained again
    return log


@pytest.mark.slow
def test_training_killed_at_any_moment_goes_on_where_it_was(killed):
    """kill -9 while the text is prepared, then while it trains; the third call finishes."""
    for folder, reached, fresh in (
        (killed.runs / "killed", ".data.*.part", False),
        (killed.run / "checkpoints", "checkpoint_last.pt", True),
    ):
        process = start(killed, fresh, start_new_session=True)
        wait_for(lambda folder=folder, reached=reached: [*folder.glob(reached)], 120)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        assert not (killed.run / "model.pt").exists() and not (killed.run / ".done" / "train").exists()
    subprocess.run(
        ["flock", killed.run / ".lock", "true"], check=True, timeout=60
    )  # the last of the killed lets go of the run
    assert (killed.run / "train.log").read_text().count("| valid |") >= 1
    finish(killed)
    assert not [*(killed.runs / "killed").glob("*.part")]  # what was left is gone


@pytest.mark.slow
def test_a_recipe_killed_alone_takes_its_training_with_it_and_the_next_goes_on(killed):
    """kill -9 of the recipe's process, and not of fairseq-train: no training goes on beside that of the
    next call.
    """
    process = start(killed, fresh=True)
    wait_for((killed.run / "checkpoints" / "checkpoint_last.pt").exists, 120)
    trainings = [
        number for number, words in processes() if "fairseq-train" in words and str(killed.run) in words
    ]
    assert trainings and process.poll() is None
    for training in trainings:
        os.kill(training, signal.SIGSTOP)  # it does not come to its end meanwhile
    busy = run_command("recipes/train.sh", killed.config, "zs_transformer", runs=killed.runs)
    assert (
        busy.returncode == 75
        and f"another process is at work in {killed.run} (process {process.pid}); wait for it or end it"
        in busy.stderr
    )
    process.kill()
    process.wait()
    finish(killed)  # at once: it waits until the killed training lets go of the lock
    assert not {number for number, _ in processes()} & {*trainings}


def processes() -> list[tuple[int, str]]:
    """The number and the words of the command of every process."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            found.append(
                (
                    int(folder.name),
                    (folder / "cmdline").read_bytes().decode(errors="replace").replace("\0", " "),
                )
            )
    return [(number, words) for number, words in found if words]


@pytest.mark.slow
@pytest.mark.parametrize("sent, status, fresh", [(signal.SIGINT, 130, False), (signal.SIGTERM, 143, True)])
def test_a_signal_ends_the_recipe_and_its_training_and_leaves_no_halves(killed, sent, status, fresh):
    """Sent to the recipe alone, while it makes data and while it trains; nothing is said."""
    experiment = killed.runs / "killed"
    for reached in (".data.*.part", "zs_transformer/seed1/checkpoints/checkpoint_last.pt"):
        process = start(killed, fresh)
        wait_for(lambda reached=reached: any(experiment.glob(reached)))
        process.send_signal(sent)
        assert process.wait(timeout=60) == status
        assert not [words for _, words in processes() if str(killed.runs) in words]
        assert not [*killed.runs.rglob("*.part"), *killed.runs.rglob("*.tmp")]


@pytest.mark.slow
def test_the_record_is_true_where_the_reader_of_the_output_went_away(killed):
    """As with `| head`: the recipe and its training end; what was trained is in the log and in the record."""
    process = start(killed, stderr=subprocess.PIPE)
    while b"epoch 2 ends" not in process.stderr.readline():
        assert process.poll() is None
    process.stderr.close()
    assert process.wait(timeout=60) == 141
    assert not [words for _, words in processes() if "fairseq-train" in words and str(killed.run) in words]
    log = finish(killed)
    validated = {entry["updates"] for entry in read_validations(killed.run / "checkpoints")}
    assert {entry.updates for entry in logged_validations(log)} == validated and len(validated) == 6
    assert describe_run(killed.run)["training"].startswith("6 epochs, ")


@pytest.mark.slow
def test_a_training_goes_on_from_another_checkpoint_where_the_last_is_damaged(killed):
    process = start(killed)
    wait_for(lambda: len([*killed.run.glob("checkpoints/checkpoint.best_*.pt")]) == 2)
    process.kill()
    process.wait()
    last = killed.run / "checkpoints" / "checkpoint_last.pt"
    os.truncate(last, last.stat().st_size // 2)
    finish(killed)
    assert load_checkpoint(last)["extra_state"]["train_iterator"]["epoch"] == 7


def test_a_run_folder_of_a_stranger_runs_no_code_and_writes_nothing_elsewhere(own_tiny):
    run, elsewhere = own_tiny.run(), own_tiny.runs / "elsewhere"
    elsewhere.mkdir()
    config = run / "config.conf"
    config.write_text(f"touch {elsewhere}/trace; exit 0\n{TINY_CONFIG}")
    refused = run_command("recipes/evaluate.sh", run, runs=own_tiny.runs)
    assert refused.returncode == 1 and "config.conf, line 1, is 'touch" in refused.stderr
    config.write_text(changed(TINY_CONFIG, SYNTHETIC="", TEXT=str(elsewhere / "text"), BEAM="1"))
    outside = {path: path.stat().st_mtime_ns for path in own_tiny.runs.rglob("*") if run not in path.parents}
    scored = run_command("recipes/evaluate.sh", run, runs=elsewhere)
    assert scored.returncode == 0, scored.stderr
    del outside[run]
    now = {path: path.stat().st_mtime_ns for path in own_tiny.runs.rglob("*") if run not in path.parents}
    del now[run]
    assert now == outside
    state = load_checkpoint(run / "model.pt")
    state["cfg"]["task"].left_pad_source = f"__import__('os').mkdir('{elsewhere}/trace')"
    torch.save(state, run / "model.pt")
    refused = run_command("scripts/translate.py", run, "--from", "velan", "--to", "tamun", input="Ba.\n")
    assert refused.returncode == 1 and refused.stderr.count("\n") == 1, refused.stderr
    assert not [*elsewhere.iterdir()]


def damaged(text, break_it):
    folder = text.with_name("damaged")
    shutil.copytree(text, folder)
    break_it(folder)
    return folder


@pytest.mark.parametrize(
    "settings, message",
    [
        ({"VOCABULARI": "3"}, "line 11, sets 'VOCABULARI', which is not a key"),
        ({"AVERAGE": "0"}, "line 5, sets AVERAGE=0; it must be a whole number above 0"),
        ({"AVERAGE": "$(date)"}, "line 5, asks AVERAGE to run a command; a config is read and never run"),
        ({"TOKENISATION": "mosses"}, "there is no tokenisation 'mosses'"),
        ({"SYNTHETIC": "", "RELEASE": "./nowhere", "CORPUS": "iwslt17"}, "zsnmt fetch iwslt17 --to nowhere"),
        (
            {"SYNTHETIC": "--pears 3"},
            "sets SYNTHETIC=--pears 3: unrecognized arguments: --pears 3; see zsnmt make-synthetic --help",
        ),
        ({"VOCABULARY": "100000"}, "does not support a vocabulary of 100000"),
        ({"LANGUAGES": "inglan velan tamun nolan"}, "no training text for nolan"),
    ],
)
def test_a_wrong_config_gets_one_sentence(tmp_path, settings, message):
    config = tmp_path / "wrong.conf"
    config.write_text(changed(TINY_CONFIG, **settings))
    stopped = run_command("recipes/train.sh", config, "zs_transformer", runs=tmp_path / "runs")
    assert stopped.returncode != 0 and message in stopped.stderr
    assert "Traceback" not in stopped.stderr
    assert not (tmp_path / "runs" / "wrong" / "data").exists()


def test_a_run_is_scored_as_its_config_says_where_nothing_else_is_given(tmp_path):
    """What neither says is left to the search, so that the settings are those of runs made before there
    was the key.
    """
    (tmp_path / "config.conf").write_text(TINY_CONFIG)
    of_tiny = {"identifier": "lexicon", "bleu_tokenizer": "13a", "beam": 2, "normalise_references": False}
    assert settings_of(tmp_path, {}, {"beam": None, "lines": None}).said == of_tiny
    assert settings_of(tmp_path, {}, {"beam": 3, "normalise_references": True}).said == of_tiny | {
        "beam": 3,
        "normalise_references": True,
    }
    (tmp_path / "config.conf").write_text(
        changed(TINY_CONFIG, LENGTH_PENALTY="1.0", LENGTH_PENALTY_FORM="gnmt", TEST_LINES="7")
    )
    assert settings_of(tmp_path, {}, {}).said == of_tiny | {
        "length_penalty": 1.0,
        "length_penalty_form": "gnmt",
        "lines": 7,
    }
    with pytest.raises(InputError, match="there is no BLEU tokeniser '12a'; choose 13a"):
        settings_of(tmp_path, {}, {"bleu_tokenizer": "12a"})
    with pytest.raises(InputError, match="there is no folder .*none; give a run, made by"):
        settings_of(tmp_path / "none", {}, {})


@pytest.mark.parametrize(
    "given, on_gpu, expected",
    [
        ({}, False, "int8"),
        ({}, True, None),  # that of the machine: there is no int8 on a GPU
        ({"precision": "float32"}, False, "float32"),
        ({"engine": "fairseq"}, False, None),  # which has no int8
        ({"workers": 1}, False, "int8"),
    ],
)
def test_a_cpu_scores_in_the_precision_of_the_config(tmp_path, monkeypatch, given, on_gpu, expected):
    (tmp_path / "config.conf").write_text(changed(TINY_CONFIG, PRECISION="int8"))
    monkeypatch.setattr(torch.cuda, "is_available", lambda: on_gpu)
    engine = settings_of(tmp_path, {}, {}, engine=EngineChoice(**given)).engine
    assert engine == replace(EngineChoice(**given), precision=expected)


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["configs/none.conf", "zs_transformer"], "there is no config"),
        (["configs/demo.conf", "zs_transformer", "--sead", "3"], "unrecognized arguments: --sead"),
        (
            ["configs/demo.conf", "zs_transformer", "--seeds", "a"],
            "argument --seeds: 'a' is not a whole number, 0 or above",
        ),
        (["configs/demo.conf", "zs_transformer", "--", "--variational-dropout"], "needs a --name"),
        (["configs/demo.conf", "zs_transformer", "--name", "../../x"], "'../../x' cannot name a folder"),
        (["configs/demo.conf", "zs_transformer", "--name", "data"], "'data' cannot name a system"),
        (
            ["configs/demo.conf", "zs_transfomer"],
            "'zs_transfomer'; did you mean zs_transformer? zsnmt options",
        ),
        (
            ["configs/demo.conf", "zs_transformer", "--name", "x", "--", "--no-such-option", "3"],
            "fairseq refuses an option of the training: unrecognized arguments: --no-such-option 3",
        ),
        (
            [
                *("configs/demo.conf", "zs_transformer", "--name", "x", "--"),
                *("--encoder-residual-removal-layers", "9"),
            ],
            "'9' names no layers of 5",
        ),
    ],
)
def test_a_wrong_call_gets_one_sentence(tmp_path, arguments, message):
    stopped = run_command("recipes/train.sh", *arguments, runs=tmp_path)
    assert stopped.returncode != 0 and message in stopped.stderr and stopped.stderr.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_misaligned_text_is_named_and_earlier_data_stay(tiny, tmp_path):
    text = tmp_path / "text"
    shutil.copytree(tiny.folder / "text", text)
    config = tmp_path / "own.conf"
    config.write_text(changed(TINY_CONFIG, SYNTHETIC="", TEXT=str(text)))
    runs = tmp_path / "runs"
    shutil.copytree(tiny.folder / "data", runs / "own" / "data")
    with (text / "train.velan-inglan.velan").open("a") as file:
        file.write("Purhodohdom.\n")
    stopped = run_command("recipes/train.sh", config, "zs_transformer", runs=runs)
    assert stopped.returncode != 0 and "Traceback" not in stopped.stderr
    assert re.search(
        r"train.velan-inglan.inglan has 60 lines and \S*train.velan-inglan.velan has 61;", stopped.stderr
    )
    assert (runs / "own" / "data" / "languages.txt").is_file()


def test_a_changed_config_does_not_overwrite_a_run(tiny, tmp_path):
    shutil.copytree(tiny.folder, tmp_path / "tiny")
    config = tmp_path / "tiny.conf"
    config.write_text(TINY_CONFIG.replace("--lr 5e-3", "--lr 1e-3"))
    stopped = run_command("recipes/train.sh", config, "zs_transformer", runs=tmp_path)
    assert stopped.returncode != 0 and "was made with another tiny.conf" in stopped.stderr
    demo = run_command("recipes/demo.sh", config, runs=tmp_path)
    assert demo.returncode != 0 and "was made with another tiny.conf" in demo.stderr
    for system in SYSTEMS:
        logs = [
            (folder / system / "seed1" / "train.log").read_text()
            for folder in (tiny.folder, tmp_path / "tiny")
        ]
        assert logs[0] == logs[1]


def test_a_name_belongs_to_one_system(tiny, tmp_path):
    shutil.copytree(tiny.folder, tmp_path / "tiny")
    stopped = run_command(
        "recipes/train.sh", tiny.config, "zs_transformer_residual", "--name", "zs_transformer", runs=tmp_path
    )
    assert stopped.returncode != 0 and "choose another name with --name" in stopped.stderr


@pytest.mark.slow
def test_a_failed_edit_of_the_config_does_not_lose_the_text(tmp_path):
    config, runs = tmp_path / "edited.conf", tmp_path / "runs"
    good = TINY_CONFIG.replace("--pairs 60", "--pairs 61")
    for text, expected in (
        (good.replace("VOCABULARY=160", "VOCABULARY=99999"), False),
        (good.replace("--longest 6", "--longest 2"), False),
        (good, True),
    ):
        config.write_text(text.replace("--max-epoch 2", "--max-update 1"))
        done = run_command("recipes/train.sh", config, "zs_transformer", runs=runs)
        assert (done.returncode == 0) == expected, done.stderr
    assert (runs / "edited" / "text" / "train.velan-inglan.velan").read_text().count("\n") == 61


def test_a_run_folder_of_the_time_of_bash_is_taken_as_it_is(tiny, tmp_path):
    """Its markers hold a checksum alone: nothing is made again, and it is scored alike from the
    translations that are there.
    """
    folder = Path(shutil.copytree(tiny.folder, tmp_path / "tiny"))
    run = folder / "zs_transformer" / "seed1"
    for marker in (*folder.glob(".done/*"), *run.glob(".done/*")):
        marker.write_text("0123456789abcdef" * 4)
    record = json.loads((run / "run.json").read_text())
    (run / "run.json").write_text(json.dumps(record | {"text": str(folder / "text")}))
    before = {
        path: path.stat().st_mtime_ns
        for path in folder.rglob("*")
        if path.suffix in (".pt", ".bin", ".txt", ".velan")
    }
    scores = json.loads((run / "scores.json").read_text())
    again = run_command("recipes/train.sh", tiny.config, "zs_transformer", runs=tmp_path)
    assert again.returncode == 0 and again.stderr.count(": done before") == 5, again.stderr
    scored = run_command("recipes/evaluate.sh", run, runs=tmp_path)
    assert scored.returncode == 0, scored.stderr
    assert before == {path: path.stat().st_mtime_ns for path in before}
    assert json.loads((run / "scores.json").read_text()) == scores | {"text": str(folder / "text")}


def test_a_lost_output_is_made_again(tiny, tmp_path):
    shutil.copytree(tiny.folder, tmp_path / "tiny")
    run = tmp_path / "tiny" / "zs_transformer" / "seed1"
    before = (run / "model.pt").read_bytes()
    (run / "model.pt").unlink()
    again = run_command("recipes/train.sh", tiny.config, "zs_transformer", runs=tmp_path)
    assert again.returncode == 0 and len((run / "model.pt").read_bytes()) == len(before), again.stderr


def test_other_test_sets_do_not_replace_the_scores_of_the_recipe(tiny, tmp_path):
    scores = (tiny.run() / "scores.json").read_bytes()
    options = [
        "scripts/evaluate.py",
        tiny.run(),
        "--identifier",
        "lexicon",
        "--split",
        "valid",
        "--beam",
        "1",
    ]
    refused = run_command(*options)
    assert refused.returncode == 2 and "--output" in refused.stderr
    done = run_command(*options, "--output", tmp_path / "valid.json")
    assert done.returncode == 0, done.stderr
    assert json.loads((tmp_path / "valid.json").read_text())["directions"][0]["lines"] == 6
    assert (tiny.run() / "scores.json").read_bytes() == scores


def test_an_error_inside_fairseq_is_shown_not_buried(tiny, tmp_path):
    shutil.copytree(tiny.folder, tmp_path / "tiny")
    stopped = run_command(
        "recipes/train.sh",
        tiny.config,
        "zs_transformer",
        "--name",
        "wrong",
        "--",
        *("--criterion", "zs_cross_entropy", "--word-distillation-weight", "1"),
        *("--word-distillation-model", tiny.run() / "model.pt"),
        runs=tmp_path,
    )
    log = tmp_path / "tiny" / "wrong" / "seed1" / "train.log"
    assert (
        stopped.returncode != 0 and "the same command goes on from it once that is mended" in stopped.stderr
    )
    said = stopped.stderr.splitlines()[-1]
    assert said.startswith("error: wrong, seed 1: --word-distillation-weight needs sentences of inglan ")
    assert said.endswith(f"; {log} has the whole log")
    assert "\nerror: --word-distillation-weight needs" in log.read_text()
    assert "Traceback" not in log.read_text()
