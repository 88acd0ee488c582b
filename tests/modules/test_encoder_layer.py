"""The layer with seams: what reaches its output, and by which way."""

import math

import pytest
import torch
from fairseq.models.transformer import TransformerConfig
from fairseq.modules.transformer_layer import TransformerEncoderLayerBase

from tests.support.rounding import alike, assert_alike, assert_rounded
from zsnmt.modules.attention_residual import MeanPoolResidual, RemoveResidual, StochasticResidual
from zsnmt.modules.encoder_layer import EncoderLayer
from zsnmt.modules.position_query import PositionQuery

T, B, C, H = 5, 3, 8, 2

pytestmark = pytest.mark.usefixtures("float64")


def config(normalize_before: bool, dropout: float = 0.0) -> TransformerConfig:
    cfg = TransformerConfig()
    cfg.encoder.embed_dim, cfg.encoder.ffn_embed_dim, cfg.encoder.attention_heads = C, 20, H
    cfg.encoder.normalize_before = normalize_before
    cfg.dropout = cfg.attention_dropout = cfg.activation_dropout = dropout
    return cfg


def layer_of(
    kind=EncoderLayer,
    normalize_before: bool = True,
    dropout: float = 0.0,
    dtype: torch.dtype = torch.float64,
    **options,
):
    torch.manual_seed(5)
    return kind(config(normalize_before, dropout), **options).to(dtype)


@pytest.fixture
def x() -> torch.Tensor:
    return torch.randn(T, B, C, generator=torch.Generator().manual_seed(1), dtype=torch.float64)


@pytest.fixture
def padding() -> torch.Tensor:
    """B×T, True at padding: sentences of 5, 3 and 4 tokens, padded on the left."""
    return torch.tensor([[False] * 5, [True, True, False, False, False], [True, False, False, False, False]])


@pytest.mark.parametrize("normalize_before", [True, False])
@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("return_fc", [True, False])
@pytest.mark.parametrize("with_masks", [True, False])
def test_neutral_layer_is_fairseqs(x, padding, normalize_before, training, return_fc, with_masks):
    results = []
    for kind in (TransformerEncoderLayerBase, EncoderLayer):
        layer = layer_of(kind, normalize_before, dropout=0.3, dtype=torch.float32, return_fc=return_fc).train(
            training
        )
        torch.manual_seed(11)
        mask = torch.triu(torch.ones(T, T), 2) if with_masks else None
        result = layer(x.float(), padding if with_masks else None, mask)
        results.append(result if return_fc else (result,))
    assert len(results[0]) == len(results[1]) == 1 + return_fc
    assert all(torch.equal(a, b) for a, b in zip(*results))


def silence_attention(layer) -> None:
    torch.nn.init.zeros_(layer.self_attn.out_proj.weight)


@pytest.mark.parametrize("normalize_before", [True, False])
def test_with_residual_removed_and_attention_silent_the_input_cannot_pass(x, normalize_before):
    other = torch.randn_like(x)
    layer = layer_of(normalize_before=normalize_before)
    silence_attention(layer)
    assert not alike(layer(x, None), layer(other, None))
    layer.attention_residual = RemoveResidual()
    assert torch.equal(layer(x, None), layer(other, None))


def test_the_residual_of_the_feed_forward_block_stays(x):
    layer = layer_of()
    layer.attention_residual = RemoveResidual()
    torch.nn.init.zeros_(layer.fc2.weight)
    torch.nn.init.zeros_(layer.fc2.bias)
    attended = layer.self_attn(*[layer.self_attn_layer_norm(x)] * 3)[0]
    assert_alike(layer(x, None), attended)


def test_with_the_residual_of_the_feed_forward_block_removed_its_output_alone_stays(x):
    layer = layer_of()
    layer.feed_forward_residual = RemoveResidual()
    attended = x + layer.self_attn(*[layer.self_attn_layer_norm(x)] * 3)[0]
    assert_alike(layer(x, None), layer.fc2(layer.fc1(layer.final_layer_norm(attended)).relu()))


def test_mean_pool_adds_the_mean_of_the_tokens_without_padding(x, padding):
    attended = torch.zeros_like(x)
    pooled = MeanPoolResidual()(attended, x, padding)
    for b in range(B):
        naive = torch.stack([x[t, b] for t in range(T) if not padding[b, t]]).mean(0)
        assert_alike(pooled[:, b], naive.expand(T, C))
    whole = torch.zeros(B, T, dtype=torch.bool)
    assert_alike(MeanPoolResidual()(attended, x, whole), MeanPoolResidual()(attended, x, None))


def test_the_mean_of_a_long_sentence_is_within_half_precision():
    """Its sum is not."""
    x = torch.full((40, 2, C), 3000.0)
    padding = torch.zeros(2, 40, dtype=torch.bool)
    padding[1, :7] = True
    pooled = MeanPoolResidual()(torch.zeros_like(x).half(), x.half(), padding)
    assert pooled.dtype is torch.float16
    torch.testing.assert_close(pooled.float(), x, rtol=40 * 2**-11, atol=0)


def test_stochastic_residual_keeps_its_expectation_and_is_plain_in_evaluation(x):
    residual, attended = StochasticResidual(0.25), torch.randn_like(x)
    torch.manual_seed(0)
    draws = torch.stack([residual(attended, x, None) for _ in range(4000)])
    assert torch.allclose(draws.mean(0), x + attended, atol=0.15)
    assert {bool(torch.equal(draw, attended)) for draw in draws} == {True, False}
    assert torch.equal(residual.eval()(attended, x, None), x + attended)


def naive_sinusoids(position: int, base: float) -> list[float]:
    """[sin | cos] with timescales from 1 to base (reference code, transformers.py)."""
    half = C // 2
    angles = [position / base ** (i / (half - 1)) for i in range(half)]
    return [math.sin(a) for a in angles] + [math.cos(a) for a in angles]


@pytest.mark.parametrize("base", [100.0, 10.0, 10000.0])
def test_position_query_is_the_papers_sinusoid_whatever_the_padding(x, padding, base):
    query = PositionQuery(C, base)(x.float(), padding)
    roundings = T * (4 + math.log(base))  # of the largest angle, whose frequency is an exponential
    for b in range(B):
        tokens = [t for t in range(T) if not padding[b, t]]
        for position, t in enumerate(tokens):
            assert_rounded(
                query[t, b], torch.tensor(naive_sinusoids(position, base), dtype=torch.float64), roundings
            )
    assert query.shape == x.shape


@pytest.mark.parametrize("normalize_before", [True, False])
def test_position_query_attends_by_the_keys_on_fast_and_slow_path(x, padding, normalize_before):
    """The paper's attention written naively: queries from positions, keys and values from the input."""
    layer = layer_of(normalize_before=normalize_before)
    layer.use_position_query(PositionQuery(C))
    attention = layer.self_attn
    keys = layer.self_attn_layer_norm(x) if normalize_before else x
    positions = layer.position_query(x, padding)
    naive = torch.zeros_like(x)
    for b in range(B):
        q, k, v = (
            attention.q_proj(positions[:, b]),
            attention.k_proj(keys[:, b]),
            attention.v_proj(keys[:, b]),
        )
        heads = []
        for h in range(H):
            part = slice(h * C // H, (h + 1) * C // H)
            logits = q[:, part] @ k[:, part].t() / math.sqrt(C // H)
            heads.append(logits.masked_fill(padding[b], -math.inf).softmax(-1) @ v[:, part])
        naive[:, b] = attention.out_proj(torch.cat(heads, dim=-1))
    is_token = ~padding.t()
    fast = attention(positions, keys, keys, key_padding_mask=padding, need_weights=False)[0]
    slow = attention(positions, keys, keys, key_padding_mask=padding, incremental_state={})[0]
    assert_alike(fast[is_token], naive[is_token])
    assert_alike(slow[is_token], naive[is_token])

    before_ffn = naive + x
    if not normalize_before:
        before_ffn = layer.self_attn_layer_norm(before_ffn)
    hidden = layer.fc2(
        torch.relu(layer.fc1(layer.final_layer_norm(before_ffn) if normalize_before else before_ffn))
    )
    expected = before_ffn + hidden if normalize_before else layer.final_layer_norm(before_ffn + hidden)
    assert_alike(layer(x, padding)[is_token], expected[is_token])


@pytest.mark.parametrize("normalize_before", [True, False])
@pytest.mark.parametrize("seam", ["neutral", "residual", "query"])
def test_a_bias_reaches_the_attention_and_hides_padding_itself(x, padding, normalize_before, seam):
    """Of zeros it is not a bias; one that is the same for all keys of a query is none, either; any other is
    one.
    """
    layer = layer_of(normalize_before=normalize_before).eval()
    if seam == "residual":
        layer.attention_residual = RemoveResidual()
    elif seam == "query":
        layer.use_position_query(PositionQuery(C))
    expected, is_token = layer(x, padding), ~padding.t()
    biases = torch.zeros(1, H, T, T), torch.randn(B, H, T, 1).expand(B, H, T, T), torch.randn(B, H, T, T)
    for bias, same in zip(biases, (True, True, False)):
        hiding = bias.double().masked_fill(padding[:, None, None], -math.inf)
        found = layer(x, padding, position_bias=hiding)
        assert alike(found[is_token], expected[is_token]) == same
        other = torch.where(is_token.unsqueeze(-1), x, 7.0)
        assert_alike(layer(other, padding, position_bias=hiding)[is_token], found[is_token])
    causal = torch.ones(T, T).triu(1)
    without, with_bias = layer(x, None, causal), layer(x, None, causal, position_bias=biases[0].double())
    assert_alike(without, with_bias)


def test_bad_values_are_refused():
    for base in (1, math.nan, math.inf):
        with pytest.raises(ValueError, match="above 1 and finite"):
            PositionQuery(C, base=base)
    with pytest.raises(ValueError, match="below 1"):
        StochasticResidual(1.0)
