"""The claims of Li (2019), on relative positions."""

from zsnmt.claims.claim import BLEU, Claim
from zsnmt.claims.needs import Need, ablation
from zsnmt.claims.published import gap_of_columns
from zsnmt.claims.translation import gain, supervised
from zsnmt.claims.verdicts import Range, at_most, within
from zsnmt.report.papers.published import LI
from zsnmt.runs.systems import BASELINE, CLIP_DISTANCES, RELATIVE, System

RELATIVE_0, RELATIVE_1, RELATIVE_2 = (CLIP_DISTANCES[k] for k in (0, 1, 2))
TWO_SEEDS = "captions: two seeds of eight epochs, after which the loss still fell"
INVENTED = "invented languages: three seeds"
TWELVE = "invented languages: twelve seeds, with scores near their upper end"
SINUSOIDS = "in which sinusoids ended far behind, of one seed of three while their loss still fell"


def by_distance(*systems: System) -> tuple[Need, ...]:
    """Captions by all systems of the study, and invented languages by those that a claim compares."""
    return (
        ablation("multi30k_en_de_relative", "clip_distance"),
        ablation("word_orders_relative", "clip_distance", [each.name for each in systems]),
    )


CLAIMS_OF_LI = (
    Claim(
        name="J1",
        paper=LI,
        text="From k = 2 on the clipping distance does not matter, to 1 BLEU",
        place="Table 2",
        published=gap_of_columns(
            "Table 2", [("IWSLT 2017", k) for k in ("2", "4", "64")], ("IWSLT 2017", "16")
        ),
        what="BLEU at k = 2, 4 and 64 minus at 16",
        evidence={
            f"k = {k}": gain(
                supervised(CLIP_DISTANCES[k]), supervised(RELATIVE), part=f"k = {k}", at_plateau=True
            )
            for k in (2, 4, 64)
        },
        range=within(1 * BLEU),
        lacks=f"{TWO_SEEDS}, and one of k = 64; {TWELVE}, of k = 2",
        needs=by_distance(RELATIVE_2, RELATIVE),
    ),
    Claim(
        name="J2",
        paper=LI,
        text="Without positions (k = 0) translation collapses: by 8 BLEU or more",
        place="Table 2",
        published=gap_of_columns("Table 2", [("IWSLT 2017", "0")], ("IWSLT 2017", "16")),
        what="BLEU at k = 0 minus at 16",
        evidence=gain(supervised(RELATIVE_0), supervised(RELATIVE), at_plateau=True),
        range=at_most(-8 * BLEU),
        lacks=f"captions say most without the order of their words, invented languages next to nothing; "
        f"{TWO_SEEDS}; {INVENTED}",
        needs=by_distance(RELATIVE_0, RELATIVE),
    ),
    Claim(
        name="J3",
        paper=LI,
        text="Relative attention is better than absolute positions",
        place="Table 1",
        published=gap_of_columns("Table 1", [("IWSLT 2017", "Rel Trans")], ("IWSLT 2017", "Trans")),
        what="BLEU, relative attention minus sinusoids",
        evidence=gain(supervised(RELATIVE), supervised(BASELINE), at_plateau=True),
        lacks=f"{TWO_SEEDS}; {INVENTED}, {SINUSOIDS}",
        needs=by_distance(BASELINE, RELATIVE),
    ),
    Claim(
        name="J4",
        paper=LI,
        text="k = 1 is just below k = 2: by 2 BLEU or less",
        place="Table 2",
        published=gap_of_columns("Table 2", [("IWSLT 2017", "1")], ("IWSLT 2017", "2")),
        what="BLEU at k = 1 minus at 2",
        evidence=gain(supervised(RELATIVE_1), supervised(RELATIVE_2), at_plateau=True),
        range=Range(-2 * BLEU, 0.0),
        lacks=f"{TWO_SEEDS}; {TWELVE}",
        needs=by_distance(RELATIVE_1, RELATIVE_2),
    ),
)
