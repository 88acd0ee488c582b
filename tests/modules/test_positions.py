"""Position encodings of an encoder against the formulas of their papers and what their reference code
does.
"""

import math

import pytest
import torch
from torch import Tensor, nn

from tests.modules.by_loops import B, C, D, H, T, by_loops, is_token, make_attention, make_input, make_padding
from tests.support.rounding import assert_alike
from zsnmt.modules.positions import BUCKETS, TupePositions, relative_buckets, use_relative_keys, use_tupe

pytestmark = pytest.mark.usefixtures("float64")
P = 9  # positions


def tupe(**options) -> TupePositions:
    """In float64, with parameters that are all large."""
    torch.manual_seed(5)
    positions = TupePositions(P, C, H, **options).double()
    for parameter in positions.parameters():
        nn.init.normal_(parameter)
    return positions


def bucket(offset: int) -> int:
    """T5's bucket by whole numbers: the floor of 8·log(n/8)/log(128/8) is the largest t with n^8 >=
    8^8·2^(4t).
    """
    side, distance = (16 if offset > 0 else 0), abs(offset)
    if distance < 8:
        return side + distance
    return side + 8 + max(t for t in range(8) if distance**8 >= 8**8 * 2 ** (4 * t))


def untied(positions: TupePositions, i: int, j: int, h: int) -> Tensor:
    """(LN(p_i)·U^Q)_h · (LN(p_j)·U^K)_h / √(2d), of rows of the table (Ke et al. 2021, equation 7)."""
    own, norm = slice(h * D, (h + 1) * D), positions.layer_norm

    def normalised(p: Tensor) -> Tensor:
        return (p - p.mean()) / (p.var(unbiased=False) + norm.eps).sqrt() * norm.weight + norm.bias

    q, k = (normalised(positions.table.weight[row]) for row in (i, j))
    return positions.q_proj(q)[own] @ positions.k_proj(k)[own] / math.sqrt(2 * D)


# TUPE


@pytest.mark.parametrize("relative", [False, True])
@pytest.mark.parametrize("side", ["left", "right", None])
def test_the_bias_by_loops_whatever_the_padding(relative, side):
    positions = tupe(relative=relative)
    padding = {"left": make_padding(), "right": make_padding().flip(1), None: None}[side]
    found = positions(padding, T)
    assert found.shape == (B if side == "left" else 1, H, T, T)
    found = found.expand(B, H, T, T)
    for b in range(B):
        tokens = [t for t in range(T) if not (side and padding[b, t])]
        for h in range(H):
            for i, row in enumerate(tokens):
                for j, column in enumerate(tokens):
                    expected = untied(positions, i, j, h) + (
                        positions.buckets.weight[bucket(j - i), h] if relative else 0
                    )
                    assert_alike(found[b, h, row, column], expected)


@pytest.mark.parametrize("relative", [False, True])
@pytest.mark.parametrize("side", ["left", "right", None])
def test_the_first_token_apart_as_the_reference_code_resets_it(relative, side):
    """transformer_sentence_encoder.py of TUPE: column 0 first, then row 0; each sentence as if it were
    alone.
    """
    positions = tupe(relative=relative, first_apart=True)
    padding = {"left": make_padding(), "right": make_padding().flip(1), None: None}[side]
    found = positions(padding, T)
    for b in range(len(found)):
        tokens = torch.tensor([t for t in range(T) if not (side and padding[b, t])])
        length = len(tokens)
        expected = torch.zeros(H, length, length, dtype=torch.float64)
        for h in range(H):
            rows = range(length + 1)
            whole = torch.stack([torch.stack([untied(positions, i, j, h) for j in rows]) for i in rows])
            first_to_others, others_to_first = whole[0, 0], whole[1, 1]
            whole = whole[1:, 1:]
            whole[:, 0] = others_to_first
            whole[0, :] = first_to_others
            expected[h] = whole
            if relative:
                buckets = torch.tensor([[bucket(j - i) for j in range(length)] for i in range(length)])
                buckets[:, 0] = BUCKETS
                buckets[0, :] = BUCKETS // 2
                expected[h] += positions.buckets.weight[buckets, h]
        assert_alike(found[b][:, tokens][:, :, tokens], expected)


@pytest.mark.parametrize("relative", [False, True])
@pytest.mark.parametrize("first_apart", [False, True])
def test_there_are_as_many_parameters_as_in_the_reference_code(relative, first_apart):
    positions = TupePositions(P, C, H, relative, first_apart)
    buckets = (BUCKETS + first_apart) * H if relative else 0
    assert (
        sum(p.numel() for p in positions.parameters())
        == (P + first_apart) * C + 2 * C + 2 * (C * C + C) + buckets
    )
    assert positions(None, P).shape == (1, H, P, P)
    for padding, length in ((None, P + 1), (torch.zeros(B, P + 1, dtype=torch.bool), P + 1)):
        with pytest.raises(ValueError, match=f"{P + 1} tokens are too many for {P} positions"):
            positions(padding, length)


def test_the_first_token_apart_is_untied_from_all_places():
    """What the first token sees, and how it is seen, is the same for each other token, and moves with no
    other.
    """
    positions = tupe(relative=True, first_apart=True)
    bias = positions(None, T)[0]
    assert (bias[:, 0] == bias[:, 0, :1]).all() and (bias[:, 1:, 0] == bias[:, 1:2, 0]).all()
    assert not torch.allclose(bias[:, 0, 0], bias[:, 1, 0])
    nn.init.normal_(positions.table.weight.data[2:])
    moved = positions(None, T)[0]
    assert torch.equal(moved[:, 0], bias[:, 0]) and torch.equal(moved[:, :, 0], bias[:, :, 0])
    assert not torch.isclose(moved[:, 1:, 1:], bias[:, 1:, 1:]).any()


@pytest.mark.parametrize("padded", [True, False])
def test_content_and_positions_have_one_scale(padded):
    """Logits are (q·k + p·p)/√(2d)."""
    positions, attention, x = tupe(relative=True), make_attention(), make_input()
    padding = make_padding() if padded else None
    bias = positions(padding, T)
    use_tupe([attention])
    expected, _ = by_loops(
        attention,
        x,
        lambda q, k, i, j, h, b: q @ k / math.sqrt(2 * D) + bias[b if padded else 0, h, i, j],
        padding=padding,
    )
    for need_weights in (True, False):
        found, _ = attention(x, x, x, key_padding_mask=padding, need_weights=need_weights, position_bias=bias)
        assert_alike(found[is_token(padding)], expected[is_token(padding)])


@pytest.mark.parametrize(
    "options", [dict(), dict(relative=True), dict(relative=True, first_apart=True)], ids=str
)
def test_all_parameters_of_tupe_learn(options):
    positions = tupe(**options)
    upstream = torch.randn(B, H, T, T, dtype=torch.float64)
    (positions(make_padding(), T) * upstream).sum().backward()
    gradients = {name: parameter.grad for name, parameter in positions.named_parameters()}
    assert all(gradient.abs().sum() > 0 for gradient in gradients.values())
    seen = T + options.get("first_apart", False)
    assert (gradients["table.weight"][:seen].abs().sum(dim=1) > 0).all() and (
        gradients["table.weight"][seen:] == 0
    ).all()


# Buckets


def test_buckets_are_t5s_by_whole_numbers():
    found = relative_buckets(301)
    offsets = torch.arange(301) - torch.arange(301)[:, None]
    expected = {offset: bucket(offset) for offset in range(-300, 301)}
    assert {offset: found[offsets == offset].unique().tolist() for offset in expected} == {
        offset: [number] for offset, number in expected.items()
    }
    by_hand = {0: 0, -7: 7, 7: 23, -8: 8, -16: 10, -127: 15, 300: 31}
    assert by_hand.items() <= expected.items()


def test_buckets_widen_on_either_side():
    found = relative_buckets(400)
    to_right, to_left = found[0], found[:, 0]
    assert {*to_right.tolist()} == {0, *range(17, 32)} and {*to_left.tolist()} == {*range(16)}
    assert 16 not in found  # which the first token apart may have, therefore
    for side in (to_right, to_left):
        assert (side.diff() >= 0).all()
        sizes = torch.bincount(side)[torch.bincount(side) > 0][:-1]
        assert (sizes.diff() >= 0).all() and sizes[:8].tolist() == [1] * 8
    assert torch.equal(to_right[1:], to_left[1:] + 16)


# Relative keys


@pytest.mark.parametrize("padded", [True, False])
@pytest.mark.parametrize(
    "encoding, product",
    [("relative_key", False), ("relative_key_query", False), ("relative_key_query", True)],
)
def test_relative_keys_are_berts_in_reverse_order(encoding, product, padded):
    """modeling_bert.py: the embedding of i - j + P - 1, q·a and k·a added to q·k, then all divided by √d."""
    attention, x, padding = make_attention(), make_input(), make_padding() if padded else None
    use_relative_keys([attention], encoding, P, product)
    attention.double()
    table = nn.init.normal_(attention.logit_terms[0].table.weight)
    assert table.shape == (2 * P - 1, D)
    theirs = table.flip(0)

    def logit(q: Tensor, k: Tensor, i: int, j: int, *_) -> Tensor:
        a = theirs[i - j + P - 1]
        by_key = k @ a if encoding == "relative_key_query" else 0
        return (q @ k + q @ a + by_key + (a @ a if product else 0)) / math.sqrt(D)

    expected, _ = by_loops(attention, x, logit, padding=padding)
    found, _ = attention(x, x, x, key_padding_mask=padding, need_weights=False)
    assert_alike(found[is_token(padding)], expected[is_token(padding)])


@pytest.mark.parametrize("encoding", ["relative_key", "relative_key_query"])
def test_relative_keys_begin_small_and_each_layer_has_its_own(encoding):
    attentions = [make_attention(seed=seed) for seed in (1, 2)]
    use_relative_keys(attentions, encoding, 512)
    first, second = (attention.logit_terms[0].table.weight for attention in attentions)
    assert not torch.equal(first, second)
    assert first.std().item() == pytest.approx(0.02, rel=0.05)  # BERT's
