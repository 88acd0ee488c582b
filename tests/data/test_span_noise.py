"""Masked spans: what is masked, how much, and what stays."""

import math

import pytest
import torch

from zsnmt.data.span_noise import SpanNoise
from zsnmt.data.tag_surgery import move_padding

PAD, EOS, MASK = 1, 2, 3


def noise(share: float = 0.3, length: float = 3.0) -> SpanNoise:
    return SpanNoise(share, length, mask=MASK, kept=(PAD, EOS))


def sentences(number: int, length: int) -> torch.Tensor:
    words = torch.arange(10, 10 + length).repeat(number, 1)
    return torch.cat([words, torch.full((number, 1), EOS), torch.full((number, 2), PAD)], dim=1)


def test_words_stay_in_order_and_each_run_of_masked_ones_is_one_mask():
    torch.manual_seed(3)
    given = sentences(200, 12)
    noisy, hidden = noise()(given, PAD), None
    torch.manual_seed(3)
    hidden = noise().span_mask(given)
    for row, words, masked in zip(
        move_padding(noisy, PAD, left=False).tolist(), given.tolist(), hidden.tolist()
    ):
        expected = []
        for word, is_masked in zip(words, masked):
            if not is_masked:
                expected.append(word)
            elif expected[-1:] != [MASK]:
                expected.append(MASK)
        assert [token for token in row if token != PAD] == [token for token in expected if token != PAD]


def test_the_end_and_padding_are_never_masked():
    torch.manual_seed(1)
    noisy = noise(0.9)(sentences(50, 7), PAD)
    assert noisy[:, 7].eq(EOS).all() and noisy[:, 8:].eq(PAD).all()
    assert noisy[:, :7].eq(MASK).any() and noisy[:, :7].eq(PAD).any()


@pytest.mark.parametrize("share, length", [(0.15, 1.0), (0.3, 3.0), (0.5, 2.0)])
def test_the_share_is_that_asked_for_at_every_place(share, length):
    """Also at the head of a sentence, which spans reach that begin before it."""
    torch.manual_seed(5)
    hidden = noise(share, length).span_mask(sentences(20000, 9))[:, :9].float()
    # A token may begin one span only, where Poisson's process may begin several: a little less is masked.
    assert share - 0.05 < float(hidden.mean()) < share + 0.01
    error = 4 * (share * (1 - share) / len(hidden)) ** 0.5
    assert (hidden.mean(0) - hidden.mean()).abs().max() < 2 * error


def test_noise_is_drawn_anew_from_pytorchs_numbers():
    given = sentences(20, 12)
    torch.manual_seed(8)
    first, second = noise()(given, PAD), noise()(given, PAD)
    torch.manual_seed(8)
    assert torch.equal(first, noise()(given, PAD)) and not torch.equal(first, second)
    assert torch.equal(given, sentences(20, 12)) and torch.equal(noise(0.0)(given, PAD), given)


@pytest.mark.parametrize(
    "share, length", [(1.0, 3.0), (-0.1, 3.0), (0.3, 0.0), (0.3, math.nan), (0.3, math.inf)]
)
def test_bad_values_are_refused(share, length):
    with pytest.raises(ValueError, match="it must be"):
        noise(share, length)
