"""How much of each language a joint subword model sees: natural, tempered, bounded; some lines of a file."""

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import BinaryIO

from zsnmt.errors import InputError
from zsnmt.text.lines import what_else

SAMPLE = 500
LARGE = 2**26  # bytes of a file of which no more is read than the sample


def check_balance(balance: float | None) -> None:
    """`InputError` for a balance below 1."""
    if balance is not None and not balance >= 1:
        raise InputError(
            f"balance {balance} cannot be used; 1 keeps natural shares, larger is more equal (5 is usual)"
        )


def sample_sizes(available: Mapping[str, int], bound: int, balance: float | None = None) -> dict[str, int]:
    """The number of sentences to take of each language, about min(bound, all) together, at least one each.

    The share of a language with a fraction p of all sentences is p, or with a `balance` T proportional
    to p^(1/T) (Arivazhagan et al. 2019): T=1 is natural, a large T is equal, so that small languages
    are repeated. Raises InputError for T below 1, a bound below 1, or a language without sentences.
    """
    check_balance(balance)
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


def sample_lines(file: Path) -> list[str]:
    """At most 500 lines of a file of parallel text, evenly spread; only these are decoded.

    Of a large file they are at even distances in bytes, so that the rest is not read. Raises `InputError` for
    a file in UTF-16, and for what is no text.
    """
    size = file.stat().st_size
    with file.open("rb") as lines:
        if other := what_else(lines.readline()):
            raise InputError(f"{file} {other}")
        lines.seek(0)
        chosen: Iterable[bytes]
        if size > LARGE:
            chosen = filter(None, (line_behind(lines, place * size // SAMPLE) for place in range(SAMPLE)))
        else:
            step = max(1, -(-sum(1 for _ in lines) // SAMPLE))
            lines.seek(0)
            chosen = islice(lines, 0, None, step)
        return [line.decode("utf-8", errors="replace").removesuffix("\n") for line in chosen]


def line_behind(file: BinaryIO, place: int) -> bytes:
    """The first line that begins behind a place in a file, or at its start."""
    file.seek(place)
    if place:
        file.readline()
    return file.readline()
