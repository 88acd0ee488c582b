"""Parallel text with a synthetic half: what is authentic in it, what is left out, and how it goes on."""

import weakref
from collections import Counter
from itertools import permutations

import pytest
import torch

from tests.distillation.conftest import DIRECTIONS, HELD_OUT, LANGUAGES, OTHERS, PIVOT, MadeUpInterpreter
from zsnmt.corpora.overlap import held_out_sentences, normalise
from zsnmt.corpora.parallel_text import check_corpus, find_pair
from zsnmt.decoding.methods.settings import parse_method
from zsnmt.distillation import translation as translating
from zsnmt.distillation.filtered_text import make_synthetic_text
from zsnmt.distillation.filters import REASONS, Row
from zsnmt.distillation.synthetic_text import rows_of_pairs
from zsnmt.distillation.translation import read_programs
from zsnmt.errors import InputError
from zsnmt.files.records import read_json
from zsnmt.languages import Direction
from zsnmt.text.lines import read_lines
from zsnmt.training.steps import Steps


def steps() -> Steps:
    return Steps("distill")


def files_of(folder) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def training(text, language):
    """Both sides of a language's authentic training text."""
    return [read_lines(path) for path in find_pair(text, "train", PIVOT, target=language)]


def test_every_pair_is_an_authentic_line_and_the_translation_of_the_pivot_beside_it(
    made, synthetic, translate
):
    text = synthetic()
    make_synthetic_text(steps(), text)
    assert text.directions() == DIRECTIONS
    for source, target in DIRECTIONS:
        beside = dict(zip(*reversed(training(made / "text", source))))
        for split in ("train", "valid"):
            pairs = zip(
                *(
                    read_lines(text.text / source / f"{split}.{source}-{target}.{side}")
                    for side in (source, target)
                )
            )
            for authentic, translation in pairs:
                assert translation == translate(beside[authentic], Direction(PIVOT, target))


def test_each_pivot_sentence_of_a_pair_is_translated_once(made, synthetic, translate):
    interpreter = MadeUpInterpreter(translate)
    make_synthetic_text(steps(), synthetic(interpreter))
    assert [direction for direction, _ in interpreter.asked] == [
        Direction(PIVOT, target) for _, target in DIRECTIONS
    ]
    for (source, _), (_, lines) in zip(DIRECTIONS, interpreter.asked):
        read = {line for (line,) in lines}
        assert len(read) == len(lines) and read <= {*training(made / "text", source)[0]}


def test_folders_are_parallel_text_and_the_counts_are_right(made, synthetic):
    text = synthetic()
    make_synthetic_text(steps(), text)
    record = read_json(text.text / "synthetic.json", "")
    assert record["teacher"] == {"run": "baseline", "model": "0123"} and record["search"]["beam"] == 4
    assert record["identifier"] == f"lexicon of {' '.join(LANGUAGES)}" and {*record["identifier_error"]} == {
        *OTHERS
    }
    for source in OTHERS:
        pairs = [direction for direction in DIRECTIONS if direction.source == source]
        checked = check_corpus(text.text / source, pairs, ["train", "valid"])
        for direction in pairs:
            counts = record["directions"][str(direction)]
            assert {split: checked[split][str(direction)] for split in checked} == {
                split: counts[split] for split in ("train", "valid")
            }
            listed = (text.text / source / f"dropped.{direction}.tsv").read_text().splitlines()
            reasons = Counter(line.split("\t")[0] for line in listed)
            assert counts["dropped"] == {reason: reasons[reason] for reason in REASONS}
            selection = text.selection(source)
            assert sum(reasons.values()) + counts["train"] + counts["valid"] == len(selection.all)
            assert counts["valid"] <= HELD_OUT and counts["train"] > 0
            for line in listed:
                _, number, pivot, authentic, _ = line.split("\t")
                assert [pivot, authentic] == [
                    side[int(number) - 1] for side in training(made / "text", source)
                ]


def test_no_validation_or_test_line_is_in_either_half(made, synthetic):
    held_out = read_lines(made / "text" / "test.tamun")[0]

    def leaking(line: str, direction: Direction) -> str:
        return held_out if direction.target == "tamun" else f"{direction.target} {line}"

    text = synthetic(MadeUpInterpreter(leaking), identifier="none")
    make_synthetic_text(steps(), text)
    sentences = held_out_sentences(made / "text", LANGUAGES)
    found = [*text.text.rglob("train.*"), *text.text.rglob("valid.*")]
    assert found and not any(normalise(line) in sentences for path in found for line in read_lines(path))
    counts = read_json(text.text / "synthetic.json", "")["directions"]
    assert counts["velan-tamun"]["dropped"]["overlap"] > 0 and counts["velan-tamun"]["train"] == 0
    assert not [*text.text.rglob("train.velan-tamun.*")]


def test_a_held_out_line_is_in_no_training_pair_of_any_direction(synthetic):
    text = synthetic()
    make_synthetic_text(steps(), text)
    for source in OTHERS:
        train, valid = (
            {line for path in (text.text / source).glob(f"{split}.*.{source}") for line in read_lines(path)}
            for split in ("train", "valid")
        )
        assert train and valid and not train & valid


@pytest.mark.parametrize("direct", [False, True])
def test_a_teacher_that_copies_teaches_nothing(synthetic, direct):
    copies = synthetic(MadeUpInterpreter(lambda line, direction: line), identifier="none", direct=direct)
    with pytest.raises(InputError, match="the filters keep none .* train the teacher longer"):
        make_synthetic_text(steps(), copies)
    for direction in DIRECTIONS:
        listed = (copies.text / direction.source / f"dropped.{direction}.tsv").read_text().splitlines()
        assert {line.split("\t")[0] for line in listed} == {"copy"}
        for line in listed:
            _, _, pivot, authentic, translation = line.split("\t")
            assert translation == (authentic if direct else pivot)


def test_the_control_translates_the_authentic_side_itself(made, synthetic, translate):
    interpreter = MadeUpInterpreter(translate)
    text = synthetic(interpreter, direct=True)
    make_synthetic_text(steps(), text)
    assert [direction for direction, _ in interpreter.asked] == DIRECTIONS and "-direct-" in text.folder.name
    for source, target in DIRECTIONS:
        sides = (
            read_lines(text.text / source / f"train.{source}-{target}.{side}") for side in (source, target)
        )
        for authentic, translation in zip(*sides):
            assert translation == translate(authentic, Direction(source, target))


def test_a_teacher_of_two_sources_reads_each_line_with_its_pivot_sentence(made, synthetic, translate):
    interpreter = MadeUpInterpreter(translate)
    text = synthetic(interpreter, way=parse_method("ensemble"))
    make_synthetic_text(steps(), text)
    assert [direction for direction, _ in interpreter.asked] == DIRECTIONS
    for (source, target), (_, lines) in zip(DIRECTIONS, interpreter.asked):
        pivot, other = training(made / "text", source)
        assert len({*lines}) == len(lines) and {*lines} <= {*zip(other, pivot)}
        sides = (
            read_lines(text.text / source / f"train.{source}-{target}.{side}") for side in (source, target)
        )
        for authentic, translation in zip(*sides):
            assert translation == translate(authentic, Direction(source, target))


def test_what_such_a_teacher_has_not_learned_is_left_out(synthetic, translate, capsys):
    """As where the filters left nothing of a direction in the rounds before."""
    interpreter = MadeUpInterpreter(translate)
    text = synthetic(interpreter, way=parse_method("ensemble"))
    text.teacher.learned_of = lambda directions: [*directions][1:]
    make_synthetic_text(steps(), text)
    assert [direction for direction, _ in interpreter.asked] == DIRECTIONS[1:]
    assert f"has not learned {DIRECTIONS[0]}, of which its own" in capsys.readouterr().err
    text.teacher.learned_of = lambda directions: []
    assert text.directions() == DIRECTIONS  # so that check_teacher says that it has learned none


def test_such_a_teacher_must_not_copy_what_people_wrote(synthetic):
    copies = MadeUpInterpreter(lambda line, direction: line)  # of the first of the two that it reads
    with pytest.raises(InputError, match="the filters keep none"):
        make_synthetic_text(steps(), synthetic(copies, identifier="none", way=parse_method("ensemble")))


def test_the_record_says_what_translated(synthetic, translate, monkeypatch):
    """By each program that took part, also where one goes on with a direction that another has begun."""
    monkeypatch.setattr(translating, "BLOCK", 20)
    first, second = MadeUpInterpreter(translate, stop_before=1), MadeUpInterpreter(translate)
    second.describe = lambda: {"engine": "another"}
    with pytest.raises(KeyboardInterrupt):
        make_synthetic_text(steps(), synthetic(first))
    text = synthetic(second)
    make_synthetic_text(steps(), text)
    programs = [{"engine": "made up"}, {"engine": "another"}]
    assert read_json(text.text / "synthetic.json", "")["programs"] == programs
    of_directions = [read_programs(text.translated_by(direction)) for direction in DIRECTIONS]
    assert of_directions == [programs, *[programs[1:]] * (len(DIRECTIONS) - 1)]
    text.translated_by(DIRECTIONS[0]).unlink()
    assert read_programs(text.translated_by(DIRECTIONS[0])) == []  # as older text has none


def test_nothing_of_the_teacher_is_kept_on_a_gpu_while_the_student_is_trained(
    synthetic, translate, monkeypatch
):
    made, alive = [], []

    def interpreter(*given, **named) -> MadeUpInterpreter:
        loaded = MadeUpInterpreter(translate)
        loaded.itself = loaded  # as engines may refer to themselves
        made.append(weakref.ref(loaded))
        return loaded

    monkeypatch.setattr(torch.cuda, "empty_cache", lambda: alive.extend(each() for each in made))
    text = synthetic()
    monkeypatch.setattr(translating, "Interpreter", interpreter)
    make_synthetic_text(steps(), text)
    assert alive == [None]


@pytest.mark.parametrize("stop_before", [0, 1, 4])
def test_what_was_stopped_goes_on_to_the_same_files(synthetic, translate, tmp_path, stop_before):
    whole, stopped = synthetic(folder=tmp_path / "whole"), tmp_path / "stopped"
    make_synthetic_text(steps(), whole)
    first = MadeUpInterpreter(translate, stop_before)
    text = synthetic(first, folder=stopped)
    with pytest.raises(KeyboardInterrupt):
        make_synthetic_text(steps(), text)
    assert len(first.asked) == stop_before and not text.text.exists()
    rest = MadeUpInterpreter(translate)
    text = synthetic(rest, folder=stopped)
    make_synthetic_text(steps(), text)
    assert len(rest.asked) == len(DIRECTIONS) - stop_before
    for part in ("translations", "text"):
        assert files_of(text.folder / part) == files_of(whole.folder / part)
    again = MadeUpInterpreter(translate)
    make_synthetic_text(steps(), synthetic(again, folder=stopped))
    assert not again.asked


@pytest.mark.parametrize("stop_before, torn", [(1, ""), (2, "half a li"), (3, "a line\nhalf"), (9, "")])
def test_a_direction_that_was_stopped_goes_on_with_its_next_block(
    synthetic, translate, tmp_path, monkeypatch, stop_before, torn
):
    """What was written of a block that is not whole is not kept."""
    monkeypatch.setattr(translating, "BLOCK", 20)
    whole, stopped = synthetic(folder=tmp_path / "whole"), tmp_path / "stopped"
    make_synthetic_text(steps(), whole)
    first, rest = MadeUpInterpreter(translate, stop_before), MadeUpInterpreter(translate)
    with pytest.raises(KeyboardInterrupt):
        make_synthetic_text(steps(), synthetic(first, folder=stopped))
    for part in stopped.rglob("*.part"):
        with part.open("a") as file:
            file.write(torn)
    text = synthetic(rest, folder=stopped)
    make_synthetic_text(steps(), text)
    asked = [*first.asked, *rest.asked]
    assert len(asked) == len({(direction, *lines) for direction, lines in asked})  # none of it twice
    assert all(len(lines) <= 20 for _, lines in asked) and len(asked) > 2 * len(DIRECTIONS)
    for part in ("translations", "text"):
        assert files_of(text.folder / part) == files_of(whole.folder / part)


def test_what_was_begun_of_other_lines_is_not_gone_on_with(synthetic, translate, tmp_path, monkeypatch):
    """As where the authentic text was changed in between."""
    monkeypatch.setattr(translating, "BLOCK", 20)
    with pytest.raises(KeyboardInterrupt):
        make_synthetic_text(steps(), synthetic(MadeUpInterpreter(translate, 2), folder=tmp_path / "stopped"))
    (begun,) = (tmp_path / "stopped").rglob("*.part")
    rest = MadeUpInterpreter(translate)
    text = synthetic(rest, folder=tmp_path / "stopped")
    monkeypatch.setattr(type(text), "sources", lambda self, language: [("Another.",)] * 30)
    translating.translate(steps(), text, DIRECTIONS[:1])
    assert [len(lines) for _, lines in rest.asked] == [20, 10] and not begun.exists()


def test_other_settings_have_another_folder(synthetic):
    settings = [
        {},
        {"direct": True},
        {"way": parse_method("ensemble")},
        {"lines": 7},
        {"held_out": 3},
        {"identifier": "none"},
    ]
    assert len({synthetic(**each).folder for each in settings}) == len(settings)
    bounded = synthetic(lines=7)
    make_synthetic_text(steps(), bounded)
    counts = read_json(bounded.text / "synthetic.json", "")["directions"].values()
    assert all(of_direction["train"] <= 7 for of_direction in counts)


def test_directions_with_text_by_people_are_left_to_it(synthetic, made, tmp_path):
    folder = tmp_path / "made"
    (folder / "text").mkdir(parents=True)
    for path in (made / "text").iterdir():
        (folder / "text" / path.name).symlink_to(path)
    for side in ("velan", "tamun"):
        (folder / "text" / f"train.velan-tamun.{side}").write_text("A line.\n")
    assert synthetic().directions() == [
        Direction(*pair) for pair in permutations(OTHERS, 2) if {*pair} != {"velan", "tamun"}
    ]


def test_a_kept_pair_is_of_its_own_line_though_one_that_is_left_out_has_the_same_sides(
    made, synthetic, monkeypatch
):
    direction = DIRECTIONS[0]
    pivot, other = training(made / "text", direction.source)
    first, second = synthetic().selection(direction.source).train[:2]
    other = [other[first] if place == second else line for place, line in enumerate(other)]
    same = {pivot[first], pivot[second]}

    def translate(line, direction):  # as a copy, in the first of the two lines
        return pivot[first] if line in same else line

    text = synthetic(MadeUpInterpreter(translate), identifier="none")
    monkeypatch.setattr(type(text), "lines", lambda self, language: (pivot, other))
    make_synthetic_text(steps(), text)
    assert [(row.line, row.pivot) for row in text.kept(direction)] == [(second + 1, pivot[second])]


def test_pairs_that_the_translations_do_not_give_are_refused(tmp_path):
    rows = [Row(1, "One.", "Eins.", "Un."), Row(2, "Two.", "Zwei.", "Deux."), Row(3, "2.", "Zwei.", "Deux.")]
    assert rows_of_pairs(rows, (["Eins.", "Zwei."], ["Un.", "Deux."]), tmp_path) == rows[:2]
    assert rows_of_pairs(rows, (["Zwei.", "Zwei."], ["Deux.", "Deux."]), tmp_path) == rows[1:]
    with pytest.raises(
        InputError, match=f"pairs that its translations do not give; remove {tmp_path.parent}, and run"
    ):
        rows_of_pairs(rows, (["Zwei.", "Eins."], ["Deux.", "Un."]), tmp_path)
