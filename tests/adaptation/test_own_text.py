"""A person's own text in languages that join a run."""

import json
from pathlib import Path

import pytest

from tests.adaptation.conftest import FIRST, KNOWN, NEW, PIVOT, only
from tests.conftest import run_command
from zsnmt.adaptation.own_text import named
from zsnmt.adaptation.settings import Adaptation
from zsnmt.cli import adapt
from zsnmt.cli.common.recipe import Recipe
from zsnmt.errors import InputError
from zsnmt.evaluation import scored_run
from zsnmt.languages import read_languages
from zsnmt.training.config import read_config
from zsnmt.training.own_text import OwnText


@pytest.fixture
def new_text(corpus, tmp_path) -> Path:
    return only(corpus, tmp_path / "new", PIVOT, NEW)


def test_the_languages_that_a_run_lacks_join_it(corpus, new_text):
    assert named(OwnText(new_text), KNOWN).languages == (PIVOT, NEW)
    assert named(OwnText(corpus), KNOWN).languages == (PIVOT, NEW)  # others of the text are passed over
    assert named(OwnText(corpus, languages=(PIVOT, NEW)), KNOWN[:2]).languages == (PIVOT, NEW)


def test_text_of_known_languages_alone_and_without_the_pivot_is_refused(corpus, tmp_path):
    known = only(corpus, tmp_path / "known", PIVOT, FIRST)
    with pytest.raises(InputError, match=f"the run knows {PIVOT}, {FIRST} already"):
        named(OwnText(known), KNOWN)
    with pytest.raises(InputError, match=f"training text in .*{NEW}.*, and none in xx, the run's pivot"):
        named(OwnText(corpus), ["xx", FIRST])
    with pytest.raises(InputError, match=f"the new text has the pivot {NEW}, the run has {PIVOT}"):
        named(OwnText(corpus, languages=(NEW, PIVOT)), KNOWN)


def test_the_plan_makes_a_config_for_each_mode_and_trains_nothing(tiny, tmp_path):
    text, runs = invented(tmp_path), tmp_path / "runs"
    for given, how in (((), "--share 0.5"), (("--frozen", "--adapter-dim", "8"), "--frozen --adapter-dim 8")):
        planned = run_command("recipes/adapt.sh", text, tiny.run(), "--plan", *given, runs=runs)
        assert planned.returncode == 0, planned.stderr
        assert f"and then: zsnmt adapt COPY.conf {tiny.run()} {how}\n" in planned.stderr
    full, frozen = (read_config(runs / f"{name}.conf", {}) for name in ("text", "text_frozen"))
    assert full.text == frozen.text == str(text) and full.languages == ("inglan", "tamek")
    assert full.beam == frozen.beam == 2 and "As in the config of the run: BEAM=2" in planned.stderr
    assert full.training != frozen.training and [*runs.iterdir()] == [*runs.glob("*.conf")]
    wrong = run_command("recipes/adapt.sh", text, tiny.run(), "--plan", "--share", "2", runs=tmp_path / "no")
    assert wrong.returncode == 1 and "--share is 2; it is a share" in wrong.stderr
    assert not (tmp_path / "no").exists()
    wrong = run_command("recipes/adapt.sh", tmp_path / "not.there", tiny.run(), runs=runs)
    assert wrong.returncode == 2 and "give the folder of your text, a file" in wrong.stderr


def test_a_run_that_cannot_be_written_to_is_not_scored_before_it_is_adapted(
    corpus, tmp_path, monkeypatch, capsys
):
    record = {"config": "c", "system": "s", "seed": 1, "text": str(corpus)}
    (tmp_path / "run.json").write_text(json.dumps(record))
    scored = []
    monkeypatch.setattr(scored_run, "score_run", lambda steps, run, settings: scored.append(run))
    monkeypatch.setattr(scored_run, "settings_of", lambda *_: None)
    for writable in (False, True):
        monkeypatch.setattr(adapt.os, "access", lambda *_, writable=writable: writable)
        adapt.score_base(Recipe("adapt"), Adaptation(tmp_path))
        assert scored == [tmp_path] * writable
    assert capsys.readouterr().err.count(f"{tmp_path} has no scores, and none can be written there") == 1


@pytest.mark.slow
def test_from_a_folder_of_text_to_a_translated_sentence(tiny, tmp_path):
    text, runs = invented(tmp_path), tmp_path / "runs"
    words = (text, tiny.run(), "--allow-unknown", "0.3", "--languages", "inglan", "tamek")
    done = run_command("recipes/adapt.sh", *words, "--seed", "2", "--", "--max-update", "3", runs=runs)
    assert done.returncode == 0, done.stderr
    assert "adapt: Training pairs that are empty, copies," in done.stderr
    run = runs / "text" / "zs_transformer_residual" / "seed2"
    assert json.loads((run / "run.json").read_text())["cleaning"]["pairs"].keys() == {"inglan-tamek"}
    assert f"adapt: to translate: zsnmt translate {run} --from tamek --to inglan < lines.txt" in done.stderr
    assert read_languages(run / "pipeline")[-1] == "tamek"
    config = runs / "text.conf"
    assert json.loads((run / "run.json").read_text())["command"] == (
        f"bash recipes/adapt.sh {config} {tiny.run()} --allow-unknown 0.3 --seed 2 --share 0.5 "
        "-- --max-update 3"
    )
    weights = json.loads((run / "sampling.json").read_text())
    assert weights["main:tamek-inglan"] + weights["main:inglan-tamek"] == pytest.approx(0.5)
    assert sum(weights.values()) == pytest.approx(1)
    assert f"--sampling-weights-from-file {run / 'sampling.json'}" in (run / "train.command").read_text()
    again = run_command("recipes/adapt.sh", *words, "--seed", "2", "--", "--max-update", "3", runs=runs)
    assert again.returncode == 0 and "adapt: train: done before" in again.stderr, again.stderr
    translated = run_command("scripts/translate.py", run, "--to", "inglan", "--from", "tamek", input="Ba.\n")
    assert translated.returncode == 0 and translated.stdout.count("\n") == 1, translated.stderr


def invented(folder: Path) -> Path:
    """The demo's text with a language more, which its model lacks."""
    options = "--number 4 --concepts 40 --pairs 120 --valid 6 --test 11 --longest 6".split()
    made = run_command("python", "-m", "zsnmt", "make-synthetic", folder / "text", *options)
    assert made.returncode == 0, made.stderr
    return folder / "text"
