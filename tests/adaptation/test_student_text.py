"""The synthetic text of a student that is adapted: found, whole, and without new held-out sentences."""

import json
import shutil
from pathlib import Path

import pytest

from tests.adaptation.conftest import FIRST, NEW, PIVOT, SECOND
from zsnmt.adaptation.data import extend_data
from zsnmt.adaptation.modes import FROZEN
from zsnmt.adaptation.settings import SYNTHETIC_FROM, Adaptation
from zsnmt.adaptation.student_data import train_on_text
from zsnmt.adaptation.student_text import choose_text, read_student_text
from zsnmt.data.binarised_folder import find_data
from zsnmt.errors import InputError
from zsnmt.languages import Direction
from zsnmt.text.lines import read_lines, write_lines
from zsnmt.text.settings import TextSettings
from zsnmt.training.config import Config
from zsnmt.training.experiment import Experiment
from zsnmt.training.steps import Steps

THERE, BACK = Direction(FIRST, SECOND), Direction(SECOND, FIRST)
TRAINED, HELD_OUT = 5, 2


@pytest.fixture
def folder(tmp_path, corpus) -> Path:
    """The synthetic text of one direction and its use in training, as `zsnmt distill` leaves them."""
    folder = tmp_path / "synthetic" / "teacher"
    of_first = folder / "text" / FIRST
    of_first.mkdir(parents=True)
    sides = {
        language: read_lines(corpus / f"train.{language}-{PIVOT}.{language}")
        if (corpus / f"train.{language}-{PIVOT}.{language}").is_file()
        else read_lines(corpus / f"train.{PIVOT}-{language}.{language}")
        for language in THERE
    }
    for language, lines in sides.items():
        write_lines(of_first / f"train.{THERE}.{language}", lines[:TRAINED])
        write_lines(of_first / f"valid.{THERE}.{language}", lines[TRAINED : TRAINED + HELD_OUT])
    (of_first / f"dropped.{THERE}.tsv").write_text("length\t3\tone\ttwo\tthree\n")
    counts = {"train": TRAINED, "valid": HELD_OUT, "dropped": {"length": 1}}
    none = {"train": 0, "valid": 0, "dropped": {"length": 8}}
    record = {"teacher": {"run": "teacher"}, "directions": {str(THERE): counts, str(BACK): none}}
    (folder / "text" / "synthetic.json").write_text(json.dumps(record))
    return folder


@pytest.fixture
def student(tmp_path, folder) -> Path:
    """The run folder of the student, as far as it speaks of its text."""
    run = tmp_path / "student"
    run.mkdir()
    record = json.loads((folder / "text" / "synthetic.json").read_text())
    used = {"sides": "both", "share": 0.25, "folder": str(folder)}
    (run / "synthetic.json").write_text(json.dumps(record | used))
    write_record(run, synthetic=[str(THERE), str(BACK)], distilled_from={})
    return run


def write_record(run: Path, **further: object) -> None:
    run.mkdir(exist_ok=True)
    known = {"config": "x", "system": "x", "seed": 1, "text": "text"}
    (run / "run.json").write_text(json.dumps(known | further))


@pytest.fixture
def said(monkeypatch) -> list[str]:
    sentences: list[str] = []
    monkeypatch.setattr(Steps, "say", lambda self, sentence: sentences.append(sentence))
    return sentences


def choose(student, run, **settings):
    return choose_text(Steps("adapt"), Adaptation(student, **settings), run)


def test_all_of_a_students_directions_go_on_without_a_word(student, folder, said, tmp_path):
    text = choose(student, tmp_path / "run")
    assert text.folder == folder and text.distillation.share == 0.25 and not said
    assert text.directions == {"targets": [THERE], "sources": [BACK]}


def test_what_may_be_forgotten_is_said_with_the_folder_that_is_gone(student, folder, said, tmp_path):
    shutil.move(folder, tmp_path / "elsewhere")
    assert choose(student, tmp_path / "run") is None
    (sentence,) = said
    assert f"{student} may forget 2 of its directions, {THERE} among them" in sentence
    assert f"{folder}, which has the synthetic text of them, is not there any more; --frozen" in sentence


def test_text_that_has_moved_with_its_student_is_found(student, folder, said, tmp_path):
    there = tmp_path / "moved"
    shutil.move(folder.parent, there / "synthetic")
    shutil.move(student, there / "student" / "seed1")
    text = choose(there / "student" / "seed1", tmp_path / "run")
    assert text.folder == there / "synthetic" / folder.name and not said


def test_a_few_lines_and_what_is_left_out_may_be_forgotten(student, said, tmp_path):
    assert choose(student, tmp_path / "run", without_synthetic=True) is None
    write_record(student, synthetic=[str(THERE)], few_shot=[f"{FIRST}-other"], distilled_from={})
    assert choose(student, tmp_path / "run")
    (student / "synthetic.json").unlink()
    assert choose(student, tmp_path / "run") is None
    assert [sentence.partition(" may forget ")[2].split(",")[:2] for sentence in said] == [
        ["2 of its directions", f" {THERE} among them"],
        ["1 of its directions", f" {FIRST}-other among them"],
        ["2 of its directions", f" {THERE} among them"],
    ]
    assert all("no text of them is part of this training; --frozen keeps them" in each for each in said)


def test_in_mode_frozen_nothing_is_forgotten_and_nothing_read(student, said, tmp_path):
    (student / "synthetic.json").write_text("half")
    assert choose(student, tmp_path / "run", mode=FROZEN) is None and not said


def test_a_run_that_has_begun_goes_on_as_it_began(student, folder, said, tmp_path):
    run = tmp_path / "run"
    write_record(run)
    (run / "model.pt").touch()
    assert choose(student, run) is None
    write_record(run, **{SYNTHETIC_FROM: str(folder)})
    assert choose(student, run).folder == folder
    shutil.move(folder, tmp_path / "elsewhere")
    with pytest.raises(InputError, match="cannot go on: .*teacher, .* is not there any more; bring it back"):
        choose(student, run)
    assert not said


@pytest.mark.parametrize(
    "name, content, message",
    [
        (f"text/{FIRST}/train.{THERE}.{FIRST}", None, f"train.{THERE}.{SECOND} stands alone"),
        (f"text/{FIRST}/train.{THERE}.{FIRST}", b"one\n", f"has 1 line and .* has {TRAINED}"),
        (f"text/{FIRST}/valid.{THERE}.{SECOND}", b"one\n\xff\n", "line 2, byte 1: 0xff is not UTF-8"),
        ("text/synthetic.json", None, r"synthetic.json is missing"),
        (
            "text/synthetic.json",
            b'{"directions": {"a-b": 3}}',
            "json is damaged .directions cannot",
        ),
    ],
)
def test_damaged_text_is_refused_by_name(student, folder, tmp_path, name, content, message):
    (folder / name).unlink()
    if content is not None:
        (folder / name).write_bytes(content)
    with pytest.raises(InputError, match=rf"{message}.*bring the synthetic text back .*--without-synthetic"):
        choose(student, tmp_path / "run")
    assert choose(student, tmp_path / "run", without_synthetic=True) is None


def test_text_that_was_shortened_and_a_damaged_record_are_refused(student, folder, tmp_path):
    of_first = folder / "text" / FIRST
    for language in THERE:
        path = of_first / f"train.{THERE}.{language}"
        write_lines(path, read_lines(path)[1:])
    with pytest.raises(InputError, match=rf"has 4 pairs in train.{THERE}.\*, and had {TRAINED}; bring"):
        choose(student, tmp_path / "run")
    record = json.loads((student / "synthetic.json").read_text())
    (student / "synthetic.json").write_text(json.dumps(record | {"sides": None}))
    with pytest.raises(InputError, match="synthetic.json is damaged .sides cannot be null"):
        choose(student, tmp_path / "run")


@pytest.fixture
def experiment(tmp_path, corpus, base) -> Experiment:
    """The text and the data of all languages, for the model of the known ones."""
    made = Experiment(Config((PIVOT, NEW), text="text"), tmp_path / "x.conf", tmp_path / "added")
    shutil.copytree(corpus, made.text)
    extend_data(corpus, made.data, base, new=[NEW], settings=TextSettings(vocabulary_size=200))
    return made


def test_the_data_are_those_of_the_text_without_new_held_out_sentences(
    student, folder, said, experiment, tmp_path
):
    write_record(run := tmp_path / "run", **{SYNTHETIC_FROM: str(folder)})
    sentence = read_lines(experiment.text / f"test.{NEW}")[0]
    held_out = folder / "text" / FIRST / f"train.{THERE}.{SECOND}"
    write_lines(held_out, [sentence, *read_lines(held_out)[1:]])
    text = read_student_text(student)
    options = ["--lang-pairs", f"{PIVOT}-{FIRST},{NEW}-{PIVOT}"]
    main, words = train_on_text(Steps("adapt"), experiment, text, run=run, options=options)
    assert [each for each in said if "left out" in each] == [
        "1 synthetic pairs with a sentence of the new held-out sets are left out"
    ]
    given = dict(zip(words[::2], words[1::2]))
    extra = {use: Path(each) for use, each in json.loads(given["--extra-data"]).items()}
    assert json.loads(given["--extra-lang-pairs"]) == {"targets": str(THERE), "sources": str(BACK)}
    assert all(find_data(extra[use], "train", THERE, language=FIRST) for use in extra)
    assert find_data(main, "valid", BACK, language=SECOND)
    validated = given["--valid-lang-pairs"].split(",")
    assert str(BACK) in validated and str(THERE) not in validated and f"{NEW}-{PIVOT}" in validated
    weights = json.loads((run / "sampling.json").read_text())
    assert {*weights} == {
        *(f"main:{each}" for each in options[1].split(",")),
        f"targets:{THERE}",
        f"sources:{BACK}",
    }
    assert sum(weight for name, weight in weights.items() if "main" not in name) == pytest.approx(0.25)
    again = read_student_text(run)
    again.check()
    assert again.counts[THERE] == {"train": TRAINED - 1, "valid": HELD_OUT, "dropped": {"length": 1}}
    assert again.folder == experiment.folder / "synthetic" / "teacher"
    assert again.distillation.sides == "both" and again.distillation.share == 0.25
    write_record(run)
    assert read_student_text(run) is None, "it was begun anew without"
    before = {path: path.stat().st_mtime_ns for path in again.folder.rglob("*.bin")}
    assert train_on_text(Steps("adapt"), experiment, text, run=run, options=options) == (main, words)
    assert before == {path: path.stat().st_mtime_ns for path in again.folder.rglob("*.bin")}
    assert {"text: done before", "data: done before"} <= {*said}


def test_further_text_is_learned_again_too(student, folder, experiment, tmp_path):
    run, back = tmp_path / "run", f"train.{SECOND}-{PIVOT}"
    run.mkdir()
    (folder / "back" / FIRST).mkdir(parents=True)
    for language in (SECOND, PIVOT):
        lines = read_lines(experiment.text / f"valid.{language}") + [f"a sentence of {language}"]
        write_lines(folder / "back" / FIRST / f"{back}.{language}", lines)
    record = json.loads((student / "synthetic.json").read_text())
    (student / "synthetic.json").write_text(json.dumps(record | {"sides": "all"}))
    text = read_student_text(student)
    text.check()
    _, words = train_on_text(Steps("adapt"), experiment, text, run=run, options=[])
    given = dict(zip(words[::2], words[1::2]))
    assert json.loads(given["--extra-lang-pairs"])[f"back_{FIRST}"] == f"{SECOND}-{PIVOT}"
    written = experiment.folder / "synthetic" / "teacher" / "back" / FIRST / f"{back}.{SECOND}"
    assert read_lines(written) == [f"a sentence of {SECOND}"]
    (folder / "back" / FIRST / f"{back}.{PIVOT}").unlink()
    with pytest.raises(InputError, match="stands alone; .*; bring the synthetic text back as it was"):
        text.check()
    shutil.rmtree(folder / "back")
    with pytest.raises(InputError, match="back is not there; bring the synthetic text back as it was"):
        text.check()


def test_what_the_student_was_trained_on_is_what_it_is_trained_on_again(student, experiment, base, tmp_path):
    """Old languages keep their ids, so that data without new held-out sentences are equal to the byte."""
    from zsnmt.distillation.data import binarise_synthetic

    write_record(run := tmp_path / "run", **{SYNTHETIC_FROM: "text"})
    text = read_student_text(student)
    binarise_synthetic(text.folder / "text", text.folder / "data", authentic=base, directions=[THERE])
    train_on_text(Steps("adapt"), experiment, text, run=run, options=[])
    made = read_student_text(run).folder
    assert made != text.folder
    for use in ("targets", "sources"):
        files = sorted((text.folder / "data" / use).glob("*.bin"))
        assert len(files) == 2
        assert all((made / "data" / use / file.name).read_bytes() == file.read_bytes() for file in files)
