"""Relative attention by clipping distance, as in Table 2 of Li (2019)."""

from collections.abc import Sequence

from zsnmt.languages import SUPERVISED, Direction
from zsnmt.report.notes import signature_note
from zsnmt.report.papers.comparable import comparisons
from zsnmt.report.papers.published import LI, published
from zsnmt.report.scores import all_directions, runs_by_system, seeds
from zsnmt.report.table import Measured, Table, seed_cell
from zsnmt.runs.scores import Scores
from zsnmt.runs.systems import BASELINE, CLIP_DISTANCES

DISTANCES = {
    BASELINE.name: None,
    **{system.name: str(k) for k, system in CLIP_DISTANCES.items()},
}  # k by the name of the system


def clip_distance_table(all_scores: Sequence[Scores]) -> Table | None:
    """A row a distance, after one for the baseline: BLEU of each direction of training, and the published
    one; None for fewer than two distances.
    """
    systems = runs_by_system(all_scores)
    found = {name: systems[name] for name in DISTANCES if name in systems}
    if sum(DISTANCES[name] is not None for name in found) < 2:
        return None
    directions = [direction for direction, kind in all_directions(all_scores).items() if kind == SUPERVISED]
    rows = [
        [
            DISTANCES[name],
            name,
            seeds(runs),
            *(bleu(runs, direction) for direction in directions),
            published_bleu(DISTANCES[name]),
        ]
        for name, runs in found.items()
    ]
    columns = ["k", "system", "seeds", *map(str, directions), "published"]
    about = (
        "BLEU in the directions of training. k: the distance beyond which relative positions are "
        f"alike; {BASELINE.name} has absolute positions. Published: Li (2019), Table 2, whose head says "
        "Italian to English and whose value at k = 16 is that of Table 1 from English to Italian. "
        f"{comparisons([all_scores[0].config])}"
    )
    signatures = signature_note([scores for runs in found.values() for scores in runs])
    return Table(
        "clip_distance",
        "Relative attention by clipping distance",
        columns,
        rows=rows,
        about=about,
        headers=2,
        signatures=signatures,
    )


def published_bleu(k: str | None) -> Measured | None:
    """What Li (2019) has for a distance; None for the baseline."""
    if k is None:
        return None
    value = published()[LI, "Table 2"]["IWSLT 2017", k]["IT-EN"]
    return Measured("bleu", float(value), printed=value)


def bleu(runs: Sequence[Scores], direction: Direction) -> Measured | None:
    """BLEU of a system in a direction, over its seeds."""
    results = [scores.select(SUPERVISED).get(direction) for scores in runs]
    interval = results[0].uncertainty.intervals.get("bleu") if results[0] else None
    return seed_cell("bleu", [result.figures["bleu"] if result else None for result in results], interval)
