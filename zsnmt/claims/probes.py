"""What kept probes say of the claims on the encoder."""

from collections.abc import Callable, Iterator, Mapping
from itertools import permutations
from statistics import fmean

from zsnmt.analysis.state_folder import FINAL
from zsnmt.claims.kept_results import Evidence, each_config
from zsnmt.claims.verdicts import Effect, difference, effect, seed_by_seed, seeds_of
from zsnmt.languages import FAMILIES
from zsnmt.report.probes.findings import Finding
from zsnmt.report.probes.folder import Probes
from zsnmt.report.significance import of_same_seeds
from zsnmt.report.table import complete
from zsnmt.runs.systems import BASELINE, RESIDUAL

LayerOf = Callable[[Probes], str]


def output_layer(residual: Probes) -> str:
    """The encoder output."""
    return FINAL


def removed_layer(residual: Probes) -> str:
    """The layer whose residual is removed."""
    return str(residual.record["removed_layers"][0])


def confusion_in_families(one: Probes, layer: str) -> float | None:
    """How much larger a share (0–1) of a language's tokens the classifier takes for a language of its family
    than for one of another: the mean over all pairs of either sort, of languages other than the first, the
    pivot. None where no two are of one family, or all are, and without a classifier.
    """
    languages, confused = one.record["languages"], one.confusions[layer]
    shares: dict[bool, list[float]] = {True: [], False: []}
    for true, taken in permutations(languages[1:], 2):
        if confused and {true, taken} <= {*FAMILIES}:
            share = confused[true][languages.index(taken)]
            shares[FAMILIES[true] == FAMILIES[taken]].append(share)
    return fmean(shares[True]) - fmean(shares[False]) if all(shares.values()) else None


IN_FAMILIES = Finding("confusion within families", "accuracy", confusion_in_families)


def finding(what: Finding, layer: LayerOf = output_layer) -> Evidence:
    """A finding of the residual model minus that of the baseline, in a layer."""

    @each_config(lambda kept: kept.probes)
    def effects(config: str, systems: Mapping[str, list[Probes]]) -> Iterator[Effect]:
        pair = of_same_seeds(*(systems.get(system.name, []) for system in (RESIDUAL, BASELINE)))
        if all(pair):
            at = layer(pair[0][0])
            values, others = (complete([what.of(one, at) for one in runs]) for runs in pair)
            if values and others:
                shown = difference(what.figure, values, others)
                part = "" if at == FINAL else f"layer {at}"
                seeds = seeds_of(*pair)
                sides = seed_by_seed((values, others), seeds)
                yield effect(config, shown, sides, seeds=seeds, part=part)

    return effects
