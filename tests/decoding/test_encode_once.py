"""Encoding equal rows once: the same states for the decoder, with less work."""

import pytest
import torch
from fairseq.sequence_generator import EnsembleModel, SequenceGenerator

from tests.conftest import toy_options
from tests.support.rounding import assert_alike
from zsnmt.decoding.encode_once import EncodeOnce
from zsnmt.models.zs_transformer import ZeroShotTransformer

ORDERS = {
    "each in a row": [0, 0, 0, 1, 1, 1, 2, 2, 2],
    "mixed": [2, 0, 1, 0, 2, 0],
    "one sentence": [1, 1, 1, 1],
    "nothing twice": [0, 1, 2],
    "nothing twice, unsorted": [2, 0, 1],
    "a single row": [1],
}


@pytest.fixture
def model(toy_task) -> ZeroShotTransformer:
    torch.manual_seed(7)
    options = toy_options(encoder_residual_removal_layers="middle", encoder_position_query_layers="middle")
    return ZeroShotTransformer.build_model(options, toy_task).double().eval()


@pytest.fixture
def encoded(model, monkeypatch) -> list[torch.Tensor]:
    """The rows (B×T tokens) that the encoder reads at each call, with their right lengths."""
    read: list[torch.Tensor] = []
    stock = model.encoder.forward_torchscript

    def forward(given: dict[str, torch.Tensor]) -> dict[str, list[torch.Tensor]]:
        read.append(given["src_tokens"])
        assert torch.equal(given["src_lengths"], lengths(given["src_tokens"]))
        return stock(given)

    monkeypatch.setattr(model.encoder, "forward_torchscript", forward)
    return read


def lengths(tokens: torch.Tensor) -> torch.Tensor:
    return tokens.ne(1).sum(1)


def net_input(source_batch: torch.Tensor, order: list[int]) -> dict[str, torch.Tensor]:
    tokens = source_batch[order]
    return {"src_tokens": tokens, "src_lengths": lengths(tokens)}


@pytest.mark.parametrize("order", ORDERS.values(), ids=ORDERS)
def test_the_decoder_gets_what_the_plain_model_gives(model, source_batch, encoded, order):
    given = net_input(source_batch, order)
    with torch.no_grad():
        (plain,), (once,) = (kind([model]).forward_encoder(given) for kind in (EnsembleModel, EncodeOnce))
    plain = model.encoder.reorder_encoder_out(plain, torch.arange(len(order)))  # beam search does it anyhow
    for name, values in plain.items():
        assert len(values) == len(once[name])
        for expected, found in zip(values, once[name]):
            assert_alike(found.double(), expected.double())
    assert [len(rows) for rows in encoded] == [len(order), len(set(order))]
    assert {*map(tuple, encoded[1].tolist())} == {*map(tuple, given["src_tokens"].tolist())}


def test_rows_that_differ_in_a_tag_alone_are_two(model, source_batch, encoded):
    rows = source_batch[[0, 1, 1]].clone()
    rows[2, 1] = 5  # a tag where the other has padding
    with torch.no_grad():
        EncodeOnce([model]).forward_encoder({"src_tokens": rows, "src_lengths": lengths(rows)})
    assert [len(read) for read in encoded] == [3]


def test_beam_search_finds_the_same_translations(model, toy_task, source_batch, encoded):
    """Each sentence into three languages."""
    sample = {"net_input": net_input(source_batch, [0, 0, 0, 1, 1, 1, 2, 2, 2])}
    tags = torch.tensor([5, 6, 7] * 3).repeat_interleave(2)  # a row for each hypothesis of the beam
    found = []
    for kind in (EnsembleModel, EncodeOnce):
        search = SequenceGenerator(
            kind([model]), toy_task.target_dictionary, beam_size=2, max_len_a=0, max_len_b=6
        )
        with torch.no_grad():
            hypotheses = search.generate([model], sample, bos_token=tags)
        found.append([[hypothesis["tokens"].tolist() for hypothesis in of_row] for of_row in hypotheses])
    assert found[0] == found[1] and [len(rows) for rows in encoded] == [9, 3]
    assert len({tuple(of_row[0]) for of_row in found[0]}) > 1
