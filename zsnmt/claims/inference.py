"""What kept accuracies on XNLI say of the claim on position encodings."""

from collections.abc import Collection, Iterator, Sequence
from statistics import fmean

from zsnmt.claims.kept_results import Evidence, each_config
from zsnmt.claims.masked_lms import CLASSIC, BySeed, compare_by_seed
from zsnmt.claims.verdicts import Effect, Range

TUPE = "tupe_absolute"


def accuracy_gap(*, of_training: bool, wanted: Range) -> Evidence:
    """Accuracy of TUPE minus the mean of sinusoidal and absolute positions, or of the one of them that a
    config has, by the seeds that all have: in the language of the pairs to learn from, or the mean over all
    other languages.
    """

    @each_config(lambda kept: kept.inference)
    def effects(config: str, runs: list[dict]) -> Iterator[Effect]:
        first, *others = runs[0]["accuracy"]
        languages = [first] if of_training else others
        rivals = {run["system"] for run in runs}.intersection(CLASSIC)
        sides = [accuracy_by_seed(runs, systems, languages) for systems in ({TUPE}, rivals)]
        yield from compare_by_seed(config, "accuracy", *sides, part=", ".join(languages), wanted=wanted)

    return effects


def accuracy_by_seed(runs: Sequence[dict], systems: Collection[str], languages: Sequence[str]) -> BySeed:
    """The mean over some systems and languages by seed; no seed that lacks one of the systems."""
    found: dict[int, list[float]] = {}
    for run in runs:
        if run["system"] in systems:
            of_run = fmean(run["accuracy"][language] for language in languages)
            found.setdefault(run["seed"], []).append(of_run)
    return {seed: fmean(values) for seed, values in sorted(found.items()) if len(values) == len(systems)}
