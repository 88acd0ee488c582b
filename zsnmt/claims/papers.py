"""The claims of the three papers, in the order of their tables."""

from collections.abc import Iterable

from zsnmt.claims.claim import Claim
from zsnmt.claims.li import CLAIMS_OF_LI
from zsnmt.claims.liu import CLAIMS_OF_LIU
from zsnmt.claims.ravishankar import CLAIMS_OF_RAVISHANKAR
from zsnmt.errors import InputError

CLAIMS: tuple[Claim, ...] = (*CLAIMS_OF_LIU, *CLAIMS_OF_RAVISHANKAR, *CLAIMS_OF_LI)


def claim_names(words: Iterable[str]) -> list[str]:
    """The names of claims that were asked for in large or small letters.

    Raises `InputError` for a claim that does not exist.
    """
    known, names = [claim.name for claim in CLAIMS], {word: word.upper() for word in words}
    if unknown := [word for word, name in names.items() if name not in known]:
        raise InputError(
            f"there is no claim {unknown[0]}; docs/results/claims.md lists {known[0]} to {known[-1]}"
        )
    return [*names.values()]
