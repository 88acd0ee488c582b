"""How much of each language a joint subword model sees: natural, tempered, bounded."""

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence

from zsnmt.errors import InputError


def sample_sizes(available: Mapping[str, int], bound: int, balance: float | None = None) -> dict[str, int]:
    """The number of sentences to take of each language, about min(bound, all) together, at least one each.

    The share of a language with a fraction p of all sentences is p, or with a `balance` T proportional
    to p^(1/T) (Arivazhagan et al. 2019): T=1 is natural, a large T is equal, so that small languages
    are repeated. Raises InputError for T below 1, a bound below 1, or a language without sentences.
    """
    if balance is not None and not balance >= 1:
        raise InputError(
            f"balance {balance} cannot be used; 1 keeps natural shares, larger is more equal (5 is usual)"
        )
    if bound < 1:
        raise InputError(f"a bound of {bound} sentences leaves nothing; give a positive number")
    if not available:
        raise InputError("there is no text; give that of at least one language")
    if empty := sorted(language for language, count in available.items() if not count):
        raise InputError(
            f"there is no text of {', '.join(empty)}; give text of every language, or leave it out"
        )
    everything = sum(available.values())
    weights = {
        language: (count / everything) ** (1 / (balance or 1)) for language, count in available.items()
    }
    total = min(bound, everything)
    return {
        language: max(1, round(total * weight / sum(weights.values())))
        for language, weight in weights.items()
    }


def sample(sentences: Iterable[str], available: int, wanted: int, generator: random.Random) -> Iterator[str]:
    """`wanted` of `available` sentences, in their order, each as often as any other or once more.

    Needs one pass and holds one sentence (selection sampling, Knuth, The Art of Computer Programming,
    algorithm 3.4.2S).
    """
    copies, extra = divmod(wanted, available)
    for passed, sentence in enumerate(sentences):
        chosen = extra > 0 and generator.random() * (available - passed) < extra
        extra -= chosen
        for _ in range(copies + chosen):
            yield sentence


def spread(sentences: Sequence[str], wanted: int) -> list[str]:
    """So many of the sentences, or all, in their order and at even distances."""
    wanted = min(wanted, len(sentences))
    return [sentences[number * len(sentences) // wanted] for number in range(wanted)]
