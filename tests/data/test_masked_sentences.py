"""Masking: what is chosen and replaced, how often, and that seed, epoch and line alone decide it."""

import math

import numpy as np
import pytest
import torch
from fairseq.data import Dictionary
from scipy.stats import chisquare
from torch import Tensor

from zsnmt.data.masked_sentences import MASK, MaskedSentences, Masking

WORDS, SPECIAL = 60, 5
BOS, PAD, EOS, UNK = range(4)
LINES, LENGTH = 300, 80  # of the large text


def make_dictionary() -> Dictionary:
    dictionary = Dictionary()
    for symbol in (MASK, *(f"w{number}" for number in range(WORDS))):
        dictionary.add_symbol(symbol)
    return dictionary


DICTIONARY = make_dictionary()
V, MASK_ID = len(DICTIONARY), DICTIONARY.index(MASK)


def text(lines: int = LINES, length: int = LENGTH, seed: int = 1) -> list[Tensor]:
    words = torch.randint(SPECIAL, V, (lines, length), generator=torch.Generator().manual_seed(seed))
    return [torch.cat([line, torch.tensor([EOS])]) for line in words]


def dataset(
    lines: list[Tensor], masking: Masking = Masking(), length: int = 1000, seed: int = 3
) -> MaskedSentences:
    return MaskedSentences(lines, np.array([len(line) for line in lines]), DICTIONARY, masking, length, seed)


def batch_of(sentences: MaskedSentences, lines=None) -> tuple[Tensor, Tensor, Tensor]:
    """Source, target and the text itself, B×T each."""
    samples = [sentences[line] for line in (range(len(sentences)) if lines is None else lines)]
    batch = sentences.collater(samples)
    whole = torch.nn.utils.rnn.pad_sequence(
        [sample["tokens"] for sample in samples], batch_first=True, padding_value=PAD
    )
    return batch["net_input"]["src_tokens"], batch["target"], whole


def is_share(successes: Tensor, of: Tensor, share: float) -> bool:
    """Within four standard deviations of a binomial's mean."""
    number = int(of.sum())
    return abs(int((successes & of).sum()) - share * number) <= 4 * math.sqrt(number * share * (1 - share))


@pytest.mark.parametrize(
    "masking", [Masking(), Masking(0.4, 0.3, 0.2), Masking(0.3, 0.0, 0.5), Masking(0.3, 1.0, 0.0)], ids=str
)
def test_shares_are_those_of_the_options(masking):
    source, target, whole = batch_of(dataset(text(), masking))
    words, chosen = whole.ge(SPECIAL), target.ne(PAD)
    assert is_share(chosen, words, masking.chosen)
    assert torch.equal(target[chosen], whole[chosen]) and torch.equal(source[~chosen], whole[~chosen])
    masked, same = source.eq(MASK_ID), source.eq(whole)
    by_chance = masking.random / V  # a random symbol that is <mask>, or the one that was there
    assert is_share(masked, chosen, 1 - masking.kept - masking.random + by_chance)
    assert is_share(same, chosen, masking.kept + by_chance)


def test_the_default_is_the_studys():
    assert Masking() == (0.15, 0.1, 0.1)


def test_the_ends_of_a_line_and_padding_are_never_chosen():
    lines = [line[-length:] for length, line in enumerate(text(40, 39), start=1)]
    source, target, whole = batch_of(dataset(lines, Masking(1.0, 0.0, 0.0)))
    ends = whole.eq(BOS) | whole.eq(EOS) | whole.eq(PAD)
    assert (
        torch.equal(target.eq(PAD), ends)
        and torch.equal(source[ends], whole[ends])
        and source[~ends].eq(MASK_ID).all()
    )


def test_unknown_words_are_words():
    line = torch.tensor([UNK, UNK, EOS])
    source, target, _ = batch_of(dataset([line], Masking(1.0, 0.0, 0.0)))
    assert target.tolist() == [[PAD, UNK, UNK, PAD]] and source.tolist() == [[BOS, MASK_ID, MASK_ID, EOS]]


def test_random_symbols_are_all_equally_probable():
    """Special ones, and those of a fake language, too."""
    source, target, _ = batch_of(dataset(text(), Masking(1.0, 0.0, 1.0)))
    counts = source[target.ne(PAD)].bincount(minlength=V)
    assert counts.sum() == LINES * LENGTH and counts.min() > 0 and len(counts) == V
    assert chisquare(counts).pvalue > 1e-3


def test_all_masked_keeps_what_is_chosen():
    masking = Masking(0.4, 0.3, 0.2)
    lines = text()
    before, (source, target, _) = (
        batch_of(dataset(lines, masking))[1],
        batch_of(dataset(lines, masking.full_masking)),
    )
    assert torch.equal(target, before) and torch.equal(source.eq(MASK_ID), target.ne(PAD))


# What decides


def test_a_line_is_masked_the_same_in_every_batch():
    lines = text(9, 20)
    sentences = dataset(lines)
    source, target, _ = batch_of(sentences)
    for order in ([4], [7, 4], [4, 0, 8, 2]):
        place = order.index(4)
        again = batch_of(sentences, order)
        assert torch.equal(again[0][place], source[4]) and torch.equal(again[1][place], target[4])
    assert all(torch.equal(*pair) for pair in zip(batch_of(dataset(lines)), batch_of(sentences)))


def test_seed_epoch_and_line_make_a_difference():
    line, other = text(2, 200)
    sentences = dataset([line, line])
    first, second = batch_of(sentences)[1]
    assert not torch.equal(first, second)
    assert not torch.equal(batch_of(dataset([line, line], seed=4))[1][0], first)
    sentences.set_epoch(2)
    later = batch_of(sentences)[1]
    assert not torch.equal(later[0], first) and not torch.equal(later[0], second)
    sentences.set_epoch(1)
    assert torch.equal(batch_of(sentences)[1][0], first)
    assert not sentences.can_reuse_epoch_itr_across_epochs


def test_the_caller_s_text_is_left_alone():
    lines = text(2, 30)
    before = [line.clone() for line in lines]
    batch_of(dataset(lines, Masking(1.0, 0.0, 0.0)))
    assert all(torch.equal(*pair) for pair in zip(lines, before))


# Lines and batches


@pytest.mark.parametrize(
    "length, expected",
    [
        (3, [BOS, 7, EOS]),
        (5, [BOS, 7, 8, 9, EOS]),
        (6, [BOS, 7, 8, 9, 10, EOS]),
        (7, [BOS, 7, 8, 9, 10, EOS]),
    ],
)
def test_a_long_line_is_cut_and_keeps_its_end(length, expected):
    sentences = dataset([torch.tensor([7, 8, 9, 10, EOS])], length=length)
    assert sentences[0]["tokens"].tolist() == expected and sentences[0]["tokens"].dtype == torch.int64
    assert sentences.sizes.tolist() == [len(expected)] == [sentences.num_tokens(0)] == [sentences.size(0)]


def test_a_fake_language_with_an_end_of_its_own_has_a_start_of_its_own():
    shift = 50
    tokens = dataset([torch.tensor([57, 58, EOS + shift])])[0]["tokens"]
    assert tokens.tolist() == [BOS + shift, 57, 58, EOS + shift]


def test_a_line_without_words_has_nothing_to_predict():
    source, target, _ = batch_of(
        dataset([torch.tensor([EOS]), torch.tensor([7, EOS])], Masking(1.0, 0.0, 0.0))
    )
    assert source.tolist() == [[BOS, EOS, PAD], [BOS, MASK_ID, EOS]] and target[0].eq(PAD).all()


def test_a_batch_is_padded_on_the_right():
    sentences = dataset([torch.tensor([7, EOS]), torch.tensor([8, 9, 10, EOS])])
    batch = sentences.collater([sentences[1], sentences[0]])
    assert batch["id"].tolist() == [1, 0] and batch["nsentences"] == 2 and batch["ntokens"] == 8
    assert batch["net_input"]["src_lengths"].tolist() == [5, 3]
    assert batch["net_input"]["src_tokens"][1, 3:].tolist() == [PAD, PAD] and batch["target"].shape == (2, 5)
    assert sentences.collater([]) == {}


def test_lines_are_ordered_by_length_and_otherwise_by_chance():
    sentences = dataset([torch.tensor([7] * (number % 3) + [EOS]) for number in range(60)])
    np.random.seed(1)
    first, second = sentences.ordered_indices(), sentences.ordered_indices()
    assert sorted(first) == [*range(60)] and (np.diff(sentences.sizes[first]) >= 0).all()
    assert not np.array_equal(first, second)
