"""Exports of models to which languages were added with everything else frozen."""

import pytest
import torch

from tests.conftest import LANGUAGES
from tests.models.test_frozen_vocabulary import BLOCKS, OLD, SECOND, TAGS, THIRD, GrownTask
from tests.support.exports import EOS, assert_exact, export, fairseq_engine, random_model, tidied
from zsnmt.decoding.search import Search, Sentence
from zsnmt.inference.export.ctranslate2.check import EXACT, check_exact, score_translations, stock_model
from zsnmt.inference.export.ctranslate2.engine import CTranslate2Engine
from zsnmt.inference.export.ctranslate2.models import models_in
from zsnmt.inference.export.ctranslate2.refusals import reason
from zsnmt.inference.export.samples import Sample

pytest.importorskip("ctranslate2")

ADDED = ["dd", "ee"]
WRITTEN = {"dd": SECOND, "ee": THIRD}  # how many symbols these languages write; the others write the old ones
ADAPTERS = dict(adapter_dim=5)
OPTIONS = {
    "frozen": {},
    "with adapters": ADAPTERS,
    "with adapters, tags alone": ADAPTERS | dict(decoder_language_embedding="none"),
    "with adapters and blocks": ADAPTERS | BLOCKS,
    "with adapters, without a residual": ADAPTERS | dict(encoder_residual_removal_layers="middle"),
    "with adapters, relative": ADAPTERS | dict(relative_attention_distance="2"),
    "post-norm": dict(normalization="post", decoder_language_embedding="none"),
}


def grown_model(**options):
    return random_model(GrownTask(3), frozen_vocabulary=f"{OLD},{SECOND}", **options)


def translations(number: int = 24, seed: int = 5) -> list[tuple[Sentence, list[int]]]:
    """Sentences of all pieces, and translations of them of those that the language has, in turn."""
    generator = torch.Generator().manual_seed(seed)

    def tokens(size: int) -> list[int]:
        pieces = [each for each in range(8, size) if each not in TAGS.values()]
        length = int(torch.randint(1, 9, (), generator=generator))
        return [*(pieces[at] for at in torch.randint(len(pieces), (length,), generator=generator)), EOS]

    languages = [*LANGUAGES, *ADDED]
    found = []
    for place in range(number):
        language = languages[place % len(languages)]
        found.append((Sentence(tokens(THIRD), TAGS[language]), tokens(WRITTEN.get(language, OLD))))
    return found


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
def test_log_probabilities_are_those_of_pytorch_into_old_and_new_languages(tmp_path, float64, options):
    model, dictionary = grown_model(**options), GrownTask(3).target_dictionary
    engine = CTranslate2Engine(export(model, dictionary, tmp_path / "export", added=ADDED), Search())
    own = set(ADDED) | ({*LANGUAGES[1:]} if options.keys() & BLOCKS.keys() else set())
    assert models_in(engine.folder).keys() == {f"__{language}__" for language in own}
    pairs = translations()
    assert_exact(model, pairs, engine.log_probabilities(*map(list, zip(*pairs))))


def test_a_search_finds_what_fairseqs_does_and_a_language_writes_what_was_there_when_it_came(tmp_path):
    model = tidied(grown_model(**ADAPTERS), {*range(8), *TAGS.values()})
    dictionary = GrownTask(3).target_dictionary
    search, samples = Search(max_len_a=1, max_len_b=4), [Sample(*pair) for pair in translations(30)]
    reference = fairseq_engine(model, dictionary, search, ADDED)
    sentences = [sentence for sentence, _ in samples]
    for quantization in ("float32", "int8"):
        folder = export(model, dictionary, tmp_path / quantization, quantization, ADDED)
        engine = CTranslate2Engine(folder, search)
        if quantization == "float32":
            check_exact(model, reference, engine, samples)
        (found,) = engine.translate([sentences])
        for language, tag in TAGS.items():
            best = [each for of, found_one in zip(sentences, found) if of.start == tag for each in found_one]
            assert best and max(max(each.tokens) for each in best) < WRITTEN.get(language, OLD)
    into_last = Sentence([9, 10, 11, EOS], TAGS["ee"])
    assert engine.log_probabilities([into_last], [[THIRD - 1, EOS]])[0][0] > -100
    into_old = Sentence([9, 10, 11, EOS], TAGS["aa"])
    assert engine.log_probabilities([into_old], [[OLD, EOS]])[0][0] < -1000


def test_a_reference_with_pieces_of_a_later_language_says_nothing_of_an_export(tmp_path):
    model = tidied(grown_model(**ADAPTERS), {*range(8), *TAGS.values()})
    search, dictionary = Search(max_len_a=1, max_len_b=4), GrownTask(3).target_dictionary
    engine = CTranslate2Engine(export(model, dictionary, tmp_path / "export", added=ADDED), search)
    reference = fairseq_engine(model, dictionary, search, ADDED)
    beyond = (Sentence([9, 10, 11, EOS], TAGS["aa"]), [9, OLD + 2, EOS])
    samples = [Sample(*pair) for pair in (*translations(10), beyond)]
    assert check_exact(model, reference, engine, samples).largest < EXACT
    assert score_translations(model, samples) == score_translations(model, samples[:-1])


def test_a_stock_model_of_the_same_weights_has_none_of_it():
    model = grown_model(**ADAPTERS | BLOCKS)
    stock = stock_model(model)
    assert stock.decoder.adapters is None and stock.decoder.vocabulary is None
    assert model.decoder.adapters is not None and model.decoder.vocabulary is not None


@pytest.mark.parametrize(
    "options, named",
    [
        (ADAPTERS | dict(activation_fn="gelu", decoder_language_embedding="add"), "--adapter-dim with ano"),
        (ADAPTERS | OPTIONS["post-norm"], "--adapter-dim with --normalization post"),
    ],
)
def test_adapters_that_ctranslate2_cannot_run_are_refused(options, named):
    assert reason(grown_model(**options)).startswith(named)
