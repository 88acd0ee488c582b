"""What a training log says, in a person's words."""

import pytest

from zsnmt.errors import InputError
from zsnmt.runs.log import (
    Summary,
    Validated,
    logged_epochs,
    logged_validations,
    progress_line,
    read_summary,
    summarise,
)

LOG = """\
2026-01-01 | INFO | train_inner | {"epoch": 1, "update": 0.5, "loss": "9", "nll_loss": "8.5", "wps": "4859.6"}
2026-01-01 | INFO | valid | {"epoch": 1, "valid_nll_loss": "7.1", "valid_num_updates": "10"}
2026-01-01 | INFO | valid | {"epoch": 2, "valid_nll_loss": "6.5", "valid_num_updates": "20", \
"valid_best_nll_loss": "6.5"}
2026-01-01 | INFO | valid | {"epoch": 3, "valid_nll_loss": "6.9", "valid_num_updates": "30", \
"valid_best_nll_loss": "6.5"}
"""


def test_a_training_that_goes_on_says_where():
    line = "| INFO | fairseq.trainer | Loaded checkpoint /a b/checkpoint_{}.pt (epoch 3 @ 1200 updates)"
    assert progress_line(line.format("last")) == "goes on in epoch 3, after 1,200 updates"
    assert progress_line(line.format("best")) is None
    assert progress_line(line.format("last").replace("1200", "0")) is None  # another run's, to begin with


def test_a_log_in_a_persons_words():
    lines = [progress_line(line) for line in LOG.split("\n")]
    assert lines == [
        "epoch 0.5, training loss 8.5, 4860 words/s",
        "epoch 1 ends, validation loss 7.1 bits a token, the best",
        "epoch 2 ends, validation loss 6.5 bits a token, the best",
        "epoch 3 ends, validation loss 6.9 bits a token",
        None,
    ]
    assert (
        str(summarise(logged_validations(LOG)))
        == "3 epochs, 30 updates, best validation loss 6.5 bits a token in epoch 2 after 20 updates"
    )
    summary = Summary(3, 30, loss=6.5, best_epoch=2, best_updates=20)
    assert read_summary(str(summarise(logged_validations(LOG)))) == summary
    assert read_summary("adapted") is None
    with pytest.raises(InputError, match="no validation"):
        summarise(logged_validations("nothing"))


@pytest.mark.parametrize(
    "beginning",
    [
        "| INFO | fairseq.trainer | No existing checkpoint found /a b/checkpoint_last.pt",
        "| INFO | fairseq.trainer | Loaded checkpoint /a b/model.pt (epoch 4 @ 0 updates)",
    ],
)
def test_a_training_that_was_begun_anew_has_nothing_of_the_one_before(beginning):
    """As where its checkpoints were removed: both have one log."""
    anew = LOG.replace('"valid_nll_loss": "6.5"', '"valid_nll_loss": "8.5"')
    assert logged_validations(f"{LOG}{beginning}\n{anew}") == logged_validations(anew)
    assert logged_epochs(f'| train | {{"epoch": 1}}\n{beginning}\n{anew}') == []


def test_a_training_that_goes_on_has_what_came_before():
    gone_on = "| INFO | fairseq.trainer | Loaded checkpoint /a b/checkpoint_last.pt (epoch 4 @ 30 updates)"
    assert len(logged_validations(f"{LOG}{gone_on}\n{LOG}")) == 6


def test_a_loss_still_fell_where_the_last_epoch_was_the_best():
    validations = logged_validations(LOG)
    assert not summarise(validations).still_fell
    assert summarise(validations[:2]).still_fell
    assert read_summary(str(summarise(validations[:2]))) == summarise(validations[:2])


def test_a_loss_still_fell_within_one_epoch_where_the_last_validation_was_the_best():
    """As where --validate-interval-updates counts updates."""
    validations = [Validated(1, 10, 7.1), Validated(1, 20, 6.5), Validated(1, 30, 6.9)]
    assert summarise(validations).still_fell is False
    assert read_summary(str(summarise(validations))).still_fell is False
    assert summarise(validations[:2]).still_fell is True


@pytest.mark.parametrize(("epochs", "best_epoch", "still_fell"), [(1, 1, None), (3, 3, True), (3, 2, False)])
def test_an_older_text_does_not_say_what_was_within_an_epoch(epochs, best_epoch, still_fell):
    said = f"{epochs} epochs, 30 updates, best validation loss 6.5 bits a token in epoch {best_epoch}"
    summary = read_summary(said)
    assert (summary.best_updates, summary.still_fell, str(summary)) == (None, still_fell, said)


def test_a_log_without_the_loss_that_chooses_checkpoints_names_a_criterion_that_has_it():
    log = '| valid | {"epoch": 1, "valid_loss": "7.1", "valid_num_updates": "10"}'
    with pytest.raises(InputError, match="no valid_nll_loss in epoch 1.*label_smoothed_cross_entropy"):
        logged_validations(log)


def test_a_line_that_a_full_disk_cut_is_passed_over():
    cut = '2026 | INFO | valid | {"epoch": 2, "valid_nl2026 | INFO | valid | {"epoch": 2}'
    assert progress_line(cut) is None
    assert logged_validations(f"{LOG}\n{cut}") == logged_validations(LOG)
