"""fairseq's criterion and optimiser against the plug-in's in training: the same run, which changes over
where it likes.
"""

import pytest

from tests.tasks.conftest import Output, fairseq, training_options

pytestmark = pytest.mark.slow

STOCK = []
CHEAPER = ["--criterion", "chunked_label_smoothed_cross_entropy", "--optimizer", "fused_adam"]
EPOCHS = ["--cpu", "--update-freq", 2, "--clip-norm", 1, "--weight-decay", 0.01, "--report-accuracy"]


@pytest.fixture(scope="module")
def stock_run(data, tmp_path_factory) -> Output:
    """Two epochs by fairseq alone."""
    return fairseq(
        "train", *training_options(data, tmp_path_factory.mktemp("stock"), *EPOCHS, "--max-epoch", 2)
    )


@pytest.mark.parametrize("first, second", [(CHEAPER, CHEAPER), (STOCK, CHEAPER), (CHEAPER, STOCK)])
def test_a_run_goes_on_with_either(data, stock_run, tmp_path, first, second):
    """Each epoch in a command of its own; figures have three digits."""
    epochs = [
        fairseq("train", *training_options(data, tmp_path, *EPOCHS, *cheaper, "--max-epoch", epoch))
        for epoch, cheaper in enumerate((first, second), 1)
    ]
    for tag, name in [
        ("train_inner", "loss"),
        ("train_inner", "gnorm"),
        ("valid", "valid_loss"),
        ("valid", "valid_accuracy"),
    ]:
        expected = stock_run.figures(tag, name)
        assert len(expected) >= 2
        assert [figure for epoch in epochs for figure in epoch.figures(tag, name)] == pytest.approx(
            expected, rel=0.002, abs=0.002
        )
