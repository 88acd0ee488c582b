"""Models of random weights in transformers against PyTorch, for all options that a folder can hold."""

import itertools
import math

import pytest
import torch
from torch import nn

from tests.conftest import LANGUAGES, make_dictionary
from tests.support.exports import (
    EOS,
    assert_exact,
    fairseq_engine,
    needs_transformers,
    random_model,
    random_translations,
)
from zsnmt.data.language_tags import TagPlacement
from zsnmt.data.reading import Codec
from zsnmt.decoding.search import Search, Sentence, never_written
from zsnmt.files.records import read_json
from zsnmt.inference.export.ctranslate2.check import can_write
from zsnmt.inference.export.huggingface.conversion import convert
from zsnmt.inference.export.huggingface.export import write_model
from zsnmt.inference.export.huggingface.refusals import check_expressible
from zsnmt.languages import language_tag
from zsnmt.modules.growing_vocabulary import GrowingVocabulary
from zsnmt.modules.language_adapter import LanguageAdapters
from zsnmt.modules.target_language import TargetLanguage
from zsnmt.text.pipeline import TextPipeline
from zsnmt.text.words import Words

pytestmark = [needs_transformers, pytest.mark.slow, pytest.mark.usefixtures("float64")]

SIZES = dict(
    decoder_embed_dim=16, encoder_attention_heads=2, decoder_attention_heads=4, share_all_embeddings=True
)
NONE = dict(decoder_language_embedding="none")
NO_POSITIONS = dict(encoder_position_encoding="none", decoder_position_encoding="none")
LEARNED = dict(encoder_position_encoding="learned", decoder_position_encoding="learned")
SHAW = dict(relative_attention_distance="2")
STOCK = {
    "tags alone": NONE,
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
    "languages' blocks": dict(decoder_language_feed_forward_layers="2"),
    "languages' blocks, post-norm": NONE
    | dict(decoder_language_feed_forward_layers="1,2", normalization="post"),
    "post-norm": NONE | dict(normalization="post"),
    "post-norm without residual": dict(normalization="post", encoder_residual_removal_layers="2"),
    "normalised embeddings": dict(layernorm_embedding=True),
    "a table for each stack": NONE | dict(share_all_embeddings=False),
    "no final normalisation": NONE | dict(no_decoder_final_norm=True),
}


def codec_of(model, placement: str = "t_dec") -> Codec:
    tags = TagPlacement(placement, make_dictionary())
    return Codec(TextPipeline(Words()), tags, LANGUAGES, [], model.encoder.max_positions())


def in_transformers(model):
    """The model in transformers, with its weights; it lacks none."""
    from transformers import M2M100Config, M2M100ForConditionalGeneration

    from zsnmt.inference.export.huggingface.remote.configuration_zsnmt import ZsnmtConfig
    from zsnmt.inference.export.huggingface.remote.modeling_zsnmt import ZsnmtForConditionalGeneration

    codec = codec_of(model)
    check_expressible(model, codec)
    converted = convert(model, codec)
    if converted.seams:
        made = ZsnmtForConditionalGeneration(ZsnmtConfig(**converted.config, **converted.seams))
    else:
        made = M2M100ForConditionalGeneration(M2M100Config(**converted.config))
    told = made.load_state_dict(converted.weights, strict=False)
    tied = ("lm_head.weight", "model.encoder.embed_tokens.weight", "model.decoder.embed_tokens.weight")
    assert not told.unexpected_keys and {*told.missing_keys} <= {
        *(tied if converted.config["tie_word_embeddings"] else ())
    }
    made.tie_weights()
    return made.eval()


def scored(model, translations, in_steps: bool = False) -> list[list[float]]:
    """Log-probabilities of the tokens of translations, from a cache where in steps."""
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
    translations = random_translations(4, make_dictionary())
    made = in_transformers(model)
    is_stock = type(made).__name__ == "M2M100ForConditionalGeneration"
    assert is_stock == (options in [*STOCK.values()])
    assert_exact(model, translations, scored(made, translations))
    assert_exact(model, translations, scored(made, translations, in_steps=True))


def grown(**options):
    """A model to which two languages were added, with adapters."""
    model = random_model(**{**SIZES, **options})
    bb, cc = (make_dictionary().index(language_tag(language)) for language in ("bb", "cc"))
    model.decoder.vocabulary = GrowingVocabulary([bb, cc, len(make_dictionary())])
    model.decoder.adapters = nn.ModuleList(LanguageAdapters([bb, cc], 16, 3) for _ in model.decoder.layers)
    for weight in model.decoder.adapters.parameters():
        nn.init.normal_(weight)
    return model.eval()


def told(**options):
    """A model whose layer 2 alone is told the target language, by the second tag of the source."""
    model = random_model(**{**SIZES, **options})
    model.encoder.target_language = TargetLanguage(1, 1)
    model.encoder.layers[1].is_told = True
    return model


@pytest.mark.parametrize("options", [{}, NONE], ids=["concat", "tags alone"])
@pytest.mark.parametrize("make", [grown, told])
def test_added_languages_and_a_hidden_tag(make, options):
    model = make(**options)
    made = in_transformers(model)
    translations = [
        (
            Sentence([4, sentence.start, *sentence.source], sentence.start),
            [token if can_write(model, sentence.start, token) else EOS for token in tokens],
        )
        for sentence, tokens in random_translations(4, make_dictionary(), longest=5)
    ]
    for in_steps in (False, True):
        assert_exact(model, translations, scored(made, translations, in_steps))
    if model.decoder.vocabulary is not None:
        (first, *_), ((sentence, _), *_) = scored(made, [(translations[0][0], [10, EOS])]), translations
        assert not can_write(model, sentence.start, 10) and first[0] == -math.inf


def test_arguments_of_a_grown_model_may_stand_in_their_order_and_its_loss_is_of_the_masked_logits():
    (sentence, tokens), *_ = random_translations(1, make_dictionary())
    model = grown()
    made, source = in_transformers(model), torch.tensor([sentence.source])
    labels = torch.tensor([[token if can_write(model, sentence.start, token) else EOS for token in tokens]])
    prefix = torch.cat([torch.tensor([[sentence.start]]), labels[:, :-1]], dim=1)
    named = made(input_ids=source, decoder_input_ids=prefix, labels=labels)
    logits = made(source, torch.ones_like(source), prefix).logits
    assert logits.eq(-math.inf).any() and torch.equal(logits, named.logits)
    assert torch.equal(named.loss, nn.functional.cross_entropy(logits[0], labels[0]))
    with pytest.raises(ValueError, match="give decoder_input_ids"):
        made(input_ids=source, labels=labels)


@pytest.mark.parametrize("side", ["left", "right"])
def test_a_batch_with_padding_is_searched_as_fairseq_does(side):
    model = random_model(
        **SIZES,
        encoder_residual_removal_layers="2",
        encoder_position_query_layers="2",
        relative_attention_distance="2",
    )
    made, dictionary = in_transformers(model), make_dictionary()
    never = never_written(dictionary, LANGUAGES)
    sentences = [sentence for sentence, _ in random_translations(4, dictionary)]
    longest = max(len(sentence.source) for sentence in sentences)
    rows = [[1] * (longest - len(sentence.source)) for sentence in sentences]
    sources = torch.tensor(
        [
            [*row, *sentence.source] if side == "left" else [*sentence.source, *row]
            for row, sentence in zip(rows, sentences)
        ]
    )
    search = Search(beam=3, max_len_a=0, max_len_b=12)
    found = made.generate(
        sources,
        attention_mask=sources.ne(1).long(),
        decoder_start_token_id=torch.tensor([sentence.start for sentence in sentences]),
        num_beams=search.beam,
        max_new_tokens=13,
        min_new_tokens=1,
        early_stopping=True,
        suppress_tokens=never,
        do_sample=False,
        return_dict_in_generate=True,
        output_scores=True,
    )
    best = [
        of_sentence[0] for of_sentence in fairseq_engine(model, dictionary, search).translate_batch(sentences)
    ]
    ours = [[token for token in tokens if token != 1] for _, *tokens in found.sequences.tolist()]
    assert ours == [each.tokens for each in best] and max(map(len, ours)) < 13
    assert found.sequences_scores.tolist() == pytest.approx([each.score for each in best], abs=1e-5)


def test_a_search_writes_no_more_than_the_decoder_has_positions_for(tmp_path):
    model = random_model(**SIZES | LEARNED | NONE | dict(max_source_positions=40, max_target_positions=9))
    with torch.no_grad():
        model.decoder.output_projection.weight[EOS] = 0  # it hardly ever ends
    codec = codec_of(model)
    write_model(tmp_path, convert(model, codec), codec, max_target_length=model.max_decoder_positions())
    most = read_json(tmp_path / "generation_config.json", "")["max_new_tokens"]
    sentence, _ = random_translations(1, make_dictionary())[0]
    made, source = in_transformers(model), torch.tensor([sentence.source])
    outputs = made.generate(source, decoder_start_token_id=sentence.start, max_new_tokens=most)
    assert outputs.size(1) == 1 + 9
