"""The packed encoder gives the model's own states, on whatever side the padding is."""

import pytest
import torch

from tests.support.decoding import ARCHITECTURES, PAD, SEAMS, build, made_sentences, padded
from tests.support.rounding import assert_alike, assert_as_near
from zsnmt.decoding.options import FLOAT32, INT8
from zsnmt.decoding.packed.encoder import PackedEncoder, fuse_projections

pytestmark = pytest.mark.usefixtures("float64_attention")
SOURCES = [sentence.source for sentence in made_sentences(7)]
MODELS = {
    **{architecture: dict(architecture=architecture) for architecture in ARCHITECTURES},
    **{name: seams for name, seams in SEAMS.items() if "decoder" not in name},
}


def states_of_tokens(encoder, tokens: torch.Tensor) -> torch.Tensor:
    """The model's own, of all that is not padding (…×C)."""
    return encoder(tokens)["encoder_out"][0].transpose(0, 1)[tokens != PAD]


@pytest.mark.parametrize("options", MODELS.values(), ids=MODELS)
@torch.no_grad()
def test_states_are_the_models(options):
    """In float64, and in float32, whose kernels are others, as near as the model's."""
    exact, model = build(**options).encoder, build(dtype=torch.float32, **options).encoder
    for left in (True, False):
        tokens = padded(SOURCES, left)
        expected, stock = (
            states_of_tokens(exact, padded(SOURCES, left=True)),
            states_of_tokens(model, padded(SOURCES, left=True)),
        )
        for encoder, check in (
            (exact, assert_alike),
            (model, lambda states, true: assert_as_near(states, stock, true)),
        ):
            states, padding = PackedEncoder(encoder, FLOAT32)(tokens)
            assert torch.equal(padding, tokens == PAD)
            check(states.transpose(0, 1)[tokens != PAD], expected)


@torch.no_grad()
def test_without_padding_there_is_no_mask():
    model, tokens = build(), torch.tensor([SOURCES[0], SOURCES[0][::-1]])
    states, padding = PackedEncoder(model.encoder, FLOAT32)(tokens)
    assert padding is None
    assert_alike(states, model.encoder(tokens)["encoder_out"][0])


@torch.no_grad()
def test_int8_states_are_near():
    model, tokens = build(dtype=torch.float32), padded(SOURCES, left=False)
    exact, rounded = (
        PackedEncoder(model.encoder, precision)(tokens)[0].transpose(0, 1)[tokens != PAD]
        for precision in (FLOAT32, INT8)
    )
    assert exact.shape == rounded.shape
    assert 0 < (exact - rounded).pow(2).mean().sqrt() < 0.1 * exact.std()


@torch.no_grad()
def test_fused_projections_are_their_own_side_by_side():
    first, second, x = (
        torch.nn.Linear(5, 4).double(),
        torch.nn.Linear(5, 3).double(),
        torch.randn(2, 5).double(),
    )
    found = torch.nn.functional.linear(x, *fuse_projections(first, second, scale=0.5))
    assert_alike(found, torch.cat([first(x) * 0.5, second(x)], dim=-1))
    assert fuse_projections(torch.nn.Linear(5, 4, bias=False))[1] is None
