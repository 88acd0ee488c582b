"""The sentences that say what runs found."""

from dataclasses import replace

import pytest

from tests.support.resampled import with_resamples
from tests.support.scores import all_changed, made_up_scores, only
from zsnmt.languages import SUPERVISED, ZERO_SHOT
from zsnmt.report.finding import finding
from zsnmt.runs.scores import DIRECT, OWN_PIVOT, PIVOT

POOR, BETTER, BEST = (
    made_up_scores(system, 1, bleu) for system, bleu in (("plain", 5), ("residual", 9), ("other", 31))
)


@pytest.mark.parametrize("scores", [[POOR, BETTER], [BETTER, POOR]])
def test_the_best_direct_system_is_named_with_what_goes_astray_and_the_pivot(scores):
    assert finding(scores) == (
        "Between languages without text by people, residual is the best of the systems that translate "
        "directly (zero-shot): 9.0 BLEU, and 30.0 % of that is in another language than asked for. Through "
        "en, in two translations, 15.5 BLEU: better than that by 6.5."
    )


def test_a_direct_system_above_the_pivot_is_said_to_be():
    assert finding([POOR, BEST]).endswith("in two translations, 15.5 BLEU: less good by 15.5.")
    assert finding([made_up_scores("other", 1, 15.52)]).endswith("15.5 BLEU: equally good.")


def test_the_best_way_through_the_pivot_counts_whoever_goes_it():
    """A student is compared with the best pivot there is, not with its teacher's alone."""
    student = replace(made_up_scores("student", 1, 15.7), pivot_by="teacher, seed 1")
    own = [
        replace(result, way=OWN_PIVOT, figures={**result.figures, "bleu": 17.0})
        for result in student.results
        if result.way == PIVOT
    ]
    assert finding([student]).endswith("in two translations by teacher, 15.5 BLEU: less good by 0.2.")
    with_own = replace(student, results=[*student.results, *own])
    assert finding([with_own]).endswith("in two translations, 17.0 BLEU: better than that by 1.3.")
    trained_on = all_changed(only(made_up_scores("trained_on", 1, 2), (ZERO_SHOT, PIVOT)), bleu=18.0)
    direct = made_up_scores("trained_on", 1, 2)
    trained_on = replace(direct, results=[*only(direct, (ZERO_SHOT, DIRECT)).results, *trained_on.results])
    assert finding([with_own, trained_on]).endswith("by trained_on, 18.0 BLEU: better than that by 2.3.")


def test_a_difference_that_other_test_lines_might_turn_round_is_said_to_be_chance():
    by_noise, clear = (with_resamples(made_up_scores("other", 1, bleu)) for bleu in (15.6, 31))
    assert finding([by_noise]).endswith("15.5 BLEU: less good by 0.1, which may be chance.")
    assert finding([clear]).endswith("15.5 BLEU: less good by 15.5.")


def test_one_system_is_not_called_the_best():
    assert finding([POOR]).startswith(
        "Between languages without text by people, plain translates directly (zero-shot) with 5.0 BLEU, and"
    )


def test_seeds_are_means_with_their_deviation():
    other = made_up_scores("plain", 2, 8)
    assert "plain translates directly (zero-shot) with 6.5 ± 2.1 BLEU" in finding([POOR, other])


def test_supervised_directions_alone_are_no_finding():
    assert finding([only(POOR, (SUPERVISED, DIRECT))]) == ""
    assert finding([all_changed(BETTER, bleu=0.0)])  # but a score of 0 is one


def test_pairs_that_were_not_scored_are_named():
    languages = (*POOR.languages, "it")
    scores = [replace(one, languages=languages) for one in (POOR, BEST)]
    assert finding(scores).endswith(
        "Not scored: de-it, fr-it. For these the test set has no text, or they were "
        "left out; docs/own_text.md says how to add test sets."
    )
    supervised = [replace(one, results=[r for r in one.results if r.kind == SUPERVISED]) for one in scores]
    assert finding(supervised) == ""  # of one pair


def test_what_is_shown_alike_is_called_equally_good():
    assert finding([made_up_scores("other", 1, 15.46)]).endswith("15.5 BLEU: equally good.")
    assert finding([made_up_scores("other", 1, 15.44)]).endswith("15.5 BLEU: better than that by 0.1.")
