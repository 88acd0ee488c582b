"""The options of fairseq-train as it reads them: those that go with what later ones replace."""

import pytest

from zsnmt.errors import InputError
from zsnmt.training.fairseq_options import training_options, without_replaced


@pytest.mark.parametrize(
    "before, later, kept",
    [
        (
            "--lr-scheduler inverse_sqrt --warmup-updates 9 --warmup-init-lr 0 --lr 0.1",
            "--lr-scheduler polynomial_decay --total-num-update 50",
            "--lr-scheduler inverse_sqrt --warmup-updates 9 --lr 0.1",
        ),
        (
            "--lr-scheduler=polynomial_decay --end-learning-rate=1e-5 --total-num-update=50 --max-update 50",
            "--lr-scheduler=inverse_sqrt",
            "--lr-scheduler=polynomial_decay --max-update 50",
        ),
        (
            "--optimizer adam --adam-betas (0.9,0.98) --use-old-adam --weight-decay 0.1",
            "--optimizer nag",
            "--optimizer adam --weight-decay 0.1",
        ),
        (
            "--criterion zs_cross_entropy --label-smoothing 0.1 --chunked-loss --sentence-avg",
            "--criterion label_smoothed_cross_entropy",
            "--criterion zs_cross_entropy --label-smoothing 0.1 --sentence-avg",
        ),
        ("--lr-scheduler inverse_sqrt --warmup-init-lr 0", "--lr-scheduler inverse_sqrt", None),
        ("--lr-scheduler inverse_sqrt --warmup-init-lr 0", "--optimizer nag", None),
    ],
)
def test_what_goes_with_a_part_that_is_replaced_is_left_out_and_fairseq_takes_the_rest(before, later, kept):
    before, later = before.split(), later.split()
    found = without_replaced(before, later)
    assert found == (before if kept is None else kept.split())
    training_options("zs_transformer", [*found, *later])
    if kept is not None:
        with pytest.raises(InputError, match="unrecognized arguments"):
            training_options("zs_transformer", [*before, *later])


def test_who_changes_options_changes_them_for_no_one_else():
    options = training_options("zs_transformer", ["--lr", "0.25"])
    options.lr.append(0.5)
    assert training_options("zs_transformer", ["--lr", "0.25"]).lr == [0.25]
