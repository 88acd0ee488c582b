"""The sentences that say what runs found."""

from dataclasses import replace

import pytest

from tests.support.resampled import with_resamples
from tests.support.scores import all_changed, changed, made_up_scores, only
from zsnmt.languages import FEW_SHOT, SUPERVISED, ZERO_RESOURCE, ZERO_SHOT
from zsnmt.report.finding import finding, in_every_way
from zsnmt.runs.ways import DIRECT, OWN_PIVOT, PIVOT, Way

POOR, BETTER, BEST = (
    made_up_scores(system, 1, bleu) for system, bleu in (("plain", 5), ("residual", 9), ("other", 31))
)


@pytest.mark.parametrize("scores", [[POOR, BETTER], [BETTER, POOR]])
def test_the_best_direct_system_is_named_with_what_goes_astray_and_the_pivot(scores):
    assert finding(scores) == (
        "Between languages without text by people, residual is the best of the systems that translate "
        "directly (zero-shot): 9.0 BLEU; 30.0 % of its translations are in another language than asked for. "
        "Through en, in two translations, 15.5 BLEU: better than that by 6.5 with one seed."
    )


def test_a_direct_system_above_the_pivot_is_said_to_be():
    assert finding([POOR, BEST]).endswith("in two translations, 15.5 BLEU: less good by 15.5 with one seed.")
    assert finding([made_up_scores("other", 1, 15.52)]).endswith("15.5 BLEU: equally good.")


def test_the_best_way_through_the_pivot_counts_whoever_goes_it():
    """A student is compared with the best pivot there is, not with its teacher's alone."""
    student = replace(made_up_scores("student", 1, 15.7), pivot_by="teacher, seed 1")
    own = [
        replace(result, way=OWN_PIVOT, figures={**result.figures, "bleu": 17.0})
        for result in student.results
        if result.way == PIVOT
    ]
    assert finding([student]).endswith(
        "in two translations by teacher, 15.5 BLEU: less good by 0.2 with one seed."
    )
    with_own = replace(student, results=[*student.results, *own])
    assert finding([with_own]).endswith(
        "in two translations, 17.0 BLEU: better than that by 1.3 with one seed."
    )
    trained_on = all_changed(only(made_up_scores("trained_on", 1, 2), (ZERO_SHOT, PIVOT)), bleu=18.0)
    direct = made_up_scores("trained_on", 1, 2)
    trained_on = replace(direct, results=[*only(direct, (ZERO_SHOT, DIRECT)).results, *trained_on.results])
    assert finding([with_own, trained_on]).endswith(
        "by trained_on, 18.0 BLEU: better than that by 2.3 with one seed."
    )


def test_every_way_is_said_with_who_goes_it():
    plain = made_up_scores("plain", 1, 9)
    assert in_every_way([plain]) == (
        "plain between languages other than en, BLEU: directly 9.0; through en 15.5."
    )
    masked = [
        replace(result, way=Way("mask"), figures={**result.figures, "bleu": 9.5})
        for result in plain.results
        if result.kind == ZERO_SHOT and result.way == DIRECT
    ]
    student = replace(plain, pivot_by="teacher, seed 1", results=[*plain.results, *masked])
    assert in_every_way([student]).endswith("directly 9.0; through en by teacher 15.5; by mask 9.5.")
    assert in_every_way([only(plain, (SUPERVISED, DIRECT))]) == ""


def test_a_difference_that_other_test_lines_might_turn_round_is_said_to_be_chance():
    by_noise, clear = (with_resamples(made_up_scores("other", 1, bleu)) for bleu in (15.6, 31))
    assert finding([by_noise]).endswith("15.5 BLEU: less good by 0.1 with one seed, which may be chance.")
    assert finding([clear]).endswith("15.5 BLEU: less good by 15.5 with one seed.")


def test_a_lead_that_other_test_lines_might_turn_round_is_said_to_be_chance():
    scores = [
        with_resamples(made_up_scores(system, 1, bleu))
        for system, bleu in (("plain", 5), ("close", 15.4), ("best", 15.6), ("same", 15.6))
    ]
    assert ". Its lead over close, same may be chance. Through en" in finding(scores)
    assert "Its lead" not in finding([scores[0], scores[2]])


def test_systems_are_ranked_over_the_same_directions_whatever_these_are_to_them():
    """As of a student to which a language was added: some are zero-resource to it, the new ones zero-shot."""
    plain, student = made_up_scores("plain", 1, 8.5), made_up_scores("student", 1, 8.0)
    kinds = {"de-fr": ZERO_RESOURCE}
    results = [replace(each, kind=kinds.get(str(each.direction), each.kind)) for each in student.results]
    student = replace(student, results=results)
    assert "plain is the best of the systems that translate directly (zero-shot): 8.5" in finding(
        [student, plain]
    )
    assert "translates directly (zero-shot and zero-resource) with 8.0 BLEU" in finding([student])


def test_a_system_with_text_of_these_directions_is_not_among_them():
    few = [replace(each, kind=FEW_SHOT if each.kind == ZERO_SHOT else each.kind) for each in BEST.results]
    assert "plain translates directly" in finding([POOR, replace(BEST, results=few)])


def test_systems_are_ranked_over_the_seeds_that_both_have():
    plain = [made_up_scores("plain", seed, bleu) for seed, bleu in ((1, 5), (2, 19))]
    assert "residual is the best of the systems that translate directly (zero-shot): 9.0" in finding(
        [*plain, BETTER]
    )
    others = [replace(each, pivot_by="residual, seed 1") for each in plain]
    assert finding([others[0], with_pivot(BETTER, 20.0)]).endswith(
        "20.0 BLEU: better than that by 11.0 with one seed."
    )
    teacher = [
        with_pivot(made_up_scores("residual", 1, 2), 20.0),
        with_pivot(made_up_scores("residual", 3, 2), 50.0),
    ]
    assert finding([*others, *teacher]).endswith(
        "by residual, 20.0 BLEU against 5.0 with seed 1, which both have: better than that by 15.0 with one "
        "seed."
    )
    apart = [POOR, with_pivot(made_up_scores("residual", 2, 2), 20.0)]
    assert finding(apart).endswith("by residual, 20.0 BLEU: better than that by 15.0 with other seeds.")


def with_pivot(scores, bleu):
    """The scores with another figure through the pivot."""
    results = [changed(each, bleu=bleu) if each.way == PIVOT else each for each in scores.results]
    return replace(scores, results=results)


@pytest.mark.parametrize(
    "apart, chance",
    [((1.0, 1.6), True), ((0.9, 1.0, 1.1), False), ((0.1, 2.0, 1.5), True), ((1.0, 1.0), False)],
)
def test_whether_seeds_bear_a_difference_out_is_told_by_pairs_of_them_and_their_number(apart, chance):
    scores = [
        with_pivot(made_up_scores("plain", seed, 10.0 * seed + each), 10.0 * seed)
        for seed, each in enumerate(apart, 1)
    ]
    assert finding(scores).endswith(", which may be chance.") is chance


def test_one_system_is_not_called_the_best():
    assert finding([POOR]).startswith(
        "Between languages without text by people, plain translates directly (zero-shot) with 5.0 BLEU; "
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
    assert finding([made_up_scores("other", 1, 15.44)]).endswith(
        "15.5 BLEU: better than that by 0.1 with one seed."
    )
