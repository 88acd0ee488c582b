"""A new language joins a finished run: the recipe from start to end, in both modes, and what it refuses."""

import json
import re
import shutil

import pytest
import torch

from tests.conftest import run_command
from zsnmt.adaptation.checkpoint import TABLES
from zsnmt.files.checksums import sha256
from zsnmt.languages import read_languages
from zsnmt.runs.checkpoints import load_checkpoint

PIVOT, *OTHERS = KNOWN = ["inglan", "velan", "tamun", "velor"]
NEW = "tamek"
ADDED_CONFIG = f"""\
SYNTHETIC="--number 4 --concepts 40 --pairs 60 --valid 6 --test 11 --longest 6"
LANGUAGES="{PIVOT} {NEW}"
PAIRS=40
VOCABULARY=120
IDENTIFIER=lexicon
AVERAGE=2
BEAM=2
TRAINING="--lr 1e-2 --max-epoch 2"
"""


@pytest.fixture(scope="module")
def config(tmp_path_factory):
    path = tmp_path_factory.mktemp("added") / "added.conf"
    path.write_text(ADDED_CONFIG)
    return path


@pytest.fixture(scope="module")
def runs(config):
    return config.parent / "runs"


def adapt(config, run, runs, *options):
    return run_command("recipes/adapt.sh", config, run, "--allow-unknown", "0.3", *options, runs=runs)


@pytest.fixture(scope="module")
def full(tiny, config, runs):
    """The residual run with a new language, and what the recipe printed."""
    printed = adapt(config, tiny.run(), runs)
    assert printed.returncode == 0, printed.stderr
    return runs / "added" / "zs_transformer_residual" / "seed1", printed


@pytest.fixture(scope="module")
def frozen(tiny, config, runs):
    printed = adapt(config, tiny.run(), runs, "--frozen", "--adapter-dim", "4")
    assert printed.returncode == 0, printed.stderr
    return runs / "added" / "zs_transformer_residual_frozen" / "seed1"


def scores_of(run, runs) -> dict:
    scored = run_command("recipes/evaluate.sh", run, runs=runs)
    assert scored.returncode == 0, scored.stderr
    return json.loads((run / "scores.json").read_text()) | {"printed": scored.stdout}


def test_an_adapted_run_is_a_run_folder_that_says_where_it_comes_from(tiny, full, runs):
    run, printed = full
    assert read_languages(run / "pipeline") == [*KNOWN, NEW]
    record = json.loads((run / "run.json").read_text())
    assert record["adapted_from"] | {"commit": None} == {
        "config": "tiny",
        "system": "zs_transformer_residual",
        "seed": 1,
        "commit": None,
        "model": sha256(tiny.run() / "model.pt"),
        "languages": KNOWN,
        "mode": "full",
    }
    assert (
        record["command"].startswith(f"bash recipes/adapt.sh {runs.parent / 'added.conf'} {tiny.run()} ")
        and record["overlap"][f"{PIVOT}-{NEW}"]["kept"] == 40
    )
    assert f"test.{NEW}" in printed.stderr and "% unknown" in printed.stderr
    translated = run_command("scripts/translate.py", run, "--to", NEW, "--from", "velan", input="Ba.\n")
    assert translated.returncode == 0 and translated.stdout.count("\n") == 1, translated.stderr


def test_training_starts_from_the_old_rows_byte_for_byte(tiny, full):
    run, _ = full
    old, initial = (load_checkpoint(path)["model"] for path in (tiny.run() / "model.pt", run / "initial.pt"))
    assert old.keys() == initial.keys()
    for name, weight in old.items():
        assert torch.equal(initial[name][: len(weight)] if name in TABLES else initial[name], weight), name
        assert (len(initial[name]) > len(weight)) == (name in TABLES)
    trained = load_checkpoint(run / "model.pt")
    assert not torch.equal(
        trained["model"]["encoder.layers.0.fc1.weight"], old["encoder.layers.0.fc1.weight"]
    )


def test_scores_say_what_was_before_and_what_is_zero_shot(tiny, full, runs):
    run, _ = full
    scores, base = scores_of(run, runs), json.loads((tiny.run() / "scores.json").read_text())
    kinds = {result["direction"]: result["kind"] for result in scores["directions"]}
    assert kinds == {
        f"{a}-{b}": "supervised" if PIVOT in (a, b) else "zero_shot"
        for a in [*KNOWN, NEW]
        for b in [*KNOWN, NEW]
        if a != b
    }
    before, then = (
        {(result["direction"], result["way"]): result["bleu"] for result in results}
        for results in (scores["before"], base["directions"])
    )
    assert before == then
    assert all(0 <= result["unchanged"] <= 1 for result in scores["before"])
    assert scores["adapted_from"]["mode"] == "full" and "before" in scores["printed"]


def test_a_frozen_run_translates_between_old_languages_as_before_to_the_letter(tiny, frozen, runs):
    scores = scores_of(frozen, runs)
    assert len(scores["before"]) == 18 and {result["unchanged"] for result in scores["before"]} == {1}
    old, new = (load_checkpoint(run / "model.pt")["model"] for run in (tiny.run(), frozen))
    for name, weight in old.items():
        assert torch.equal(new[name][: len(weight)] if name in TABLES else new[name], weight), name
    start = load_checkpoint(frozen / "initial.pt")["model"]
    changed = {name for name, weight in new.items() if not torch.equal(weight, start[name])}
    assert changed >= {*TABLES} and all(name in TABLES or "adapters" in name for name in changed)


def test_a_finished_adaptation_that_is_run_again_does_nothing(tiny, full, config, runs):
    run, _ = full
    before = {path: path.stat().st_mtime_ns for path in run.rglob("*.pt")}
    again = adapt(config, tiny.run(), runs)
    assert again.returncode == 0, again.stderr
    assert [
        f"adapt: {name}: done before" in again.stderr
        for name in ("text", "data", "extend", "train", "average")
    ] == [True] * 5
    assert before == {path: path.stat().st_mtime_ns for path in run.rglob("*.pt")}


def test_an_adapted_run_learns_another_language(frozen, config, runs, tmp_path):
    """Frozen, as before: the languages of both stages keep what they wrote."""
    further = tmp_path / "further.conf"
    further.write_text(ADDED_CONFIG.replace("--number 4", "--number 5").replace(NEW, fifth_language()))
    printed = adapt(further, frozen, runs, "--frozen", "--name", "twice")
    assert printed.returncode == 0, printed.stderr
    run = runs / "further" / "twice" / "seed1"
    assert read_languages(run / "pipeline") == [*KNOWN, NEW, fifth_language()]
    scores = scores_of(run, runs)
    assert {result["unchanged"] for result in scores["before"]} == {1}
    assert {result["direction"] for result in scores["before"]} == {
        f"{a}-{b}" for a in [*KNOWN, NEW] for b in [*KNOWN, NEW] if a != b
    }


def fifth_language() -> str:
    from zsnmt.corpora.invented.corpus import standard_languages

    return standard_languages(5)[-1].name


@pytest.mark.parametrize(
    "change, words",
    [
        (
            ('LANGUAGES="inglan tamek"', 'LANGUAGES="inglan velan"'),
            "the run knows inglan, velan already .* name a language that it lacks",
        ),
        (('LANGUAGES="inglan tamek"', 'LANGUAGES="velan tamek"'), "has the pivot velan, the run has inglan"),
        (("VOCABULARY=120", "VOCABULARY=5"), "a vocabulary of 5 pieces cannot hold all characters"),
    ],
)
def test_a_config_that_adds_nothing_is_refused(tiny, runs, tmp_path, change, words):
    config = tmp_path / "refused.conf"
    config.write_text(ADDED_CONFIG.replace(*change))
    refused = adapt(config, tiny.run(), tmp_path / "runs")
    assert refused.returncode == 1
    assert re.search(words, refused.stderr), refused.stderr
    assert not (tmp_path / "runs" / "refused" / "zs_transformer_residual").exists()


def test_without_the_original_text_only_the_frozen_mode_goes_on(tiny, config, tmp_path):
    run = shutil.copytree(tiny.run(), tmp_path / "base" / "seed1")
    record = json.loads((run / "run.json").read_text())
    (run / "run.json").write_text(json.dumps(record | {"text": str(tmp_path / "gone")}))
    refused = adapt(config, run, tmp_path / "runs")
    assert (
        refused.returncode == 1
        and f"{tmp_path / 'gone'}, the text that {run} was trained on, is not there any more"
        in refused.stderr
    )
    assert "--frozen" in refused.stderr
    done = adapt(config, run, tmp_path / "runs", "--frozen")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "runs" / "added" / "base_frozen" / "seed1" / "model.pt").is_file()


def test_what_is_no_finished_run_is_refused(tiny, config, tmp_path):
    missing = adapt(config, tmp_path, tmp_path / "runs")
    assert missing.returncode == 1 and "is not a run folder; give one made by zsnmt train" in missing.stderr
    run = shutil.copytree(tiny.run(), tmp_path / "seed1", ignore=shutil.ignore_patterns("*.pt"))
    untrained = adapt(config, run, tmp_path / "runs")
    assert untrained.returncode == 1 and "has no model.pt" in untrained.stderr
    unknown = run_command("recipes/adapt.sh", config, run, "--forzen", runs=tmp_path / "runs")
    assert unknown.returncode == 2 and "unrecognized arguments: --forzen" in unknown.stderr
