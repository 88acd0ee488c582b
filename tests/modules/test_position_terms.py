"""The terms of the first layer's logits, against their expansion by loops."""

import itertools
import math

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from tests.modules.by_loops import B, C, D, H, T, make_attention
from zsnmt.modules.position_terms import DROPPED_TERMS, SEPARATE, PositionTerms, logits, shares


def parts(seed: int = 1) -> tuple[Tensor, Tensor]:
    """Shares of words and positions, B×T×C each."""
    return torch.randn(
        2, B, T, C, generator=torch.Generator().manual_seed(seed), dtype=torch.float64
    ).unbind()


def norm() -> nn.LayerNorm:
    torch.manual_seed(2)
    layer_norm = nn.LayerNorm(C).double()
    nn.init.normal_(layer_norm.weight, mean=1.0)
    nn.init.normal_(layer_norm.bias)
    return layer_norm


def by_loops(queries: Tensor, keys: Tensor) -> Tensor:
    """Logits B×H×T×T of projected queries and keys, B×T×C each."""
    found = torch.zeros(B, H, T, T, dtype=torch.float64)
    for b, h, i, j in itertools.product(range(B), range(H), range(T), range(T)):
        own = slice(h * D, (h + 1) * D)
        found[b, h, i, j] = queries[b, i, own] @ keys[b, j, own] / math.sqrt(D)
    return found


def terms_of(kind: str) -> PositionTerms:
    torch.manual_seed(3)
    return PositionTerms(kind, C).double()


@torch.no_grad()
def test_logits_are_those_of_the_attention():
    attention, (words, positions) = make_attention(), parts()
    torch.testing.assert_close(logits(words, positions, attention), by_loops(words, positions))


@pytest.mark.parametrize(
    "kind, query, key",
    [  # Ravishankar and Søgaard (2021), section 5: word-position is (p_i W^Q)(w_j W^K)ᵀ
        ("no_position_position", "p", "p"),
        ("no_position_word", "w", "p"),
        ("no_word_position", "p", "w"),
    ],
)
@torch.no_grad()
def test_a_term_is_taken_out(kind, query, key):
    """What is left are the three others; the projections' biases are the words'."""
    attention, (words, positions) = make_attention(), parts()
    queries = {"w": attention.q_proj(words), "p": positions @ attention.q_proj.weight.t()}
    keys = {"w": attention.k_proj(words), "p": positions @ attention.k_proj.weight.t()}
    three = [
        by_loops(queries[a], keys[b]) for a, b in itertools.product("wp", "wp") if (a, b) != (query, key)
    ]
    whole = by_loops(attention.q_proj(words + positions), attention.k_proj(words + positions))
    torch.testing.assert_close(whole + terms_of(kind)(words, positions, attention), sum(three))
    assert kind in DROPPED_TERMS and not [*terms_of(kind).parameters()]


@torch.no_grad()
def test_positions_are_projected_by_weights_of_their_own():
    attention, terms, (words, positions) = make_attention(), terms_of(SEPARATE), parts()
    own = [linear.weight for linear in terms.own]
    assert [weight.shape for weight in own] == [(C, C), (C, C)]
    queries, keys = (
        projection(words) + positions @ weight.t()
        for projection, weight in zip((attention.q_proj, attention.k_proj), own)
    )
    whole = by_loops(attention.q_proj(words + positions), attention.k_proj(words + positions))
    torch.testing.assert_close(whole + terms(words, positions, attention), by_loops(queries, keys))


def test_weights_of_their_own_that_are_the_words_have_no_effect():
    attention, terms, (words, positions) = make_attention(), terms_of(SEPARATE), parts()
    for own, projection in zip(terms.own, (attention.q_proj, attention.k_proj), strict=True):
        own.weight.data.copy_(projection.weight)
    bias = terms(words, positions, attention)
    torch.testing.assert_close(bias, torch.zeros(B, H, T, T, dtype=torch.float64))


@pytest.mark.parametrize("dropout", [0.0, 0.4])
def test_shares_are_what_words_and_positions_left_in_the_sum(dropout):
    """After normalisation, whose bias is the words', and dropout; and they sum to it."""
    layer_norm, (words, positions) = norm(), parts()
    torch.manual_seed(5)
    x = F.dropout(layer_norm(words + positions), dropout)
    torch.manual_seed(5)
    kept = F.dropout(torch.ones_like(x), dropout)
    assert kept.eq(0).any() == (dropout > 0)
    deviation = ((words + positions).var(dim=-1, correction=0, keepdim=True) + layer_norm.eps).sqrt()
    centred = [part - part.mean(dim=-1, keepdim=True) for part in (words, positions)]
    expected = [kept * layer_norm.weight * part / deviation for part in centred]
    expected[0] = expected[0] + kept * layer_norm.bias
    found = shares(x, words, positions, layer_norm, dropout)
    for one, other in zip(found, expected, strict=True):
        torch.testing.assert_close(one, other)
    torch.testing.assert_close(sum(found), x)


def test_padding_has_no_share():
    layer_norm, (words, positions) = norm(), parts()
    x = layer_norm(words + positions).masked_fill(torch.arange(T).ge(3)[:, None], 0.0)
    for share in shares(x, words, positions, layer_norm, 0.0):
        assert share[:, :3].all() and not share[:, 3:].any()


def test_positions_learn_through_their_share():
    layer_norm, (words, positions) = norm(), parts()
    words, positions = words.requires_grad_(), positions.requires_grad_()
    x = layer_norm(words + positions)
    of_both = shares(x, words, positions, layer_norm, 0.0)
    terms_of("no_word_position")(*of_both, make_attention()).square().sum().backward()
    assert words.grad.all() and positions.grad.all()
