"""Direct translation against the pivot, drawn."""

from collections.abc import Sequence

from matplotlib.figure import Figure

from zsnmt.report.plotted import against_pivot
from zsnmt.report.scatters import pivot_scatter
from zsnmt.report.scores import runs_by_system
from zsnmt.report.table import FORMS
from zsnmt.runs.scores import Scores
from zsnmt.scoring.figures import MAIN


def comparison_figures(all_scores: Sequence[Scores]) -> list[tuple[str, str, Figure]]:
    """Name, title and drawing of direct translation against the pivot; none where only one was scored."""
    systems, title = [*runs_by_system(all_scores)], "Direct translation against the pivot"
    compared = against_pivot(all_scores)
    drawing = pivot_scatter(compared, systems, FORMS[MAIN].title) if compared else None
    return [("direct_against_pivot", title, drawing)] if drawing else []
