"""Exported models of random weights against PyTorch, for all options that CTranslate2 can run."""

import itertools

import pytest
import torch

from tests.conftest import LANGUAGES, ToyTask, make_dictionary
from tests.support.exports import assert_exact, export, opened, random_model, random_translations
from zsnmt.data.language_tags import TagPlacement
from zsnmt.decoding.search import Search, Sentence
from zsnmt.errors import InputError
from zsnmt.inference.export.ctranslate2.check import differences
from zsnmt.inference.export.ctranslate2.engine import CTranslate2Engine
from zsnmt.inference.export.ctranslate2.specification import specification, unique
from zsnmt.languages import Direction, language_tag
from zsnmt.modules.attention_residual import KeepResidual, RemoveResidual

Translator = pytest.importorskip("ctranslate2").Translator

pytestmark = pytest.mark.usefixtures("float64")
NONE = dict(decoder_language_embedding="none")
NO_POSITIONS = dict(encoder_position_encoding="none", decoder_position_encoding="none")
LEARNED = dict(encoder_position_encoding="learned", decoder_position_encoding="learned")
BLOCKS = dict(decoder_language_feed_forward_layers="1,2", decoder_language_feed_forward_dim=9)
SHAW = dict(relative_attention_distance="2")
OPTIONS = {
    **{
        f"residual removed in {layers}, language {joined}": dict(
            encoder_residual_removal_layers=layers, decoder_language_embedding=joined
        )
        for layers, joined in itertools.product(
            ["none", "middle", "1", "1,3", "1,2,3"], ["none", "add", "concat"]
        )
    },
    "stochastic residual": dict(
        encoder_residual_removal_layers="2,3", encoder_residual_replacement="stochastic"
    ),
    "training options": dict(
        variational_dropout=True, word_dropout=0.3, encoder_layerdrop=0.2, decoder_layerdrop=0.2
    ),
    "fast training": dict(fast_training=True),
    "learned": LEARNED,
    "learned, tags alone": LEARNED | NONE,
    "learned and none": dict(encoder_position_encoding="learned", decoder_position_encoding="none"),
    "none and learned, added": dict(
        NO_POSITIONS, decoder_position_encoding="learned", decoder_language_embedding="add"
    ),
    "no positions": NO_POSITIONS,
    "no positions, tags alone": NO_POSITIONS | NONE,
    "Shaw": SHAW | NO_POSITIONS | NONE,
    "Shaw of distance 0": NO_POSITIONS | NONE | dict(relative_attention_distance="0"),
    "Shaw and sinusoids": SHAW | NONE,
    "Shaw and a language": SHAW,
    "Shaw and a language, no positions": SHAW | NO_POSITIONS,
    "Shaw without residual in 1": SHAW | NO_POSITIONS | NONE | dict(encoder_residual_removal_layers="1"),
    "relative keys": dict(encoder_position_encoding="relative_key"),
    "relative keys in 2": dict(encoder_position_encoding="relative_key", encoder_position_bias_layers="2"),
    "post-norm": NONE | dict(normalization="post"),
    "post-norm, Shaw": NONE | SHAW | NO_POSITIONS | dict(normalization="post"),
    "normalised embeddings": NONE | dict(layernorm_embedding=True, encoder_residual_removal_layers="1"),
    "unscaled embeddings": dict(no_scale_embedding=True),
    "no final normalisation": dict(no_decoder_final_norm=True),
    "shared embeddings": dict(share_all_embeddings=True, decoder_embed_dim=16, decoder_attention_heads=2),
    "language blocks": BLOCKS,
    "language blocks, tags alone": BLOCKS | NONE | dict(encoder_residual_removal_layers="2"),
    "language blocks, post-norm": BLOCKS | NONE | dict(normalization="post"),
    "gelu": dict(activation_fn="gelu", encoder_residual_removal_layers="2", decoder_language_embedding="add"),
    "gelu by tanh": dict(
        activation_fn="gelu_accurate", encoder_residual_removal_layers="2", decoder_language_embedding="add"
    ),
}


def assert_as_pytorch(model, engine, translations) -> None:
    """The engine's log-probabilities are as near the exact ones as PyTorch's."""
    assert_exact(model, translations, engine.log_probabilities(*map(list, zip(*translations))))


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
def test_log_probabilities_are_those_of_pytorch(tmp_path, options):
    model, dictionary = random_model(**options), make_dictionary()
    assert_as_pytorch(
        model, opened(model, dictionary, tmp_path / "export"), random_translations(16, dictionary)
    )


@pytest.mark.parametrize("placement", TagPlacement.NAMES)
def test_tags_may_stand_anywhere(tmp_path, placement):
    dictionary = make_dictionary()
    tags = TagPlacement(placement, dictionary)
    model = random_model(encoder_residual_removal_layers="middle", **({} if tags.starts_decoder else NONE))
    directions = [Direction(*pair) for pair in itertools.permutations(LANGUAGES, 2)]
    translations = [
        (
            Sentence([*tags.source_prefix(direction), *sentence.source], tags.decoder_start(direction)),
            reference,
        )
        for direction, (sentence, reference) in zip(directions, random_translations(12, dictionary))
    ]
    assert_as_pytorch(model, opened(model, dictionary, tmp_path / "export"), translations)


def test_of_more_languages_than_dimensions(tmp_path, monkeypatch):
    languages = [f"l{number}" for number in range(19)]
    for module in ("tests.conftest", "tests.support.exports"):
        monkeypatch.setattr(f"{module}.LANGUAGES", languages)
    model, dictionary = random_model(), make_dictionary()
    translations = random_translations(38, dictionary)
    assert len({sentence.start for sentence, _ in translations}) == 19 > model.decoder.embed_dim
    assert_as_pytorch(model, opened(model, dictionary, tmp_path / "export"), translations)


def test_a_residual_counts_and_so_does_the_language(tmp_path):
    """What the tests above would find."""
    model, dictionary = random_model(encoder_residual_removal_layers="middle"), make_dictionary()
    engine, translations = opened(model, dictionary, tmp_path / "export"), random_translations(16, dictionary)
    model.encoder.layers[1].attention_residual = KeepResidual()
    assert differences(model, engine, translations).largest > 0.1
    model.encoder.layers[1].attention_residual = RemoveResidual()
    with torch.no_grad():
        model.decoder.language_embedding.table.weight.copy_(
            model.decoder.language_embedding.table.weight.roll(1, 0)
        )
    assert differences(model, engine, translations).largest > 0.1


def test_the_positions_end_where_those_of_the_model_do(tmp_path):
    model, dictionary = random_model(**LEARNED), make_dictionary()
    engine = opened(model, dictionary, tmp_path / "export")
    (sentence, _), *_ = random_translations(1, dictionary)
    sentence = sentence._replace(source=[9] * (model.encoder.max_positions() - 1) + [2])
    translation = [10] * (model.max_decoder_positions() - 1) + [2]
    assert_as_pytorch(model, engine, [(sentence, translation)])


@pytest.mark.parametrize("options", [{}, LEARNED, NO_POSITIONS, SHAW], ids=str)
def test_who_cuts_no_line_can_read_and_write_more_than_the_model_did(tmp_path, options):
    dictionary, sizes = make_dictionary(), dict(max_source_positions=1500, max_target_positions=1500)
    symbols = dictionary.symbols[dictionary.nspecial + len(LANGUAGES) :]
    line, tag = [*itertools.islice(itertools.cycle(symbols), 1022), "</s>"], language_tag(LANGUAGES[1])
    found = []
    for name, model in {"short": random_model(**options), "long": random_model(**options | sizes)}.items():
        translator = Translator(str(export(model, dictionary, tmp_path / name)))
        lengths = dict(min_decoding_length=200, max_decoding_length=256, return_scores=True)
        found += translator.translate_batch([line], [[tag]], **lengths)
    short, long = ((each.hypotheses[0], each.scores[0]) for each in found)
    assert len(short[0]) >= 200
    assert options == LEARNED or short == long


@pytest.mark.parametrize("quantization, noise", [("int8", 0.1), ("bfloat16", 0.05), ("float16", 0.01)])
def test_quantisation_is_noise(tmp_path, quantization, noise):
    removed = {} if quantization == "float16" else dict(encoder_residual_removal_layers="1,3")
    model, dictionary = random_model(**removed), make_dictionary()
    engine = CTranslate2Engine(export(model, dictionary, tmp_path / "export", quantization), Search())
    found = differences(model, engine, random_translations(16, dictionary))
    assert 1e-4 < found.largest < 4 * noise and found.rms < noise


def test_the_model_keeps_its_weights(tmp_path):
    model, dictionary = random_model(encoder_residual_removal_layers="2"), make_dictionary()
    before = {name: weight.clone() for name, weight in model.state_dict().items()}
    export(model, dictionary, tmp_path / "export", "int8")
    assert all(torch.equal(weight, before[name]) for name, weight in model.state_dict().items())


def test_a_parameter_without_a_place_is_refused(tmp_path):
    model = random_model()
    model.decoder.layers[0].ffn_layernorm = torch.nn.LayerNorm(22)
    with pytest.raises(
        InputError,
        match="no place for the model's decoder.layers.0.ffn_layernorm.weight; translate with --engine "
        "pytorch",
    ):
        specification(model, ToyTask().target_dictionary.symbols)


def test_symbols_that_look_alike_stay_apart():
    symbols = ["<s>", "<pad>", "</s>", "<unk>", "<s>", "\u2581", "a", "a'", "a", "<unk>"]
    spelt = unique(symbols)
    assert len(set(spelt)) == len(symbols) and spelt[:4] == symbols[:4]
