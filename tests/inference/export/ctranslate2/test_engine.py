"""CTranslate2's search against fairseq's, with models of random weights."""

import copy
import sys

import pytest
import torch

from tests.conftest import make_dictionary
from tests.support.exports import (
    EOS,
    export,
    fairseq_engine,
    opened,
    random_model,
    random_translations,
    tidy_model,
)
from tests.support.rounding import assert_as_near
from zsnmt.decoding.search import Search, Sentence
from zsnmt.errors import InputError
from zsnmt.inference.export.ctranslate2.check import EXACT, best_of_equal_lengths, log_probabilities
from zsnmt.inference.export.ctranslate2.engine import CTranslate2Engine

pytest.importorskip("ctranslate2")

pytestmark = pytest.mark.usefixtures("float64")
SEARCHES = {
    "beam 4": Search(),
    "beam 1": Search(beam=1),
    "beam 3, no penalty": Search(beam=3, length_penalty=0.0),
    "long outputs": Search(beam=2, length_penalty=1.7),
    "cut off": Search(max_len_a=0.3, max_len_b=2),
}


@pytest.fixture(scope="module")
def dictionary():
    return make_dictionary()


@pytest.fixture(scope="module")
def sentences(dictionary) -> list[Sentence]:
    return [sentence for sentence, _ in random_translations(24, dictionary)]


@pytest.fixture(scope="module")
def tidy():
    return tidy_model()


def assert_own_scores(model, sentences, found, search) -> None:
    """Scores are the model's own, as near the exact ones as if PyTorch had added its log-probabilities."""
    scores = [each.score for hypotheses in found for each in hypotheses]
    stock, exact = (
        [
            search.score(sum(log_probabilities(each, sentence, tokens)), len(tokens))
            for sentence, hypotheses in zip(sentences, found, strict=True)
            for tokens, _ in hypotheses
        ]
        for each in (model, copy.deepcopy(model).double())
    )
    assert_as_near(torch.tensor(scores), torch.tensor(stock), torch.tensor(exact, dtype=torch.float64))


@pytest.mark.slow
@pytest.mark.parametrize("search", SEARCHES.values(), ids=SEARCHES)
def test_the_best_translations_and_their_scores_are_fairseqs(tidy, dictionary, sentences, tmp_path, search):
    engine = opened(tidy, dictionary, tmp_path / "export", search)
    (found,) = engine.translate([sentences])
    expected = best_of_equal_lengths(fairseq_engine(tidy, dictionary, search), sentences)
    pairs = [(best, other) for (best, *_), other in zip(found, expected, strict=True)]
    assert all(best.tokens == other.tokens or abs(best.score - other.score) < EXACT for best, other in pairs)
    assert sum(best.tokens == other.tokens for best, other in pairs) >= 0.9 * len(pairs)
    assert_own_scores(tidy, sentences, [[best] for best, *_ in found], search)
    assert_own_scores(tidy, sentences, [[best] for best in expected], search)
    assert len({tuple(best.tokens) for best in expected}) > 5


@pytest.mark.slow
def test_what_reaches_the_limit_ends_there_and_is_scored_with_its_end(tidy, dictionary, sentences, tmp_path):
    search = SEARCHES["cut off"]
    engine = opened(tidy, dictionary, tmp_path / "export", search)
    (found,) = engine.translate([sentences])
    limits = [search.limit(len(sentence.source), 36) for sentence in sentences]
    at_limit = [len(best.tokens) == limit + 1 for (best, *_), limit in zip(found, limits)]
    assert any(at_limit) and len({*limits}) > 1
    for limit, hypotheses in zip(limits, found):
        for tokens, _ in hypotheses:
            assert tokens[-1] == EOS and EOS not in tokens[:-1] and len(tokens) <= limit + 1
    assert_own_scores(tidy, sentences, found, search)


@pytest.mark.slow
def test_where_more_end_by_the_limit_than_the_beam_holds_those_stay_that_end_first(
    tidy, dictionary, tmp_path
):
    search = Search(max_len_a=0, max_len_b=3)
    sentences = [sentence for sentence, _ in random_translations(48, dictionary)]
    engine = opened(tidy, dictionary, tmp_path / "export", search)
    many = [each for each in sentences if sum(map(engine.ended, engine.alone(each))) > search.beam]
    (found,) = engine.translate([many])
    expected = fairseq_engine(tidy, dictionary, search).translate_batch(many)
    assert many
    assert [[each.tokens for each in of_one] for of_one in found] == [
        [each.tokens for each in of_one] for of_one in expected
    ]


@pytest.mark.slow
def test_no_tag_is_written_though_the_model_would_and_scores_stay_its_own(dictionary, sentences, tmp_path):
    model, search = random_model(seed=3), Search(max_len_b=8)
    tags = {4, 5, 6, 7}
    with torch.no_grad():
        model.decoder.output_projection.weight[[*tags, EOS]] *= 2
    engine = opened(model, dictionary, tmp_path / "export", search)
    wild = {
        token
        for result in engine.submit(sentences)
        for each in engine.read(result.result())
        for token in each.tokens
    }
    assert tags & wild
    (found,) = engine.translate([sentences])
    for hypotheses in found:
        assert 1 <= len(hypotheses) <= search.beam
        assert [each.score for each in hypotheses] == sorted(
            (each.score for each in hypotheses), reverse=True
        )
        for tokens, _ in hypotheses:
            assert not tags & {*tokens} and 1 not in tokens and len(tokens) > 1
    assert_own_scores(model, sentences, found, search)


def test_neither_companions_nor_workers_change_a_translation(tidy, dictionary, sentences, tmp_path):
    engine = opened(tidy, dictionary, tmp_path / "export", Search(max_len_a=1, max_len_b=1), workers=2)
    (together,) = engine.translate([sentences])
    alone = [found for (found,) in engine.translate([sentence] for sentence in sentences)]
    assert [best.tokens for best, *_ in together] == [best.tokens for best, *_ in alone]
    assert [*engine.translate([[], sentences[:2]])][0] == [] and [*engine.translate([])] == []


def test_batches_are_begun_before_the_first_is_asked_for_again(tidy, dictionary, sentences, tmp_path):
    engine, begun = opened(tidy, dictionary, tmp_path / "export", Search(beam=1), workers=2), []
    found = engine.translate(begun.append(number) or sentences[:3] for number in range(20))
    next(found)
    assert 2 < len(begun) < 20  # but not all of them


def test_symbols_may_look_like_others(tidy, dictionary, sentences, tmp_path):
    odd, search = make_dictionary(), Search(beam=2)
    odd.symbols[-7:] = ["\u2581", "<s>", "</s>", "<unk>", "<blank>", "w1", "w1'"]  # some are there twice
    plain, alike = (
        opened(tidy, dictionary, tmp_path / "plain", search),
        opened(tidy, odd, tmp_path / "odd", search),
    )
    assert [*alike.translate([sentences])] == [*plain.translate([sentences])]


def test_other_length_penalties_are_refused(tmp_path):
    with pytest.raises(InputError, match="no --length-penalty-form gnmt; translate with --engine pytorch"):
        CTranslate2Engine(tmp_path, Search(length_penalty_form="gnmt"))


def test_without_the_library_it_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "ctranslate2", None)
    with pytest.raises(
        InputError, match="not installed; run pip install ctranslate2==.*, or translate with --engine pytorch"
    ):
        CTranslate2Engine(tmp_path, Search())


@pytest.mark.parametrize(
    "damage, message",
    [
        (
            lambda folder: (folder / "model.bin").write_bytes((folder / "model.bin").read_bytes()[:-40]),
            "model.bin is damaged",
        ),
        (
            lambda folder: (folder / "model.bin").unlink(),
            "model.bin is missing; export the run again with zsnmt export",
        ),
        (
            lambda folder: (folder / "pipeline" / "languages.txt").unlink(),
            "languages.txt is missing; export the run again",
        ),
        (lambda folder: (folder / "export.json").write_text('{"format": 99}'), "of another version"),
        (lambda folder: (folder / "export.json").write_text("{"), "export.json is damaged"),
        (lambda folder: (folder / "export.json").unlink(), "export.json is missing; export the run again"),
    ],
)
def test_a_damaged_export_is_refused_in_a_sentence(tidy, dictionary, tmp_path, damage, message):
    folder = export(tidy, dictionary, tmp_path / "export")
    damage(folder)
    with pytest.raises(InputError, match=message):
        CTranslate2Engine(folder, Search())
