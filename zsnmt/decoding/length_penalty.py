"""How beam search weighs the length of a hypothesis: fairseq's penalty, or that of GNMT."""

from dataclasses import dataclass

from zsnmt.errors import InputError

POWER, GNMT = FORMS = ("power", "gnmt")
LARGEST = 10  # exponent: a float32 holds this power of five thousand tokens


@dataclass(frozen=True)
class GNMTLengthPenalty:
    """Stands for the exponent of fairseq's penalty: `length ** GNMTLengthPenalty(alpha)` is ((5 + length) /
    6)^alpha.

    fairseq's searches divide the log-probability of a hypothesis of `length` tokens, EOS among them, by
    `length ** len_penalty`. With this as their `len_penalty` the score is that of Wu et al. (2016), section
    7, and nothing else of the search changes.
    """

    alpha: float

    def __rpow__(self, length: int) -> float:
        return ((5 + length) / 6) ** self.alpha


def search_penalty(exponent: float, form: str = POWER) -> float | GNMTLengthPenalty:
    """What fairseq's search takes as `len_penalty`; `InputError` for an unknown form, and an exponent that
    is not from 0 to 10.
    """
    if form not in FORMS:
        raise InputError(f"there is no length penalty of the form '{form}'; choose {' or '.join(FORMS)}")
    if not 0 <= exponent <= LARGEST:  # which no NaN is
        raise InputError(
            f"the exponent of the length penalty is {exponent}; it must be a number from 0 to {LARGEST}"
        )
    return exponent if form == POWER else GNMTLengthPenalty(exponent)
