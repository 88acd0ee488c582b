"""What a claim is: what a paper says and where, its figure, how ours is found among the kept results, in
which range it lies if the claim holds, and what is lacking.

`lacks` says why a claim is not tested, or what its test leaves out; `needs` has the runs that would tell,
which `zsnmt claims` makes. Bounds are in the units of score files; those that are not zero are of the size
that the paper's own figures differ by, that of J2 half as large.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from zsnmt.claims.kept import Evidence
from zsnmt.claims.needs import Need
from zsnmt.claims.published import Published
from zsnmt.claims.translation import combine
from zsnmt.claims.verdicts import ABOVE_ZERO, Range

BLEU, SHARE = 1.0, 0.01  # a point of BLEU, and of what is shown in per cent


@dataclass(frozen=True, kw_only=True)
class Claim:
    """What a paper claims. `range`: where our figure lies if it holds; `what`: what the figure is; `why`: as
    far as it is known, why it does not hold.
    """

    name: str
    paper: str
    text: str
    place: str
    published: Published
    what: str
    evidence: Evidence = combine()
    range: Range = ABOVE_ZERO
    lacks: str = ""
    why: str = ""
    needs: Sequence[Need] = ()
