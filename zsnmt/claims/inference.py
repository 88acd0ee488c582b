"""What kept accuracies on XNLI say of the claim on position encodings."""

from statistics import fmean

from zsnmt.claims.kept_results import Evidence, Kept
from zsnmt.claims.verdicts import Effect, Range, difference, effect, seed_by_seed

TUPE = "tupe_absolute"


def accuracy_gap(*, of_training: bool, wanted: Range) -> Evidence:
    """Accuracy of TUPE minus the mean of the others that a config has, by the seeds that all have: in the
    language of the pairs to learn from, or the mean over all other languages.
    """

    def effects(kept: Kept) -> list[Effect]:
        found = []
        for config, runs in kept.inference.items():
            first, *others = runs[0]["accuracy"]
            languages = [first] if of_training else others
            by_seed = {
                (run["system"], run["seed"]): fmean(run["accuracy"][language] for language in languages)
                for run in runs
            }
            rivals = {system for system, _ in by_seed} - {TUPE}
            seeds = sorted({seed for _, seed in by_seed})
            common = [seed for seed in seeds if all((each, seed) in by_seed for each in (TUPE, *rivals))]
            if not rivals or not common:
                continue
            sides = [
                [by_seed[TUPE, seed] for seed in common],
                [fmean(by_seed[each, seed] for each in rivals) for seed in common],
            ]
            found.append(
                effect(
                    config,
                    difference("accuracy", *sides),
                    seed_by_seed(sides, [common, common]),
                    seeds=[common, common],
                    part=", ".join(languages),
                    range=wanted,
                )
            )
        return found

    return effects
