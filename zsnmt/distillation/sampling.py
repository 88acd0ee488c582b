"""How often each set of pairs is sampled in a student's training."""

import math
from collections.abc import Mapping
from pathlib import Path

from zsnmt.data.binarised_folder import find_data
from zsnmt.data.binarised_text import count_sentences
from zsnmt.errors import InputError
from zsnmt.languages import Direction

SAMPLING_FILE = "sampling.json"


def pairs_in(data: Path, direction: Direction) -> int:
    """How many training pairs a direction has in binarised data, or in a shard of them; `InputError` where it
    has none.
    """
    path = find_data(data, "train", direction, language=direction.source)
    if path is None:
        raise InputError(f"{data} has no training text for {direction}; add it, or leave the direction out")
    return count_sentences(path)


def tempered_weights(sizes: Mapping[str, float]) -> dict[str, float]:
    """The weight of each set of pairs, by the number of pairs in each: the square root of that, sampling at
    temperature 2 (Wu et al. 2024). They sum to 1.
    """
    roots = {name: math.sqrt(number) for name, number in sizes.items()}
    return {name: root / sum(roots.values()) for name, root in roots.items()}


def sampling_weights(
    authentic: Mapping[str, float], synthetic: Mapping[str, float], share: float
) -> tuple[dict[str, float], int]:
    """The weight of each set of pairs, and how many pairs an epoch has, by the number of pairs in each set.

    In an epoch every authentic pair comes once, and a `share` (0–1) of the epoch is synthetic. Without
    synthetic pairs the epoch is as long, and authentic pairs come again: equal updates.
    """
    total = sum(authentic.values())
    rest = sum(synthetic.values())
    authentic_share = 1 - share if synthetic else 1.0
    weights = {name: authentic_share * number / total for name, number in authentic.items()}
    weights |= {name: share * number / rest for name, number in synthetic.items()}
    return weights, round(total / (1 - share))
