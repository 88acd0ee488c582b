"""The check of an export finds what is wrong with it."""

import copy
import math

import pytest
import torch

from tests.conftest import make_dictionary
from tests.support.exports import export, fairseq_engine, opened, random_translations, tidy_model
from zsnmt.decoding.search import Search
from zsnmt.errors import InputError
from zsnmt.inference.export.agreement import Agreement
from zsnmt.inference.export.ctranslate2.check import (
    EXACT,
    check_exact,
    check_noise,
    compare,
    differences,
    stock_model,
)
from zsnmt.inference.export.ctranslate2.engine import CTranslate2Engine
from zsnmt.inference.export.samples import Sample
from zsnmt.modules.attention_residual import KeepResidual, RemoveResidual

pytest.importorskip("ctranslate2")

SEARCH = Search(max_len_a=1, max_len_b=4)


@pytest.fixture(scope="module")
def dictionary():
    return make_dictionary()


@pytest.fixture(scope="module")
def chosen(dictionary) -> list[Sample]:
    return [Sample(*each) for each in random_translations(50, dictionary)]


@pytest.fixture(scope="module")
def model():
    return tidy_model()


@pytest.fixture(scope="module")
def reference(model, dictionary):
    return fairseq_engine(model, dictionary, SEARCH)


@pytest.fixture(scope="module")
def engine(model, dictionary, tmp_path_factory) -> CTranslate2Engine:
    return opened(model, dictionary, tmp_path_factory.mktemp("right") / "export", SEARCH)


class Lying:
    """An engine whose translations, or scores of them, are not its own."""

    def __init__(self, engine: CTranslate2Engine, change) -> None:
        self.log_probabilities, self.engine, self.change = engine.log_probabilities, engine, change

    def translate(self, batches):
        return ([[self.change(best)] for best, *_ in batch] for batch in self.engine.translate(batches))


def test_an_exact_export_passes(model, reference, engine, chosen):
    found = check_exact(model, reference, engine, chosen)
    assert found.largest < EXACT and found.equal > 0.9
    assert (
        found.tokens > sum(len(sample.reference) for sample in chosen) + 100
    )  # of fairseq's translations, too


def wrong_models(model):
    kept, turned, tilted = (copy.deepcopy(model) for _ in range(3))
    kept.encoder.layers[1].attention_residual = KeepResidual()
    with torch.no_grad():
        rows = turned.decoder.language_embedding.table.weight
        rows[[1, 2]] = rows[[2, 1]].clone()
        tilted.decoder.layers[1].fc2.bias[3] += 0.01
    return {"the residual kept": kept, "two languages changed": turned, "one bias a little off": tilted}


@pytest.mark.slow
@pytest.mark.parametrize("fault", ["the residual kept", "two languages changed", "one bias a little off"])
def test_a_wrong_export_fails(model, reference, dictionary, chosen, tmp_path, fault):
    wrong = opened(wrong_models(model)[fault], dictionary, tmp_path / "export", SEARCH)
    with pytest.raises(
        InputError,
        match="deleted, since its log-probabilities differ from PyTorch's by up to .*, more than 0.0001",
    ):
        check_exact(model, reference, wrong, chosen)


@pytest.mark.slow
def test_other_best_translations_fail_unless_they_are_as_good(model, reference, engine, chosen):
    worse = Lying(engine, lambda best: best._replace(tokens=best.tokens[1:], score=best.score - 0.01))
    with pytest.raises(
        InputError,
        match="deleted, since 100.0% of its best translations are others .*, with scores up to 0.01",
    ):
        check_exact(model, reference, worse, chosen)
    as_good = Lying(engine, lambda best: best._replace(tokens=best.tokens[1:], score=best.score + 5e-5))
    assert check_exact(model, reference, as_good, chosen).equal == 0


def test_scores_that_are_no_numbers_fail(model, reference, engine, chosen):
    """Also behind others that are as good."""
    scores = iter([0.0] * (len(chosen) - 1) + [math.nan])
    lying = Lying(engine, lambda best: best._replace(tokens=best.tokens[1:], score=best.score + next(scores)))
    with pytest.raises(InputError, match="100.0% of its best translations .*, with scores up to nan apart"):
        check_exact(model, reference, lying, chosen)


def test_what_is_no_number_fails(model, reference, engine, chosen, monkeypatch):
    monkeypatch.setattr(
        engine,
        "log_probabilities",
        lambda sentences, translations: [[math.nan] * len(each) for each in translations],
    )
    with pytest.raises(InputError, match="by up to nan"):
        check_exact(model, reference, engine, chosen)


@pytest.mark.slow
def test_noise_is_measured_by_that_of_a_stock_model(model, reference, dictionary, chosen, tmp_path):
    stock = stock_model(model)
    assert stock.decoder.language_embedding is None and model.decoder.language_embedding is not None
    assert isinstance(model.encoder.layers[1].attention_residual, RemoveResidual)
    noisy = CTranslate2Engine(export(model, dictionary, tmp_path / "own", "int8"), SEARCH)
    plain = CTranslate2Engine(export(stock, dictionary, tmp_path / "stock", "int8"), SEARCH)
    explained = differences(stock, plain, chosen)
    found = check_noise(model, reference, noisy, chosen, explained)
    assert found.rms < 2 * explained.rms and found.largest > 1e-3
    with pytest.raises(
        InputError, match="more than 2 times the .* of a stock model; choose another --quantization"
    ):
        check_noise(model, reference, noisy, chosen, Agreement(0.1, found.rms / 3, 9))
    wrong = CTranslate2Engine(
        export(wrong_models(model)["the residual kept"], dictionary, tmp_path / "wrong", "int8"), SEARCH
    )
    with pytest.raises(InputError, match="deleted, since its log-probabilities, quantised, differ"):
        check_noise(model, reference, wrong, chosen, explained)


def test_the_agreement_is_that_of_the_tokens(model, reference, engine, chosen):
    shifted = Lying(engine, lambda best: best)
    own = shifted.log_probabilities
    shifted.log_probabilities = lambda sentences, translations: [
        [each + 0.5 for each in of] for of in own(sentences, translations)
    ]
    agreement, apart = compare(model, reference, shifted, chosen)
    assert (
        agreement.largest == pytest.approx(0.5, abs=1e-5)
        and agreement.rms == pytest.approx(0.5, abs=1e-5)
        and apart == 0
    )
