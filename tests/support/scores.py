"""Scores for tests of tables: figures of no real run."""

from dataclasses import replace

from zsnmt.languages import SUPERVISED, ZERO_SHOT, parse_direction
from zsnmt.runs.scores import DIRECT, PIVOT, Result, Scores, Way


def made_up_result(
    direction: str, kind: str, way: Way, bleu: float, off_target: float = 0.0, **others: float
) -> Result:
    figures = dict(bleu=bleu, chrf=bleu + 20, off_target=off_target, reference_error=0.01, lines=10, empty=0)
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
