"""CTranslate2's search among the target language's pieces against that of the packed engine."""

import copy
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from tests.conftest import LANGUAGES, make_dictionary
from tests.support.exports import EOS, export, opened, random_model, random_translations, tidy_model
from zsnmt.decoding.methods.bundle import Bundle
from zsnmt.decoding.methods.engine import MethodEngine
from zsnmt.decoding.methods.settings import Mask, Method, parse_method
from zsnmt.decoding.methods.vocabulary import penalties
from zsnmt.decoding.options import CTRANSLATE2, EngineChoice
from zsnmt.decoding.pytorch_engine import PyTorchEngine
from zsnmt.decoding.search import Search
from zsnmt.errors import InputError
from zsnmt.inference.engines import check_method
from zsnmt.inference.export.agreement import Agreement
from zsnmt.inference.export.ctranslate2 import mask
from zsnmt.inference.export.ctranslate2.check import EXACT
from zsnmt.inference.export.ctranslate2.engine import CTranslate2Engine
from zsnmt.inference.export.ctranslate2.mask import MaskEngine, Restriction, write_map
from zsnmt.inference.export.ctranslate2.mask_check import check_mask, check_mask_scores, has_counts
from zsnmt.inference.export.samples import Sample
from zsnmt.languages import language_tag
from zsnmt.models.zs_transformer import ZeroShotTransformer
from zsnmt.text.piece_counts import write_piece_counts

pytest.importorskip("ctranslate2")

MASK = Mask(renormalise=True)
DICTIONARY = make_dictionary()
WORDS = DICTIONARY.symbols[DICTIONARY.nspecial + len(LANGUAGES) :]
COUNTS = {  # two thirds of the words, others for each language
    language: {word: 1 + number for number, word in enumerate(WORDS) if (number + place) % 3}
    for place, language in enumerate(LANGUAGES)
}
SEARCH = Search(max_len_a=1, max_len_b=4)
SEARCHES = {
    "beam 4": SEARCH,
    "beam 1": replace(SEARCH, beam=1),
    "beam 3, no penalty": replace(SEARCH, beam=3, length_penalty=0.0),
    "cut off": Search(max_len_a=0.3, max_len_b=2),
}


def wild_model():
    """A random model that would write tags, and EOS at once."""
    model = random_model(seed=3)
    with torch.no_grad():
        model.decoder.output_projection.weight[[4, 5, 6, 7, EOS]] *= 2
    return model


def model_with_blocks():
    """A random model whose languages have blocks of their own, and so an export of several models."""
    return random_model(seed=3, decoder_language_feed_forward_layers="1,2")


@pytest.fixture(
    scope="module", params=[tidy_model, wild_model, model_with_blocks], ids=lambda make: make.__name__
)
def model(request):
    return request.param()


@pytest.fixture(scope="module")
def folder(model, tmp_path_factory) -> Path:
    return export(model, DICTIONARY, tmp_path_factory.mktemp("mask") / "export")


@pytest.fixture(scope="module")
def bundles() -> list[Bundle]:
    """Of all languages in turn, every other with tags at the head of the source, too."""
    tags = [DICTIONARY.index(language_tag(language)) for language in LANGUAGES]
    bundles = []
    for place, (sentence, _) in enumerate(random_translations(16, DICTIONARY)):
        target = tags.index(sentence.start)
        head = [tags[target - 1], sentence.start] if place // len(tags) % 2 else []
        bundles.append(Bundle(LANGUAGES[target], (sentence._replace(source=[*head, *sentence.source]),)))
    return bundles


def packed(model, search: Search) -> MethodEngine:
    engine = PyTorchEngine(model, DICTIONARY, LANGUAGES, search)
    return MethodEngine(engine, Method(mask=MASK), penalties(MASK, COUNTS, DICTIONARY))


@pytest.mark.slow
@pytest.mark.parametrize("search", SEARCHES.values(), ids=SEARCHES)
def test_the_best_translations_and_their_scores_are_those_of_the_packed_engine(
    model, folder, bundles, search
):
    masked = MaskEngine(CTranslate2Engine(folder, search), MASK, COUNTS)
    (found,) = masked.translate([bundles])
    (expected,) = packed(model, search).translate([bundles])
    for bundle, (best, *_), (other, *_) in zip(bundles, found, expected, strict=True):
        assert abs(best.score - other.score) < EXACT
        assert {*best.tokens} <= {*masked.symbols[bundle.target]} and best.tokens != [EOS]
    same = [best.tokens == other.tokens for (best, *_), (other, *_) in zip(found, expected)]
    assert sum(same) >= 0.9 * len(same) and len({tuple(best.tokens) for best, *_ in found}) > 3
    (direct,) = CTranslate2Engine(folder, search).translate([[each.sentences[0] for each in bundles]])
    assert [best.tokens for best, *_ in found] != [best.tokens for best, *_ in direct]


def test_a_mask_and_a_search_may_have_a_beam_of_their_own(counted, bundles):
    engine, greedy = counted[1], replace(SEARCH, beam=1)
    alone = CTranslate2Engine(engine.folder, greedy)
    sentences = [bundle.sentences[0] for bundle in bundles]
    for method, given, expected in (
        (Method(beam=1), sentences, alone),
        (Method(mask=MASK, beam=1), bundles, MaskEngine(alone, MASK, COUNTS)),
    ):
        by = engine.by(method, engine.codec, search=method.search(SEARCH), counts=COUNTS)
        assert [*by.translate([given])] == [*expected.translate([given])]
        assert [*by.translate([given])] != [*engine.translate([sentences])]


def test_companions_of_other_languages_change_nothing(counted, bundles):
    masked = MaskEngine(counted[1], MASK, COUNTS)
    (together,) = masked.translate([bundles])
    alone = [best for (best,) in masked.translate([bundle] for bundle in bundles)]
    assert [best.tokens for best, *_ in together] == [best.tokens for best, *_ in alone]
    assert [*masked.translate([[]])] == [[]]


def samples(bundles) -> list[Sample]:
    return [Sample(bundle.sentences[0], []) for bundle in bundles if len(bundle.sentences[0].source) > 1]


@pytest.fixture(scope="module")
def counted(tmp_path_factory) -> tuple[ZeroShotTransformer, CTranslate2Engine]:
    """A model, and the engine of an export that knows its pieces."""
    model, folder = tidy_model(), tmp_path_factory.mktemp("counted") / "export"
    engine = opened(model, DICTIONARY, folder, SEARCH)
    assert not has_counts(engine)
    write_piece_counts(folder, {language: Counter(of) for language, of in COUNTS.items()})
    assert has_counts(engine)
    return model, engine


def test_an_export_is_checked_by_a_mask(counted, bundles):
    model, engine = counted
    found = check_mask(model, engine, samples(bundles))
    assert found.largest < EXACT and found.equal >= 0.9 and found.tokens > 2 * len(bundles)
    check_mask_scores(engine, samples(bundles), Agreement(EXACT, EXACT, 1))


def test_a_wrong_export_fails_by_a_mask(counted, bundles, monkeypatch):
    model, engine = counted
    tilted = copy.deepcopy(model)
    with torch.no_grad():
        tilted.decoder.output_projection.weight[-1] += 0.01
    with pytest.raises(
        InputError, match="deleted, since its log-probabilities by a mask differ from PyTorch"
    ):
        check_mask(tilted, engine, samples(bundles))


def test_rows_that_are_not_those_of_the_mask_fail(counted, bundles, monkeypatch):
    def write_less(path, restrictions, symbols):
        write_map(path, [each._replace(symbols=each.symbols[:-5]) for each in restrictions], symbols)

    monkeypatch.setattr(mask, "write_map", write_less)
    with pytest.raises(
        InputError, match="deleted, since its scores by a mask are off by .* more than the 0.01"
    ):
        check_mask_scores(counted[1], samples(bundles), Agreement(0.01, 0.01, 1))


def test_only_a_mask_that_renormalises_is_for_an_export(counted, tmp_path):
    folder = counted[1].folder
    for way, choice in (("mask:renormalise=yes,pieces=2", None), ("mask:renormalise=yes", CTRANSLATE2)):
        check_method(folder, parse_method(way), EngineChoice())
        check_method(tmp_path, parse_method(way), EngineChoice(choice))
    for way in ("mask", "ensemble:renormalise=yes", "contrast", "contrast:language_weight=0,renormalise=yes"):
        with pytest.raises(InputError, match="an export, cannot translate by .* mask:renormalise=yes"):
            check_method(folder, parse_method(way), EngineChoice())


def test_what_a_mask_needs_is_asked_for(counted, tmp_path):
    engine = counted[1]
    with pytest.raises(InputError, match="there are none of piv, .*; count them with zsnmt count-pieces"):
        engine.by(Method(mask=MASK), engine.codec, search=SEARCH)
    with pytest.raises(InputError, match="no mask for a vocabulary in which 'a b' is a piece"):
        write_map(tmp_path / "vmap.txt", [Restriction([1], 0)], ["__de__", "a b"])
