"""What runs have in common, and what is said of them above their tables."""

from dataclasses import replace

import pytest

from tests.support.scores import changed, made_up_result, made_up_scores, only, without
from zsnmt.errors import InputError
from zsnmt.languages import SUPERVISED, ZERO_RESOURCE, ZERO_SHOT
from zsnmt.report.comparability import check_comparable, list_some
from zsnmt.report.notes import caption, pivot_note
from zsnmt.report.scores import (
    Column,
    columns_of,
    groups_of,
    mean_over_directions,
    runs_by_system,
    short_commit,
    way_differences,
)
from zsnmt.runs.ways import DIRECT, PIVOT, Way
from zsnmt.scoring.figures import ALL, ROOMY

SCORES = [
    made_up_scores("baseline", 1, 5.0),
    made_up_scores("baseline", 2, 8.0),
    made_up_scores("residual", 1, 14.0),
]


def test_means_are_plain_means_over_the_directions_of_a_kind():
    assert mean_over_directions(SCORES[0], Column(SUPERVISED, DIRECT, "bleu")) == 25.0
    assert mean_over_directions(SCORES[0], Column(ZERO_SHOT, DIRECT, "bleu")) == pytest.approx(5.0)
    assert mean_over_directions(SCORES[0], Column(ZERO_SHOT, PIVOT, "off_target")) == pytest.approx(0.01)


def test_a_mean_needs_the_figure_in_every_direction():
    assert mean_over_directions(SCORES[0], Column(ZERO_SHOT, DIRECT, "comet")) is None
    assert (
        mean_over_directions(
            without(SCORES[0], ("de-fr", PIVOT), ("fr-de", PIVOT)), Column(ZERO_SHOT, PIVOT, "bleu")
        )
        is None
    )
    one, *others = SCORES[0].results
    partly = replace(SCORES[0], results=[changed(one, comet=0.5), *others])
    assert mean_over_directions(partly, Column(SUPERVISED, DIRECT, "comet")) is None


def test_columns_are_of_the_kinds_and_ways_that_were_scored():
    titles = [column.title for column in columns_of(SCORES, ALL, ROOMY)]
    assert titles == [
        "supervised",
        "zero-shot",
        "through pivot",
        "off-target",
        "off-target through pivot",
        "supervised chrF++",
        "zero-shot chrF++",
        "chrF++ through pivot",
        "supervised COMET",
        "zero-shot COMET",
        "COMET through pivot",
        "supervised cost",
        "zero-shot cost",
        "cost through pivot",
    ]
    assert [each.title for each in way_differences(groups_of(SCORES))] == ["zero-shot minus pivot"]
    alone = [only(SCORES[0], (SUPERVISED, DIRECT))]
    assert [column.title for column in columns_of(alone, ALL)] == ["supervised"] and not way_differences(
        groups_of(alone)
    )


def test_another_way_and_kind_have_columns_and_differences_of_their_own():
    mask = Way("mask", {"keep": 0.9})
    more = [
        made_up_result("de-fr", ZERO_SHOT, mask, 9.0),
        made_up_result("fr-it", ZERO_RESOURCE, DIRECT, 9.0),
    ]
    scores = [replace(SCORES[0], results=[*more, *SCORES[0].results])]
    assert [column.title for column in columns_of(scores, ALL)] == [
        "supervised",
        "zero-shot",
        "through pivot",
        "zero-shot by mask (keep 0.9)",
        "zero-resource",
        "off-target",
        "off-target through pivot",
        "off-target by mask (keep 0.9)",
        "zero-resource off-target",
    ]
    assert [each.title for each in way_differences(groups_of(scores))] == [
        "zero-shot minus pivot",
        "zero-shot by mask (keep 0.9) minus direct",
        "zero-shot by mask (keep 0.9) minus pivot",
    ]
    assert (
        "2 supervised, 2 zero-shot and 1 zero-resource directions, some also through en, by mask (keep 0.9)"
        in caption(scores)
    )


def test_runs_of_several_systems_and_seeds_can_be_compared_whatever_their_models():
    check_comparable(SCORES)
    check_comparable(
        [
            SCORES[0],
            replace(
                SCORES[2], decoding=dict(beam=4, model="x", pivot_model="y"), pivot_by="baseline, seed 1"
            ),
        ]
    )
    seeds = {system: [run.seed for run in runs] for system, runs in runs_by_system(SCORES[::-1]).items()}
    assert [*seeds.items()] == [("residual", [1]), ("baseline", [2, 1])]


ONLY_FIRST, ONLY_OTHER = "only baseline seed 1 has ", "only residual seed 1 has "


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (dict(config="other"), f"their configs differ: {ONLY_FIRST}made_up, {ONLY_OTHER}other;"),
        (
            dict(signatures=dict(bleu="tok:intl", off_target="py3langid")),
            f"their signatures differ: {ONLY_FIRST}bleu tok:13a, {ONLY_OTHER}bleu tok:intl;",
        ),
        (
            dict(signatures=SCORES[2].signatures | dict(comet="wmt22")),
            f"their signatures differ: {ONLY_OTHER}comet wmt22;",
        ),
        (
            dict(decoding=dict(beam=1, lines=60)),
            f"their settings of decoding differ: {ONLY_FIRST}beam 4, {ONLY_OTHER}beam 1, lines 60;",
        ),
        (
            dict(test_set="ab12"),
            f"their test sets differ: {ONLY_FIRST}one that was not recorded, {ONLY_OTHER}ab12;",
        ),
        (
            dict(results=without(SCORES[2], ("de-fr", PIVOT)).results),
            f"their directions differ: {ONLY_FIRST}de-fr (zero-shot through pivot);",
        ),
        (
            dict(results=[]),
            f"their directions differ: {ONLY_FIRST}de-en (supervised), de-fr (zero-shot through pivot), "
            "de-fr (zero-shot), en-de (supervised) and 2 more;",
        ),
    ],
)
def test_runs_that_cannot_be_compared_are_refused_naming_what_differs(change, message):
    with pytest.raises(InputError) as refused:
        check_comparable([SCORES[0], SCORES[1], replace(SCORES[2], **change)])
    assert (
        str(refused.value)
        == f"these runs cannot stand in one table, {message} score them alike or make two tables"
    )


def test_a_direction_scored_as_another_kind_is_named_on_both_sides():
    first, *others = SCORES[2].results
    other = replace(SCORES[2], results=[replace(first, kind=ZERO_SHOT), *others])
    both = r"only baseline seed 1 has de-en \(supervised\), only residual seed 1 has de-en \(zero-shot\);"
    with pytest.raises(InputError, match=both):
        check_comparable([SCORES[0], other])


def test_a_run_given_twice_is_refused():
    with pytest.raises(InputError, match="a run is given twice: baseline seed 1; give each once"):
        check_comparable([SCORES[0], SCORES[2], SCORES[0]])


def test_long_lists_are_cut():
    assert list_some({"b", "a"}) == "a, b" and list_some({"d", "c", "b", "a"}) == "a, b, c, d"
    assert list_some({str(number) for number in range(9)}) == "0, 1, 2, 3 and 5 more"


def test_the_caption_says_what_the_figures_are():
    for word in ("tok:13a", "2 supervised", "2 zero-shot", "through en", "py3langid", "1.0 %", "beam 4"):
        assert word in caption(SCORES)


def test_the_caption_says_what_was_left_out_of_training_and_of_the_test_set():
    overlap = {"en-de": dict(lines=1200, removed=3), "en-fr": dict(lines=800, removed=4)}
    said = caption([replace(SCORES[0], overlap=overlap, decoding=dict(beam=4, lines=150))])
    assert "Of 2,000 training pairs 7 had a sentence of" in said and "first 150 lines" in said
    assert "training pairs" not in caption(SCORES) and "lines of the test set" not in caption(SCORES)


def test_the_caption_names_a_length_penalty_that_is_not_fairseqs_default():
    def said(**decoding):
        return caption([replace(SCORES[0], decoding=dict(beam=4, **decoding))])

    assert "beam 4." in said(length_penalty=1.0)
    assert "beam 4, length penalty 0.6." in said(length_penalty=0.6)
    assert "beam 4, length penalty 0.6 in the form of GNMT." in said(
        length_penalty=0.6, length_penalty_form="gnmt"
    )
    assert "beam 4, length penalty 1.0 in the form of GNMT." in said(
        length_penalty=1.0, length_penalty_form="gnmt"
    )


def test_the_caption_of_one_direction_says_nothing_of_zero_shot():
    one = caption([replace(SCORES[0], results=SCORES[0].results[:1])])
    assert "means over 1 supervised direction; off-target" in one


def test_it_is_said_who_pivots_where_it_is_another_run():
    pivoted = [replace(scores, pivot_by="baseline, seed 1") for scores in (SCORES[1], SCORES[2])]
    said = pivot_note([SCORES[0], *pivoted])
    assert said == (
        " Through the pivot: baseline, seed 2, by baseline, seed 1; residual, seed 1, by baseline, seed 1."
    )
    assert pivot_note(SCORES) == ""


def test_a_pivot_that_many_have_of_one_system_is_said_once():
    def by(system, seed, of):
        return replace(made_up_scores(system, seed, 5.0), pivot_by=f"baseline, seed {of}")

    runs = [by(system, seed, seed) for system in ("residual", "post") for seed in (1, 2)]
    said = "Through the pivot: residual, post, by baseline of the same seed."
    assert pivot_note([*SCORES, *runs]) == f" {said}"
    assert "post, seed 3, by baseline, seed 1" in pivot_note([*runs, by("post", 3, 1)])


def test_a_commit_is_shortened_and_keeps_the_mark_of_changes():
    assert short_commit("a" * 40) == "a" * 12 and short_commit("a" * 40 + "+changes") == "a" * 12 + "+changes"
