"""Beam search: its pieces against their definitions, the whole of it against fairseq's."""

import math

import pytest
import torch

from tests.support.decoding import FIRST_WORD, assert_found_by_fairseq, build, lengths, made_sentences, plain
from zsnmt.decoding.beam_search import CHUNK, best_candidates, drop_rows, keep_only

pytestmark = pytest.mark.usefixtures("float64_attention")

# Pieces


def random_values(*shape: int, seed: int = 5, dead: float = 0.0) -> torch.Tensor:
    """Random numbers, some of them -inf."""
    generator = torch.Generator().manual_seed(seed)
    values = torch.randn(shape, generator=generator)
    return values.masked_fill_(torch.rand(shape, generator=generator) < dead, -math.inf)


def largest(values: torch.Tensor, number: int) -> tuple[torch.Tensor, torch.Tensor]:
    """The largest values of each row and where they are, by the candidates of one hypothesis."""
    best, parents, places = best_candidates(values[:, None], torch.zeros(len(values), 1), number)
    assert not parents.any()
    return best, places


@pytest.mark.parametrize(
    "symbols", [3, CHUNK, 2 * CHUNK, 6 * CHUNK, 6 * CHUNK + 1, 17 * CHUNK - 1, 40 * CHUNK + 7]
)
@pytest.mark.parametrize("number", [1, 2, 3, 8])
@pytest.mark.parametrize("dead", [0.0, 0.5, 0.999])
def test_the_largest_are_those_of_topk(symbols, number, dead):
    values, number = random_values(10, symbols, dead=dead), min(number, symbols - 1)
    best, places = largest(values, number)
    assert torch.equal(best, values.topk(number, dim=-1)[0])
    assert torch.equal(values.gather(-1, places), best)
    assert all(len({*row}) == number for row in places.tolist())  # none twice, equal values or not


@pytest.mark.parametrize("place", [0, 1, CHUNK - 1, 12 * CHUNK - 1, 12 * CHUNK, 12 * CHUNK + 5])
def test_the_largest_are_found_wherever_they_are(place):
    values = random_values(1, 12 * CHUNK + 6)
    values[0, place] = 9.0
    best, places = largest(values, 2)
    assert places[0, 0] == place and best[0, 0] == 9.0


def test_equal_values_are_as_good_as_each_other():
    values = random_values(3, 20 * CHUNK).round()
    best, places = largest(values, 4)
    assert torch.equal(best, values.topk(4)[0]) and torch.equal(values.gather(-1, places), best)


@pytest.mark.parametrize(
    "width, symbols, number",
    [(1, 5, 8), (3, 5, 6), (3, 5, 20), (4, 23, 8), (4, 16 * CHUNK + 3, 8), (1, 20 * CHUNK, 2)],
)
@pytest.mark.parametrize("dead", [0.0, 0.3])
def test_candidates_are_the_best_sums_of_all_hypotheses(width, symbols, number, dead):
    log_probabilities, scores = random_values(6, width, symbols, dead=dead), random_values(6, width, seed=8)
    best, parents, tokens = best_candidates(log_probabilities, scores, number)
    sums = log_probabilities + scores[..., None]  # N×W×V
    expected, places = sums.flatten(1).topk(min(number, width * symbols))
    assert torch.equal(best, expected)
    assert torch.equal(sums[torch.arange(6)[:, None], parents, tokens], best)
    alive = expected > -math.inf
    assert torch.equal((parents * symbols + tokens)[alive], places[alive])


@pytest.mark.parametrize("number", [1, 2, 7])
def test_sentences_that_stay_fill_the_gaps_of_those_that_go(number):
    for mask in range(1, 2**number - 1):
        done = [row for row in range(number) if mask >> row & 1]
        order, holes, movers = drop_rows([*done, *done[:1]], number)
        rows = [*range(number)]
        for hole, mover in zip(holes, movers, strict=True):
            rows[hole] = rows[mover]
        assert rows[: len(order)] == order and sorted(order) == sorted({*range(number)} - {*done})
        assert not {*holes} & {*movers} and all(
            row == place for place, row in enumerate(order) if place not in holes
        )


def test_of_a_sentence_at_its_limit_one_symbol_is_left():
    before = random_values(3, 2, 7)
    after = before.clone()
    keep_only(4, after, torch.tensor([False, True, False]))
    assert torch.equal(after[[0, 2]], before[[0, 2]]) and torch.equal(after[1, :, 4], before[1, :, 4])
    assert after[1, :, [0, 1, 2, 3, 5, 6]].eq(-math.inf).all()


# Searches


@pytest.mark.parametrize("beam", [2, 5])
@pytest.mark.parametrize("form", ["power", "gnmt"])
@pytest.mark.parametrize("penalty", [0.0, 1.0, 2.5])
def test_every_length_penalty_finds_what_fairseq_does(beam, form, penalty):
    search = plain(beam, length_penalty=penalty, length_penalty_form=form)
    assert_found_by_fairseq(build(), made_sentences(24), search)


@pytest.mark.parametrize("limit", [1, 2, 5])
def test_hypotheses_that_reach_the_limit_end_there(limit):
    found = assert_found_by_fairseq(build(), made_sentences(24), plain(limit=limit))
    assert max(lengths(found)) == limit + 1 and (limit == 1 or min(lengths(found)) < limit + 1)


@pytest.mark.slow
@pytest.mark.parametrize("words", [1, 2, 3, 9])
@pytest.mark.parametrize("beam", [1, 4, 7, 40])
def test_a_vocabulary_smaller_than_the_candidates_is_searched_as_by_fairseq(words, beam):
    for limit in (1, 2, 9):
        assert_found_by_fairseq(
            build(words=words, ends=3.5), made_sentences(16, words), plain(beam, limit), words
        )


@pytest.mark.parametrize("beam", [1, 4, 5])
def test_a_vocabulary_searched_by_chunks_is_searched_as_by_fairseq(beam):
    words = 1500
    assert (words + FIRST_WORD) // CHUNK * beam >= 2 * 2 * beam
    found = assert_found_by_fairseq(build(words=words, ends=5), made_sentences(16, words), plain(beam), words)
    assert len(lengths(found)) >= 3


def test_a_limit_beyond_what_the_model_writes_is_the_models():
    for positions in ("sinusoidal", "learned"):
        model = build(decoder_position_encoding=positions, max_target_positions=7, ends=0)
        found = assert_found_by_fairseq(model, made_sentences(8), plain(limit=50))
        assert max(lengths(found)) == 7
