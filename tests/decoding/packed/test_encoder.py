"""The packed encoder gives the model's own states, on whatever side the padding is."""

import pytest
import torch

from tests.support.decoding import ARCHITECTURES, PAD, SEAMS, build, made_sentences, padded
from zsnmt.decoding.options import FLOAT32, INT8
from zsnmt.decoding.packed.encoder import PackedEncoder, fused

SOURCES = [sentence.source for sentence in made_sentences(7)]
MODELS = {
    **{architecture: dict(architecture=architecture) for architecture in ARCHITECTURES},
    **{name: seams for name, seams in SEAMS.items() if "decoder" not in name},
}


@pytest.mark.parametrize("options", MODELS.values(), ids=MODELS)
@torch.no_grad()
def test_states_are_the_models(options):
    model = build(**options)
    tokens = padded(SOURCES, left=True)
    expected = model.encoder(tokens)["encoder_out"][0].transpose(0, 1)[tokens != PAD]
    for left in (True, False):
        tokens = padded(SOURCES, left)
        states, padding = PackedEncoder(model.encoder, FLOAT32)(tokens)
        assert torch.equal(padding, tokens == PAD)
        torch.testing.assert_close(states.transpose(0, 1)[tokens != PAD], expected, rtol=1e-4, atol=2e-5)


@torch.no_grad()
def test_without_padding_there_is_no_mask():
    model, tokens = build(), torch.tensor([SOURCES[0], SOURCES[0][::-1]])
    states, padding = PackedEncoder(model.encoder, FLOAT32)(tokens)
    assert padding is None
    torch.testing.assert_close(states, model.encoder(tokens)["encoder_out"][0], rtol=1e-4, atol=2e-5)


@torch.no_grad()
def test_int8_states_are_near():
    model, tokens = build(), padded(SOURCES, left=False)
    exact, rounded = (PackedEncoder(model.encoder, precision)(tokens)[0].transpose(0, 1)[tokens != PAD] for precision in (FLOAT32, INT8))
    assert exact.shape == rounded.shape
    assert 0 < (exact - rounded).pow(2).mean().sqrt() < 0.1 * exact.std()


@torch.no_grad()
def test_fused_projections_are_their_own_side_by_side():
    first, second, x = torch.nn.Linear(5, 4), torch.nn.Linear(5, 3), torch.randn(2, 5)
    found = torch.nn.functional.linear(x, *fused(first, second, scale=0.5))
    torch.testing.assert_close(found, torch.cat([first(x) * 0.5, second(x)], dim=-1))
    assert fused(torch.nn.Linear(5, 4, bias=False))[1] is None
