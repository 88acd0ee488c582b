"""The claims of the three papers, in the order of their tables."""

from zsnmt.claims.claim import Claim
from zsnmt.claims.li import CLAIMS_OF_LI
from zsnmt.claims.liu import CLAIMS_OF_LIU
from zsnmt.claims.ravishankar import CLAIMS_OF_RAVISHANKAR

CLAIMS: tuple[Claim, ...] = (*CLAIMS_OF_LIU, *CLAIMS_OF_RAVISHANKAR, *CLAIMS_OF_LI)
