"""Examples: the same lines for all systems, and nothing that was not translated."""

import json
from dataclasses import replace

import pytest

from tests.support.runs import SIGNATURE, STRAYED, TEXT, make_run, make_text
from tests.support.scores import made_up_scores
from zsnmt.errors import InputError
from zsnmt.files.checksums import sha256
from zsnmt.languages import Direction
from zsnmt.report import examples as module
from zsnmt.report.comparability import read_runs
from zsnmt.report.examples import examples

GERMAN_FRENCH = Direction("de", "fr")


@pytest.fixture
def runs(tmp_path):
    """Two seeds of one system and one of another, whose identifier is not to be had."""
    text = make_text(tmp_path / "text")
    made = read_runs(
        [make_run(tmp_path, text, *run) for run in (("baseline", 1), ("baseline", 2), ("residual", 1))]
    )
    return [identified_by(run, "unknown 1.0") for run in made]


def identified_by(run, signature):
    return replace(
        run, scores=replace(run.scores, signatures=run.scores.signatures | {"off_target": signature})
    )


def test_an_example_has_source_reference_and_every_output(runs):
    found = examples(runs, number=3)
    assert list(found)[:2] == [GERMAN_FRENCH, Direction("fr", "de")] and len(found) == 4
    first = found[GERMAN_FRENCH][0]
    assert (first.line, first.source, first.reference) == (1, TEXT["de"][0], TEXT["fr"][0])
    assert [(output.system, output.way) for output in first.outputs] == [
        (system, way) for system in ("baseline", "residual") for way in ("direct", "through en")
    ]
    assert first.outputs[0].text == STRAYED and first.outputs[1].text == TEXT["fr"][0]
    assert {output.way for output in found[Direction("en", "de")][0].outputs} == {"direct"}


def test_an_output_through_the_pivot_has_the_sentence_that_it_came_from(runs):
    """Liu et al. 2021, Table 10; a run that pivots itself has it as a direct translation."""
    direct, pivot = examples(runs, number=3)[GERMAN_FRENCH][1].outputs[:2]
    assert (direct.in_pivot, pivot.in_pivot) == (None, TEXT["en"][1])
    (runs[0].folder / "hypotheses" / "direct.de-en.txt").unlink()
    assert examples(runs, number=3)[GERMAN_FRENCH][1].outputs[1].in_pivot is None


def test_of_another_pivot_it_is_kept_once_for_all_directions_with_the_sources(runs):
    hypotheses = runs[2].folder / "hypotheses"
    of_pivot = {"pivot_model": "baseline1", "pivot_engine": "ctranslate2 4.0.0 int8"}
    decoding = runs[2].scores.decoding | of_pivot
    settings = json.loads((hypotheses / "pivot.json").read_text())
    (hypotheses / "pivot.json").write_text(json.dumps(settings | of_pivot))
    (hypotheses / "into_pivot.de-fr.txt").write_text("one\ntwo\nthree\n")
    run = replace(runs[2], scores=replace(runs[2].scores, decoding=decoding))
    found = examples([run], number=3)
    assert found[GERMAN_FRENCH][1].outputs[1].in_pivot == "two"
    assert found[Direction("fr", "de")][1].outputs[1].in_pivot is None  # its sources are others


def test_off_target_outputs_are_marked_by_the_identifier_of_the_rates(runs):
    assert {output.strayed for output in examples(runs, number=3)[GERMAN_FRENCH][0].outputs} == {None}
    direct, pivot = examples([identified_by(run, SIGNATURE) for run in runs], number=3)[GERMAN_FRENCH][
        0
    ].outputs[:2]
    assert direct.text == STRAYED and direct.strayed == "en" and pivot.strayed is None


def test_the_identifier_is_made_again_with_the_scripts_of_the_scores(tmp_path):
    scripts = {"en": "Latin", "hi": "Devanagari"}
    _, signature = module.load_identifier("py3langid", ["en", "hi"], tmp_path, scripts)
    scores = replace(
        made_up_scores("baseline", 1, 5.0),
        languages=["en", "hi"],
        scripts=scripts,
        signatures={"off_target": signature},
    )
    assert module.sentence_identifier(scores, tmp_path).identify(["यह घर है।", "A house.", "2018."]) == [
        "hi",
        "en",
        "unknown",
    ]
    assert module.sentence_identifier(replace(scores, scripts={}), tmp_path) is None


def test_lines_are_drawn_by_seed_alike_for_all_directions(runs):
    drawn = {
        seed: [[example.line for example in found] for found in examples(runs, 1, seed).values()]
        for seed in range(1, 9)
    }
    assert all(len({tuple(lines) for lines in of_seed}) == 1 for of_seed in drawn.values())
    assert len({str(of_seed) for of_seed in drawn.values()}) > 1
    assert drawn[1] == [[example.line for example in found] for found in examples(runs, 1, 1).values()]


def test_many_directions_have_fewer_examples_each(runs, monkeypatch):
    monkeypatch.setattr(module, "MOST", 8)
    assert {len(found) for found in examples(runs, number=3).values()} == {2}
    monkeypatch.setattr(module, "MOST", 2)  # of four directions
    assert [*examples(runs, number=3)] == [GERMAN_FRENCH, Direction("de", "en")]


def test_what_hypotheses_were_made_with_is_read_once_and_not_for_each_direction(runs, monkeypatch):
    """It says something of every direction itself."""
    read, original = [], module.read_json
    monkeypatch.setattr(
        module, "read_json", lambda path, *others: read.append(path) or original(path, *others)
    )
    assert len(examples(runs, number=3)) == 4
    assert len(read) == len({*read}) == 4  # two systems, each directly and through the pivot


def test_none_are_shown_on_request_and_fewer_than_none_are_refused(runs):
    assert examples(runs, number=0) == {}
    with pytest.raises(InputError, match="-1 examples"):
        examples(runs, number=-1)


def test_hypotheses_of_another_model_are_left_out(runs, caplog):
    settings = runs[2].folder / "hypotheses" / "direct.json"
    settings.write_text(json.dumps({**json.loads(settings.read_text()), "model": "another"}))
    assert {output.system for output in examples(runs, 3)[GERMAN_FRENCH][0].outputs} == {"baseline"}
    assert "no examples of residual" in caplog.text and "not what was scored" in caplog.text


def test_another_test_set_is_not_taken_for_the_one_translated(runs, tmp_path, caplog):
    (tmp_path / "text" / "test.de").write_text("another\n" * 3)
    found = examples(runs, 3)
    assert GERMAN_FRENCH not in found and Direction("fr", "de") in found
    assert "is not what" in caplog.text and "--text" in caplog.text


def test_text_that_has_moved_can_be_named(runs, tmp_path, caplog):
    (tmp_path / "text").rename(tmp_path / "moved")
    assert examples(runs, 3) == {} and "is not a folder" in caplog.text
    assert len(examples(runs, 3, text=tmp_path / "moved")) == 4


def test_a_file_of_hypotheses_that_was_changed_is_not_shown(runs, caplog):
    folder = runs[0].folder / "hypotheses"
    settings, hypotheses = folder / "direct.json", folder / "direct.de-fr.txt"
    known = json.loads(settings.read_text()) | {"checksums": {hypotheses.name: sha256(hypotheses)}}
    settings.write_text(json.dumps(known))
    assert GERMAN_FRENCH in examples(runs, 3)
    hypotheses.write_text("what another model wrote\n" * 3)
    assert GERMAN_FRENCH not in examples(runs, 3) and "direct.de-fr.txt is not what was scored" in caplog.text


def test_a_shortened_file_of_hypotheses_is_noticed(runs, caplog):
    (runs[0].folder / "hypotheses" / "direct.de-fr.txt").write_text("one line\n")
    assert GERMAN_FRENCH not in examples(runs, 3) and "has 1 lines for 3 sources" in caplog.text
