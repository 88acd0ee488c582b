"""The target language in the decoder's input."""

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from tests.support.rounding import assert_alike
from zsnmt.modules.language_embedding import LanguageEmbedding

B, T, C, V = 3, 4, 6, 15
TAGS = [4, 7, 5]


@pytest.fixture
def prefix() -> torch.Tensor:
    return torch.tensor([[7, 8, 9, 10], [4, 9, 9, 8], [5, 10, 11, 12]])


@pytest.fixture
def x() -> torch.Tensor:
    return torch.randn(B, T, C, generator=torch.Generator().manual_seed(2), dtype=torch.float64)


def test_concat_is_the_references_formula(x, prefix):
    """relu(W [e ; l] + b), the first e replaced by l (reference code, transformers.py)."""
    embedding = LanguageEmbedding(TAGS, V, C, "concat").double()
    result = embedding(x, prefix)
    for b in range(B):
        language = embedding.table.weight[TAGS.index(int(prefix[b, 0]))]
        for t in range(T):
            joined = torch.cat([language if t == 0 else x[b, t], language])
            expected = torch.relu(embedding.project.weight @ joined + embedding.project.bias)
            assert_alike(result[b, t], expected)


def test_add_is_a_sum(x, prefix):
    embedding = LanguageEmbedding(TAGS, V, C, "add").double()
    rows = embedding.table.weight[[TAGS.index(int(tag)) for tag in prefix[:, 0]]]
    assert torch.equal(embedding(x, prefix), x + rows.unsqueeze(1))


@pytest.mark.parametrize("combination", ["add", "concat"])
def test_a_step_with_the_whole_prefix_equals_its_place_in_the_full_pass(x, prefix, combination):
    embedding = LanguageEmbedding(TAGS, V, C, combination).double()
    full = embedding(x, prefix)
    for t in range(T):
        step = embedding(x[:, t : t + 1], prefix[:, : t + 1])
        assert_alike(step[:, 0], full[:, t])


class ReadBack(TorchDispatchMode):
    """Counts the numbers that are read back from a device, for which a GPU is waited for."""

    def __init__(self) -> None:
        super().__init__()
        self.count = 0

    def __torch_dispatch__(self, function, types, arguments=(), options=None):
        self.count += function is torch.ops.aten._local_scalar_dense.default
        return function(*arguments, **(options or {}))


@pytest.mark.parametrize("combination", ["add", "concat"])
def test_tags_are_checked_at_the_first_step_alone(x, prefix, combination):
    embedding = LanguageEmbedding(TAGS, V, C, combination).double()
    counts = []
    for t in range(T):
        with ReadBack() as read:
            embedding(x[:, t : t + 1], prefix[:, : t + 1])
        counts.append(read.count)
    assert counts == [1, *[0] * (T - 1)]


def test_a_prefix_without_tag_is_refused(x, prefix):
    prefix[1, 0] = 2
    with pytest.raises(ValueError, match="does not begin with a language tag"):
        LanguageEmbedding(TAGS, V, C, "concat")(x, prefix)
    with pytest.raises(ValueError, match="add or concat"):
        LanguageEmbedding(TAGS, V, C, "sum")
