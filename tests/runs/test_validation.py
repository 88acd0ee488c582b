"""What a training leaves of its validations."""

import json
import random

import pytest
from sacrebleu.metrics import BLEU

from tests.support.evaluation import sentences, spoilt
from zsnmt.runs.trained_directions import TrainedDirections
from zsnmt.runs.validation import (
    VALIDATION_FILE,
    BleuCounts,
    append_validation,
    choosing_directions,
    read_validations,
)

DIRECTIONS = ["de-en", "en-de", "de-fr"]
LEARNED = TrainedDirections(["de-en", "en-de", "en-fr"])


def figures(updates: int, loss: float) -> dict:
    """What fairseq says of a validation, where only two of the three directions are translated."""
    losses = {f"nll_loss_{direction}": loss + place for place, direction in enumerate(DIRECTIONS)}
    return {
        "num_updates": updates,
        "nll_loss": loss,
        **losses,
        "bleu_de-en": 20.5,
        "bleu_de-fr": 0.25,
        "wps": 9.0,
    }


def append(folder, epoch: int, updates: int, loss: float) -> None:
    append_validation(folder, epoch, figures(updates, loss), DIRECTIONS, LEARNED)


def test_each_validation_is_a_line_with_the_figures_of_each_direction(tmp_path):
    append(tmp_path, 1, 50, 7.0)
    append(tmp_path, 2, 100, 6.5)
    lines = (tmp_path / VALIDATION_FILE).read_text().splitlines()
    assert [json.loads(line) for line in lines] == read_validations(tmp_path)
    assert read_validations(tmp_path)[1] == {
        "epoch": 2,
        "updates": 100,
        "nll_loss": 6.5,
        "directions": {
            "de-en": {"kind": "supervised", "nll_loss": 6.5, "bleu": 20.5},
            "en-de": {"kind": "supervised", "nll_loss": 7.5},
            "de-fr": {"kind": "zero_shot", "nll_loss": 8.5, "bleu": 0.25},
        },
    }


def test_what_chose_checkpoints_is_said_where_it_was_not_trained(tmp_path):
    append(tmp_path, 1, 50, 7.0)
    assert choosing_directions(tmp_path) == [] and "chosen_on" not in read_validations(tmp_path)[0]
    append_validation(tmp_path, 2, figures(100, 6.5), DIRECTIONS, LEARNED, decisive=DIRECTIONS)
    assert choosing_directions(tmp_path) == ["de-fr"] == read_validations(tmp_path)[1]["chosen_on"]


def test_what_has_synthetic_text_alone_is_zero_resource(tmp_path):
    student = LEARNED.after([], ["de-fr"])
    append_validation(tmp_path, 1, figures(50, 7.0), DIRECTIONS, student)
    (line,) = read_validations(tmp_path)
    assert {direction: of["kind"] for direction, of in line["directions"].items()} == {
        "de-en": "supervised",
        "en-de": "supervised",
        "de-fr": "zero_resource",
    }
    append_validation(tmp_path, 2, figures(60, 7.0), DIRECTIONS, student, decisive=DIRECTIONS)
    assert "chosen_on" not in read_validations(tmp_path)[1]
    by_people = student.after([], ["de-fr"], few=["de-fr"])
    append_validation(tmp_path, 3, figures(70, 7.0), DIRECTIONS, by_people)
    assert read_validations(tmp_path)[2]["directions"]["de-fr"]["kind"] == "few_shot"


def test_without_validations_there_are_none(tmp_path):
    assert read_validations(tmp_path) == []


def test_of_a_resumed_training_the_last_word_counts(tmp_path):
    """It went on from the checkpoint of update 50, and validated there and later again."""
    for epoch, updates, loss in ((1, 50, 7.0), (2, 100, 6.5), (1, 50, 6.9), (2, 100, 6.4), (3, 150, 6.0)):
        append(tmp_path, epoch, updates, loss)
    found = [(entry["updates"], entry["nll_loss"]) for entry in read_validations(tmp_path)]
    assert found == [(50, 6.9), (100, 6.4), (150, 6.0)]


@pytest.mark.parametrize("kept", [1, 20, -2, -1])
def test_a_line_that_was_cut_short_is_left_out_and_spoils_no_other(tmp_path, kept):
    append(tmp_path, 1, 50, 7.0)
    whole = (tmp_path / VALIDATION_FILE).read_text()
    (tmp_path / VALIDATION_FILE).write_text(whole + whole[:kept])  # as by a full disk
    assert [entry["updates"] for entry in read_validations(tmp_path)] == [50]
    append(tmp_path, 2, 100, 6.5)
    assert [entry["updates"] for entry in read_validations(tmp_path)] == [50, 100]


def test_a_training_adds_to_a_file_with_a_damaged_line(tmp_path):
    (tmp_path / VALIDATION_FILE).write_bytes(b'{"epoch": 1\xff}\n{"epoch": 2')
    append(tmp_path, 3, 150, 6.5)
    assert [entry["updates"] for entry in read_validations(tmp_path)] == [150]


@pytest.mark.parametrize("batch", [1, 7, 40])
def test_counts_of_batches_add_up_to_the_bleu_of_the_corpus(batch):
    references = sentences("aa", 40)
    hypotheses = spoilt(references, 0.3)
    order = random.Random(4).sample(range(40), 40)
    counts = BleuCounts()
    batches = [order[start : start + batch] for start in range(0, 40, batch)]
    of_batches = [
        counts.count([hypotheses[i] for i in places], [references[i] for i in places]) for places in batches
    ]
    assert {len(of_batch) for of_batch in of_batches} == {BleuCounts.SIZE}
    total = [float(sum(values)) for values in zip(*of_batches)]  # as tensors of doubles are added up
    assert BleuCounts.bleu(total) == pytest.approx(
        BLEU().corpus_score(hypotheses, [references]).score, abs=0.005
    )
    assert BleuCounts.bleu(counts.count(references, references)) == 100


@pytest.mark.parametrize("empty", [["", ""], ["", "de3 de4"]])
def test_counts_of_empty_outputs_can_be_scored(empty):
    references = ["de3 de4 de5 de6.", "de3 de4 de7 de8."]
    assert BleuCounts.bleu(BleuCounts().count(empty, references)) == round(
        BLEU().corpus_score(empty, [references]).score, 2
    )
    assert BleuCounts.bleu([0.0] * BleuCounts.SIZE) == 0
