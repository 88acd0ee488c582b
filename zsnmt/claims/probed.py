"""What kept probes say of the claims on the encoder."""

from collections.abc import Callable

from zsnmt.analysis.state_folder import FINAL
from zsnmt.claims.kept import Kept
from zsnmt.claims.translation import Evidence
from zsnmt.claims.verdicts import Effect, difference, effect
from zsnmt.report.probes.folder import Probes
from zsnmt.report.probes.tables import Finding
from zsnmt.report.scores import seeds
from zsnmt.report.table import complete
from zsnmt.runs.systems import BASELINE, RESIDUAL

LayerOf = Callable[[Probes], str]


def output(residual: Probes) -> str:
    """The encoder output."""
    return FINAL


def removed(residual: Probes) -> str:
    """The layer whose residual is removed."""
    return str(residual.record["removed_layers"][0])


def finding(what: Finding, layer: LayerOf = output) -> Evidence:
    """A finding of the residual model minus that of the baseline, in a layer."""

    def effects(kept: Kept) -> list[Effect]:
        found = []
        for config, systems in kept.probes.items():
            pair = [systems.get(system.name, []) for system in (RESIDUAL, BASELINE)]
            if all(pair):
                at = layer(pair[0][0])
                values, others = (complete([what.of(one, at) for one in runs]) for runs in pair)
                if values and others:
                    shown = difference(what.figure, values, others)
                    part = "" if at == FINAL else f"layer {at}"
                    found.append(effect(config, shown, (values, others), seeds=seeds(pair[0]), part=part))
        return found

    return effects
