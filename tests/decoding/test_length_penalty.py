"""GNMT's length penalty: fairseq's search, whose scores are divided as Wu et al. (2016) divide them."""

import pytest
import torch
from fairseq.sequence_generator import SequenceGenerator, SequenceGeneratorWithAlignment

from tests.conftest import ToyTask, toy_options
from zsnmt.decoding.length_penalty import GNMT, POWER, GNMTLengthPenalty, search_penalty
from zsnmt.errors import InputError
from zsnmt.models.zs_transformer import ZeroShotTransformer

BEAM, LONGEST, SENTENCES = 4, 13, 24


@pytest.fixture(scope="module")
def search():
    """What a search finds of random sentences, best first, by a random model that likes to end."""
    torch.manual_seed(7)
    task = ToyTask()
    model = ZeroShotTransformer.build_model(toy_options(), task).eval()
    for weight in model.parameters():
        if weight.dim() > 1:
            torch.nn.init.normal_(weight, 0, 1.3)
    end = torch.eye(len(task.target_dictionary))[2]
    model.decoder.output_projection.register_forward_hook(lambda module, inputs, logits: logits + 4 * end)
    words = torch.randint(8, len(task.target_dictionary), (SENTENCES, 5))
    tokens = torch.cat([words, torch.full((SENTENCES, 1), 2)], 1)  # B×6, with EOS
    sample = {"net_input": {"src_tokens": tokens, "src_lengths": torch.full((SENTENCES,), 6)}}

    def run(kind: type = SequenceGenerator, **options) -> list[list[dict]]:
        by = kind([model], task.target_dictionary, beam_size=BEAM, max_len_a=0, max_len_b=LONGEST, **options)
        return by.generate([model], sample, bos_token=5)

    return run


def naive(length: int, alpha: float) -> float:
    return (5 + length) ** alpha / (5 + 1) ** alpha


def summed(hypothesis: dict) -> float:
    return sum(hypothesis["positional_scores"].tolist())


def best_lengths(found: list[list[dict]]) -> list[int]:
    return [len(best_first[0]["tokens"]) for best_first in found]


def assert_equal(found: list[list[dict]], others: list[list[dict]]) -> None:
    """The same hypotheses in the same order, to the bit."""
    for best_first, other in zip(found, others, strict=True):
        for one, two in zip(best_first, other, strict=True):
            assert all(torch.equal(one[name], two[name]) for name in ("tokens", "score", "positional_scores"))


@pytest.mark.parametrize("alpha", [0.0, 0.6, 1.0, 1.7])
def test_each_score_is_the_sum_over_tokens_divided_by_the_papers_formula(search, alpha):
    found = search(len_penalty=search_penalty(alpha, GNMT))
    for best_first in found:
        scores = [float(hypothesis["score"]) for hypothesis in best_first]
        assert scores == pytest.approx(
            [summed(hypothesis) / naive(len(hypothesis["tokens"]), alpha) for hypothesis in best_first]
        )
        assert scores == sorted(scores, reverse=True)
        assert all(hypothesis["tokens"][-1] == 2 for hypothesis in best_first)  # EOS is one of those counted
    assert len({len(hypothesis["tokens"]) for best_first in found for hypothesis in best_first}) > 5


def test_the_form_changes_neither_what_is_found_nor_when_the_search_ends(search):
    def hypotheses(found: list[list[dict]]) -> list[set]:
        return [
            {(*each["tokens"].tolist(), *each["positional_scores"].tolist()) for each in best_first}
            for best_first in found
        ]

    stock = search()
    assert all(len(best_first) == BEAM for best_first in stock)
    for alpha in (0.0, 0.6, 2.0):
        assert hypotheses(search(len_penalty=search_penalty(alpha, GNMT))) == hypotheses(stock)


def test_fairseqs_form_is_fairseqs_to_the_bit(search):
    assert search_penalty(0.6) == search_penalty(0.6, POWER) == 0.6
    assert_equal(search(len_penalty=search_penalty(0.6)), search(len_penalty=0.6))


def test_without_an_exponent_or_normalisation_both_forms_are_the_sum(search):
    plain = search(normalize_scores=False)
    assert_equal(search(len_penalty=0.0), plain)
    assert_equal(search(len_penalty=GNMTLengthPenalty(0.0)), plain)
    assert_equal(search(len_penalty=GNMTLengthPenalty(0.6), normalize_scores=False), plain)


def test_outputs_are_longer_than_without_a_penalty_and_shorter_than_with_fairseqs(search):
    """|Y| = 1 is divided by 1 in both forms, and each further token counts less in that of GNMT."""
    for alpha in (1.0, 1.5):
        plain, gnmt, power = (
            best_lengths(search(len_penalty=penalty)) for penalty in (0.0, GNMTLengthPenalty(alpha), alpha)
        )
        assert all(shortest <= middle <= longest for shortest, middle, longest in zip(plain, gnmt, power))
        assert sum(plain) < sum(gnmt) < sum(power)


def test_searches_of_other_kinds_have_it_too(search):
    stock, aligned = (
        search(kind, len_penalty=GNMTLengthPenalty(0.6))
        for kind in (SequenceGenerator, SequenceGeneratorWithAlignment)
    )
    assert_equal(stock, aligned)


@pytest.mark.parametrize("exponent", [-0.1, 10.1, 1000.0, float("nan"), float("inf")])
@pytest.mark.parametrize("form", [POWER, GNMT])
def test_an_exponent_that_is_not_from_0_to_10_is_refused(exponent, form):
    with pytest.raises(
        InputError,
        match=f"the exponent of the length penalty is {exponent}; it must be a number from 0 to 10",
    ):
        search_penalty(exponent, form)


def test_a_form_that_does_not_exist_is_refused():
    with pytest.raises(InputError, match="no length penalty of the form 'length'; choose power or gnmt"):
        search_penalty(0.6, "length")
