"""Exports of several models, one for each language that has blocks of its own."""

import shutil

import pytest

from tests.conftest import LANGUAGES, make_dictionary
from tests.support.exports import export, opened, random_model, random_translations
from zsnmt.decoding.likeness import log_probabilities
from zsnmt.decoding.search import Search
from zsnmt.errors import InputError
from zsnmt.inference.export.ctranslate2.check import differences
from zsnmt.inference.export.ctranslate2.engine import CTranslate2Engine
from zsnmt.inference.export.ctranslate2.models import model_for, models_in
from zsnmt.languages import language_tag

pytest.importorskip("ctranslate2")

DICTIONARY = make_dictionary()
SEARCH = Search(max_len_a=1, max_len_b=4)


@pytest.fixture(scope="module")
def model():
    return random_model(decoder_language_feed_forward_layers="2", decoder_language_feed_forward_dim=9)


@pytest.fixture(scope="module")
def folder(model, tmp_path_factory):
    return export(model, DICTIONARY, tmp_path_factory.mktemp("models") / "export")


def test_each_language_but_the_pivot_has_a_model_of_its_own(folder):
    pivot, *others = LANGUAGES
    assert [*models_in(folder)] == sorted(map(language_tag, others))
    assert model_for(folder, pivot) == folder and model_for(folder, others[0]).parent == folder
    assert len({(model_for(folder, each) / "model.bin").read_bytes() for each in LANGUAGES}) == len(LANGUAGES)


def test_sentences_into_all_languages_are_searched_by_their_models_and_stay_in_order(model, folder):
    sentences = [sentence for sentence, _ in random_translations(16, DICTIONARY)]
    assert len({sentence.start for sentence in sentences[:4]}) > 2  # mixed
    engine = CTranslate2Engine(folder, SEARCH)
    (found,) = engine.translate([sentences])
    for sentence, hypotheses in zip(sentences, found, strict=True):
        ((alone,),) = engine.translate([[sentence]])
        for one, other in zip(hypotheses, alone, strict=True):
            own = log_probabilities(model, sentence, one.tokens)
            assert one.tokens == other.tokens
            assert one.score == pytest.approx(SEARCH.score(sum(own), len(own)), abs=1e-4)
    assert [*engine.translate([[]])] == [[]]


def test_models_in_the_place_of_others_are_noticed(model, folder, tmp_path):
    engine, translations = CTranslate2Engine(folder, SEARCH), random_translations(16, DICTIONARY)
    assert differences(model, engine, translations).largest < 1e-4
    tags = [*engine.translator.of_tag]
    engine.translator.of_tag = dict(zip(tags, [*engine.translator.of_tag.values()][::-1]))
    assert differences(model, engine, translations).largest > 0.01


def test_the_model_of_a_language_is_loaded_when_it_is_first_needed(folder):
    engine = CTranslate2Engine(folder, SEARCH)
    _, first, second, *_ = [sentence for sentence, _ in random_translations(4, DICTIONARY)]
    assert not engine.translator.loaded
    for sentences, number in (([first], 1), ([first], 1), ([second, first], 2)):
        (found,) = engine.translate([sentences])
        assert len(found) == len(sentences) and len(engine.translator.loaded) == number


def test_a_model_without_blocks_is_one_model(tmp_path):
    engine = opened(random_model(), DICTIONARY, tmp_path / "export")
    assert models_in(engine.folder) == {} and model_for(engine.folder, LANGUAGES[1]) == engine.folder


def test_a_language_whose_model_is_damaged_is_named(model, tmp_path):
    folder = export(model, DICTIONARY, tmp_path / "export")
    path = model_for(folder, LANGUAGES[1]) / "model.bin"
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(InputError, match=f"{path} is damaged: it is not the file that was exported"):
        CTranslate2Engine(folder, SEARCH)


def test_a_model_of_another_export_in_the_place_of_one_that_is_opened_is_not_loaded(model, tmp_path):
    """As where a served export is made anew."""
    folder = export(model, DICTIONARY, tmp_path / "export")
    engine = CTranslate2Engine(folder, SEARCH)
    first, second = (model_for(folder, language) / "model.bin" for language in LANGUAGES[1:3])
    shutil.copyfile(second, first)
    _, into_first, into_second, *_ = [sentence for sentence, _ in random_translations(4, DICTIONARY)]
    assert [*engine.translate([[into_second]])]
    with pytest.raises(InputError, match=f"{first} is damaged: .*; open the export again"):
        [*engine.translate([[into_first]])]
