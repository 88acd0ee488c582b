"""Scores for tests of tables: figures of no real run."""

from dataclasses import replace
from itertools import permutations

import numpy as np

from zsnmt.languages import SUPERVISED, ZERO_SHOT, parse_direction
from zsnmt.runs.scores import Result, Scores, Uncertainty
from zsnmt.runs.ways import DIRECT, PIVOT, Way
from zsnmt.scoring.bootstrap import pack


def made_up_result(
    direction: str, kind: str, way: Way, bleu: float, off_target: float = 0.0, **others: float
) -> Result:
    figures = dict(
        bleu=bleu, chrf=min(bleu + 20, 100.0), off_target=off_target, reference_error=0.01, lines=10, empty=0
    )
    return Result(parse_direction(direction), kind, way, figures | others)


def made_up_scores(system: str, seed: int, zero_shot: float) -> Scores:
    return Scores(
        config="made_up",
        system=system,
        seed=seed,
        command=f"bash recipes/train.sh x.conf {system}",
        commit="a" * 40,
        training="3 epochs",
        decoding=dict(beam=4, model=str(seed)),
        pivot="en",
        languages=["en", "de", "fr"],
        signatures=dict(bleu="tok:13a", off_target="py3langid"),
        results=[
            made_up_result("de-en", SUPERVISED, DIRECT, 30.0),
            made_up_result("en-de", SUPERVISED, DIRECT, 20.0),
            made_up_result("de-fr", ZERO_SHOT, DIRECT, zero_shot - 1, 0.5),
            made_up_result("fr-de", ZERO_SHOT, DIRECT, zero_shot + 1, 0.1),
            made_up_result("de-fr", ZERO_SHOT, PIVOT, 15.0),
            made_up_result("fr-de", ZERO_SHOT, PIVOT, 16.0, 0.02),
        ],
    )


def changed(result: Result, **figures: float) -> Result:
    """A result with other figures."""
    return replace(result, figures={**result.figures, **figures})


def all_changed(scores: Scores, **figures: float) -> Scores:
    """The scores with other figures in every direction."""
    return replace(scores, results=[changed(result, **figures) for result in scores.results])


def only(scores: Scores, *groups: tuple[str, Way]) -> Scores:
    """The scores with the results of some kinds and ways."""
    return replace(
        scores, results=[result for result in scores.results if (result.kind, result.way) in groups]
    )


def without(scores: Scores, *left_out: tuple[str, Way]) -> Scores:
    """The scores without the results of some directions in some ways."""
    return replace(
        scores,
        results=[result for result in scores.results if (str(result.direction), result.way) not in left_out],
    )


def many_languages(number: int, system: str = "baseline") -> Scores:
    """Scores of every direction between so many languages, resampled, all the same."""
    resampled = {figure: pack(np.full(3, 20.0), 100) for figure in ("bleu", "chrf")}
    languages = [f"l{place:02}" for place in range(number)]
    groups = {True: [(SUPERVISED, DIRECT)], False: [(ZERO_SHOT, DIRECT), (ZERO_SHOT, PIVOT)]}
    results = [
        replace(made_up_result(f"{source}-{target}", *group, 20.0), uncertainty=Uncertainty({}, resampled))
        for source, target in permutations(languages, 2)
        for group in groups["l00" in (source, target)]
    ]
    scores = made_up_scores(system, 1, 0.0)
    return replace(scores, languages=languages, pivot="l00", results=results)
