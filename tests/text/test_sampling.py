import random
from collections import Counter

import pytest

from zsnmt.errors import InputError
from zsnmt.text import sampling
from zsnmt.text.lines import write_lines
from zsnmt.text.sampling import SAMPLE, sample, sample_lines, sample_sizes, spread

AVAILABLE = {"de": 9000, "fr": 900, "or": 100}


def test_without_a_balance_everything_is_taken_once():
    assert sample_sizes(AVAILABLE, bound=10**6) == AVAILABLE


def test_a_balance_of_one_is_natural():
    assert sample_sizes(AVAILABLE, 500, balance=1) == sample_sizes(AVAILABLE, 500)


def test_a_bound_keeps_the_shares():
    assert sample_sizes(AVAILABLE, bound=1000) == {"de": 900, "fr": 90, "or": 10}


def test_a_balance_is_the_formula():
    sizes = sample_sizes(AVAILABLE, bound=10**6, balance=5)
    weights = {language: (count / 10_000) ** 0.2 for language, count in AVAILABLE.items()}
    for language, weight in weights.items():
        assert sizes[language] == pytest.approx(10_000 * weight / sum(weights.values()), abs=1)


def test_a_larger_balance_is_more_equal_up_to_equality():
    smallest = [sample_sizes(AVAILABLE, 10**6, balance)["or"] for balance in (1, 2, 5, 100)]
    assert smallest == sorted(set(smallest))
    assert set(sample_sizes(AVAILABLE, 9999, float("inf")).values()) == {3333}


def test_no_language_is_lost_to_the_bound():
    assert sample_sizes({"de": 10**6, "or": 1}, bound=10) == {"de": 10, "or": 1}


@pytest.mark.parametrize(
    "available, bound, balance, message",
    [
        (AVAILABLE, 10, 0.5, "balance 0.5"),
        (AVAILABLE, 10, float("nan"), "balance nan"),
        (AVAILABLE, 0, None, "bound of 0"),
        ({"de": 3, "or": 0, "hi": 0}, 10, None, "no text of hi, or"),
        ({}, 10, None, "no text"),
    ],
)
def test_what_cannot_be_sampled_says_why(available, bound, balance, message):
    with pytest.raises(InputError, match=message):
        sample_sizes(available, bound, balance)


@pytest.mark.parametrize("wanted", [0, 1, 7, 20, 23, 60])
def test_a_sample_has_its_size_its_order_and_even_copies(wanted):
    drawn = list(sample(range(20), 20, wanted, random.Random(3)))
    counts = Counter(drawn)
    assert len(drawn) == wanted
    assert drawn == sorted(drawn)
    assert {counts[item] for item in range(20)} <= {wanted // 20, wanted // 20 + 1}


def test_a_sample_is_its_seed():
    first, again, other = (list(sample(range(99), 99, 9, random.Random(seed))) for seed in (1, 1, 2))
    assert first == again != other


def test_every_item_is_drawn_equally_often():
    counts = Counter(item for seed in range(2000) for item in sample(range(5), 5, 2, random.Random(seed)))
    for item in range(5):
        assert counts[item] == pytest.approx(800, abs=110)  # binomial, five standard deviations


@pytest.mark.parametrize(
    "wanted, chosen", [(5, [0, 2, 4, 6, 8]), (3, [0, 3, 6]), (1, [0]), (10, range(10)), (11, range(10))]
)
def test_what_is_spread_stands_at_even_distances(wanted, chosen):
    assert spread([*map(str, range(10))], wanted) == [*map(str, chosen)]


@pytest.mark.parametrize("size, step", [(1, 1), (SAMPLE, 1), (SAMPLE + 1, 2), (5 * SAMPLE, 5)])
def test_a_sample_is_spread_over_the_file(tmp_path, size, step):
    write_lines(tmp_path / "text", map(str, range(size)))
    assert sample_lines(tmp_path / "text") == [*map(str, range(0, size, step))]


def test_of_a_large_file_the_lines_at_even_distances_in_bytes_are_read(tmp_path, monkeypatch):
    monkeypatch.setattr(sampling, "LARGE", 0)
    write_lines(tmp_path / "text", (f"{number:05}" for number in range(2 * SAMPLE)))
    assert sample_lines(tmp_path / "text") == [f"{number:05}" for number in (0, *range(3, 2 * SAMPLE, 2))]
