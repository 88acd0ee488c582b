"""What runs have in common, and what is said of them above their tables."""

import pytest

from tests.support.scores import made_up_scores
from zsnmt.errors import InputError
from zsnmt.report.scores import by_system, caption, check_comparable, listed, mean_over_directions, short_commit

SCORES = [made_up_scores("baseline", 1, 5.0), made_up_scores("baseline", 2, 8.0), made_up_scores("residual", 1, 14.0)]


def without(scores, *directions):
    kept = [result for result in scores["directions"] if (result["direction"], result["kind"]) not in directions]
    return {**scores, "directions": kept}


def test_means_are_plain_means_over_the_directions_of_a_kind():
    assert mean_over_directions(SCORES[0], "supervised", "bleu") == 25.0
    assert mean_over_directions(SCORES[0], "zero_shot", "bleu") == pytest.approx(5.0)
    assert mean_over_directions(SCORES[0], "pivot", "off_target") == pytest.approx(0.01)


def test_a_mean_needs_the_figure_in_every_direction():
    assert mean_over_directions(SCORES[0], "zero_shot", "comet") is None
    assert mean_over_directions(without(SCORES[0], ("de-fr", "pivot"), ("fr-de", "pivot")), "pivot", "bleu") is None
    one, *others = SCORES[0]["directions"]
    assert mean_over_directions({**SCORES[0], "directions": [{**one, "comet": 0.5}, *others]}, "supervised", "comet") is None


def test_runs_of_several_systems_and_seeds_can_be_compared_whatever_their_models():
    check_comparable(SCORES)
    pivoted = {"decoding": dict(beam=4, model="x", pivot_model="y"), "pivot_by": "baseline, seed 1"}
    check_comparable([SCORES[0], SCORES[2] | pivoted])
    seeds = {system: [run["seed"] for run in runs] for system, runs in by_system(SCORES[::-1]).items()}
    assert [*seeds.items()] == [("residual", [1]), ("baseline", [2, 1])]


ONLY_FIRST, ONLY_OTHER = "only baseline seed 1 has ", "only residual seed 1 has "


@pytest.mark.parametrize(("change", "message"), [
    (dict(config="other"), f"their configs differ: {ONLY_FIRST}made_up, {ONLY_OTHER}other;"),
    (dict(signatures=dict(bleu="tok:intl", off_target="py3langid")),
     f"their signatures differ: {ONLY_FIRST}bleu tok:13a, {ONLY_OTHER}bleu tok:intl;"),
    (dict(signatures=SCORES[2]["signatures"] | dict(comet="wmt22")), f"their signatures differ: {ONLY_OTHER}comet wmt22;"),
    (dict(decoding=dict(beam=1, lines=60)), f"their ways of decoding differ: {ONLY_FIRST}beam 4, {ONLY_OTHER}beam 1, lines 60;"),
    (dict(test_set="ab12"), f"their test sets differ: {ONLY_FIRST}one that was not recorded, {ONLY_OTHER}ab12;"),
    (without(SCORES[2], ("de-fr", "pivot")), f"their directions differ: {ONLY_FIRST}de-fr (pivot);"),
    (without(SCORES[2], *((result["direction"], result["kind"]) for result in SCORES[2]["directions"])),
     f"their directions differ: {ONLY_FIRST}de-en (supervised), de-fr (pivot), de-fr (zero-shot), en-de (supervised) and 2 more;"),
])  # fmt: skip
def test_runs_that_cannot_be_compared_are_refused_naming_what_differs(change, message):
    with pytest.raises(InputError) as refused:
        check_comparable([SCORES[0], SCORES[1], {**SCORES[2], **change}])
    assert str(refused.value) == f"these runs cannot stand in one table, {message} score them alike or make two tables"


def test_a_direction_scored_as_another_kind_is_named_on_both_sides():
    first, *others = SCORES[2]["directions"]
    other = {**SCORES[2], "directions": [{**first, "kind": "zero_shot"}, *others]}
    both = r"only baseline seed 1 has de-en \(supervised\), only residual seed 1 has de-en \(zero-shot\);"
    with pytest.raises(InputError, match=both):
        check_comparable([SCORES[0], other])


def test_a_run_given_twice_is_refused():
    with pytest.raises(InputError, match="given twice: baseline seed 1, residual seed 1, baseline seed 1"):
        check_comparable([SCORES[0], SCORES[2], SCORES[0]])


def test_long_lists_are_cut():
    assert listed({"b", "a"}) == "a, b" and listed({"d", "c", "b", "a"}) == "a, b, c, d"
    assert listed({str(number) for number in range(9)}) == "0, 1, 2, 3 and 5 more"


def test_the_caption_says_what_the_figures_are():
    for word in ("tok:13a", "2 supervised", "2 zero-shot", "through en", "py3langid", "1.0 %", "beam 4"):
        assert word in caption(SCORES)


def test_the_caption_says_what_was_left_out_of_training_and_of_the_test_set():
    overlap = {"en-de": dict(lines=1200, removed=3), "en-fr": dict(lines=800, removed=4)}
    said = caption([{**SCORES[0], "overlap": overlap, "decoding": dict(beam=4, lines=150)}])
    assert "Of 2,000 training pairs 7 had a sentence of" in said and "first 150 lines" in said
    assert "training pairs" not in caption(SCORES) and "lines of the test set" not in caption(SCORES)


def test_the_caption_names_a_length_penalty_that_is_not_fairseqs_default():
    def said(**decoding):
        return caption([{**SCORES[0], "decoding": dict(beam=4, **decoding)}])

    assert "beam 4." in said(length_penalty=1.0)
    assert "beam 4, length penalty 0.6." in said(length_penalty=0.6)
    assert "beam 4, length penalty 0.6 in the form of GNMT." in said(length_penalty=0.6, length_penalty_form="gnmt")
    assert "beam 4, length penalty 1.0 in the form of GNMT." in said(length_penalty=1.0, length_penalty_form="gnmt")


def test_the_caption_of_one_direction_says_nothing_of_zero_shot():
    one = caption([{**SCORES[0], "directions": SCORES[0]["directions"][:1]}])
    assert "means over 1 supervised direction; off-target" in one


def test_the_caption_says_who_pivots_where_it_is_another_run():
    pivoted = [{**scores, "pivot_by": "baseline, seed 1"} for scores in (SCORES[1], SCORES[2])]
    said = caption([SCORES[0], *pivoted])
    assert said.endswith("Through the pivot: baseline, seed 2, by baseline, seed 1; residual, seed 1, by baseline, seed 1.")
    assert "Through the pivot" not in caption(SCORES)


def test_a_commit_is_shortened_and_keeps_the_mark_of_changes():
    assert short_commit("a" * 40) == "a" * 12 and short_commit("a" * 40 + "+changes") == "a" * 12 + "+changes"
