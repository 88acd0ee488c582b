"""What cannot be exported is refused by the name of its option."""

import pytest
import torch
from torch import nn

from tests.support.exports import random_model
from zsnmt.errors import InputError
from zsnmt.inference.export.ctranslate2.refusals import check_exportable, reason

NONE = dict(decoder_language_embedding="none")
REFUSED = {
    "--encoder-position-query-layers": dict(encoder_position_query_layers="middle"),
    "--encoder-residual-replacement mean_pool": dict(
        encoder_residual_removal_layers="2", encoder_residual_replacement="mean_pool"
    ),
    "--encoder-position-encoding tupe_absolute or tupe_relative": dict(
        encoder_position_encoding="tupe_relative"
    ),
    "--encoder-position-encoding relative_key_query": dict(encoder_position_encoding="relative_key_query"),
    "--activation-fn tanh": dict(activation_fn="tanh", **NONE),
    "--decoder-language-embedding concat with another --activation-fn than relu": dict(activation_fn="gelu"),
    "--decoder-language-embedding with --normalization post": dict(
        normalization="post", decoder_language_embedding="add"
    ),
    "--encoder-residual-removal-layers with --normalization post": dict(
        normalization="post", encoder_residual_removal_layers="2", **NONE
    ),
    "--normalization post with relative attention and positions in the input": dict(
        normalization="post", relative_attention_distance="2", **NONE
    ),
    "--decoder-language-embedding with --layernorm-embedding": dict(layernorm_embedding=True),
    "--decoder-output-dim other than --decoder-embed-dim": dict(decoder_output_dim=10),
    "--encoder-feed-forward-residual-removal-layers": dict(encoder_feed_forward_residual_removal_layers="2"),
    "--decoder-language-feed-forward-layers with another --activation-fn than relu": dict(
        decoder_language_feed_forward_layers="2", activation_fn="gelu", **NONE
    ),
    "--no-cross-attention": dict(no_cross_attention=True, **NONE),
    "--cross-self-attention": dict(cross_self_attention=True, encoder_embed_dim=12, **NONE),
    "--quant-noise-pq": dict(
        quant_noise_pq=0.1,
        quant_noise_pq_block_size=4,
        encoder_ffn_embed_dim=24,
        decoder_ffn_embed_dim=24,
        **NONE,
    ),
    "--adaptive-softmax-cutoff": dict(adaptive_softmax_cutoff="9", **NONE),
}


@pytest.mark.parametrize("option, options", REFUSED.items(), ids=REFUSED)
def test_the_option_is_named_and_the_other_engine(option, options):
    with pytest.raises(
        InputError, match=f"^CTranslate2 has no counterpart of {option}; translate with --engine pytorch$"
    ):
        check_exportable(random_model(**options))


def test_a_frozen_vocabulary_and_adapters_are_known_but_for_adapters_of_another_activation():
    from zsnmt.modules.growing_vocabulary import GrowingVocabulary
    from zsnmt.modules.language_adapter import LanguageAdapters

    model = random_model()
    model.decoder.vocabulary = GrowingVocabulary([20, 31])
    model.decoder.adapters = nn.ModuleList([LanguageAdapters([7], 12, 3)])
    assert reason(model) is None
    model.cfg.activation_fn, model.decoder.language_embedding = "gelu", None
    assert reason(model) == "--adapter-dim with another --activation-fn than relu"


def test_an_encoder_that_is_told_the_target_language_is_refused():
    from zsnmt.modules.target_language import TargetLanguage

    model = random_model()
    model.encoder.target_language = TargetLanguage(0, 1)
    assert reason(model) == "--encoder-target-language"


def test_an_unknown_part_is_refused():
    class Doubled(nn.Module):
        def forward(self, attended: torch.Tensor, layer_input: torch.Tensor, padding_mask) -> torch.Tensor:
            return attended + 2 * layer_input

    model = random_model()
    model.encoder.layers[1].attention_residual = Doubled()
    assert reason(model) == "the model's part encoder.layers.1.attention_residual (Doubled)"


def test_half_precision_is_refused_where_a_residual_is_removed():
    model = random_model(encoder_residual_removal_layers="2")
    with pytest.raises(
        InputError,
        match="--quantization float16 cannot hold the large factor .* choose bfloat16, float32 or int8",
    ):
        check_exportable(model, "float16")
    check_exportable(model, "bfloat16")
    check_exportable(random_model(), "float16")


def test_all_that_the_plain_model_has_is_known():
    assert (
        reason(
            random_model(
                encoder_residual_removal_layers="2", variational_dropout=True, relative_attention_distance="3"
            )
        )
        is None
    )
