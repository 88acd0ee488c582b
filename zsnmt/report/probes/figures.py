"""Drawings of probes: figures by layer, and how languages are confused."""

from collections.abc import Sequence
from statistics import fmean
from typing import Any

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from zsnmt.analysis.state_folder import FINAL
from zsnmt.languages import Direction
from zsnmt.report.figures import INK, STYLE, legend, look
from zsnmt.report.plotted import CONFUSION, HeatMap
from zsnmt.report.probes.findings import (
    ABOVE_INDEPENDENT,
    CHANCE,
    CKA,
    CLASSIFIERS,
    GAUSSIAN,
    MAJORITY,
    RETRIEVAL,
    SVCCA,
    Finding,
    layer_figure,
    present_figures,
)
from zsnmt.report.probes.folder import Probes
from zsnmt.report.scores import runs_by_system
from zsnmt.report.table import FORMS, complete

PANELS = 3  # side by side
STROKES = {MAJORITY: (0, (6, 2)), CHANCE: (0, (1, 1.5)), GAUSSIAN: (0, (6, 2, 1, 2))}
FAINT = {"linewidth": 0.9, "alpha": 0.7}
REMOVED, INDEPENDENT = "residual removed", "independent states"
DOTTED, DASHED = ":", (0, (4, 3))


def probe_figures(found: Sequence[Probes], systems: Sequence[str]) -> list[tuple[str, str, Figure]]:
    """Name, title and drawing of each figure by layer; none without probes. `systems` gives each its
    colour.
    """
    if not found:
        return []
    classifiers = [finding for finding in CLASSIFIERS if finding.of(found[0], FINAL) is not None]
    accuracy = layer_panels(found, classifiers, systems, columns=len(classifiers), one_scale=True)
    drawn = [("probe_accuracy", "Accuracy of linear classifiers by layer", accuracy)]
    if found[0].similarities[FINAL]:
        compared = (SVCCA, ABOVE_INDEPENDENT, CKA, RETRIEVAL)
        similarity = layer_panels(found, compared, systems, columns=2, one_scale=False)
        drawn.append(("probe_similarity", "Similarity of languages by layer", similarity))
    if figures := [*map(layer_figure, present_figures(found))]:
        columns = min(PANELS, len(figures))
        by_layer = layer_panels(found, figures, systems, columns=columns, one_scale=False)
        drawn.append(("probe_figures", "Figures of the states by layer", by_layer))
    return drawn


def layer_panels(
    found: Sequence[Probes],
    findings: Sequence[Finding],
    systems: Sequence[str],
    columns: int,
    one_scale: bool,
) -> Figure:
    """A panel for each finding, with a key above them."""
    layers, rows = found[0].record["layers"], -(-len(findings) // columns)
    width = max(2.0, 0.25 * len(layers))
    with matplotlib.rc_context(STYLE):
        entries = key(found, findings, systems)
        height = 1.6 * rows + 0.22 * len(entries["handles"]) / entries["ncols"] + 0.5
        figure = Figure(figsize=(width * columns + 0.4, height), layout="constrained")
        panels = figure.subplots(rows, columns, sharex=True, sharey=one_scale, squeeze=False).flat
        for axes in panels[len(findings) :]:
            axes.remove()
        for axes, finding in zip(panels, findings):
            draw(axes, finding, found, systems=systems)
            axes.set_xticks(range(len(layers)), layers)
            axes.tick_params(labelsize="small", labelbottom=True)
            axes.spines[["top", "right"]].set_visible(False)
            axes.set_title(finding.title + ", %" * (FORMS[finding.figure].factor == 100), fontsize="small")
            axes.set_ylim(bottom=min(0, axes.get_ylim()[0]))
        figure.supxlabel("layer", fontsize="medium")
        figure.legend(**entries)
    return figure


def draw(axes: Axes, finding: Finding, found: Sequence[Probes], systems: Sequence[str]) -> None:
    """One line per run, thinner where there are several seeds; what needs no states; where a residual is
    removed.
    """
    factor, layers = FORMS[finding.figure].factor, found[0].record["layers"]
    thin = len(found) > len(runs_by_system(found))

    def line(of: Sequence[float | None], **style: Any) -> None:
        if (values := complete(of)) is not None:
            axes.plot([factor * value for value in values], **style)

    for name, of in finding.references.items():
        line([of(found[0], layer) for layer in layers], color=INK, linestyle=STROKES[name], **FAINT)
    removing = removal_layers(found)
    for number, (system, places) in enumerate(removing.items()):
        # Of several systems they fill each other's gaps.
        dots = (2 * number, (2, 2 * max(1, len(removing) - 1)))
        for place in places:
            axes.axvline(place, color=colour(system, systems), linestyle=dots, linewidth=1.2)
    for system, runs in runs_by_system(found).items():
        style = look(systems.index(system))
        for one in runs:
            line([finding.of(one, layer) for layer in layers], **style, linewidth=0.9 if thin else 1.4)
            if finding.independent:
                line(
                    [finding.independent(one, layer) for layer in layers],
                    color=style["color"],
                    linestyle=DASHED,
                    **FAINT,
                )


def removal_layers(found: Sequence[Probes]) -> dict[str, list[int]]:
    """For each system that removes residuals, where on the axis of layers."""
    layers = found[0].record["layers"]
    removed = {system: runs[0].record["removed_layers"] for system, runs in runs_by_system(found).items()}
    return {
        system: [layers.index(str(layer)) for layer in of_system]
        for system, of_system in removed.items()
        if of_system
    }


def colour(system: str, systems: Sequence[str]) -> str:
    """The colour of a system."""
    return look(systems.index(system))["color"]


def key(found: Sequence[Probes], findings: Sequence[Finding], systems: Sequence[str]) -> dict:
    """A legend's entries and place: a column of systems, one of the strokes."""
    there = runs_by_system(found)
    entries = [
        Line2D([], [], label=system, **look(place)) for place, system in enumerate(systems) if system in there
    ]
    removing = [colour(system, systems) for system in removal_layers(found)]
    strokes = [Line2D([], [], color=of_system, linestyle=DOTTED, label=REMOVED) for of_system in removing]
    if any(finding.independent for finding in findings):
        strokes.append(Line2D([], [], color=INK, linestyle=DASHED, label=INDEPENDENT, **FAINT))
    names = [name for name in STROKES if any(name in finding.references for finding in findings)]
    strokes += [Line2D([], [], color=INK, linestyle=STROKES[name], label=name, **FAINT) for name in names]
    return legend(entries, strokes)


def confusion_maps(found: Sequence[Probes]) -> list[HeatMap]:
    """How the encoder output's languages are confused in each system, in %, means over its seeds."""
    maps = []
    for system, runs in runs_by_system([one for one in found if one.confusions[FINAL]]).items():
        languages = runs[0].record["languages"]
        values = {
            Direction(true, predicted): 100 * fmean(one.confusions[FINAL][true][place] for one in runs)
            for true in languages
            for place, predicted in enumerate(languages)
        }
        title = "language of tokens, %"
        maps.append(
            HeatMap(
                CONFUSION,
                CONFUSION,
                system,
                title=title,
                languages=languages,
                values=values,
                low=0,
                high=100,
                down="true",
                across="predicted",
            )
        )
    return maps
