"""Relative attention against the equations of the papers, and without their tensors of T×T×d."""

import itertools
import math
from collections.abc import Callable

import pytest
import torch
from fairseq.modules import MultiheadAttention
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode

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
    plain,
)
from tests.support.rounding import alike, assert_alike
from zsnmt.modules.relative_attention import (
    OffsetTable,
    RelativeKeys,
    RelativeKeysAndQueries,
    collect,
    spread,
    use_relative_attention,
)
from zsnmt.modules.self_attention import SelfAttention

pytestmark = pytest.mark.usefixtures("float64")
DISTANCES = [0, 1, 2, T - 1, T, 3 * T]


def shaw(distance: int) -> SelfAttention:
    """Self-attention with relative keys and values, all large."""
    attention = make_attention()
    use_relative_attention([attention], distance)
    for table in tables(attention):
        nn.init.normal_(table)
    return attention.double()


def tables(attention: SelfAttention) -> tuple[Tensor, Tensor]:
    """The vectors w^K and w^V of the offsets -k...k."""
    return attention.logit_terms[0].table.weight, attention.relative_values.table.weight


# Shaw et al. (2018)


@pytest.mark.parametrize("distance", DISTANCES)
@pytest.mark.parametrize("padded, causal", itertools.product([True, False], repeat=2))
def test_the_equations_by_loops(distance, padded, causal):
    """Li (2019), equations 4 and 5; Shaw et al. (2018), equations 3 to 5. Gradients, too."""
    attention, x, padding = shaw(distance), make_input().requires_grad_(), make_padding() if padded else None
    keys, values = tables(attention)

    def clip(offset: int) -> int:
        return max(-distance, min(distance, offset)) + distance

    def logit(q: Tensor, k: Tensor, i: int, j: int, *_) -> Tensor:
        return q @ (k + keys[clip(j - i)]) / math.sqrt(D)

    expected, expected_weights = by_loops(
        attention, x, logit, lambda v, i, j: v + values[clip(j - i)], padding=padding, causal=causal
    )
    found, weights = attention(x, x, x, key_padding_mask=padding, attn_mask=make_causal() if causal else None)
    tokens = is_token(padding)
    assert_alike(found[tokens], expected[tokens])
    assert_alike(weights[tokens.t()], expected_weights.mean(dim=1)[tokens.t()])

    upstream = torch.randn(T, B, C, dtype=torch.float64)
    gradients = [
        torch.autograd.grad((result * upstream)[tokens].sum(), (x, keys, values))
        for result in (found, expected)
    ]
    if not (padded and causal):  # else padding before a sentence sees nothing
        assert all(alike(a, b) for a, b in zip(*gradients))


@pytest.mark.parametrize("distance", DISTANCES)
@pytest.mark.parametrize("masked", [True, False])
def test_zero_tables_are_plain_attention(distance, masked):
    attention, x = shaw(distance), make_input()
    stock = MultiheadAttention(C, H, self_attention=True).double().eval()
    stock.load_state_dict(
        {name: weight for name, weight in attention.state_dict().items() if "table" not in name}
    )
    for table in tables(attention):
        nn.init.zeros_(table)
    masks = dict(key_padding_mask=make_padding(), attn_mask=make_causal()) if masked else {}
    tokens = is_token(masks.get("key_padding_mask"))
    found, expected = (module(x, x, x, **masks) for module in (attention, stock))
    assert_alike(found[0][tokens], expected[0][tokens])
    assert_alike(found[1][tokens.t()], expected[1][tokens.t()])


@pytest.mark.parametrize("distance", [T, 2 * T])
def test_beyond_the_longest_offset_nothing_is_clipped(distance):
    exact, wider, x = shaw(T - 1), shaw(distance), make_input()
    for own, others in zip(tables(exact), tables(wider)):
        others.data[distance - (T - 1) : distance + T] = own.data
    wider.load_state_dict(
        {name: weight for name, weight in exact.state_dict().items() if "table" not in name}, strict=False
    )
    results = [attention(x, x, x)[0] for attention in (exact, wider)]
    assert torch.equal(*results)
    results[1].square().sum().backward()
    for table in tables(wider):
        reached = torch.arange(len(table)).sub(distance).abs() < T
        assert (table.grad[reached].abs().sum(dim=1) > 0).all() and (table.grad[~reached] == 0).all()


def test_offsets_are_clipped_from_the_distance_on():
    """Keys at the distance and beyond have one vector; nearer ones have others."""
    offsets = OffsetTable(2, D)(T, T)[1]
    assert offsets[0].tolist() == [2, 3, 4, 4, 4] and offsets[T - 1].tolist() == [0, 0, 0, 1, 2]


def test_distance_0_tells_no_positions_apart():
    """Its key is in all logits alike, and its value in all results: plain attention, and a vector."""
    attention, x = shaw(0), make_input()
    expected, weights = by_loops(attention, x, plain)
    found, own = attention(x, x, x)
    shift = tables(attention)[1].repeat(1, H) @ attention.out_proj.weight.t()
    assert alike(found, expected + shift) and alike(own, weights.mean(dim=1))
    order = torch.tensor([3, 0, 4, 1, 2])
    assert_alike(attention(x[order], x[order], x[order])[0], found[order])


def test_each_layer_has_tables_of_its_own_which_its_heads_share():
    attentions = [make_attention(seed=seed) for seed in (1, 2)]
    use_relative_attention(attentions, 3)
    found = {
        name: p
        for n, a in enumerate(attentions)
        for name, p in a.named_parameters(prefix=str(n))
        if "table" in name
    }
    assert {name: tuple(table.shape) for name, table in found.items()} == {
        f"{n}.{part}.table.weight": (2 * 3 + 1, D)
        for n in (0, 1)
        for part in ("logit_terms.0", "relative_values")
    }
    assert not any(torch.equal(a, b) for a, b in itertools.combinations(found.values(), 2))
    bound = math.sqrt(6 / (7 + D))  # Glorot's
    assert all(bound / 2 < table.abs().max() <= bound for table in found.values())


def test_a_negative_distance_is_refused():
    with pytest.raises(ValueError, match="clip distance is -1; it must be 0 or more"):
        use_relative_attention([make_attention()], -1)


# Keys and queries


@pytest.mark.parametrize("distance", DISTANCES)
@pytest.mark.parametrize("product", [False, True])
def test_relative_keys_and_queries_by_loops(distance, product):
    """Ravishankar and Søgaard (2021), Table 1, print the product; the code that they name has no a·a."""
    attention, x, padding = make_attention(), make_input(), make_padding()
    attention.logit_terms.append(RelativeKeysAndQueries(distance, D, product).double())
    table = nn.init.normal_(attention.logit_terms[0].table.weight)

    def logit(q: Tensor, k: Tensor, i: int, j: int, *_) -> Tensor:
        a = table[max(-distance, min(distance, j - i)) + distance]
        return ((q + a) @ (k + a) if product else q @ k + q @ a + k @ a) / math.sqrt(D)

    found = attention(x, x, x, key_padding_mask=padding, need_weights=False)[0]
    expected, _ = by_loops(attention, x, logit, padding=padding)
    assert_alike(found[is_token(padding)], expected[is_token(padding)])


# Spread and collect


@pytest.mark.parametrize("queries, keys", [(T, T), (1, 7), (3, 7)])
@pytest.mark.parametrize("distance", [0, 2, 9])
def test_collect_is_the_adjoint_of_spread(queries, keys, distance):
    vectors, index = OffsetTable(distance, D)(queries, keys)
    by_offset = torch.randn(B, H, queries, len(vectors), dtype=torch.float64)
    by_pair = torch.randn(B, H, queries, keys, dtype=torch.float64)
    assert index.shape == (queries, keys) and len(vectors) <= 2 * distance + 1
    products = (
        (spread(by_offset, index) * by_pair).sum(),
        (by_offset * collect(by_pair, index, len(vectors))).sum(),
    )
    assert_alike(*products)


@pytest.mark.parametrize("distance", [0, 2, 9])
def test_gradients_are_those_of_finite_differences(distance):
    vectors, index = OffsetTable(distance, D)(3, T)
    width = len(vectors)
    by_offset = torch.randn(2, 1, 3, width, dtype=torch.float64, requires_grad=True)
    q, k = (torch.randn(1, 2, length, D, dtype=torch.float64, requires_grad=True) for length in (3, T))
    assert torch.autograd.gradcheck(lambda values: spread(values, index), by_offset)
    by_pair = torch.randn(2, 1, 3, T, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda values: collect(values, index, width), by_pair)
    for kind, options in (
        (RelativeKeys, {}),
        (RelativeKeysAndQueries, {}),
        (RelativeKeysAndQueries, dict(product=True)),
    ):
        term = kind(distance, D, **options).double()
        table = term.table.weight
        assert torch.autograd.gradcheck(lambda q, k, _: term(q, k, 0.3), (q, k, table))


# Memory


class Largest(TorchDispatchMode):
    """The most numbers that any tensor made meanwhile holds in memory."""

    def __init__(self) -> None:
        super().__init__()
        self.numbers = 0

    def __torch_dispatch__(self, function, types, arguments=(), options=None):
        result = function(*arguments, **(options or {}))
        for tensor in result if isinstance(result, (tuple, list)) else [result]:
            if isinstance(tensor, Tensor):
                self.numbers = max(self.numbers, tensor.untyped_storage().nbytes() // tensor.element_size())
        return result


LENGTH, HEADS, WIDTH = (
    11,
    2,
    48,
)  # of 24 dimensions a head, more than there are heads in the batch of one sentence


def largest(fill: Callable[[SelfAttention], None]) -> int:
    """The most numbers in any tensor that training makes of attention with seams that `fill` fills."""
    attention = SelfAttention(WIDTH, HEADS, dropout=0.1, self_attention=True)
    fill(attention)
    x = torch.randn(LENGTH, 1, WIDTH, requires_grad=True)
    with Largest() as made:
        attention(x, x, x, need_weights=False)[0].sum().backward()
    assert all(parameter.grad is not None for parameter in attention.parameters())
    return made.numbers


@pytest.mark.parametrize("distance", [0, 3, LENGTH - 1, 2 * LENGTH])
@pytest.mark.parametrize("product", [None, False, True], ids=["Shaw", "keys and queries", "product"])
def test_no_tensor_has_a_vector_for_every_pair_of_positions(distance, product):
    def fill(attention: SelfAttention) -> None:
        if product is None:
            use_relative_attention([attention], distance)
        else:
            attention.logit_terms.append(RelativeKeysAndQueries(distance, attention.head_dim, product))

    class Naive(RelativeKeys):
        def forward(self, q: Tensor, k: Tensor, scale: float) -> Tensor:
            vectors, index = self.table(q.size(2), k.size(2))
            return (q.unsqueeze(-2) * scale * vectors[index]).sum(dim=-1)

    pairs = LENGTH**2 * WIDTH // HEADS
    assert largest(fill) < pairs
    assert (
        largest(lambda attention: attention.logit_terms.append(Naive(distance, attention.head_dim))) >= pairs
    )
