"""What a folder of transformers cannot hold is refused by name; what it can, its configuration names."""

import pytest
from torch import nn

from tests.conftest import LANGUAGES, make_dictionary
from tests.support.exports import random_model
from zsnmt.data.language_tags import TagPlacement
from zsnmt.data.reading import Codec
from zsnmt.errors import InputError
from zsnmt.inference.export.huggingface.conversion import convert
from zsnmt.inference.export.huggingface.refusals import check_expressible
from zsnmt.text.pipeline import TextPipeline
from zsnmt.text.words import Words

NONE = dict(decoder_language_embedding="none")
WIDE = dict(decoder_embed_dim=16, share_all_embeddings=True)
REFUSED = {
    "--activation-fn swish": WIDE | dict(activation_fn="swish"),
    "--decoder-embed-dim other than --encoder-embed-dim": {},
    "--decoder-output-dim other than --decoder-embed-dim": dict(decoder_embed_dim=16, decoder_output_dim=10),
    "--no-cross-attention": dict(no_cross_attention=True, decoder_embed_dim=16, **NONE),
    "--cross-self-attention": dict(cross_self_attention=True, encoder_embed_dim=12, **NONE),
    "--adaptive-softmax-cutoff": dict(adaptive_softmax_cutoff="9", **NONE),
}


def codec(symbols=()) -> Codec:
    dictionary = make_dictionary()
    for symbol in symbols:
        dictionary.add_symbol(symbol, overwrite=True)
    return Codec(TextPipeline(Words()), TagPlacement("t_dec", dictionary), LANGUAGES, [], 31)


@pytest.mark.parametrize("option, options", REFUSED.items(), ids=REFUSED)
def test_the_option_is_named_and_the_remedy(option, options):
    heads = dict(encoder_attention_heads=4, decoder_attention_heads=2)
    with pytest.raises(InputError, match=f"cannot hold {option}; translate with --engine pytorch$"):
        check_expressible(random_model(**heads | options), codec())


def test_unknown_parts_and_symbols_that_are_there_twice_are_refused():
    model = random_model(**WIDE, decoder_attention_heads=2)
    check_expressible(model, codec())
    with pytest.raises(InputError, match="a dictionary with a symbol twice"):
        check_expressible(model, codec(["w3"]))
    model.encoder.layers[1].attention_residual = nn.Dropout(0.1)
    with pytest.raises(InputError, match=r"part encoder.layers.1.attention_residual \(Dropout\)"):
        check_expressible(model, codec())


def test_a_stock_model_has_no_seam_and_any_other_names_its_own():
    sizes = dict(WIDE, decoder_attention_heads=2)
    assert convert(random_model(**sizes, **NONE), codec()).seams == {}
    found = convert(random_model(**sizes, encoder_residual_removal_layers="middle"), codec()).seams
    assert found == {
        "encoder_attention_residuals": ["keep", "remove", "keep"],
        "language_embedding": "concat",
        "language_tags": [4, 5, 6, 7],
        "max_source_positions": 31,
        "max_target_positions": 37,
    }
