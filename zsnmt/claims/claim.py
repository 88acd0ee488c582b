"""What a claim is: what a paper says and where, its figure, how ours is found among the kept results, in
which range it lies if the claim holds, and what is lacking.

`lacks` says why a claim is not tested, or what its test leaves out; `needs` has the runs that would tell,
which `zsnmt claims` makes. Bounds are in the units of score files; those that are not zero are of the size
that the paper's own figures differ by, that of J2 half as large.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from zsnmt.claims.kept_results import Evidence, Kept
from zsnmt.claims.needs import Need
from zsnmt.claims.published import Published
from zsnmt.claims.translation import combine
from zsnmt.claims.verdicts import ABOVE_ZERO, Effect, Range

BLEU, SHARE = 1.0, 0.01  # a point of BLEU, and of what is shown in per cent


@dataclass(frozen=True, kw_only=True)
class Claim:
    """What a paper claims. `evidence`: what tells of it, of several clauses by the name of each; `range`:
    where our figure lies if it holds; `what`: what the figure is; `why`: as far as it is known, why it does
    not hold.
    """

    name: str
    paper: str
    text: str
    place: str
    published: Published
    what: str
    evidence: Evidence | Mapping[str, Evidence] = combine()
    range: Range = ABOVE_ZERO
    lacks: str = ""
    why: str = ""
    needs: Sequence[Need] = ()

    @property
    def clauses(self) -> Mapping[str, Evidence]:
        """What tells of each clause by its name, which is empty where the claim has one alone."""
        return self.evidence if isinstance(self.evidence, Mapping) else {"": self.evidence}

    def effects(self, kept: Kept) -> list[Effect]:
        """The figures of all clauses among the kept results."""
        return [
            replace(effect, clause=name)
            for name, evidence in self.clauses.items()
            for effect in evidence(kept)
        ]
