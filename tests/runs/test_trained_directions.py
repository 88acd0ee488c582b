"""What a model has learned in several trainings, one after the other."""

from zsnmt.languages import FEW_SHOT, SUPERVISED, ZERO_RESOURCE, ZERO_SHOT
from zsnmt.runs.trained_directions import TrainedDirections

BASELINE = TrainedDirections().after(["de-en", "en-de"])
STUDENT = BASELINE.after(["de-en", "en-de"], ["de-fr", "fr-de"])


def kinds(learned: TrainedDirections) -> list[str]:
    return [learned.kind(direction) for direction in ("de-en", "de-fr", "fr-de", "fr-en")]


def test_a_direction_has_the_kind_of_the_best_text_that_a_training_had():
    assert kinds(BASELINE) == [SUPERVISED, ZERO_SHOT, ZERO_SHOT, ZERO_SHOT]
    assert kinds(STUDENT) == [SUPERVISED, ZERO_RESOURCE, ZERO_RESOURCE, ZERO_SHOT]
    few = STUDENT.after(["de-en"], ["de-fr"], few=["de-fr"])
    assert kinds(few) == [SUPERVISED, FEW_SHOT, ZERO_RESOURCE, ZERO_SHOT]
    assert kinds(few.after([], ["de-fr"])) == kinds(few)  # synthetic text later takes nothing away
    assert kinds(STUDENT.after(["fr-de"])) == [SUPERVISED, ZERO_RESOURCE, SUPERVISED, ZERO_SHOT]


def test_each_direction_stands_once_in_the_order_in_which_it_came():
    later = STUDENT.after(["fr-en", "de-en"], ["fr-de", "nl-de"])
    assert later.trained == ["de-en", "en-de", "de-fr", "fr-de", "fr-en", "nl-de"]
    assert later.synthetic == ["de-fr", "fr-de", "nl-de"]


def test_a_checkpoint_keeps_them_and_an_older_one_is_told_which_are_synthetic():
    few = STUDENT.after([], ["de-fr"], few=["de-fr"])
    assert TrainedDirections.of_state(few.state(), synthetic=["nl-de"]) == few
    assert TrainedDirections.of_state({}, synthetic=["nl-de"]).state() == {
        "trained": [],
        "synthetic": ["nl-de"],
        "few_shot": [],
    }
