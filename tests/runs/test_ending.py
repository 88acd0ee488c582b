"""How a training ended, by its log."""

import pytest

from zsnmt.runs.ending import read_ending
from zsnmt.runs.folder import ending_of

ENTRIES = (
    '| valid | {{"epoch": {epoch}, "valid_nll_loss": "{valid}", "valid_num_updates": "{epoch}0"}}\n'
    '| train | {{"epoch": {epoch}, "train_loss": "9", "train_nll_loss": "{train}"}}\n'
)
FELL, REST, UNKNOWN_BY_HEART = "still fell", "has not fallen since epoch 1", "nothing is known by heart"


def log_of(*losses: tuple[float, float]) -> str:
    """The log of a training with these losses, of validation and of training, after each epoch."""
    return "".join(
        ENTRIES.format(epoch=epoch, valid=valid, train=train)
        for epoch, (valid, train) in enumerate(losses, start=1)
    )


@pytest.mark.parametrize(
    ("losses", "can_learn", "said", "unsaid"),
    [
        ([(3.2, 4.0), (3.1, 3.5)], True, [FELL, UNKNOWN_BY_HEART, "3.5 bits", "text, 3.1,"], [REST]),
        ([(3.1, 4.0), (3.2, 3.5)], True, [REST, UNKNOWN_BY_HEART], [FELL]),
        ([(3.2, 3.1), (3.1, 2.5)], True, [FELL], [REST, UNKNOWN_BY_HEART]),
        ([(3.1, 3.0), (3.2, 2.5)], False, [REST], [FELL, UNKNOWN_BY_HEART]),
        ([(3.1, 4.0), (3.2, 3.2)], True, [REST, UNKNOWN_BY_HEART], [FELL]),
    ],
)
def test_an_ending_says_what_the_curves_say(losses, can_learn, said, unsaid):
    ending = read_ending(log_of(*losses))
    assert ending.can_learn == can_learn
    assert all(words in str(ending) for words in said)
    assert not any(words in str(ending) for words in unsaid)


def test_the_losses_are_those_of_the_last_epoch():
    ending = read_ending(log_of((3.1, 3.0), (3.2, 2.5)))
    assert (ending.validation, ending.training, ending.summary.best_epoch) == (3.2, 2.5, 1)


def test_validations_within_one_epoch_are_told_apart():
    within = '| valid | {"epoch": 1, "valid_nll_loss": "3", "valid_num_updates": "5"}\n'
    ending = read_ending(within + log_of((3.1, 2.5)))
    assert not ending.can_learn and "not fallen since epoch 1, after 5 updates" in str(ending)


def test_a_log_without_a_whole_epoch_has_no_ending(tmp_path):
    assert read_ending("") is None
    assert read_ending(log_of((3.1, 3.0)).splitlines()[0]) is None
    assert ending_of(tmp_path) is None
