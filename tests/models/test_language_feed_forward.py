"""Decoder layers with feed-forward blocks for target languages."""

import pytest
import torch

from tests.models.test_zs_transformer import build, run
from tests.support.rounding import assert_alike
from tests.terms.conftest import TermTask
from zsnmt.errors import InputError
from zsnmt.modules.language_feed_forward import LanguageFeedForward

BLOCKS = dict(decoder_language_feed_forward_layers="2", decoder_language_feed_forward_dim=9)
PIV, AA = 4, 5


def stepwise(model, source, target) -> torch.Tensor:
    encoded, state = model.encoder(source), {}
    steps = [
        model.decoder(target[:, : n + 1], encoder_out=encoded, incremental_state=state)[0]
        for n in range(target.size(1))
    ]
    return torch.cat(steps, dim=1)


@pytest.mark.usefixtures("float64")
@pytest.mark.parametrize("normalization", ["pre", "post"])
@torch.no_grad()
def test_the_block_stands_beside_the_layers_own(toy_task, normalization):
    """As in the published code: FFN(y) + w · FFN of the language(y), then the residual."""
    layer = build(toy_task, normalization=normalization, **BLOCKS).double().eval().decoder.layers[1]
    x, languages = torch.randn(4, 3, 8, dtype=torch.float64), torch.tensor([AA, PIV, 7])
    blocks, layer.language_feed_forward = layer.language_feed_forward, None
    seen: list[torch.Tensor] = []
    handle = layer.fc1.register_forward_pre_hook(lambda module, given: seen.append(given[0]))
    plain = layer(x)[0]
    handle.remove()
    layer.language_feed_forward = blocks
    (read,) = seen
    if normalization == "pre":
        assert_alike(layer(x, languages=languages)[0], plain + blocks(read, languages))
    else:
        made = read + layer.fc2(layer.fc1(read).relu()) + blocks(read, languages)
        assert_alike(layer(x, languages=languages)[0], layer.final_layer_norm(made))


@pytest.mark.usefixtures("float64")
@pytest.mark.parametrize("normalization", ["pre", "post"])
def test_it_trains_without_regard_to_companions_and_decodes_step_by_step(
    toy_task, source_batch, target_batch, normalization
):
    model = build(toy_task, normalization=normalization, **BLOCKS)
    run(model.train(), source_batch, target_batch).square().sum().backward()
    assert all(weight.grad.isfinite().all() for weight in model.parameters())
    model.double().eval()
    together = run(model, source_batch, target_batch)
    assert_alike(together[1:2, :3], run(model, source_batch[1:2, 2:], target_batch[1:2, :3]))
    assert_alike(stepwise(model, source_batch, target_batch[:, :3]), together[:, :3])


@torch.no_grad()
def test_weights_of_zero_are_the_plain_model_and_the_pivot_has_no_block(toy_task, source_batch, target_batch):
    model, plain = build(toy_task, **BLOCKS).eval(), build(toy_task).eval()
    there = plain.state_dict()
    assert all(torch.equal(weight, model.state_dict()[name]) for name, weight in there.items())
    expected = run(plain, source_batch, target_batch)
    assert not torch.equal(run(model, source_batch, target_batch), expected)
    target_batch[:, 0] = PIV
    assert torch.equal(run(model, source_batch, target_batch), run(plain, source_batch, target_batch))
    model.decoder.layers[1].language_feed_forward.weights.zero_()
    target_batch[:, 0] = AA
    assert torch.equal(run(model, source_batch, target_batch), run(plain, source_batch, target_batch))


def test_layers_are_chosen_and_fast_training_has_them_too(toy_task, source_batch, target_batch):
    target_batch[:, 0] = AA  # no row is in another language
    model = build(toy_task, fast_training=True, **{**BLOCKS, "decoder_language_feed_forward_layers": "top2"})
    found = [layer.language_feed_forward for layer in model.decoder.layers]
    assert all(isinstance(each, LanguageFeedForward) and each.tags == (5, 6, 7) for each in found)
    run(model.train(), source_batch, target_batch).square().sum().backward()
    assert all(weight.grad.isfinite().all() for weight in found[0].parameters())


@pytest.mark.parametrize(
    "task, options, message",
    [
        (TermTask("t_enc"), {}, "reads the language from the decoder's first token"),
        (TermTask(), dict(decoder_language_feed_forward_dim=0), "-dim: .* is 0; it must be 1 or more"),
        (TermTask(), dict(decoder_language_feed_forward_layers="3"), "'3' names no layers of 2"),
    ],
)
def test_what_makes_no_sense_is_refused(task, options, message):
    with pytest.raises(InputError, match=message):
        build(task, **{"decoder_language_embedding": "none", **BLOCKS, **options})
