"""What kept masked LMs say of the claims on position encodings."""

from collections.abc import Iterator, Sequence
from itertools import chain
from statistics import fmean

from zsnmt.claims.kept_results import Evidence, each_config
from zsnmt.claims.verdicts import BLOCKS, Effect, Range, difference, effect, seed_by_seed
from zsnmt.masked_lm.report.columns import FIRST, FULL, Column
from zsnmt.masked_lm.report.runs import NONE, SAME, condition_label, conditions_of, runs_of
from zsnmt.masked_lm.score_file import MaskedLM
from zsnmt.report.table import complete

CLASSIC = ("sinusoidal", "learned")
MODERN = ("tupe_absolute", "tupe_relative", "relative_key", "relative_key_query")
SVO = ("de", "fi", "fr", "sv", "velor")  # conditions by the order of the copy; the last ones are invented
OTHER_ORDERS = ("ar", "eu", "hi", "tamek", "tamun", "velan")
BILINGUAL = "bilingual"  # all conditions with two languages
FINISHED = ("bert_tiny_long",)  # configs whose losses fell no more when their trainings ended
# Figures of which all runs of a seed are measured on the same masked tokens, and others on others.
SAME_MASKS = {FULL.figure, FIRST.figure}
BySeed = dict[int, float]


def by_seed(runs: Sequence[MaskedLM], systems: Sequence[str], condition: str, *, column: Column) -> BySeed:
    """A figure by seed, the mean over those of the systems that were run in a condition; no seed that lacks
    one of them.
    """
    there = [system for system in systems if runs_of(runs, system, condition)]
    found: dict[int, list[float | None]] = {}
    for system in there:
        for run in runs_of(runs, system, condition):
            found.setdefault(run.seed, []).append(column.of(run))
    return {
        seed: fmean(known)
        for seed, values in sorted(found.items())
        if len(values) == len(there) and (known := complete(values))
    }


def groups(
    column: Column,
    ones: Sequence[str],
    others: Sequence[str],
    *,
    conditions: str = BILINGUAL,
    label: str = "",
    wanted: Range | None = None,
    at_plateau: bool = False,
) -> Evidence:
    """A figure of some encodings minus that of others, in each condition; `label` says more of what it is.
    `at_plateau`: short trainings say so weakly.
    """

    @each_config(lambda kept: kept.masked_lms)
    def effects(config: str, runs: list[MaskedLM]) -> Iterator[Effect]:
        for condition in select_conditions(runs, conditions):
            sides = [by_seed(runs, systems, condition, column=column) for systems in (ones, others)]
            part = ", ".join(filter(None, (condition_label(condition), label)))
            yield from compare_by_seed(
                config, column.figure, *sides, part=part, wanted=wanted, at_plateau=at_plateau
            )

    return effects


def condition_difference(column: Column, systems: Sequence[str], *, one: str, other: str) -> Evidence:
    """A figure of some encodings in one condition minus that in another; `BILINGUAL` stands for each."""

    @each_config(lambda kept: kept.masked_lms)
    def effects(config: str, runs: list[MaskedLM]) -> Iterator[Effect]:
        for condition in select_conditions(runs, one):
            if condition != other:
                sides = [by_seed(runs, systems, of, column=column) for of in (condition, other)]
                part = f"{condition_label(condition)} and {condition_label(other)}"
                yield from compare_by_seed(config, column.figure, *sides, part=part)

    return effects


def gap_growth(column: Column) -> Evidence:
    """The gap of sinusoidal and absolute encodings to others, in another order minus in the same; of the
    encodings that both have.
    """

    @each_config(lambda kept: kept.masked_lms)
    def effects(config: str, runs: list[MaskedLM]) -> Iterator[Effect]:
        there = conditions_of(runs)
        for condition in there:
            if condition not in (SAME, NONE) and SAME in there:
                orders = condition, SAME
                common = [in_all(runs, systems, orders) for systems in (CLASSIC, MODERN)]
                gaps = [gap(runs, *common, condition=each, column=column) for each in orders]
                yield from compare_by_seed(config, column.figure, *gaps, part=condition_label(condition))

    return effects


def gap(
    runs: Sequence[MaskedLM], ones: Sequence[str], others: Sequence[str], *, condition: str, column: Column
) -> BySeed:
    """The gap of some encodings to others by seed in a condition."""
    one, other = (by_seed(runs, systems, condition, column=column) for systems in (ones, others))
    return {seed: one[seed] - other[seed] for seed in one if seed in other}


def in_all(runs: Sequence[MaskedLM], systems: Sequence[str], conditions: Sequence[str]) -> list[str]:
    """The systems that were run in all of some conditions."""
    return [name for name in systems if all(runs_of(runs, name, each) for each in conditions)]


def lowest_change(column: Column) -> Evidence:
    """Of the encodings the lowest change of a figure from the same order to another one, with an interval for
    one that is chosen so. Short trainings say so weakly.
    """

    @each_config(lambda kept: kept.masked_lms)
    def effects(config: str, runs: list[MaskedLM]) -> Iterator[Effect]:
        for condition in select_conditions(runs, BILINGUAL):
            changes: list[Effect] = []
            compared = in_all(runs, (*CLASSIC, *MODERN), (condition, SAME))
            for system in compared if condition != SAME else ():
                sides = [by_seed(runs, [system], of, column=column) for of in (condition, SAME)]
                part = f"{condition_label(condition)}, {system}"
                changes += compare_by_seed(
                    config, column.figure, *sides, part=part, chosen_from=len(compared), at_plateau=True
                )
            yield from sorted(changes, key=lambda change: change.measured.mean)[:1]

    return effects


def order_difference(column: Column, systems: Sequence[str]) -> Evidence:
    """The mean figure of some encodings where the copy has the order of an SVO language, minus that where it
    has another one; of the encodings that all these conditions have.
    """

    @each_config(lambda kept: kept.masked_lms)
    def effects(config: str, runs: list[MaskedLM]) -> Iterator[Effect]:
        there = conditions_of(runs)
        orders = [[each for each in there if each in order] for order in (SVO, OTHER_ORDERS)]
        compared = [*chain(*orders)]
        common = in_all(runs, systems, compared)
        sides = [mean_by_seed(runs, common, order, column=column) for order in orders]
        part = " minus ".join(", ".join(map(condition_label, order)) for order in orders)
        yield from compare_by_seed(config, column.figure, *sides, part=part)

    return effects


def mean_by_seed(
    runs: Sequence[MaskedLM], systems: Sequence[str], conditions: Sequence[str], *, column: Column
) -> BySeed:
    """The mean over some conditions by seed, of seeds that all of them have."""
    values = [by_seed(runs, systems, condition, column=column) for condition in conditions]
    seeds = [seed for seed in values[0] if all(seed in each for each in values)] if values else []
    return {seed: fmean(each[seed] for each in values) for seed in seeds}


def select_conditions(runs: Sequence[MaskedLM], conditions: str) -> Iterator[str]:
    """The conditions that are there: one, or those with two languages."""
    for condition in conditions_of(runs):
        if condition == conditions or (conditions == BILINGUAL and condition != NONE):
            yield condition


def compare_by_seed(
    config: str,
    figure: str,
    one: BySeed,
    other: BySeed,
    *,
    part: str,
    wanted: Range | None = None,
    chosen_from: int = 1,
    at_plateau: bool = False,
) -> list[Effect]:
    """The difference of two sides by the seeds that both have, if there are any; seed by seed, by as few as
    two, where all runs of one are measured on the same tokens. `at_plateau`: short trainings say so weakly.
    """
    one, other = ({seed: side[seed] for seed in one if seed in other} for side in (one, other))
    if not one:
        return []
    sides, seeds = [[*one.values()], [*other.values()]], [[*one], [*other]]
    return [
        effect(
            config,
            difference(figure, *sides),
            seed_by_seed(sides, seeds, least=1 if figure in SAME_MASKS else BLOCKS),
            seeds=seeds,
            part=part,
            range=wanted,
            chosen_from=chosen_from,
            unfinished=at_plateau and config not in FINISHED,
        )
    ]
