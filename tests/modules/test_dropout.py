"""Variational dropout and word dropout."""

import pytest
import torch
from torch import nn

from zsnmt.modules.variational_dropout import VariationalDropout
from zsnmt.modules.word_dropout import WordDropoutEmbedding

T, B, C, V = 5, 3, 40, 12


@pytest.mark.parametrize("time_axis, shape", [(0, (T, B, C)), (1, (B, T, C))])
def test_a_variational_mask_is_shared_over_time_and_differs_between_sentences(time_axis, shape):
    torch.manual_seed(0)
    mask = VariationalDropout(0.4, time_axis)(torch.ones(shape)).transpose(0, time_axis)  # T×B×C
    assert torch.equal(mask, mask[:1].expand(T, B, C))
    assert not torch.equal(mask[0, 0], mask[0, 1])
    assert mask.unique().tolist() == pytest.approx([0, 1 / 0.6])


def test_variational_dropout_keeps_the_expectation_and_is_the_identity_in_evaluation():
    torch.manual_seed(0)
    dropout, x = VariationalDropout(0.4, 0), torch.randn(T, B, C)
    assert torch.stack([dropout(torch.ones(1, 1, C)) for _ in range(2000)]).mean() == pytest.approx(
        1, abs=0.02
    )
    assert torch.equal(dropout.eval()(x), x)
    assert torch.equal(VariationalDropout(0.0, 0)(x), x)


def test_variational_dropout_stays_where_fairseq_is_asked_to_retain_it():
    dropout, x = VariationalDropout(0.4, 0).eval(), torch.ones(T, B, C)
    dropout.make_generation_fast_(name="dropout", retain_dropout=False)
    assert torch.equal(dropout(x), x)
    dropout.make_generation_fast_(name="dropout", retain_dropout=True)
    assert (dropout(x) == 0).any()


def test_word_dropout_zeroes_a_type_everywhere_and_scales_the_others():
    torch.manual_seed(0)
    table = nn.Embedding(V, C, padding_idx=1)
    dropping = WordDropoutEmbedding(table, 0.5)
    tokens = torch.randint(2, V, (B, 30))
    embedded, plain = dropping(tokens), table(tokens)
    dropped = {int(token) for token in tokens.unique() if (embedded[tokens == token] == 0).all()}
    kept = {int(token) for token in tokens.unique()} - dropped
    assert dropped and kept
    for token in kept:
        assert torch.equal(embedded[tokens == token], 2 * plain[tokens == token])
    assert not torch.equal(dropping(tokens), embedded)  # a fresh draw every time
    assert torch.equal(dropping.eval()(tokens), plain)


def test_word_dropout_takes_over_the_table():
    table = nn.Embedding(V, C, padding_idx=1)
    state = torch.get_rng_state()
    dropping = WordDropoutEmbedding(table, 0.5)
    assert torch.equal(torch.get_rng_state(), state)
    assert dropping.weight.data_ptr() == table.weight.data_ptr() and dropping.padding_idx == 1
    dropping(torch.tensor([[1, 3]])).sum().backward()
    assert dropping.weight.grad[1].abs().sum() == 0


@pytest.mark.parametrize("p", [-0.1, 1.0])
def test_probabilities_are_checked(p):
    with pytest.raises(ValueError, match="below 1"):
        VariationalDropout(p, 0)
    with pytest.raises(ValueError, match="below 1"):
        WordDropoutEmbedding(nn.Embedding(V, C), p)
