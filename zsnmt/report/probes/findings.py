"""What probes find in each layer of an encoder: a figure of each run, and what it is without states."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import fmean

from zsnmt.analysis import layer_figures
from zsnmt.analysis.layer_figures import LayerFigure
from zsnmt.report.probes.folder import LABELS, Probes
from zsnmt.report.table import Measured, seed_cell

MAJORITY, CHANCE, GAUSSIAN = "majority class", "chance", "Gaussian noise"  # what needs no states
REFERENCE_ROWS = {MAJORITY: (MAJORITY,), CHANCE: (CHANCE, GAUSSIAN)}  # of tables
InLayer = Callable[[Probes, str], float | None]  # of a run, in a layer


@dataclass(frozen=True)
class Finding:
    """A figure that each run has in each layer; `references`: what it is without states, the same for all
    runs; `independent`: what states of that run would give if they had nothing in common.
    """

    title: str
    figure: str
    of: InLayer
    references: Mapping[str, InLayer] = field(default_factory=dict)
    independent: InLayer | None = None
    difference: bool = False

    def over_seeds(self, runs: Sequence[Probes], layer: str) -> Measured | None:
        """The mean over the runs of a system."""
        measured = seed_cell(self.figure, [self.of(one, layer) for one in runs])
        return measured and replace(measured, difference=self.difference)

    def reference(self, name: str, found: Sequence[Probes], layer: str) -> Measured | None:
        """What it is without states, in the row of that name, where that is known."""
        values = [of(found[0], layer) for each, of in self.references.items() if each in REFERENCE_ROWS[name]]
        known = [value for value in values if value is not None]
        return Measured(self.figure, known[0]) if known else None


def classifier(label: str) -> Finding:
    """The accuracy of the classifiers of a label."""

    def share(name: str) -> InLayer:
        return lambda one, layer: getattr(one.classified[layer].get(label), name, None)

    return Finding(
        f"{label} id",
        "accuracy",
        share("accuracy"),
        references={MAJORITY: share("majority"), CHANCE: share("chance")},
    )


def mean_over_pairs(*names: str) -> InLayer:
    """The mean of some figures over all pairs of languages; None where one has no value, or none was
    compared.
    """

    def mean(one: Probes, layer: str) -> float | None:
        values = [getattr(pair, name) for pair in one.similarities[layer] for name in names]
        return None if None in values or not values else fmean(values)

    return mean


def above_chance(one: Probes, layer: str) -> float | None:
    """SVCCA minus that of independent states, the mean over the pairs; None where none was compared."""
    pairs = one.similarities[layer]
    return fmean(pair.svcca - pair.independent for pair in pairs) if pairs else None


TOKEN, POSITION, LANGUAGE = CLASSIFIERS = tuple(map(classifier, LABELS))
INDEPENDENT = Finding("SVCCA if independent", "svcca", mean_over_pairs("independent"))
SVCCA = Finding(
    "SVCCA",
    "svcca",
    mean_over_pairs("svcca"),
    references={GAUSSIAN: mean_over_pairs("gaussian")},
    independent=INDEPENDENT.of,
)
ABOVE_INDEPENDENT = Finding("SVCCA − independent", "svcca", above_chance, difference=True)
CKA = Finding(
    "CKA",
    "cka",
    mean_over_pairs("cka"),
    references={CHANCE: lambda one, layer: 0.0 if one.similarities[layer] else None},
)
RETRIEVAL = Finding(
    "retrieval",
    "retrieval",
    mean_over_pairs("forward", "backward"),
    references={CHANCE: mean_over_pairs("chance")},
)
KEPT = Finding("directions kept", "kept", mean_over_pairs("kept", "other_kept"))
SIMILARITIES = SVCCA, INDEPENDENT, ABOVE_INDEPENDENT, CKA, RETRIEVAL, KEPT


def layer_figure(figure: LayerFigure) -> Finding:
    """A figure of a layer's states."""

    def value(one: Probes, layer: str) -> float | None:
        return one.figures[layer].get(figure.name)

    references: Mapping[str, InLayer] = {CHANCE: lambda one, layer: figure.reference}
    return Finding(figure.title, figure.form, value, references=references)


def present_figures(found: Sequence[Probes]) -> list[LayerFigure]:
    """Those that a run has in some layer."""
    return [
        figure
        for figure in layer_figures.LAYER_FIGURES
        if any(values.get(figure.name) is not None for one in found for values in one.figures.values())
    ]
