"""One pivot for all seeds of a system."""

from dataclasses import replace

from tests.support.resampled import with_resamples
from tests.support.scores import all_changed, made_up_scores
from zsnmt.languages import ZERO_SHOT
from zsnmt.report.directions import direction_gains_table
from zsnmt.report.documents import fill, keep_scores, kept_scores
from zsnmt.report.pivots import share_pivots
from zsnmt.report.scores import Column
from zsnmt.report.significance import mean_measured
from zsnmt.report.systems import gains_table, systems_table
from zsnmt.results import makers
from zsnmt.runs.scores import Scores
from zsnmt.runs.ways import DIRECT, PIVOT
from zsnmt.scoring.figures import MAIN


def made_up(system: str, seed: int, bleu: float) -> Scores:
    """With the same figures directly and through the pivot, and a time of its own."""
    return all_changed(made_up_scores(system, seed, 5.0), bleu=bleu, seconds=float(seed))


def by_baseline(scores: Scores) -> Scores:
    return replace(
        scores,
        pivot_by=f"baseline, seed {scores.seed}",
        decoding={**scores.decoding, "pivot_model": "of the baseline"},
    )


BASE = [made_up("baseline", seed, 10.0 * seed) for seed in (1, 2)]
LEFT = by_baseline(made_up("other", 1, 3.0))
ITSELF = made_up("other", 2, 4.0)


def bleu(scores: Scores, way) -> set[float]:
    return {result.figures["bleu"] for result in scores.select(ZERO_SHOT, way).values()}


def test_seeds_that_pivot_themselves_get_the_pivot_that_other_seeds_have():
    base, left, itself = [with_resamples(scores) for scores in (BASE[1], LEFT, ITSELF)]
    shared = share_pivots([BASE[0], base, left, itself])
    assert shared[:3] == [BASE[0], base, left]
    assert shared[3].pivot_by == "baseline, seed 2"
    assert bleu(shared[3], DIRECT) == {4.0} and bleu(shared[3], PIVOT) == {20.0}
    assert shared[3].means[ZERO_SHOT, PIVOT] == base.means[ZERO_SHOT, PIVOT]
    assert shared[3].means[ZERO_SHOT, DIRECT] == itself.means[ZERO_SHOT, DIRECT]
    given = shared[3].select(ZERO_SHOT, PIVOT).values()
    assert given and all("seconds" not in result.figures for result in given)
    assert len(shared[3].results) == len(itself.results)


def test_systems_whose_seeds_agree_keep_their_own_pivot():
    alike = [*BASE, ITSELF, made_up("other", 1, 3.0), by_baseline(made_up("third", 1, 6.0))]
    assert share_pivots(alike) == alike


def test_what_one_pivot_says_of_all_systems_is_no_difference_between_them():
    students = [by_baseline(made_up("student", seed, 6.0)) for seed in (1, 2)]
    for others, compared in ((students, False), ([made_up("student", 1, 6.0)], True), ([LEFT, ITSELF], True)):
        gains, every = gains_table([*BASE, *others]), direction_gains_table([*BASE, *others])
        assert gains and every and "zero-shot" in gains.columns and "BLEU" in every.columns
        assert ("through pivot" in gains.columns) == compared == ("BLEU through pivot" in every.columns)


def test_a_pivot_that_was_found_otherwise_is_not_taken():
    other_seed = made_up("baseline", 3, 1.0)
    others = (
        other_seed,
        replace(BASE[1], decoding=dict(beam=1, model="2")),
        replace(BASE[1], test_set="another"),
        replace(BASE[1], signatures={}),
        replace(BASE[1], results=BASE[1].results[:-1]),
        by_baseline(BASE[1]),
    )
    for other in others:
        assert share_pivots([other, LEFT, ITSELF]) == [other, LEFT, ITSELF]
        assert mean_measured([LEFT, ITSELF], Column(ZERO_SHOT, PIVOT, MAIN)) is None


def test_a_system_without_one_pivot_has_none_in_tables(tmp_path):
    for scores in (BASE[0], LEFT, ITSELF):
        keep_scores(scores, tmp_path)
    table = systems_table(kept_scores(tmp_path, "made_up"))
    (row,) = [dict(zip(table.columns, row, strict=True)) for row in table.rows if row[0] == "other"]
    assert row["seeds"] == "1, 2" and row["zero-shot"] and row["through pivot"] is None
    fill("<!-- begin made_up -->\n<!-- end made_up -->", tmp_path, makers())


def test_two_pivots_of_other_seeds_leave_the_question_open():
    student = replace(made_up("other", 3, 3.0), pivot_by="teacher, seed 3")
    runs = [*BASE, LEFT, student, ITSELF]
    assert share_pivots(runs) == runs


def test_kept_runs_of_a_system_have_one_pivot(tmp_path):
    for scores in (*BASE, LEFT, ITSELF):
        keep_scores(scores, tmp_path)
    kept = {(scores.system, scores.seed): scores for scores in kept_scores(tmp_path, "made_up")}
    assert kept["other", 2].pivot_by == "baseline, seed 2" and bleu(kept["other", 2], PIVOT) == {20.0}
