"""The steps of the probes of a run: what they leave of calls that were stopped."""

import pytest

from zsnmt.languages import LANGUAGES_FILE
from zsnmt.probing.settings import Probing
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
