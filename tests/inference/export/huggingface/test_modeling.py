"""Models of random weights in transformers against PyTorch, for all options that a folder can hold."""

import itertools

import pytest
import torch

from tests.conftest import LANGUAGES, make_dictionary
from tests.support.exports import assert_exact, random_model, random_translations
from zsnmt.data.language_tags import TagPlacement
from zsnmt.data.reading import Codec
from zsnmt.inference.export.huggingface.conversion import convert
from zsnmt.inference.export.huggingface.refusals import check_expressible
from zsnmt.text.pipeline import TextPipeline
from zsnmt.text.words import Words

transformers = pytest.importorskip("transformers")
pytestmark = pytest.mark.usefixtures("float64")

SIZES = dict(decoder_embed_dim=16, encoder_attention_heads=2, decoder_attention_heads=4)
NONE = dict(decoder_language_embedding="none")
NO_POSITIONS = dict(encoder_position_encoding="none", decoder_position_encoding="none")
LEARNED = dict(encoder_position_encoding="learned", decoder_position_encoding="learned")
SHAW = dict(relative_attention_distance="2")
TIED = dict(share_all_embeddings=True)
STOCK = {
    "tags alone": NONE,
    "tags alone, one table": NONE | TIED,
    "gelu": NONE | dict(activation_fn="gelu"),
    "gelu by tanh": NONE | dict(activation_fn="gelu_accurate"),
    "unscaled": NONE | dict(no_scale_embedding=True),
    "training options": NONE
    | dict(variational_dropout=True, word_dropout=0.3, encoder_layerdrop=0.2, fast_training=True),
}
WITH_SEAMS = {
    **{
        f"residual removed in {layers}, language {joined}": dict(
            encoder_residual_removal_layers=layers, decoder_language_embedding=joined
        )
        for layers, joined in itertools.product(["none", "1,3"], ["add", "concat"])
    },
    "mean pool": dict(encoder_residual_removal_layers="2,3", encoder_residual_replacement="mean_pool"),
    "stochastic residual": dict(
        encoder_residual_removal_layers="2,3", encoder_residual_replacement="stochastic"
    ),
    "feed-forward residual": NONE | dict(encoder_feed_forward_residual_removal_layers="1,2"),
    "position query": dict(
        encoder_residual_removal_layers="2", encoder_position_query_layers="2", position_query_base=37.0
    ),
    "position queries": NONE | dict(encoder_position_query_layers="1,3"),
    "learned": LEARNED,
    "learned and none": NONE | dict(encoder_position_encoding="learned", decoder_position_encoding="none"),
    "no positions": NO_POSITIONS,
    "Shaw": SHAW | NO_POSITIONS | NONE,
    "Shaw and a language": SHAW,
    "relative keys in 2": dict(encoder_position_encoding="relative_key", encoder_position_bias_layers="2"),
    "relative keys and queries": dict(encoder_position_encoding="relative_key_query"),
    "their product": NONE
    | dict(encoder_position_encoding="relative_key_query", relative_key_query_product=True),
    "TUPE absolute in 1 and 3": NONE
    | dict(encoder_position_encoding="tupe_absolute", encoder_position_bias_layers="1,3"),
    "TUPE relative": dict(encoder_position_encoding="tupe_relative", encoder_residual_removal_layers="2"),
    "post-norm": NONE | TIED | dict(normalization="post"),
    "post-norm without residual": dict(normalization="post", encoder_residual_removal_layers="2"),
    "normalised embeddings": dict(layernorm_embedding=True),
    "no final normalisation": NONE | dict(no_decoder_final_norm=True),
}


def codec_of(model, placement: str = "t_dec") -> Codec:
    tags = TagPlacement(placement, make_dictionary())
    return Codec(TextPipeline(Words()), tags, LANGUAGES, [], model.encoder.max_positions())


def in_transformers(model):
    """The model in transformers, with its weights; it lacks none."""
    from zsnmt.inference.export.huggingface.remote.configuration_zsnmt import ZsnmtConfig
    from zsnmt.inference.export.huggingface.remote.modeling_zsnmt import ZsnmtForConditionalGeneration

    codec = codec_of(model)
    check_expressible(model, codec)
    converted = convert(model, codec)
    if converted.seams:
        made = ZsnmtForConditionalGeneration(ZsnmtConfig(**converted.config, **converted.seams))
    else:
        made = transformers.M2M100ForConditionalGeneration(transformers.M2M100Config(**converted.config))
    told = made.load_state_dict(converted.weights, strict=False)
    tied = ("lm_head.weight", "model.encoder.embed_tokens.weight", "model.decoder.embed_tokens.weight")
    assert not told.unexpected_keys and {*told.missing_keys} <= {*(tied if converted.config["tie_word_embeddings"] else ())}
    made.tie_weights()
    return made.eval()


def scored(model, translations, in_steps: bool = False, pad: str | None = None) -> list[list[float]]:
    """Log-probabilities of the tokens of translations, each by itself, or all padded on a side."""
    found = []
    for sentence, tokens in translations:
        source = torch.tensor([sentence.source])
        prefix = torch.tensor([[sentence.start, *tokens[:-1]]])
        with torch.no_grad():
            if in_steps:
                encoded, past, logits = model.model.encoder(source), None, []
                for step in range(prefix.size(1)):
                    out = model(
                        encoder_outputs=encoded,
                        attention_mask=torch.ones_like(source),
                        decoder_input_ids=prefix[:, step : step + 1],
                        past_key_values=past,
                        use_cache=True,
                    )
                    past, logits = out.past_key_values, [*logits, out.logits]
                logits = torch.cat(logits, dim=1)
            else:
                logits = model(input_ids=source, decoder_input_ids=prefix).logits
        found.append(logits[0].log_softmax(-1)[range(len(tokens)), tokens].tolist())
    return found


@pytest.mark.parametrize("options", (STOCK | WITH_SEAMS).values(), ids=STOCK | WITH_SEAMS)
def test_log_probabilities_are_those_of_pytorch_in_steps_too(options):
    model = random_model(**{**SIZES, **options})
    translations = random_translations(8, make_dictionary())
    made = in_transformers(model)
    assert (type(made) is transformers.M2M100ForConditionalGeneration) == (options in [*STOCK.values()])
    assert_exact(model, translations, scored(made, translations))
    assert_exact(model, translations, scored(made, translations, in_steps=True))
