"""The seconds of an update, measured."""

import pytest

from zsnmt.training.speed import update_seconds

MODEL = (
    "--encoder-layers 3 --decoder-layers 1 --encoder-embed-dim 16 --decoder-embed-dim 16 "
    "--encoder-ffn-embed-dim 24 --decoder-ffn-embed-dim 24 --encoder-attention-heads 2 "
    "--decoder-attention-heads 2 --optimizer adam --lr 1e-3 --criterion label_smoothed_cross_entropy"
)


@pytest.mark.slow
def test_an_update_takes_a_time_that_grows_with_its_sentences():
    few, many = (
        update_seconds("zs_transformer", MODEL.split(), vocabulary=200, pieces=6, tokens=tokens)
        for tokens in (60, 3000)
    )
    assert 0 < few < many
