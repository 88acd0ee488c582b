"""What kept scores say of the claims on translation: differences of systems, of ways and of configs."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from statistics import fmean

from zsnmt.claims.kept_results import Evidence, Kept, Systems, each_config
from zsnmt.claims.verdicts import COMPARED, Effect, Range, difference, effect, seed_by_seed, seeds_of
from zsnmt.languages import SUPERVISED, ZERO_SHOT, Direction
from zsnmt.report.adaptation import members
from zsnmt.report.families import within_families
from zsnmt.report.papers.liu import Place
from zsnmt.report.significance import Side, mean_difference, of_same_seeds
from zsnmt.report.table import Measured, complete
from zsnmt.runs.log import read_summary
from zsnmt.runs.scores import Result, Scores
from zsnmt.runs.systems import System
from zsnmt.scoring.figures import MAIN

Directions = Sequence[Direction] | None


def gain(
    one: Place,
    other: Place,
    *,
    only: Sequence[str] = (),
    without: Sequence[str] = (),
    part: str = "",
    at_plateau: bool = False,
) -> Evidence:
    """One place minus another, in every config that has both and was not adapted: in `only` some, or in all
    `without` some. `at_plateau`: it says so weakly if a training was not.
    """

    @each_config(lambda kept: kept.scores)
    def effects(config: str, systems: Systems) -> Iterator[Effect]:
        if (not only or config in only) and config not in without and not are_adapted(systems):
            yield from compare(config, systems, (one, other), part=part, at_plateau=at_plateau)

    return effects


def are_adapted(systems: Systems) -> bool:
    """Whether the runs go on from others."""
    return any(scores.adapted_from for runs in systems.values() for scores in runs)


def compare(
    config: str,
    systems: Systems,
    places: tuple[Place, Place],
    *,
    part: str = "",
    directions: Directions = None,
    wanted: Range | None = None,
    at_plateau: bool = False,
) -> list[Effect]:
    """One place minus another over the directions of their kinds, or over some, by the seeds that both have;
    none where one is missing.
    """
    if not all(place.system.name in systems for place in places):
        return []
    runs = of_same_seeds(*(systems[place.system.name] for place in places))
    one, other = (Side(of_side, place.column) for of_side, place in zip(runs, places))
    values, others = (complete(side.means(directions)) for side in (one, other))
    found = mean_difference(one, other, directions)
    if found is None or not values or not others:
        return []
    if found.interval is None:
        found = replace(found, interval=wide_interval(found.mean, (one, other), directions))
    seeds = seeds_of(one.runs, other.runs)
    return [
        effect(
            config,
            found,
            seed_by_seed((values, others), seeds),
            seeds=seeds,
            part=part,
            range=wanted,
            unfinished=at_plateau and any(map(may_have_fallen, [*one.runs, *other.runs])),
        )
    ]


def wide_interval(
    difference: float, sides: Sequence[Side], directions: Directions
) -> tuple[float, float] | None:
    """An interval of a difference of two systems over some directions, whose resamples are not kept: from the
    interval of each direction, as if all directions deviated together, and the systems each on its own. So
    it is too wide rather than too narrow. None where a direction has no interval.
    """
    widths = [
        complete([noise_of(result, side.column.figure) for result in results_of(side, directions)])
        for side in sides
    ]
    if not all(widths):
        return None
    noise = math.hypot(*(fmean(of_side or []) for of_side in widths))
    return difference - noise, difference + noise


def results_of(side: Side, directions: Directions) -> list[Result]:
    """What the runs of a side have in all directions of its kind, or in some."""
    return [
        result
        for scores in side.runs
        for direction, result in scores.select(side.column.kind, side.column.way).items()
        if directions is None or direction in directions
    ]


def noise_of(result: Result, figure: str) -> float | None:
    """Half of the interval of a figure in one direction, where it is known."""
    ends = result.uncertainty.intervals.get(figure)
    return (ends[1] - ends[0]) / 2 if ends else None


def may_have_fallen(scores: Scores) -> bool:
    """Whether the loss of a training still fell when it ended, or that is not known."""
    summary = read_summary(scores.training or "")
    return summary is None or summary.still_fell is not False


def family_difference(one: Place, other: Place) -> Evidence:
    """One place minus another over the zero-shot directions within each family, in runs that do not go on
    from others: those would count the same languages again.
    """

    @each_config(lambda kept: kept.scores)
    def effects(config: str, systems: Systems) -> Iterator[Effect]:
        if are_adapted(systems):
            return
        runs = [scores for of_system in systems.values() for scores in of_system]
        for family, directions in within_families(runs).items():
            yield from compare(config, systems, (one, other), part=family, directions=directions)

    return effects


def new_language_difference(
    one: System, other: System, kind: str, *, group: str, wanted: Range | None = None
) -> Evidence:
    """One system minus another in the directions of a group of new languages, of adapted runs."""

    @each_config(lambda kept: kept.scores)
    def effects(config: str, systems: Systems) -> Iterator[Effect]:
        if are_adapted(systems) and one.name in systems:
            directions = members(systems[one.name], kind, group)
            places = Place(one, kind), Place(other, kind)
            yield from compare(config, systems, places, part=group, directions=directions, wanted=wanted)

    return effects


def config_difference(
    pairs: Sequence[tuple[str, str]],
    one: Place,
    other: Place | None = None,
    *,
    part: str = "",
    wanted: Range | None = None,
) -> Evidence:
    """A place in the second config of each pair minus that in the first, or its gain over another one."""

    def effects(kept: Kept) -> list[Effect]:
        found = []
        for pair in pairs:
            sides = [means_of(kept.scores.get(config, {}), one, other) for config in pair]
            if all(sides):
                of_first, of_second = map(first_minus_others, sides)
                shown = Measured(MAIN, of_second - of_first, difference=True)
                places = [place for place in (one, other) if place is not None]
                of_sides = seeds_of(
                    *(kept.scores[config][place.system.name] for config in pair for place in places)
                )
                values = [values for side in sides for values in side]
                common = {config: common_seeds(kept.scores[config], places) for config in pair}
                of_pair = effect(COMPARED.join(pair), shown, values, seeds=of_sides, part=part, range=wanted)
                found.append(replace(of_pair, by_config=common))
        return found

    return effects


def common_seeds(systems: Systems, places: Sequence[Place]) -> frozenset[int]:
    """The seeds that all of some places have."""
    return frozenset.intersection(
        *(frozenset(scores.seed for scores in systems[place.system.name]) for place in places)
    )


def means_of(systems: Systems, one: Place, other: Place | None) -> list[list[float]]:
    """The means of each seed of a place, and of another one; nothing where something is missing."""
    sides = [
        complete(Side(systems[place.system.name], place.column).means())
        if place.system.name in systems
        else None
        for place in (one, other)
        if place is not None
    ]
    return [side or [] for side in sides] if all(sides) else []


def first_minus_others(sides: Sequence[Sequence[float]]) -> float:
    """The mean of the first side minus those of others."""
    first, *others = map(fmean, sides)
    return first - sum(others)


def loss_difference(one: System, other: System, *, part: str, wanted: Range | None = None) -> Evidence:
    """The best validation loss (bits a token) of one system minus that of another, of trainings with as many
    updates; none where some training ended earlier. `wanted`: where it lies if the claim holds, where that is
    not the claim's range.
    """

    @each_config(lambda kept: kept.scores)
    def effects(config: str, systems: Systems) -> Iterator[Effect]:
        runs = of_same_seeds(*(systems.get(system.name, []) for system in (one, other)))
        trained = [[read_summary(scores.training or "") for scores in side] for side in runs]
        sides = [complete(side) or [] for side in trained]
        if all(sides) and len({summary.updates for side in sides for summary in side}) == 1:
            losses = [[summary.loss for summary in side] for side in sides]
            shown = difference("loss", *losses)
            seeds = seeds_of(*runs)
            values = seed_by_seed(losses, seeds)
            yield effect(config, shown, values, seeds=seeds, part=part, range=wanted)

    return effects


def pivot_language_share(system: System) -> Evidence:
    """The share of zero-shot outputs of a system that are in the pivot's language."""

    @each_config(lambda kept: kept.scores)
    def effects(config: str, systems: Systems) -> Iterator[Effect]:
        runs = [scores for scores in systems.get(system.name, []) if scores.select(ZERO_SHOT)]
        values = complete([share_in_pivot_language(scores) for scores in runs])
        if values and not are_adapted(systems):
            measured = Measured("off_target", fmean(values))
            yield effect(config, measured, [values], seeds=seeds_of(runs))

    return effects


def share_in_pivot_language(scores: Scores) -> float | None:
    """The share (0–1) of a run's zero-shot outputs that are in the pivot's language, the mean over
    directions; None where the languages of some were not counted.
    """
    identified = complete([result.identified or None for result in scores.select(ZERO_SHOT).values()])
    return fmean(shares.get(scores.pivot, 0.0) for shares in identified) if identified else None


def combine(*parts: Evidence) -> Evidence:
    """The figures that each of several kinds of evidence has, one after the other."""
    return lambda kept: [effect for part in parts for effect in part(kept)]


def label_as_part(label: str, evidence: Evidence) -> Evidence:
    """What says only a part of the claim, which it is labelled with, so that it speaks weakly."""
    return lambda kept: [replace(effect, several=False, part=label) for effect in evidence(kept)]


def supervised(system: System) -> Place:
    """A system in the directions that it was trained on."""
    return Place(system, SUPERVISED)


def zero_shot(system: System) -> Place:
    """A system in the others."""
    return Place(system, ZERO_SHOT)
