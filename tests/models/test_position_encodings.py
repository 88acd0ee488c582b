"""Position encodings and relative attention in the whole model: what they change, and what they leave
alone.
"""

import io

import pytest
import torch
from torch import nn

from tests.conftest import ToyTask, make_dictionary, toy_options
from tests.support.rounding import alike, assert_alike, assert_rounded
from zsnmt.errors import InputError
from zsnmt.models import zs_transformer as registered
from zsnmt.models.zs_transformer import ZeroShotTransformer
from zsnmt.modules.position_names import ENCODINGS, INPUT_ENCODINGS, RELATIVE_KEYS, TUPE
from zsnmt.modules.relative_attention import RelativeValues

DISTANCES = ["none", "0", "3"]
SEAMS = {
    "neutral": dict(),
    "residual": dict(encoder_residual_removal_layers="middle"),
    "query": dict(encoder_residual_removal_layers="middle", encoder_position_query_layers="middle"),
    "variational": dict(variational_dropout=True),
}
LAYERS, DECODER_LAYERS, C, H, P = 3, 2, 8, 2, 64  # of the toy options
D = C // H
ROUNDINGS = 2 * (5 * (3 * C + 20)) ** 0.5  # in sums of C and 20 terms, through five layers; of random sign

pytestmark = pytest.mark.usefixtures("float64")


def build(seed: int = 7, **options) -> ZeroShotTransformer:
    torch.manual_seed(seed)
    return ZeroShotTransformer.build_model(toy_options(**options), ToyTask())


def stirred(seed: int = 7, **options) -> ZeroShotTransformer:
    """For evaluation, in float64, with parameters so large that all of them show."""
    model = build(seed, **options).double().eval()
    for name, parameter in model.named_parameters():
        if "norm" not in name:
            nn.init.normal_(parameter, std=0.5)
    return model


def run(model, source, target):
    return model(source, None, target)[0]


# All combine


@pytest.mark.slow
@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("distance", DISTANCES)
@pytest.mark.parametrize("seam", SEAMS)
@pytest.mark.parametrize("normalization", ["pre", "post"])
def test_all_encodings_combine(source_batch, target_batch, encoding, distance, seam, normalization):
    """Every combination trains all its parameters, and depends on neither padding nor companions nor their
    order.
    """
    options = dict(
        encoder_position_encoding=encoding, relative_attention_distance=distance, normalization=normalization
    )
    model = build(**options, **SEAMS[seam])
    run(model.train(), source_batch, target_batch).square().sum().backward()
    gradients = {name: parameter.grad for name, parameter in model.named_parameters()}
    assert all(gradient is not None and gradient.isfinite().all() for gradient in gradients.values())
    cancelled = ["k_proj.bias"]  # by the softmax, as is a key that is the same for all positions
    if distance == "0" and encoding not in RELATIVE_KEYS:
        cancelled.append("logit_terms")
    used = [gradient for name, gradient in gradients.items() if not any(part in name for part in cancelled)]
    assert all(gradient.abs().sum() > 0 for gradient in used)

    model = stirred(**options, **SEAMS[seam])
    together = run(model, source_batch, target_batch)
    assert_alike(run(model, source_batch[1:2, 2:], target_batch[1:2, :3]), together[1:2, :3])
    order = [2, 0, 1]
    assert_alike(run(model, source_batch[order], target_batch[order]), together[order])


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("distance", DISTANCES)
def test_a_saved_model_is_the_same_when_loaded(source_batch, target_batch, encoding, distance):
    options = dict(encoder_position_encoding=encoding, relative_attention_distance=distance)
    saved, other, file = stirred(**options).float(), build(seed=8, **options).eval(), io.BytesIO()
    torch.save(saved.state_dict(), file)
    other.load_state_dict(torch.load(io.BytesIO(file.getvalue())), strict=True)
    assert torch.equal(*(run(model, source_batch, target_batch) for model in (saved, other)))


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("distance", DISTANCES)
def test_other_precisions_are_near(source_batch, target_batch, encoding, distance):
    options = dict(encoder_position_encoding=encoding, relative_attention_distance=distance)
    exact = run(build(**options).eval().double(), source_batch, target_batch)
    for dtype in (torch.float32, torch.bfloat16):
        assert_rounded(run(build(**options).eval().to(dtype), source_batch, target_batch), exact, ROUNDINGS)
    model = build(**options).eval()
    with torch.autocast("cpu", torch.bfloat16):
        mixed = run(model, source_batch, target_batch)
    assert_rounded(mixed.bfloat16(), exact, ROUNDINGS)
    mixed.float().square().sum().backward()
    assert all(parameter.grad.isfinite().all() for parameter in model.parameters())


@pytest.mark.parametrize(
    "encoding, distance", [*((encoding, "none") for encoding in ENCODINGS), ("tupe_relative", "2")]
)
def test_activations_computed_again_have_the_same_gradients(source_batch, target_batch, encoding, distance):
    found = []
    for again in (False, True):
        positions = dict(encoder_position_encoding=encoding, relative_attention_distance=distance)
        model = build(**positions, word_dropout=0.0, checkpoint_activations=again).double()
        torch.manual_seed(3)
        run(model.train(), source_batch, target_batch).square().sum().backward()
        found.append([parameter.grad for parameter in model.parameters()])
    assert all(alike(a, b) for a, b in zip(*found, strict=True))


# What an encoding adds to the baseline


def added(encoding: str, distance: str) -> tuple[list[str], int]:
    """Parts of the model whose parameters are added, and how many these are, by the papers' descriptions."""
    parts, number = [], 0
    if encoding == "learned":
        parts, number = (
            ["encoder.embed_positions"],
            (P + 2) * C,
        )  # fairseq's, which counts from the padding's index + 1
    if encoding in TUPE:
        parts, number = ["encoder.position_bias"], P * C + 2 * C + 2 * (C * C + C)
        number += 32 * H if encoding == "tupe_relative" else 0
    if encoding in RELATIVE_KEYS:
        parts, number = ["encoder.layers.N.self_attn.logit_terms"], LAYERS * (2 * P - 1) * D
    if distance != "none":
        relative = ("encoder.layers.N.self_attn", "decoder.layers.N.self_attn")
        parts = [
            *parts,
            *(f"{attention}.{part}" for attention in relative for part in ("logit_terms", "relative_values")),
        ]
        number += (LAYERS + DECODER_LAYERS) * 2 * (2 * int(distance) + 1) * D
    return parts, number


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("distance", DISTANCES)
@pytest.mark.parametrize("language_embedding", ["none", "concat"])
def test_a_variant_has_the_baseline_and_added_parameters_alone(encoding, distance, language_embedding):
    """Their names, number, and the initial weights of the others."""
    options = dict(encoder_position_encoding=encoding, relative_attention_distance=distance)
    baseline = dict(build(decoder_language_embedding=language_embedding).named_parameters())
    variant = dict(build(decoder_language_embedding=language_embedding, **options).named_parameters())
    new = [name for name in variant if name not in baseline]
    parts, number = added(encoding, distance)
    assert sum(variant[name].numel() for name in new) == number
    numberless = {".".join("N" if part.isdecimal() else part for part in name.split(".")) for name in new}
    assert all(any(name.startswith(part) for name in numberless) for part in parts)
    assert all(any(name.startswith(part) for part in parts) for name in numberless)
    assert all(name in variant for name in baseline)
    if encoding != "learned":  # which fairseq draws before all that follows
        assert [name for name in baseline if not torch.equal(baseline[name], variant[name])] == []


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_positions_are_in_the_input_of_two_encodings_only(source_batch, encoding):
    encoder = stirred(encoder_position_encoding=encoding).encoder
    x, embedded = encoder.forward_embedding(source_batch)
    assert torch.equal(x, embedded) == (encoding not in INPUT_ENCODINGS)
    assert encoder.max_positions() == P
    assert (encoder.position_bias is not None) == (encoding in TUPE)


@pytest.mark.parametrize("encoding", TUPE)
def test_the_bias_is_made_once_and_handed_to_all_layers(source_batch, encoding):
    encoder, made, handed = stirred(encoder_position_encoding=encoding).encoder, [], []
    encoder.position_bias.register_forward_hook(lambda *call: made.append(call[-1]))
    for layer in encoder.layers:
        layer.register_forward_pre_hook(
            lambda *call: handed.append(call[-1]["position_bias"]), with_kwargs=True
        )
    encoder(source_batch)
    assert len(made) == 1 and len(handed) == LAYERS and all(bias is handed[0] for bias in handed)
    padding = source_batch.eq(1)[:, None, None].expand_as(handed[0])
    assert (handed[0][padding] == -torch.inf).all() and torch.equal(handed[0][~padding], made[0][~padding])
    assert all(layer.self_attn.scaling == pytest.approx((2 * D) ** -0.5) for layer in encoder.layers)


# Word order


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("distance", DISTANCES)
def test_without_positions_the_encoder_sees_a_bag_of_words(source_batch, encoding, distance):
    """It moves with its input where neither an encoding nor a distance above 0 tells positions apart."""
    encoder = stirred(encoder_position_encoding=encoding, relative_attention_distance=distance).encoder
    order = [3, 0, 4, 1, 2]
    states, moved = (
        encoder(tokens)["encoder_out"][0] for tokens in (source_batch[:1], source_batch[:1, order])
    )
    assert alike(states[order], moved) == (encoding == "none" and distance in ("none", "0"))


# Decoding in steps


@pytest.mark.parametrize("distance", ["none", "0", "1", "3", "9"])
@pytest.mark.parametrize("positions", [*INPUT_ENCODINGS, "none"])
def test_the_decoder_goes_step_by_step_as_at_once(source_batch, distance, positions):
    """Also after beams have changed places, and with padding behind a shorter target of the batch."""
    model = stirred(relative_attention_distance=distance, decoder_position_encoding=positions)
    sources = source_batch[[1, 1, 2, 2]]  # two beams each
    targets = torch.tensor([[5, 8, 9, 10, 11], [5, 11, 12, 1, 1], [7, 13, 14, 15, 1], [7, 16, 17, 18, 13]])
    order = torch.tensor([1, 0, 3, 3])
    whole, encoded, state, steps = run(model, sources, targets)[order], model.encoder(sources), {}, []
    for step in range(1, targets.size(1) + 1):
        if step == 3:
            model.decoder.reorder_incremental_state_scripting(state, order)
            encoded = model.encoder.reorder_encoder_out(encoded, order)
            targets, steps = targets[order], [logits[order] for logits in steps]
        steps.append(model.decoder(targets[:, :step], encoder_out=encoded, incremental_state=state)[0])
    is_token = targets.ne(1)
    assert_alike(torch.cat(steps, dim=1)[is_token], whole[is_token])


@pytest.mark.parametrize("distance", DISTANCES)
def test_padding_before_a_target_changes_nothing(source_batch, distance):
    """As under fairseq's --left-pad-target; padding sees nothing but padding there."""
    model = stirred(relative_attention_distance=distance, decoder_language_embedding="none")
    targets = torch.tensor([[5, 8, 9, 10], [1, 6, 11, 12], [7, 13, 14, 15]])
    together = run(model, source_batch, targets)
    alone = run(model, source_batch[1:2, 2:], targets[1:2, 1:])
    assert_alike(together[1:2, 1:], alone)
    together[targets.ne(1)].square().sum().backward()
    assert all(parameter.grad.isfinite().all() for parameter in model.parameters())


# Options


def li(task, **options) -> ZeroShotTransformer:
    """`zs_transformer_relative` as it comes."""
    args = toy_options()
    for name in vars(toy_options()):
        if "positions" not in name:
            delattr(args, name)
    vars(args).update(options)
    registered.zs_transformer_relative(args)
    return ZeroShotTransformer.build_model(args, task)


def test_the_relative_architecture_is_lis(toy_task):
    """Li (2019), section 3: sizes, and the number of parameters counted by hand, with fairseq's biases of
    the attention.
    """
    toy_task.source_dictionary = toy_task.target_dictionary = make_dictionary(words=100)
    d, ff, k, layers, vocabulary = 512, 1024, 16, 6, len(toy_task.target_dictionary)
    relative, plain_attention, feed_forward, norm = (
        2 * (2 * k + 1) * 64,
        4 * (d * d + d),
        2 * d * ff + ff + d,
        2 * d,
    )
    encoder = layers * (plain_attention + relative + feed_forward + 2 * norm) + norm
    decoder = layers * (2 * plain_attention + relative + feed_forward + 3 * norm) + norm
    model = li(toy_task)
    assert sum(parameter.numel() for parameter in model.parameters()) == encoder + decoder + d * vocabulary
    assert [module.p for name, module in model.named_modules() if name.endswith("dropout_module")] == [
        0.1
    ] * (2 + 6 * 3 + 6 * 4)
    for stack in (model.encoder, model.decoder):
        assert stack.embed_positions is None and len(stack.layers) == layers
        attentions = [layer.self_attn for layer in stack.layers]
        assert all(attention.num_heads == 8 for attention in attentions)
        assert all(isinstance(attention.relative_values, RelativeValues) for attention in attentions)


def test_the_relative_architecture_without_its_distance_is_lis_baseline(toy_task):
    positions = dict(encoder_position_encoding="sinusoidal", decoder_position_encoding="sinusoidal")
    model = li(toy_task, relative_attention_distance="none", **positions)
    assert model.encoder.embed_positions is not None and model.decoder.embed_positions is not None
    assert not any("table" in name for name, _ in model.named_parameters())


@pytest.mark.parametrize(
    "options, message",
    [
        *(
            (
                dict(relative_attention_distance=text),
                f"-distance is '{text}': write a whole number, 0 or more, or none",
            )
            for text in ("-1", "few", "1.5", "")
        ),
        (
            dict(relative_attention_distance="2", cross_self_attention=True),
            "does not go with --cross-self-attention; leave one",
        ),
        (
            dict(decoder_learned_pos=True, decoder_position_encoding="none"),
            "contradicts --decoder-position-encoding",
        ),
        (dict(decoder_learned_pos=True, decoder_position_encoding="sinusoidal"), "give the latter alone"),
    ],
)
def test_options_that_cannot_be_used_say_why(options, message):
    with pytest.raises(InputError, match=message):
        build(**options)


@pytest.mark.parametrize(
    "options, kind",
    [
        (dict(), "SinusoidalPositionalEmbedding"),
        (dict(decoder_learned_pos=True), "LearnedPositionalEmbedding"),
        (dict(decoder_position_encoding="learned"), "LearnedPositionalEmbedding"),
        (dict(decoder_learned_pos=True, decoder_position_encoding="learned"), "LearnedPositionalEmbedding"),
        (dict(decoder_position_encoding="none"), "NoneType"),
    ],
)
def test_the_decoders_positions_by_either_option(options, kind):
    decoder = build(**options).decoder
    assert type(decoder.embed_positions).__name__ == kind
    assert decoder.max_positions() == P


# Some layers alone


@pytest.mark.parametrize("encoding", [*TUPE, *RELATIVE_KEYS])
def test_positions_come_in_at_the_chosen_layers_alone(source_batch, encoding):
    """Below the lowest of them the encoder is a bag of words: its states follow a permutation of the
    tokens.
    """
    model = stirred(encoder_position_encoding=encoding, encoder_position_bias_layers="2")
    tokens, order = source_batch[:1], [3, 1, 4, 0, 2]
    states, permuted = (
        model.encoder(each, None, return_all_hiddens=True)["encoder_states"]
        for each in (tokens, tokens[:, order])
    )
    same = [
        alike(state[order], other) for state, other in zip(states, permuted)
    ]  # input, then layers 1, 2, 3
    assert same == [True, True, False, False]


@pytest.mark.parametrize("encoding", [*TUPE, *RELATIVE_KEYS])
def test_all_layers_named_are_all_layers(source_batch, target_batch, encoding):
    models = [
        stirred(encoder_position_encoding=encoding, encoder_position_bias_layers=layers).float()
        for layers in ("all", "1,2,3")
    ]
    assert torch.equal(*(run(model, source_batch, target_batch) for model in models))


def test_layers_without_the_bias_have_the_baselines_attention():
    for encoding in (*TUPE, *RELATIVE_KEYS):
        model = build(encoder_position_encoding=encoding, encoder_position_bias_layers="1,2")
        attention = model.encoder.layers[2].self_attn
        assert attention.scaling == D**-0.5 and not attention.logit_terms


@pytest.mark.parametrize(
    "options, message",
    [
        (dict(encoder_position_bias_layers="1"), "has no effect without --encoder-position-encoding tupe_"),
        (
            dict(encoder_position_bias_layers="none", encoder_position_encoding="relative_key"),
            "use --encoder-position-encoding none",
        ),
        (
            dict(encoder_position_bias_layers="4", encoder_position_encoding="relative_key"),
            "'4' names no layers of 3: .*, in --encoder-position-bias-layers$",
        ),
        (
            dict(relative_key_query_product=True, encoder_position_encoding="relative_key"),
            "has no effect without --encoder-position-encoding relative_key_query",
        ),
        (
            dict(no_token_positional_embeddings=True),
            "--encoder-position-encoding none --decoder-position-encoding none",
        ),
    ],
)
def test_options_without_effect_are_refused(options, message):
    with pytest.raises(InputError, match=message):
        build(**options)
