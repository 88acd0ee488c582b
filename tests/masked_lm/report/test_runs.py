"""Runs of the masked-LM study: reading, checking, order and groups."""

import json
from dataclasses import replace

import pytest

from tests.support.masked_lms import CONDITIONS, SEEDS, grid, made_up_content, made_up_masked_lm, write_runs
from zsnmt.errors import InputError
from zsnmt.masked_lm.report.runs import (
    ENCODINGS,
    LABELS,
    SCORES_FILE,
    condition_label,
    conditions_of,
    groups,
    read,
    read_runs,
    runs_by_seed,
    sort_runs,
)
from zsnmt.masked_lm.runs import FORMER_SCORES_FILE, score_file
from zsnmt.runs.systems import MASKED_LM

CODES = ("fi", "ar")


def test_runs_are_read_one_by_one_or_by_the_folder_of_their_config_in_one_order(tmp_path):
    folders = write_runs(tmp_path, grid())
    found = read_runs([tmp_path])
    assert found == read_runs(folders[::-1]) and len(found) == len(ENCODINGS) * len(CONDITIONS) * len(SEEDS)
    assert [(run.condition, run.system, run.seed) for run in found] == [
        (condition, system, seed) for condition in CONDITIONS for system in ENCODINGS for seed in SEEDS
    ]


def test_runs_of_version_01_are_read_under_the_former_name_of_their_score_files(tmp_path):
    new, *former = write_runs(tmp_path, grid())
    for run in former:
        (run / SCORES_FILE).rename(run / FORMER_SCORES_FILE)
        assert score_file(run) == run / FORMER_SCORES_FILE == run / "compression.json"
    assert read_runs([tmp_path]) == sort_runs(grid()) == read_runs([new, *former])
    assert score_file(new) == new / SCORES_FILE == new / "masked_lm.json"


def test_every_system_that_is_scored_has_a_name_here():
    assert {*LABELS} == {*MASKED_LM}


def test_a_folder_without_runs_is_refused(tmp_path):
    with pytest.raises(InputError, match="holds no masked_lm.json.*; score the run with zsnmt masked-lm"):
        read_runs([tmp_path])


@pytest.mark.parametrize(
    "change, message",
    [
        ({"perplexity": "left out"}, "lacks perplexity; score"),
        (
            {"system": "rotary"},
            "is of the system rotary, which the study does not have; it has sinusoidal, learned",
        ),
        (
            {"translation": None, "ml_score": None},
            "has no translation, ml_score, which every run but those of the condition none has",
        ),
        (
            {"procrustes": {"offsets": [1, 2], "mean": [0.5, 0.6], "median": [0.5]}},
            "has 1 rows of procrustes for 2 names",
        ),
        ({"correlations": {"words": ["a"], "values": []}}, "has 0 rows of correlations for 1 names"),
        ({"example": {"second": "a"}}, 'is damaged .example cannot be {"second": "a"}.; remove it'),
    ],
)
def test_a_score_file_that_is_not_whole_is_refused_by_its_name(tmp_path, change, message):
    scores = {**made_up_content(), **change}
    path = tmp_path / SCORES_FILE
    path.write_text(json.dumps({key: value for key, value in scores.items() if value != "left out"}))
    with pytest.raises(InputError, match=message) as refused:
        read(path)
    assert str(path) in str(refused.value)


def test_a_damaged_file_is_refused(tmp_path):
    (tmp_path / SCORES_FILE).write_text("{")
    with pytest.raises(InputError, match="is damaged"):
        read(tmp_path / SCORES_FILE)


OTHER_LAYERS = {"0": {"mean": 0.1}, "6": {"mean": 0.2}}


@pytest.mark.parametrize(
    "change, message",
    [
        (
            {"config": "other"},
            "their configs differ: only same learned seed 0 has made_up, only same learned seed 1 has other",
        ),
        (
            {"sentences": {"train": 5002, "valid": 300}},
            "their numbers of sentences differ: .*2,500 of a language to train.*2,501 of a language",
        ),
        ({"retrieval": OTHER_LAYERS}, "their layers of retrieval differ: .*has 8, .*has 6"),
        ({"translation": OTHER_LAYERS}, "their layers of translation differ"),
        ({"epochs": 11}, "their epochs differ"),
        (
            {"procrustes": {"offsets": [1], "mean": [0.5], "median": [0.5], "noise": 1.5}},
            "their offsets differ",
        ),
        ({"seed": 0}, "a run is given twice: same learned seed 0; give each once"),
    ],
)
def test_runs_that_do_not_compare_are_refused(change, message):
    with pytest.raises(InputError, match=message):
        sort_runs([made_up_masked_lm(), made_up_masked_lm(**{"seed": 1, **change})])


def test_the_control_has_half_the_sentences_no_layers_and_may_train_for_another_number_of_epochs():
    runs = [made_up_masked_lm(), made_up_masked_lm(condition="none", epochs=20)]
    assert [run.name for run in sort_runs(runs)] == ["none learned seed 0", "same learned seed 0"]
    with pytest.raises(InputError, match="numbers of sentences differ"):
        sort_runs([runs[0], replace(runs[1], sentences=runs[0].sentences)])
    assert sort_runs(runs[1:]) == runs[1:]


def test_conditions_are_in_groups_to_average_over():
    runs = [made_up_masked_lm(condition=condition) for condition in (*CODES, "same", "none")]
    assert conditions_of(runs) == ["none", "same", "ar", "fi"]
    assert groups(runs) == {"same": ["same"], "reordered": ["ar", "fi"], "none": ["none"]}
    assert groups(runs[:1]) == {"reordered": ["fi"]}
    assert [*map(condition_label, conditions_of(runs))] == ["EN alone", "EN+[EN]", "EN+[EN∼AR]", "EN+[EN∼FI]"]


def test_a_seed_counts_where_it_has_all_the_conditions():
    runs = [made_up_masked_lm(condition=condition, seed=seed) for condition in CODES for seed in (42, 0)]
    assert {seed: len(found) for seed, found in runs_by_seed(runs, "learned", CODES).items()} == {0: 2, 42: 2}
    assert [*runs_by_seed(runs[1:], "learned", CODES)] == [0] and not runs_by_seed(runs, "sinusoidal", CODES)
