"""The model against fairseq's own, and its variants against their definition."""

import itertools
import math
from argparse import Namespace

import pytest
import torch
from fairseq.models.transformer import TransformerModel
from fairseq.models.transformer.transformer_legacy import base_architecture

from tests.conftest import make_dictionary, toy_options
from tests.support.rounding import alike, assert_alike
from zsnmt.errors import InputError
from zsnmt.models import zs_transformer as registered
from zsnmt.models.zs_transformer import ZeroShotTransformer
from zsnmt.modules.attention_residual import (
    KeepResidual,
    MeanPoolResidual,
    RemoveResidual,
    StochasticResidual,
)
from zsnmt.modules.variational_dropout import VariationalDropout
from zsnmt.seams.layers import chosen_layers
from zsnmt.seams.options import attribute_of

NEUTRAL = dict(word_dropout=0.0, decoder_language_embedding="none")


def build(task, seed: int = 7, **options) -> ZeroShotTransformer:
    torch.manual_seed(seed)
    return ZeroShotTransformer.build_model(toy_options(**options), task)


def build_stock(task, normalization: str, seed: int = 7) -> TransformerModel:
    before = normalization == "pre"
    args = toy_options(
        encoder_normalize_before=before,
        decoder_normalize_before=before,
        share_all_embeddings=True,
        dropout=0.2,
        attention_dropout=0.2,
        activation_dropout=0.2,
    )
    base_architecture(args)
    torch.manual_seed(seed)
    return TransformerModel.build_model(args, task)


def run(model, source, target, seed: int = 3):
    torch.manual_seed(seed)
    return model(source, None, target)[0]


@pytest.mark.parametrize("normalization", ["pre", "post"])
@pytest.mark.parametrize("training", [True, False])
def test_neutral_seams_are_fairseqs_model_bit_for_bit(
    toy_task, source_batch, target_batch, normalization, training
):
    stock = build_stock(toy_task, normalization).train(training)
    ours = build(toy_task, normalization=normalization, **NEUTRAL).train(training)
    stock_state, our_state = stock.state_dict(), ours.state_dict()
    assert list(stock_state) == list(our_state)
    assert all(torch.equal(stock_state[name], our_state[name]) for name in stock_state)
    outputs = [run(model, source_batch, target_batch) for model in (stock, ours)]
    assert torch.equal(*outputs)
    for output in outputs:
        output.square().sum().backward()
    gradients = [[parameter.grad for parameter in model.parameters()] for model in (stock, ours)]
    assert all(torch.equal(a, b) for a, b in zip(*gradients, strict=True))


@pytest.mark.parametrize(
    "variant",
    [
        dict(encoder_residual_removal_layers="middle"),
        dict(encoder_position_query_layers="middle"),
        dict(encoder_feed_forward_residual_removal_layers="2"),
        dict(variational_dropout=True),
        dict(word_dropout=0.3),
        dict(encoder_residual_removal_layers="1,3", encoder_residual_replacement="mean_pool"),
    ],
)
def test_a_variant_has_the_names_and_initial_weights_of_the_baseline(toy_task, variant):
    baseline, changed = build(toy_task).state_dict(), build(toy_task, **variant).state_dict()
    assert list(baseline) == list(changed)
    assert all(torch.equal(baseline[name], changed[name]) for name in baseline)


def test_the_language_embedding_leaves_the_other_initial_weights_alone(toy_task):
    without, with_it = build(toy_task, **NEUTRAL).state_dict(), build(toy_task).state_dict()
    assert all(torch.equal(without[name], with_it[name]) for name in without)
    assert {name for name in with_it if name not in without} == {
        "decoder.language_embedding.table.weight",
        "decoder.language_embedding.project.weight",
        "decoder.language_embedding.project.bias",
    }


@pytest.mark.parametrize(
    "architecture, removed, query",
    [
        ("zs_transformer", [], []),
        ("zs_transformer_residual", [3], []),
        ("zs_transformer_residual_query", [3], [3]),
    ],
)
def test_architectures_fill_the_middle_layer(toy_task, architecture, removed, query):
    args = toy_options(encoder_layers=5)
    getattr(registered, architecture)(args)
    model = ZeroShotTransformer.build_model(args, toy_task)
    layers = list(enumerate(model.encoder.layers, start=1))
    assert [n for n, layer in layers if isinstance(layer.attention_residual, RemoveResidual)] == removed
    assert [n for n, layer in layers if isinstance(layer.attention_residual, KeepResidual)] == [
        n for n, _ in layers if n not in removed
    ]
    assert [n for n, layer in layers if layer.position_query is not None] == query


def test_replacements_of_the_residual(toy_task):
    def middle(kind):
        options = dict(encoder_residual_removal_layers="middle", encoder_residual_replacement=kind)
        return build(toy_task, **options).encoder.layers[1].attention_residual

    assert isinstance(middle("mean_pool"), MeanPoolResidual)
    assert isinstance(middle("stochastic"), StochasticResidual)
    assert middle("stochastic").drop_probability == pytest.approx(0.5 * 2 / 3)  # layer 2 of 3


def test_layers_by_name_and_number():
    assert chosen_layers("none", 5) == []
    assert chosen_layers("middle", 5) == [3]  # Liu et al., section 3.2
    assert chosen_layers("middle", 8) == [5]
    assert chosen_layers("2,1", 5) == [1, 2]
    for wrong in ("0", "6", "x", "", "1,,2", "-1"):
        with pytest.raises(InputError, match="names no layers of 5: write none, middle, top2, or numbers"):
            chosen_layers(wrong, 5)


@pytest.mark.parametrize(
    "option",
    [
        "--encoder-residual-removal-layers",
        "--encoder-feed-forward-residual-removal-layers",
        "--encoder-position-query-layers",
        "--decoder-language-feed-forward-layers",
    ],
)
def test_layers_that_do_not_exist_are_refused_by_the_name_of_their_option(toy_task, option):
    with pytest.raises(InputError, match=f"'9' names no layers of [23]: .*, in {option}$"):
        build(toy_task, **{attribute_of(option): "9"})


SEAMS = [
    dict(
        zip(
            (
                "encoder_residual_removal_layers",
                "encoder_position_query_layers",
                "variational_dropout",
                "decoder_language_embedding",
                "normalization",
                "encoder_position_encoding",
            ),
            values,
        )
    )
    for values in itertools.product(
        ("none", "middle"),
        ("none", "middle"),
        (False, True),
        ("none", "add", "concat"),
        ("pre", "post"),
        ("sinusoidal", "learned", "none"),
    )
]


@pytest.mark.slow
@pytest.mark.parametrize("options", SEAMS, ids=lambda options: "-".join(map(str, options.values())))
@pytest.mark.usefixtures("float64")
def test_all_seams_combine(toy_task, source_batch, target_batch, options):
    """Every combination trains, does not depend on padding or companions, and decodes step by step."""
    model = build(toy_task, **options)
    run(model.train(), source_batch, target_batch).square().sum().backward()
    gradients = {name: parameter.grad for name, parameter in model.named_parameters()}
    assert all(gradient is not None and gradient.isfinite().all() for gradient in gradients.values())
    used = [name for name in gradients if not name.endswith("k_proj.bias")]  # softmax cancels a key's bias
    assert all(gradients[name].abs().sum() > 0 for name in used if "embed_positions" not in name)

    model.double().eval()
    together = run(model, source_batch, target_batch)
    alone = run(model, source_batch[1:2, 2:], target_batch[1:2, :3])
    assert_alike(together[1:2, :3], alone)

    encoded = model.encoder(source_batch)
    state: dict = {}
    steps = [
        model.decoder(target_batch[:, : n + 1], encoder_out=encoded, incremental_state=state)[0]
        for n in range(3)
    ]
    assert_alike(torch.cat(steps, dim=1), together[:, :3])


@pytest.mark.usefixtures("float64")
def test_the_last_tokens_position_matters_only_through_encodings(toy_task, source_batch):
    """Without position encodings the encoder sees a bag of words; with them it does not."""
    swapped = source_batch[:1][:, [1, 0, 2, 3, 4]]
    for encoding, same in (("none", True), ("sinusoidal", False), ("learned", False)):
        encoder = build(toy_task, encoder_position_encoding=encoding).double().eval().encoder
        pooled = [encoder(tokens)["encoder_out"][0].mean(0) for tokens in (source_batch[:1], swapped)]
        assert alike(*pooled) == same


@pytest.mark.parametrize("blocks", [dict(), dict(decoder_language_feed_forward_layers="2")])
def test_variational_dropout_is_everywhere_but_in_the_attention_probabilities(toy_task, blocks):
    model = build(toy_task, variational_dropout=True, **blocks)
    ordinary = [name for name, module in model.named_modules() if type(module).__name__ == "FairseqDropout"]
    assert ordinary and all("attn" in name for name in ordinary)
    axes = {
        name: module.time_axis
        for name, module in model.named_modules()
        if isinstance(module, VariationalDropout)
    }
    assert {axis for name, axis in axes.items() if "layers" in name} == {0}
    assert {axis for name, axis in axes.items() if "layers" not in name} == {1}
    assert all(module.p == 0.2 for module in model.modules() if isinstance(module, VariationalDropout))


def test_a_task_without_tags_cannot_have_a_language_embedding(toy_task):
    toy_task.langs = []
    with pytest.raises(InputError, match="needs a language tag"):
        build(toy_task)
    build(toy_task, decoder_language_embedding="none")


def test_variational_dropout_reaches_every_layer_under_layer_drop(toy_task):
    model = build(toy_task, variational_dropout=True, encoder_layerdrop=0.9, decoder_layerdrop=0.9)
    layers = [*model.encoder.layers.children(), *model.decoder.layers.children()]
    assert len(layers) == 5 and all(isinstance(layer.dropout_module, VariationalDropout) for layer in layers)


@pytest.mark.parametrize(
    "options, message",
    [
        (dict(encoder_learned_pos=True), "--encoder-position-encoding learned"),
        (
            dict(normalization="post", decoder_normalize_before=True),
            "--decoder-normalize-before contradicts .*--normalization alone",
        ),
    ],
)
def test_fairseqs_spelling_of_an_option_is_refused_not_ignored(toy_task, options, message):
    with pytest.raises(InputError, match=message):
        build(toy_task, **options)


@pytest.mark.parametrize(
    "options, message",
    [
        *(
            ({name: value}, f"--{name.replace('_', '-')} {value} must be at least 0 and below 1")
            for name in ("dropout", "attention_dropout", "activation_dropout", "word_dropout")
            for value in (-0.1, 1.0)
        ),
        *(
            (
                dict(encoder_position_query_layers="middle", position_query_base=base),
                f"--position-query-base: .* is {base}; it must be above 1 and finite",
            )
            for base in (1.0, math.nan, math.inf)
        ),
        *(
            ({f"{stack}_{size}": value}, f"--{stack}-{size.replace('_', '-')} {value} must be 1 or more")
            for stack in ("encoder", "decoder")
            for size, value in (
                ("layers", 0),
                ("embed_dim", -8),
                ("ffn_embed_dim", 0),
                ("attention_heads", 0),
            )
        ),
        (
            dict(encoder_attention_heads=3),
            "--encoder-embed-dim 8 must be a multiple of --encoder-attention-heads 3",
        ),
        (
            dict(decoder_attention_heads=3),
            "--decoder-embed-dim 8 must be a multiple of --decoder-attention-heads 3",
        ),
    ],
)
@pytest.mark.parametrize("dropout", [dict(), dict(variational_dropout=True), dict(fast_training=True)])
def test_a_value_that_an_option_cannot_have_is_refused_by_its_name(toy_task, options, message, dropout):
    with pytest.raises(InputError, match=message):
        build(toy_task, **options, **dropout)


@pytest.mark.parametrize(
    "options, message",
    [
        (dict(quant_noise_scalar=0.1), "--quant-noise-scalar does not know embeddings with word dropout"),
        (dict(decoder_output_dim=4), "--decoder-output-dim 4 does not go with --decoder-embed-dim 8"),
        (
            dict(encoder_layers_to_keep="0,2", encoder_residual_removal_layers="middle"),
            "--encoder-layers-to-keep numbers the layers anew, and those of --encoder-residual-rem",
        ),
    ],
)
def test_options_of_fairseq_that_do_not_go_with_the_model_are_refused(toy_task, options, message):
    with pytest.raises(InputError, match=message):
        build(toy_task, **options)


def test_a_plain_model_may_be_pruned(toy_task):
    assert len(build(toy_task, encoder_layers_to_keep="0,2").encoder.layers) == 2


@pytest.mark.parametrize(
    "options, shared",
    [
        ({}, (True, True)),
        (dict(share_decoder_input_output_embed=True), (False, True)),
        (dict(decoder_embed_dim=16, decoder_output_dim=16), (False, False)),
        (dict(share_all_embeddings=True, share_decoder_input_output_embed=True), (True, True)),
    ],
)
def test_tables_are_shared_unless_fairseqs_options_say_that_they_differ(toy_task, options, shared):
    model = build(toy_task, **options)
    encoder, decoder = (stack.embed_tokens.weight for stack in (model.encoder, model.decoder))
    assert (encoder is decoder, decoder is model.decoder.output_projection.weight) == shared


def test_word_dropout_is_kept_in_translation_where_that_is_asked_for(toy_task):
    model = build(toy_task, word_dropout=0.9).eval()
    tokens = torch.arange(4, 8).unsqueeze(0)
    table = model.encoder.embed_tokens
    assert torch.equal(table(tokens), table(tokens))
    model.make_generation_fast_(retain_dropout=True)
    assert not torch.equal(table(tokens), table(tokens))


def test_weights_in_shards_are_refused(toy_task):
    """They would hide the layers whose residual is removed."""
    with pytest.raises(InputError, match="--ddp-backend fully_sharded hides the layers .*; leave it out"):
        build(toy_task, ddp_backend="fully_sharded", encoder_residual_removal_layers="middle")


@pytest.mark.parametrize(
    "options",
    [
        dict(),
        dict(decoder_language_embedding="none", decoder_language_feed_forward_layers="2"),
        dict(decoder_language_embedding="none", frozen_vocabulary="31"),
    ],
)
def test_padding_before_targets_is_refused_where_their_first_token_is_read(toy_task, options):
    toy_task.args = Namespace(left_pad_target=True)
    with pytest.raises(
        InputError, match="--decoder-lang.*|--frozen-v.* where --left-pad-target puts padding"
    ):
        build(toy_task, **options)
    build(toy_task, decoder_language_embedding="none")


def reference_parameters(layers: int, d: int, ff: int, vocabulary: int, languages: int) -> int:
    """The reference implementation's count: no attention biases, an output bias (reference facts 1.1,
    1.4).
    """
    attention, feed_forward, norm = 4 * d * d, 2 * d * ff + ff + d, 2 * d
    encoder = layers * (attention + feed_forward + 2 * norm) + norm
    decoder = layers * (2 * attention + feed_forward + 3 * norm) + norm
    table_and_output_bias = (d + 1) * vocabulary
    return encoder + decoder + table_and_output_bias + 2 * d * d + d + languages * d


@pytest.mark.slow
@pytest.mark.parametrize(
    "layers, vocabulary, published", [(5, 18_900, 47e6), (5, 40_400, 58e6), (8, 38_300, 79e6)]
)
def test_parameter_counts_are_the_references(layers, vocabulary, published):
    """Totals of the reference's README for IWSLT, PMIndia and Europarl (8+8 layers)."""
    languages = 4
    assert reference_parameters(layers, 512, 2048, vocabulary, languages) == pytest.approx(
        published, rel=0.01
    )

    class Task:
        langs = ["piv", "aa", "bb", "cc"]
        source_dictionary = target_dictionary = make_dictionary(words=vocabulary - 8)

    args = toy_options()
    for name in list(vars(args)):
        if "positions" not in name:
            delattr(args, name)
    args.encoder_layers = args.decoder_layers = layers
    ours = sum(parameter.numel() for parameter in ZeroShotTransformer.build_model(args, Task()).parameters())
    attention_biases = 3 * layers * 4 * 512
    assert ours - attention_biases + vocabulary == reference_parameters(
        layers, 512, 2048, vocabulary, languages
    )
