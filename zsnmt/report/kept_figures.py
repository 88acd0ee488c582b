"""The drawings of pages of results, of the scores and probes that are kept."""

from collections.abc import Iterator
from pathlib import Path

from matplotlib.figure import Figure

from zsnmt.report import figures, scatters
from zsnmt.report.brief_table import pivot_by_itself
from zsnmt.report.candidates import (
    CANDIDATES,
    CONTINUED_BASELINE,
    FIRST_TEXT,
    REAL_TEXT,
    WITH_BLOCKS_THIRD,
    has_scores,
    with_seeds_of,
)
from zsnmt.report.documents import kept_probes, kept_scores
from zsnmt.report.pivot_drawing import comparison_figures
from zsnmt.report.plotted import mean_figures
from zsnmt.report.probes.figures import confusion_maps, probe_figures
from zsnmt.report.scores import runs_by_system
from zsnmt.report.studies.grid import remedy_gains
from zsnmt.report.table import FORMS
from zsnmt.runs.probe_folder import PROBES
from zsnmt.runs.systems import BASELINE, DIRECT_STUDENT, RESIDUAL
from zsnmt.runs.ways import DIRECT
from zsnmt.scoring.figures import MAIN

GRID = "word_orders"  # on which the grid of remedies was run
DRAWN_PROBES = "probe_accuracy", "probe_similarity"  # the drawings of probes that pages of results show
FIRST_DRAWN = {  # what its drawing compares, directly
    "directly: baseline": BASELINE.name,
    "directly: residual removed": RESIDUAL.name,
    "directly: student of zsnmt direct": DIRECT_STUDENT,
    "directly: with language blocks, taught three times": WITH_BLOCKS_THIRD,
}
THROUGH_ENGLISH = "through English, two translations: baseline trained further"  # and what it compares to


def kept_figures(folder: Path) -> Iterator[tuple[str, Figure]]:
    """Name and drawing of direct translation against the pivot, of each text that has both, of what the
    remedies of the grid gain, and of probes by layer.
    """
    if has_scores(folder, GRID) and (gains := remedy_gains(kept_scores(folder, GRID))):
        yield f"remedy_gains_{GRID}", scatters.remedy_gains(gains)
    for config in REAL_TEXT:
        if has_scores(folder, config):
            runs = [scores for scores in kept_scores(folder, config) if scores.system in CANDIDATES]
            for name, _, drawing in comparison_figures(runs):
                yield f"{name}_{config}", drawing
    if drawing := first_figure(folder):
        yield "what_to_use_first", drawing
    for path in sorted(folder.glob(f"*/{PROBES}")):
        yield from drawn_probes(folder, path.parent.name)


def first_figure(folder: Path) -> Figure | None:
    """What README draws: each direction by some systems, over the seeds of the last one; None where they are
    not kept.
    """
    if not has_scores(folder, FIRST_TEXT):
        return None
    by_system = with_seeds_of([*FIRST_DRAWN.values()][-1], kept_scores(folder, FIRST_TEXT))
    if not {*FIRST_DRAWN.values(), CONTINUED_BASELINE} <= {*by_system}:
        return None
    continued = by_system[CONTINUED_BASELINE]
    through = mean_figures(continued, pivot_by_itself(continued), MAIN)
    points = {THROUGH_ENGLISH: through}
    for name, system in FIRST_DRAWN.items():
        direct = mean_figures(by_system[system], DIRECT, MAIN)
        points[name] = {direction: direct[direction] for direction in through}
    return scatters.direction_points(points, f"{FORMS[MAIN].title}, means over seeds")


def drawn_probes(folder: Path, config: str) -> Iterator[tuple[str, Figure]]:
    """Name and drawing of what the probes of a config found by layer, and of the languages in the output of
    each encoder.
    """
    found = kept_probes(folder, config)
    for name, _, drawing in probe_figures(found, [*runs_by_system(found)]):
        if name in DRAWN_PROBES:
            yield f"{name}_{config}", drawing
    for cells in confusion_maps(found):
        yield f"{cells.kind}_{cells.system}_{config}", figures.heat_map(cells)
