"""How far an export agrees with its run."""

from collections.abc import Mapping
from typing import NamedTuple

STOCK = "stock"  # among agreements, that of a stock model


class Agreement(NamedTuple):
    """How far two engines agree: the largest and the root mean square difference of a token's
    log-probability, over so many tokens, and the share 0–1 of best translations that are equal.
    """

    largest: float
    rms: float
    tokens: int
    equal: float = 1.0


def describe(agreements: Mapping[str, Agreement]) -> str:
    """The figures of a check in words, a line for each."""
    lines = []
    for name, agreement in agreements.items():
        figures = (
            f"up to {agreement.largest:.2g}, root mean square {agreement.rms:.2g}, over "
            f"{agreement.tokens} tokens"
        )
        equal = "" if name == STOCK else f"; {agreement.equal:.1%} of the best translations are equal"
        lines.append(
            f"{'a stock model so quantised' if name == STOCK else name}: log-probabilities differ by "
            f"{figures}{equal}"
        )
    return "\n".join(lines)
