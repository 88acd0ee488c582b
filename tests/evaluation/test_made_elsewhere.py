"""Translations of another toolkit are scored exactly as a run's own, and stand beside them."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from tests.conftest import LANGUAGES
from tests.support.evaluation import MadeUpTranslator, write_run, write_text
from tests.support.scores import changed
from zsnmt.cli import score as score_verb
from zsnmt.errors import InputError
from zsnmt.evaluation.evaluate import evaluate
from zsnmt.evaluation.made_elsewhere import (
    OtherSystem,
    RunTestSet,
    check_apart_from_runs,
    translation_files,
)
from zsnmt.evaluation.settings import EvaluationSettings, TextChoice
from zsnmt.inference.translator import Translator
from zsnmt.languages import SUPERVISED, UNKNOWN, ZERO_SHOT, Direction
from zsnmt.report.comparability import check_comparable, read_runs
from zsnmt.report.comparison import markdown_table, text_table
from zsnmt.report.examples import examples
from zsnmt.report.finding import finding
from zsnmt.report.page import write_page
from zsnmt.report.scores import Column, own_first
from zsnmt.report.scores import seeds as seeds_of
from zsnmt.report.significance import gain
from zsnmt.runs.folder import hypotheses_file
from zsnmt.runs.score_file import read_scores, write_score_file
from zsnmt.runs.scores import NO_SEED, Scores
from zsnmt.runs.translated_files import Translated
from zsnmt.runs.ways import DIRECT, PIVOT
from zsnmt.scoring.options import Scoring
from zsnmt.text.lines import read_lines, write_lines

AA_BB = Direction("aa", "bb")
SETTINGS = EvaluationSettings(scoring=Scoring(identifier="lexicon"))


@pytest.fixture
def run(tmp_path, monkeypatch) -> Path:
    """A run that is scored."""
    monkeypatch.setattr(Translator, "open", MadeUpTranslator)
    run = write_run(tmp_path / "run", write_text(tmp_path / "text"), "residual")
    write_score_file(run / "scores.json", evaluate(run, SETTINGS))
    return run


@pytest.fixture
def folder(tmp_path, run) -> Path:
    """The run's own translations in the form of another toolkit's."""
    folder = tmp_path / "nllb"
    folder.mkdir()
    for direction in read_scores(run).kinds:
        shutil.copy(hypotheses_file(run / "hypotheses", DIRECT, direction), folder / f"{direction}.txt")
    return folder


def scored(run: Path, folder: Path, system: OtherSystem = OtherSystem("nllb"), **choice) -> Scores:
    test_set = RunTestSet(run, replace(SETTINGS, text=TextChoice(**choice)))
    translations = test_set.read(folder)
    test_set.keep(folder, translations, test_set.score(translations, system))
    return read_scores(folder)


def test_the_same_translations_have_the_scores_of_the_run(run, folder):
    own, other = read_scores(run), scored(run, folder)
    for kind, found in (SUPERVISED, SUPERVISED), (ZERO_SHOT, UNKNOWN):
        results, others = own.select(kind), other.select(found)
        assert [*results] == [*others] and results
        for direction, result in results.items():
            timeless = {name: value for name, value in result.figures.items() if name != "seconds"}
            assert timeless == others[direction].figures
            assert result.uncertainty == others[direction].uncertainty
            assert result.identified == others[direction].identified
        assert own.means[kind, DIRECT] == other.means[found, DIRECT]
    assert (own.test_set, own.signatures, own.scripts) == (other.test_set, other.signatures, other.scripts)


def test_files_may_be_named_as_a_run_names_them(run, tmp_path):
    copy = tmp_path / "copy"
    shutil.copytree(run / "hypotheses", copy)
    assert translation_files(copy) == {
        Translated(result.way, result.direction): copy / f"{result.way.file_name}.{result.direction}.txt"
        for result in read_scores(run).results
    }


def test_translations_through_the_pivot_have_the_scores_of_the_run(run, tmp_path):
    copy = tmp_path / "nllb"
    shutil.copytree(run / "hypotheses", copy)
    own, other = read_scores(run), scored(run, copy)
    expected, found = own.select(ZERO_SHOT, PIVOT), other.select(UNKNOWN, PIVOT)
    assert [*expected] == [*found] and expected
    assert all(result.figures["bleu"] == found[each].figures["bleu"] for each, result in expected.items())
    assert text_table([own, other]).count("unknown minus pivot") == 1
    (copy / "pivot.aa-bb.txt").rename(copy / "pivot.aa-piv.txt")
    with pytest.raises(InputError, match="pivot.aa-piv.txt: aa-piv has the pivot on one side; remove"):
        scored(run, copy)


def test_a_table_has_both_and_names_the_toolkit(run, folder):
    own, other = read_scores(run), scored(run, folder)
    shown = text_table([own, other])
    said = "By another toolkit, whose search, training text and overlap with the test set are unknown: nllb."
    assert said in " ".join(shown.split())
    assert "p = 1.000" in shown, "on the same lines"
    assert markdown_table([own, other]).startswith("| system | seeds | with piv |"), "the kinds differ"
    alone = " ".join(text_table([other]).split())
    assert "search unknown" in alone


def test_what_is_unknown_is_in_no_sentence_of_what_was_found(run, folder):
    own, other = read_scores(run), scored(run, folder)
    assert finding([own, other]) == finding([own])
    told = scored(run, folder, OtherSystem("zeroes", kind=ZERO_SHOT))
    assert {*told.kinds.values()} == {SUPERVISED, ZERO_SHOT}
    assert "is the best of the systems that translate directly" in finding([own, told])
    assert "is the best of the systems of known training that" in finding([own, told, other])


def test_it_is_compared_with_all_seeds_unless_it_has_one_of_them(run, folder):
    """Of three seeds with other scores, the difference is from their mean, not from the first."""
    own, other = read_scores(run), scored(run, folder)
    seeds = [
        replace(
            own,
            seed=seed,
            results=[changed(result, bleu=result.figures["bleu"] + further) for result in own.results],
        )
        for seed, further in ((1, -3.0), (2, 0.0), (3, 6.0))
    ]
    column = Column(SUPERVISED, DIRECT, "bleu")
    assert gain([other], seeds, column).mean == pytest.approx(-1.0)
    assert gain([replace(other, seed=1)], seeds, column).mean == pytest.approx(3.0)
    assert seeds_of([other]) == "–" and other.name == "nllb"
    assert seeds_of([replace(other, seed=2)]) == "2"


def test_a_seed_of_0_is_a_seed(run, folder):
    other = scored(run, folder, OtherSystem("nllb", seed=0))
    assert seeds_of([other]) == "0" and other.name == "nllb seed 0"


def test_one_name_is_one_system(run, folder):
    own, other = read_scores(run), scored(run, folder, OtherSystem("residual"))
    with pytest.raises(InputError, match="the runs of residual are not seeds of one system: of another"):
        check_comparable([own, other])


def test_they_stand_behind_those_of_runs(run, folder):
    own, other = read_scores(run), scored(run, folder)
    assert own_first([other, own]) == [own, other]
    assert [each.scores.system for each in read_runs([folder, run])] == ["residual", "nllb"]


def test_a_page_has_their_examples(run, folder, tmp_path):
    scored(run, folder)
    runs = read_runs([run, folder])
    shown = examples(runs, number=2)
    for direction, found in shown.items():
        for example in found:
            outputs = [output for output in example.outputs if output.way != "through piv"]
            assert [output.system for output in outputs] == ["residual", "nllb"]
            assert (
                outputs[0].text
                == outputs[1].text
                == read_lines(folder / f"{direction}.txt")[example.line - 1]
            )
    write_page(tmp_path / "page.html", runs)
    assert "made_up: zero-shot against pivot" in (tmp_path / "page.html").read_text()


def test_the_search_may_differ_and_nothing_else(run, folder):
    own, other = read_scores(run), scored(run, folder)
    check_comparable([replace(own, decoding={**own.decoding, "beam": 1}), other])
    for changes in (
        {"config": "another"},
        {"test_set": "another"},
        {"signatures": {**other.signatures, "bleu": "tok:intl"}},
        {"results": other.results[1:]},
    ):
        with pytest.raises(InputError, match="these runs cannot stand in one table"):
            check_comparable([own, replace(other, **changes)])


def test_sources_are_what_is_scored(run, tmp_path):
    test_set = RunTestSet(run, replace(SETTINGS, text=TextChoice(lines=7)))
    files = test_set.write_sources(tmp_path / "nllb" / "sources")
    assert len(files) == len(LANGUAGES) * (len(LANGUAGES) - 1)
    lines = read_lines(tmp_path / "text" / "test.aa")[:7]
    assert read_lines(tmp_path / "nllb" / "sources" / "aa-bb.txt") == lines
    write_lines(tmp_path / "nllb" / "aa-bb.txt", lines)
    assert test_set.read(tmp_path / "nllb") == {Translated(DIRECT, AA_BB): lines}
    write_lines(tmp_path / "nllb" / "aa-bb.txt", read_lines(tmp_path / "text" / "test.aa"))
    assert test_set.read(tmp_path / "nllb") == {Translated(DIRECT, AA_BB): lines}, "the first of all"


def test_a_direction_without_a_file_is_named_and_left_out(run, folder, caplog):
    scored(run, folder)
    (folder / "aa-bb.txt").rename(folder / "aa_bb.txt")
    assert AA_BB not in scored(run, folder).kinds
    assert "has no file for them: aa-bb; it also has aa_bb.txt" in caplog.text
    assert not hypotheses_file(folder / "hypotheses", DIRECT, AA_BB).exists(), "which was of before"


def test_some_directions_of_a_folder_can_be_scored(run, folder):
    assert [*scored(run, folder, directions=[AA_BB]).kinds] == [AA_BB]


def test_pieces_in_the_place_of_text_are_noticed(run, folder, caplog):
    write_lines(folder / "aa-bb.txt", [f"▁{line}" for line in read_lines(folder / "aa-bb.txt")])
    scored(run, folder)
    assert "aa-bb.txt holds pieces, and not text as a reader sees it; detokenise it first" in caplog.text


def test_a_file_that_is_the_copy_of_another_is_noticed(run, folder, caplog):
    scored(run, folder)
    assert "holds what" not in caplog.text
    shutil.copy(folder / "aa-bb.txt", folder / "cc-bb.txt")
    scored(run, folder)
    assert "cc-bb.txt holds what " in caplog.text and "aa-bb.txt holds; see whether each" in caplog.text


@pytest.mark.parametrize(
    "lines, choice, message",
    [
        (39, {}, r"aa-bb.txt has 39 lines, and .*test\.aa has 40 to translate; give a line for each"),
        (39, {"lines": 7}, r"aa-bb.txt has 39 lines, and .*test\.aa has 40 to translate"),
    ],
)
def test_a_file_with_more_or_fewer_lines_is_refused(run, folder, lines, choice, message):
    path = folder / "aa-bb.txt"
    write_lines(path, read_lines(path)[:lines])
    with pytest.raises(InputError, match=message):
        scored(run, folder, **choice)


def test_a_file_of_another_direction_is_refused(run, folder):
    (folder / "aa-bb.txt").rename(folder / "aa-xx.txt")
    with pytest.raises(InputError, match=r"aa-xx.txt: the test set has no direction aa-xx; it has aa-"):
        scored(run, folder)


def test_one_direction_is_in_one_file(folder):
    shutil.copy(folder / "aa-bb.txt", folder / "direct.aa-bb.txt")
    with pytest.raises(InputError, match="are of one direction; leave one of them"):
        translation_files(folder)


def test_a_folder_without_translations_is_refused(tmp_path):
    (tmp_path / "readme.txt").write_text("no translations\n")
    with pytest.raises(InputError, match="has no translations; give a file for each direction, de-fr.txt"):
        translation_files(tmp_path)
    for place, message in (("nowhere", "there is no folder"), ("readme.txt", "is a file; give a folder")):
        with pytest.raises(InputError, match=message):
            translation_files(tmp_path / place)


def test_what_scores_again_is_named_where_they_are_damaged(run, folder):
    scored(run, folder)
    (folder / "scores.json").write_text("{}")
    with pytest.raises(InputError, match=f"zsnmt score RUN {folder}"):
        read_scores(folder)
    with pytest.raises(InputError, match="zsnmt evaluate"):
        (run / "scores.json").write_text("{}")
        read_scores(run)


def test_the_scores_of_a_run_stay(run):
    for place in (run, run / "hypotheses"):
        with pytest.raises(InputError, match="keeps its own scores; copy the translations"):
            check_apart_from_runs(place)


def test_what_is_in_the_way_is_noticed_before_anything_is_scored(folder):
    (folder / "hypotheses").write_text("mine")
    with pytest.raises(InputError, match="hypotheses is a file, where a folder is to be; rename it"):
        check_apart_from_runs(folder)
    (folder / "scores.json").mkdir()
    with pytest.raises(InputError, match="scores.json is a folder; name a file to write"):
        check_apart_from_runs(folder)


def test_the_command_says_what_is_next(tiny, tmp_path, capsys):
    run, folder = tiny.run(), tmp_path / "other"
    score_verb.main([str(run), str(folder), "--sources"])
    written = [Path(line) for line in capsys.readouterr().out.splitlines()]
    assert {path.parent for path in written} == {folder / "sources"}
    for path in written:  # a toolkit that copies
        shutil.copy(path, folder / path.name)
    score_verb.main([str(run), str(folder), "--name", "copies", "--without-pivot", "zero-shot"])
    assert f"zsnmt table {run} {folder}" in capsys.readouterr().out
    scores = read_scores(folder)
    assert (scores.system, scores.seed) == ("copies", NO_SEED)
    assert {*scores.kinds.values()} == {SUPERVISED, ZERO_SHOT}
    assert all(result.figures["copied"] == 1 for result in scores.results)
    assert scores.command == f"zsnmt score {run} {folder} --name copies --without-pivot zero-shot"
    assert "copies" in text_table([read_scores(run), scores])
    system = read_scores(run).system
    with pytest.raises(InputError, match=f"{system} is the system of .*; give the other one another --name"):
        score_verb.main([str(run), str(folder), "--name", system])
    (folder / "velan-tamun.txt").unlink()
    score_verb.main([str(run), str(folder), "--name", "copies"])
    assert "not beside the run's own: these runs cannot stand in one table" in capsys.readouterr().out
