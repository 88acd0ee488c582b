"""The seconds of an update, measured."""

from time import process_time

import pytest

from zsnmt.training import speed
from zsnmt.training.speed import update_seconds

MODEL = (
    "--encoder-layers 3 --decoder-layers 1 --encoder-embed-dim 16 --decoder-embed-dim 16 "
    "--encoder-ffn-embed-dim 24 --decoder-ffn-embed-dim 24 --encoder-attention-heads 2 "
    "--decoder-attention-heads 2 --optimizer adam --lr 1e-3 --criterion label_smoothed_cross_entropy"
)


@pytest.mark.slow
def test_an_update_takes_a_time_that_grows_with_its_sentences(monkeypatch):
    """Here in time of the processor, which other work on the machine does not lengthen."""
    monkeypatch.setattr(speed, "perf_counter", process_time)
    few, many = (
        update_seconds("zs_transformer", MODEL.split(), vocabulary=200, pieces=6, tokens=tokens)
        for tokens in (60, 3000)
    )
    assert 0 < few < many
