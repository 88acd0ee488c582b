"""The steps of the probes of a run: what they leave of calls that were stopped."""

import math
import os

import pytest

from zsnmt.errors import InputError
from zsnmt.languages import LANGUAGES_FILE
from zsnmt.probing.run import make_probes, probe_run
from zsnmt.probing.settings import LIVE, Probing
from zsnmt.probing.steps import HELD_OUT, STATES, TRAINING, ProbeSteps
from zsnmt.runs.folder import PIPELINE_FOLDER
from zsnmt.text.lines import write_lines
from zsnmt.training.steps import Steps


@pytest.mark.parametrize(
    "settings, stored",
    [
        ({}, {STATES, TRAINING}),
        ({"classifiers_only": True}, {HELD_OUT, TRAINING}),
        ({"training_states": "live"}, {STATES}),
        ({"training_states": "live", "classifiers_only": True}, set()),
    ],
)
def test_states_of_a_stopped_call_that_this_one_does_not_make_are_removed(
    tmp_path, monkeypatch, settings, stored
):
    """With --keep-states they would stay beside tables that are not of them."""
    run, text, new = (tmp_path / name for name in ("run", "text", "new"))
    (run / PIPELINE_FOLDER).mkdir(parents=True)
    text.mkdir()
    write_lines(run / PIPELINE_FOLDER / LANGUAGES_FILE, ["en", "de"])
    for language in ("en", "de"):
        write_lines(text / f"test.{language}", ["one"])
    for what in (STATES, HELD_OUT, TRAINING):
        (new / what).mkdir(parents=True)
    made = []
    monkeypatch.setattr(ProbeSteps, "make_states", lambda self, what: made.append(what))
    for name in ("make_similarity", "make_figures", "make_classifiers"):
        monkeypatch.setattr(ProbeSteps, name, lambda *arguments: None)
    ProbeSteps(Steps("probe"), run, text, probing=Probing(**settings), new=new).make()
    assert {path.name for path in new.iterdir()} == {*made} == stored


@pytest.mark.parametrize("variance", [0, -0.5, 1.01, math.nan])
def test_a_share_of_the_variance_is_checked_before_states_are_stored(variance):
    assert Probing(variance=1.0).variance == 1
    with pytest.raises(InputError, match="--variance .* is not a share of the variance; give one above 0"):
        Probing(variance=variance)


def test_classifiers_are_not_measured_on_what_they_are_trained_on():
    with pytest.raises(InputError, match="trained on lines of train, .* give another --split"):
        Probing(split="train")
    assert Probing(split="valid").split == "valid"


def test_a_share_of_the_variance_is_not_for_classifiers_alone():
    with pytest.raises(InputError, match="--variance is of similarity, which --classifiers-only leaves out"):
        Probing(variance=0.9, classifiers_only=True)
    assert Probing(variance=0.9).variance == 0.9 and Probing(classifiers_only=True).classifiers_only


def test_of_one_language_neither_similarity_nor_language_is_measured(tmp_path):
    (tmp_path / "pipeline").mkdir()
    (tmp_path / "pipeline" / "languages.txt").write_text("en\nde\n")
    one, settings = dict(languages=("de",), labels=("token", "position")), dict(text=tmp_path, new=tmp_path)
    for chosen in (dict(languages=("de",)), one, dict(languages=("de",), classifiers_only=True)):
        with pytest.raises(InputError, match="of two languages or more, not of de alone; name more, or give"):
            _ = ProbeSteps(Steps("probe"), tmp_path, probing=Probing(**chosen), **settings).languages
    alone = Probing(**one, classifiers_only=True)
    assert ProbeSteps(Steps("probe"), tmp_path, probing=alone, **settings).languages == ["de"]


def test_states_that_are_not_stored_are_not_kept(tmp_path, monkeypatch):
    with pytest.raises(InputError, match="--keep-states has nothing to keep: .* --training-states stored"):
        probe_run(
            Steps("probe"),
            tmp_path,
            Probing(training_states=LIVE, classifiers_only=True),
            keep_states=True,
        )
    assert not [*tmp_path.iterdir()]


def test_training_lines_that_the_model_does_not_read_are_left_out(tmp_path, monkeypatch, capsys):
    """They were in its training, too; a line to measure on is named in an error, since it can be mended."""
    run, text = tmp_path / "run", tmp_path / "text"
    (run / PIPELINE_FOLDER).mkdir(parents=True)
    text.mkdir()
    write_lines(run / PIPELINE_FOLDER / LANGUAGES_FILE, ["en", "de"])
    for language in ("en", "de"):
        write_lines(text / f"train.de-en.{language}", ["short", "long"])
        write_lines(text / f"test.{language}", ["long"])
    monkeypatch.setattr(
        "zsnmt.inference.states.readable_lines",
        lambda model, text: {
            name: [line for line in lines if line != "long"] for name, lines in text.items()
        },
    )
    steps = ProbeSteps(Steps("probe"), run, text, probing=Probing(), new=tmp_path / "new")
    assert steps.text_for(None, TRAINING) == {"en": ["short"], "de": ["short"]}
    assert "2 of 4 training lines have more pieces than the model reads" in capsys.readouterr().err
    assert steps.text_for(None, STATES) == {"en": ["long"], "de": ["long"]}


def test_earlier_tables_stay_where_new_ones_do_not_get_into_their_place(tmp_path, monkeypatch):
    earlier, new, rename = tmp_path / "probes", tmp_path / "probes.new", os.rename
    earlier.mkdir()
    (earlier / "classifiers.txt").write_text("earlier")
    monkeypatch.setattr(ProbeSteps, "make", lambda self: {})
    monkeypatch.setattr("zsnmt.probing.record.write_probe_record", lambda new, run, **_: new.mkdir())

    def stopped_rename(source, target):
        if source == new and not os.path.exists(target):
            raise KeyboardInterrupt
        rename(source, target)

    monkeypatch.setattr(os, "rename", stopped_rename)
    with pytest.raises(KeyboardInterrupt):
        make_probes(Steps("probe"), tmp_path, tmp_path, Probing(), keep_states=False)
    assert (earlier / "classifiers.txt").read_text() == "earlier"
