"""The data of the study of position encodings: what is left out of all conditions, how much of the rest is
taken, and how long that is trained on.
"""

import json
import random
from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.trees import made_up_tree, projective_tree, write_trees
from zsnmt.corpora.reordering.dependency_trees import text_of
from zsnmt.errors import InputError
from zsnmt.masked_lm.config import StudyConfig, read_study_config
from zsnmt.masked_lm.study import check_training, length
from zsnmt.masked_lm.study_data import (
    condition_sentences,
    cut,
    prepare_condition,
    text_and_treebanks,
    tree_counts,
)
from zsnmt.masked_lm.study_folder import Study
from zsnmt.text.lines import read_lines, write_lines
from zsnmt.training.steps import Steps

CROSSED = (2, 3, None, 2)  # arcs 1-3 and 2-4
LEFT_OUT = (0, 7, 20)  # of the trees below


@pytest.fixture(scope="module")
def trees():
    """Projective trees, with some between that are not."""
    generator = random.Random(3)
    found = [projective_tree(generator.randint(4, 7), generator) for _ in range(40)]
    for place in LEFT_OUT:
        found.insert(place, made_up_tree(CROSSED, generator, prefix="crossed"))
    return found


@pytest.fixture
def study(tmp_path, trees) -> Study:
    files = {name: write_trees(tmp_path / f"{name}.conllu", trees) for name in ("train", "valid", "fi")}
    config = StudyConfig(
        train=str(files["train"]), valid=str(files["valid"]), train_lines=12, valid_lines=99, vocabulary=14
    )
    return Study(config, tmp_path / "some.conf", tmp_path / "runs")


def text_files(study: Study) -> dict[str, Path]:
    return {"train": Path(study.config.train), "valid": Path(study.config.valid)}


@pytest.mark.parametrize("condition", ["same", "none", "fi"])
def test_a_tree_that_is_not_projective_is_in_no_condition(study, trees, condition):
    """Section 3 of the paper: "we exclude them from all our corpora"."""
    treebanks = {"fi": [study.file.with_name("fi.conllu")]}
    text = condition_sentences(Steps("test"), study, condition, trees=text_files(study), treebanks=treebanks)
    kept = [text_of(tree) for place, tree in enumerate(trees) if place not in LEFT_OUT]
    assert len(kept) == 40 and read_lines(text.first["train"]) == kept
    second = text.second and [sorted(line.split()) for line in read_lines(text.second["train"])]
    assert second == ({} if condition == "none" else [sorted(line.split()) for line in kept])
    counts = tree_counts(study, condition)["train"]
    assert (counts["read"], counts["non_projective"], counts["kept"]) == (43, 3, 40)


def test_the_same_lines_are_taken_of_both_languages_at_even_distances(study, tmp_path):
    for name in ("first", "second"):
        write_lines(tmp_path / f"{name}.train", [f"{name} {number}" for number in range(36)])
        write_lines(tmp_path / f"{name}.valid", [f"{name} {number}" for number in range(5)])
    for name in ("first", "second"):
        side = {split: tmp_path / f"{name}.{split}" for split in ("train", "valid")}
        found = cut(side, study.config, tmp_path / f"cut.{name}")
        assert read_lines(found["train"]) == [f"{name} {number}" for number in range(0, 36, 3)]
        assert read_lines(found["valid"]) == read_lines(side["valid"])  # which has fewer than are asked for
    assert cut({}, study.config, tmp_path / "none") == {}


def test_a_cut_of_validation_is_not_written_over_that_of_training(study, tmp_path):
    """Files of two folders may have one name."""
    side = {split: tmp_path / split / "en.txt" for split in ("train", "valid")}
    for split, path in side.items():
        path.parent.mkdir()
        write_lines(path, [f"{split} {number}" for number in range(24)])
    found = cut(side, study.config, tmp_path / "cut")
    assert read_lines(found["train"]) == [f"train {number}" for number in range(0, 24, 2)]
    assert read_lines(found["valid"]) == read_lines(side["valid"])


def test_trees_and_lines_do_not_go_together(study):
    (lines := study.file.with_name("valid.en")).write_text("a line\n")
    mixed = replace(study, config=replace(study.config, valid=str(lines)))
    with pytest.raises(InputError, match="some.conf has trees in one of TRAIN=.*; give both as trees"):
        text_and_treebanks(Steps("test"), mixed)
    assert text_and_treebanks(Steps("test"), study)[0] == text_files(study)


@pytest.mark.parametrize("chosen", [{"conditions": ("same", "same")}, {"seeds": (1, 2, 1)}])
def test_a_run_is_in_the_grid_once(study, chosen):
    with pytest.raises(InputError, match="is there twice; name each (condition|seed) once"):
        replace(study.config, **chosen)


def test_data_are_cut_before_subwords_are_learned_and_say_how_many_lines_they_have(study):
    prepare_condition(Steps("test"), study, "same", trees=text_files(study), treebanks={})
    data = study.data("same")
    assert json.loads((data / "counts.json").read_text()) == {
        "train.en": 12,
        "train.fake": 12,
        "valid.en": 40,
        "valid.fake": 40,
    }
    assert [path.name for path in data.parent.iterdir()] == ["same"]  # nothing is left of the cut


@pytest.mark.parametrize(
    "counts, updates",
    [
        ({"train.en": 15301, "train.fake": 15301, "valid.en": 4540}, 12000),  # the paper's sizes and batches
        ({"train.en": 15301, "valid.en": 4540}, 6000),  # the control: as many epochs of half the text
        ({"train.en": 257, "train.fake": 257}, 300),
    ],
)
def test_a_hundred_epochs_are_as_many_updates_as_the_text_has_batches(tmp_path, counts, updates):
    (tmp_path / "counts.json").write_text(json.dumps(counts))
    options = length(StudyConfig(epochs=100), tmp_path)
    found = dict(zip(options[::2], options[1::2]))
    assert found == {"--batch-size": "256", "--max-update": str(updates), "--total-num-update": str(updates)}
    assert length(StudyConfig(), tmp_path / "no") == []


def test_counts_that_are_not_numbers_are_damage(tmp_path):
    (tmp_path / "counts.json").write_text('{"train.en": "many"}')
    with pytest.raises(InputError, match="counts.json is damaged .*; remove it, then make the data again"):
        length(StudyConfig(epochs=1), tmp_path)


@pytest.mark.parametrize(
    "setting, message",
    [
        ("LAYERS=8", "line 3, sets LAYERS=8; it must be two different layers, like 0 8"),
        ('LAYERS="8 8"', "sets LAYERS=8 8; it must be two different layers"),
        ('LAYERS="-1 8"', "sets LAYERS=-1 8; it must be two different layers"),
        ("OWN_WEIGHT=0,05", "sets OWN_WEIGHT=0,05; it must be a number from 0 to 1, like 0.05"),
        ("OWN_WEIGHT=5", "sets OWN_WEIGHT=5; it must be a number from 0 to 1"),
        ("TREEBANKS=fi.conllu", "'fi.conllu' is not a treebank; write LANGUAGE:FILE"),
        ("TREEBANKS=fi:a.conllu,", "'fi:a.conllu,' is not a treebank"),
        ('EPOCHS=1\nTRAINING="--update-freq 2"', "has --update-freq, which EPOCHS and BATCH say already"),
        ('EPOCHS=1\nTRAINING="--batch-size=4"', "has --batch-size, which EPOCHS and BATCH say already"),
        ('EPOCHS=1\nMODEL="--max-epoch 4"', "line 4, has --max-epoch, .*; leave it out, or leave out EPOCHS"),
        ('TRAINING="--seed 4"', "line 3, has --seed, which SEEDS says already; leave it out"),
        ('MODEL="--position-encoding=none"', "has --position-encoding, which SYSTEMS says already"),
        ('TRAINING="--valid-subset valid"', "has --valid-subset, which the condition of a run says already"),
        ('TREEBANKS="fi:a fr:c fi:b"', "'fi:b' is a second entry of fi; write fi:FILE,FILE"),
    ],
)
def test_what_would_fail_or_mislead_after_a_training_is_refused_before_it(tmp_path, setting, message):
    path = tmp_path / "some.conf"
    path.write_text(f"TRAIN=a\nVALID=b\n{setting}\n")
    with pytest.raises(InputError, match=message):
        read_study_config(path, {})


def test_a_layer_that_the_model_does_not_have_is_refused_before_a_training():
    model = ("--encoder-layers", "4")
    check_training(StudyConfig(model=model, layers=(0, 4), systems=("learned",)))
    with pytest.raises(InputError, match="LAYERS names layer 8, and the model has 4; name two from 0 to 4"):
        check_training(StudyConfig(model=model, systems=("learned",)))


def test_a_treebank_that_is_not_there_is_named(study):
    treebanks = {"fi": [study.file.with_name("fi.conllu"), study.file.with_name("nowhere.conllu")]}
    with pytest.raises(InputError, match="there is no file .*nowhere.conllu; the comment at the head of"):
        condition_sentences(Steps("test"), study, "fi", trees=text_files(study), treebanks=treebanks)


def test_text_of_lines_has_no_counts_of_trees(study):
    assert tree_counts(study, "same") is None
