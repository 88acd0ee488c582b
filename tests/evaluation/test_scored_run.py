"""How a run is scored: what is given goes before its config, and that before the defaults."""

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.support.scores import made_up_scores
from zsnmt.cli import evaluate
from zsnmt.decoding.methods.settings import parse_method
from zsnmt.decoding.search import Search
from zsnmt.errors import InputError
from zsnmt.evaluation import scored_run
from zsnmt.evaluation.scored_run import (
    check_before_scoring,
    newer_sets,
    other_pivot,
    pivot_of,
    score_elsewhere,
    score_run,
    settings_of,
)
from zsnmt.evaluation.settings import EvaluationSettings, TextChoice
from zsnmt.runs.score_file import write_score_file
from zsnmt.scoring.options import Scoring
from zsnmt.training.steps import Steps

CONFIG = """\
TEXT=text
LANGUAGES="en de fr"
BEAM=2
BLEU_TOKENIZER=subwords
TEST_LINES=60
"""


@pytest.fixture
def run(tmp_path) -> Path:
    (tmp_path / "config.conf").write_text(CONFIG)
    (tmp_path / "run.json").write_text(json.dumps({"text": "text"}))
    return tmp_path


def test_what_is_given_goes_before_the_config_and_that_before_the_defaults(run):
    given = dict.fromkeys(("identifier", "bleu_tokenizer", "beam", "length_penalty", "lines", "comet"))
    settings = settings_of(run, {}, given | {"bleu_tokenizer": "intl", "split": "valid"})
    assert settings.search == Search(beam=2)
    assert settings.scoring == Scoring(bleu_tokenizer="intl")
    assert settings.text == TextChoice(split="valid", lines=60)
    assert settings_of(run, {}, {}).scoring == Scoring(bleu_tokenizer="subwords")


def test_a_test_set_that_has_changed_since_is_named(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run, given, kept = (tmp_path / name for name in ("run", "text", "kept"))
    for folder in (run, given, kept):
        folder.mkdir()
    (run / "config.conf").write_text(CONFIG)
    record = {"text": str(kept), "config": "a", "system": "b", "seed": 1}
    (run / "run.json").write_text(json.dumps(record))
    (run / "model.pt").touch()
    for name in ("test.de", "test.fr", "train.de-en.de"):
        (kept / name).write_text("before\n")
    (given / "test.de").write_text("before\n")
    (given / "train.de-en.de").write_text("now\n")
    assert newer_sets(run, {}) == []
    (given / "test.fr").write_text("now\n")
    assert newer_sets(run, {}) == [Path("text/test.fr")]


def test_a_tokeniser_that_there_is_not_is_refused_before_anything_is_loaded(run):
    with pytest.raises(InputError, match="there is no BLEU tokeniser '14a'; choose 13a, "):
        settings_of(run, {}, {"bleu_tokenizer": "14a"})


def test_a_run_without_its_config_is_told_from_what_is_no_run(run, tmp_path):
    (run / "config.conf").unlink()
    with pytest.raises(InputError, match="has no config.conf, which says how it is scored; copy it"):
        settings_of(run, {}, {})
    (run / "run.json").unlink()
    with pytest.raises(InputError, match="is not a run folder"):
        settings_of(run, {}, {})


def test_other_ways_are_those_of_the_config_unless_others_are_given(run):
    """Nothing is said of them where there are none, so that older scores count as made."""
    settings = settings_of(run, {}, {"ways": None})
    assert "ways" not in settings.said and settings.methods == []
    with (run / "config.conf").open("a") as config:
        config.write('WAYS="ensemble mask:pieces=2"\n')
    settings = settings_of(run, {}, {})
    assert settings.said["ways"] == ("ensemble", "mask:pieces=2")
    assert settings.methods == [parse_method("ensemble"), parse_method("mask:pieces=2")]
    contrast = settings_of(run, {}, {"ways": ["contrast", "own_pivot"]})
    assert contrast.methods == [parse_method("contrast")] and contrast.own_pivot
    with pytest.raises(InputError, match="a way is given twice: mask mask:pieces=1; name each once"):
        settings_of(run, {}, {"ways": ["mask", "mask:pieces=1"]})
    (run / "config.conf").write_text(f"{CONFIG}WAYS=vote\n")
    with pytest.raises(InputError, match="config.conf.* no way .vote. to translate; choose"):
        settings_of(run, {}, {})


def test_the_baseline_of_the_same_config_and_seed_may_pivot(tmp_path, monkeypatch):
    """Liu et al. 2021, section 3.2."""
    run = tmp_path / "iwslt17" / "zs_transformer_residual" / "seed2"
    run.mkdir(parents=True)
    baseline = tmp_path / "iwslt17" / "zs_transformer" / "seed2"
    assert pivot_of(run, "baseline") == baseline
    assert pivot_of(Path("/run"), "baseline") == Path("/zs_transformer/run")  # as in a container
    assert pivot_of(run, None) is pivot_of(run, "self") is None
    assert pivot_of(run, "runs/other") == Path("runs/other")
    monkeypatch.chdir(run)
    assert pivot_of(Path(), "baseline") == baseline
    with pytest.raises(InputError, match="zs_transformer/seed2, which is to .* name another with --pivot"):
        score_run(Steps("evaluate"), run, EvaluationSettings(), pivot=baseline)


def test_scores_of_more_lines_are_not_replaced_by_those_of_fewer(tmp_path):
    run = tmp_path / "seed1"
    run.mkdir()
    record = dict(
        config="made_up", system="student", text="text", seed=1, command="bash recipes/distill.sh C T"
    )
    (run / "run.json").write_text(json.dumps(record))
    (run / "config.conf").write_text(CONFIG)
    with pytest.raises(InputError, match="train it on with zsnmt distill C T, or leave it out"):
        check_before_scoring(run)
    (run / "model.pt").touch()
    check_before_scoring(run, 20)  # nothing is there yet
    scores = made_up_scores("baseline", 1, 5.0)
    write_score_file(run / "scores.json", scores)
    check_before_scoring(run)
    with pytest.raises(InputError, match="has the scores of all lines, and those of 20 would replace them"):
        check_before_scoring(run, 20)
    write_score_file(run / "scores.json", replace(scores, decoding={**scores.decoding, "lines": 20}))
    check_before_scoring(run, 20)
    with pytest.raises(InputError, match="has the scores of 20 lines, .* --output, or remove this one"):
        check_before_scoring(run, 19)
    (run / "scores.json").write_text("{")
    check_before_scoring(run, 19)  # which is made anew


def test_nor_are_those_of_an_export(tmp_path):
    check_before_scoring(tmp_path, 2)  # nothing is there yet
    scores = made_up_scores("baseline", 1, 5.0)
    write_score_file(tmp_path / "scores.json", replace(scores, decoding={**scores.decoding, "lines": 4}))
    check_before_scoring(tmp_path, 4)
    with pytest.raises(InputError, match="has the scores of 4 lines, and those of 2 would replace them"):
        check_before_scoring(tmp_path, 2)


def test_a_run_that_is_named_as_its_own_pivot_translates_through_it_itself(tmp_path):
    run, other = tmp_path / "run", tmp_path / "other"
    for folder in (run, other):
        folder.mkdir()
        (folder / "model.pt").touch()
    assert other_pivot(run, None) is None and other_pivot(run, tmp_path / "." / "run") is None
    assert other_pivot(run, other) == other
    with pytest.raises(
        InputError, match="nothing, which is to translate through the pivot, is not a trained"
    ):
        other_pivot(run, tmp_path / "nothing")


def test_all_runs_are_looked_at_before_the_first_is_scored(run, tmp_path, monkeypatch):
    (run / "model.pt").touch()
    begun: list[Path] = []
    monkeypatch.setattr(evaluate, "Recipe", lambda *_: SimpleNamespace(variables={}, steps=None))
    monkeypatch.setattr(scored_run, "score_run", lambda steps, folder, *_, **__: begun.append(folder))
    with pytest.raises(InputError, match="there is no folder .*nothing; give a run, made by zsnmt train"):
        evaluate.main([str(run), str(tmp_path / "nothing")])
    with pytest.raises(InputError, match=f"{run} is named twice; name each folder once"):
        evaluate.main([str(run), str(run)])
    assert not begun


def test_scores_of_two_files_have_translations_of_their_own(run, tmp_path, monkeypatch):
    folders = []
    monkeypatch.setattr(scored_run, "score", lambda *_, hypotheses, **__: folders.append(hypotheses.name))
    for name in ("scores.json", "scores.de", "scores.fr"):
        score_elsewhere(run, tmp_path / name, EvaluationSettings())
    assert folders == ["scores.hypotheses", "scores.de.hypotheses", "scores.fr.hypotheses"]
