"""Self-attention with seams: fairseq's where they are neutral, and the same attention by each of its ways."""

import itertools

import pytest
import torch
from fairseq.modules import MultiheadAttention
from torch import nn

from tests.modules.by_loops import (
    B,
    C,
    D,
    H,
    T,
    by_loops,
    is_token,
    make_attention,
    make_causal,
    make_input,
    make_padding,
)
from tests.support.rounding import alike, assert_alike
from zsnmt.modules.relative_attention import RelativeKeys, RelativeKeysAndQueries, RelativeValues
from zsnmt.modules.self_attention import SelfAttention

pytestmark = pytest.mark.usefixtures("float64")
SEAMS = ["bias", "keys", "keys and values", "keys and queries", "values"]


def attention_with(seam: str, **options) -> SelfAttention:
    """With a seam filled, and its tables large."""
    attention = make_attention(**options)
    if seam.startswith("keys"):
        attention.logit_terms.append((RelativeKeysAndQueries if "queries" in seam else RelativeKeys)(2, D))
    if seam.endswith("values"):
        attention.relative_values = RelativeValues(2, D)
    for name, parameter in attention.named_parameters():
        if "table" in name:
            nn.init.normal_(parameter)
    return attention.double().train(attention.training)


def bias_of(seam: str) -> torch.Tensor | None:
    """A bias of the logits, B×H×T×T, where that is the seam."""
    if seam != "bias":
        return None
    return torch.randn(B, H, T, T, generator=torch.Generator().manual_seed(2), dtype=torch.float64)


# Neutral


def call_twice(kind: type, training: bool, masked: bool, **options) -> tuple:
    torch.manual_seed(5)
    attention = kind(C, H, dropout=0.3, self_attention=True).train(training)
    x = make_input().float()
    masks = dict(key_padding_mask=make_padding(), attn_mask=make_causal().float()) if masked else {}
    torch.manual_seed(11)
    first = attention(x, x, x, **masks, **options)
    return attention.state_dict(), first, attention(x, x, x, **masks, **options)


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("masked", [True, False])
@pytest.mark.parametrize(
    "options",
    [dict(need_weights=False), dict(), dict(need_head_weights=True), dict(before_softmax=True)],
    ids=str,
)
def test_neutral_self_attention_is_fairseqs_bit_for_bit(training, masked, options):
    stock, *theirs = call_twice(MultiheadAttention, training, masked, **options)
    state, *ours = call_twice(SelfAttention, training, masked, **options)
    assert list(stock) == list(state) and all(torch.equal(stock[name], state[name]) for name in stock)
    for (result, weights), (own, own_weights) in zip(theirs, ours):
        assert torch.allclose(result, own, rtol=0, atol=0, equal_nan=True)
        assert (weights is None) == (own_weights is None)
        assert weights is None or torch.allclose(weights, own_weights, rtol=0, atol=0, equal_nan=True)


def test_neutral_steps_are_fairseqs_bit_for_bit():
    found = []
    for kind in (MultiheadAttention, SelfAttention):
        torch.manual_seed(5)
        attention, state, x = kind(C, H, self_attention=True).eval(), {}, make_input().float()
        found.append([attention(x[t : t + 1], None, None, incremental_state=state) for t in range(T)])
    assert all(torch.equal(a, b) for pair in zip(*found) for a, b in zip(*pair))


@pytest.mark.parametrize("masked", [True, False])
@pytest.mark.parametrize("need_weights", [True, False])
def test_a_bias_of_zeros_is_plain_attention(masked, need_weights):
    attention, x = make_attention(), make_input()
    masks = dict(key_padding_mask=make_padding(), attn_mask=make_causal()) if masked else {}
    tokens = is_token(masks.get("key_padding_mask"))
    plain, weights = attention(x, x, x, need_weights=True, **masks)
    biased, own = attention(
        x, x, x, need_weights=need_weights, position_bias=x.new_zeros(1, 1, 1, 1), **masks
    )
    assert_alike(biased[tokens], plain[tokens])
    assert own is None or alike(own[tokens.t()], weights[tokens.t()])


# Both ways


@pytest.mark.parametrize("padded, causal", itertools.product([True, False], repeat=2))
@pytest.mark.parametrize("need_weights", [True, False])
@pytest.mark.parametrize("shape", [(B, H, T, T), (1, H, T, T), (1, 1, 1, T)])
def test_a_bias_and_a_scale_by_loops(padded, causal, need_weights, shape):
    attention, x, bias = make_attention(), make_input(), bias_of("bias")[tuple(slice(size) for size in shape)]
    attention.scaling = 0.3
    padding = make_padding() if padded else None
    whole = bias.expand(B, H, T, T)
    expected, _ = by_loops(
        attention, x, lambda q, k, i, j, h, b: 0.3 * q @ k + whole[b, h, i, j], padding=padding, causal=causal
    )
    masks = dict(key_padding_mask=padding, attn_mask=make_causal() if causal else None)
    found, _ = attention(x, x, x, need_weights=need_weights, position_bias=bias, **masks)
    tokens = is_token(padding)
    assert found.dtype == torch.float64 and alike(found[tokens], expected[tokens])


@pytest.mark.parametrize("seam", SEAMS)
def test_attention_is_the_same_whether_its_weights_are_asked_for_or_not(seam):
    attention, x, padding = attention_with(seam), make_input(), make_padding()
    masks = dict(key_padding_mask=padding, attn_mask=make_causal(), position_bias=bias_of(seam))
    without, none = attention(x, x, x, need_weights=False, **masks)
    with_weights, weights = attention(x, x, x, need_weights=True, **masks)
    tokens = is_token(padding)
    assert none is None and alike(without[tokens], with_weights[tokens])
    assert weights.shape == (B, T, T)
    by_query, hidden = weights[tokens.t()], padding[:, None].expand(B, T, T)[tokens.t()]
    assert alike(by_query.sum(dim=-1), torch.ones_like(by_query[..., 0])) and (by_query[hidden] == 0).all()
    assert (weights[0].triu(1) == 0).all()


@pytest.mark.parametrize("seam", SEAMS)
def test_what_changes_the_logits_alone_stays_on_the_fused_path(seam, monkeypatch):
    calls = []
    fused = nn.functional.scaled_dot_product_attention
    monkeypatch.setattr(
        nn.functional, "scaled_dot_product_attention", lambda *a, **o: calls.append(1) or fused(*a, **o)
    )
    attention, x = attention_with(seam), make_input()
    attention(x, x, x, need_weights=False, position_bias=bias_of(seam))
    assert len(calls) == (not seam.endswith("values"))


@pytest.mark.parametrize("seam", SEAMS)
@pytest.mark.parametrize("need_weights", [True, False])
def test_probabilities_are_dropped_out_in_training_only(seam, need_weights):
    attention, bias = attention_with(seam, dropout=0.4), bias_of(seam)
    x, bias = make_input()[:, :1].expand(T, 4000, C), None if bias is None else bias[:1]
    options = dict(need_weights=need_weights, position_bias=bias)
    expected = attention_with(seam)(x, x, x, **options)[0]
    assert torch.equal(attention(x, x, x, **options)[0], expected)
    torch.manual_seed(0)
    dropped = attention.train()(x, x, x, **options)[0]
    assert not torch.allclose(dropped[:, 0], dropped[:, 1])
    assert torch.allclose(dropped.mean(dim=1), expected[:, 0], atol=0.1)


@pytest.mark.parametrize("seam", SEAMS)
def test_dropout_that_is_retained_is_there_in_evaluation(seam):
    """As fairseq retains it (--retain-dropout), on the fused path as on the others."""
    attention, x = attention_with(seam, dropout=0.4), make_input()
    attention.dropout_module.apply_during_inference = True
    torch.manual_seed(0)
    once, again = (attention(x, x, x, need_weights=False, position_bias=bias_of(seam))[0] for _ in range(2))
    assert not alike(once, again)


def test_values_and_relative_values_lose_the_same_probabilities():
    """Where all values are u, and all relative ones r, the result is u + r times what is left of the
    probabilities.
    """
    attention, x = attention_with("values", dropout=0.5).train(), make_input()
    u, r = torch.randn(2, D, dtype=torch.float64)
    nn.init.zeros_(attention.v_proj.weight)
    attention.v_proj.bias.data.copy_(u.repeat(H))
    attention.relative_values.table.weight.data.copy_(r.expand(5, D))
    attention.out_proj = nn.Identity()
    found = attention(x, x, x, need_weights=False)[0].unflatten(-1, (H, D))  # T×B×H×d
    left = (found / (u + r)).mean(dim=-1, keepdim=True)
    assert alike(found, left * (u + r)) and left.std() > 0.1


# Steps


def in_chunks(
    attention: SelfAttention, x: torch.Tensor, padding: torch.Tensor, sizes: list[int], order: list[int]
) -> torch.Tensor:
    """The causal attention by incremental decoding, whose rows change order before the last chunk."""
    state, found, mask = {}, [], make_causal()
    for number, (start, end) in enumerate(itertools.pairwise(itertools.accumulate(sizes, initial=0))):
        if number == len(sizes) - 1:
            rows = torch.tensor(order)
            attention.reorder_incremental_state(state, rows)
            x, padding, found = x[:, rows], padding[rows], [chunk[:, rows] for chunk in found]
        masks = dict(key_padding_mask=padding[:, start:end] if padding[:, start:end].any() else None)
        masks["attn_mask"] = mask[start:end, :end] if end - start > 1 else None
        found.append(
            attention(*[x[start:end]] * 3, incremental_state=state, need_weights=number % 2 == 0, **masks)[0]
        )
    return torch.cat(found)


@pytest.mark.parametrize("seam", ["keys", "keys and values", "keys and queries", "values"])
@pytest.mark.parametrize("sizes", [[1] * T, [3, 1, 1], [2, 3], [1, 4]], ids=str)
@pytest.mark.parametrize("order", [[0, 1, 2], [2, 0, 0]], ids=str)
@pytest.mark.parametrize("padded", [True, False])
def test_decoding_in_steps_is_the_whole(seam, sizes, order, padded):
    attention, x = attention_with(seam), make_input()
    padding = make_padding() if padded else torch.zeros(B, T, dtype=torch.bool)
    whole, _ = attention(x, x, x, key_padding_mask=padding, attn_mask=make_causal(), need_weights=False)
    found = in_chunks(attention, x, padding, sizes, order)
    tokens = is_token(padding[order])
    assert_alike(found[tokens], whole[:, order][tokens])


# Precision


@pytest.mark.parametrize("seam", SEAMS)
@pytest.mark.parametrize("need_weights", [True, False])
def test_half_the_bits_make_little_difference(seam, need_weights):
    attention, x, bias = attention_with(seam), make_input(), bias_of(seam)
    options = dict(need_weights=need_weights, key_padding_mask=make_padding())
    expected, _ = attention(x, x, x, position_bias=bias, **options)
    half, bias = x.bfloat16(), None if bias is None else bias.bfloat16()
    found, _ = attention.bfloat16()(half, half, half, position_bias=bias, **options)
    assert found.dtype == torch.bfloat16 and torch.allclose(found.double(), expected, atol=0.1)
