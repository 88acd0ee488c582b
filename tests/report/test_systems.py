"""Tables of runs side by side."""

import csv
import io
from dataclasses import replace
from statistics import fmean

import pytest

from tests.conftest import ROOT
from tests.support.kept import CONFIGS
from tests.support.resampled import with_resamples
from tests.support.scores import all_changed, changed, made_up_scores, only, without
from zsnmt.languages import SUPERVISED, ZERO_SHOT, parse_direction
from zsnmt.report.directions import direction_gains_table, directions_table
from zsnmt.report.documents import kept_scores
from zsnmt.report.families import BETWEEN, families_table
from zsnmt.report.scores import columns_of, mean_over_directions
from zsnmt.report.significance import INSIDE, ONE_SEED, inside_seed_noise
from zsnmt.report.systems import gains_table, runs_table, systems_table, tables
from zsnmt.report.table import Measured, tsv
from zsnmt.runs.scores import Uncertainty
from zsnmt.runs.ways import DIRECT, PIVOT
from zsnmt.scoring.bootstrap import paired_test, unpack
from zsnmt.scoring.figures import ALL, FIGURES, ROOMY

SCORES = [
    *(made_up_scores("baseline", seed, bleu) for seed, bleu in ((1, 5.0), (2, 8.0))),
    *(made_up_scores("residual", seed, bleu) for seed, bleu in ((1, 14.0), (2, 30.0))),
    made_up_scores("third", 1, 40.0),
]
RESAMPLED = [*map(with_resamples, SCORES)]
COLUMNS = {column.title: column for column in columns_of(SCORES, ALL)}
SYSTEMS = [slice(0, 2), slice(2, 4), slice(4, 5)]  # of the score files


def column(table, title):
    return [row[table.columns.index(title)] for row in table.rows]


def figures(table):
    return [cell for row in table.rows for cell in row if isinstance(cell, Measured)]


def mean_resamples(results):
    return sum(unpack(result.uncertainty.resampled["bleu"], 100) for result in results) / len(results)


def same_test(cell, test):
    return [*cell.interval, cell.p] == pytest.approx([*test.interval, test.p])


def test_the_systems_have_the_means_of_their_runs():
    table = systems_table(SCORES)
    for place in columns_of(SCORES, ALL, ROOMY):
        if place.figure in ("comet", "cost"):
            continue
        means = [[mean_over_directions(scores, place) for scores in SCORES[runs]] for runs in SYSTEMS]
        assert [cell.mean for cell in column(table, place.title)] == pytest.approx(
            [fmean(values) for values in means]
        )
    assert column(table, "seeds") == ["1, 2", "1, 2", "1"]
    assert "tok:13a" in table.note


def test_a_single_seed_has_no_deviation_and_several_have():
    found = column(systems_table(SCORES), "zero-shot")
    assert [str(cell) for cell in found] == ["6.5 ± 2.1", "22.0 ± 11.3", "40.0"]
    assert [str(cell) for cell in systems_table(SCORES[4:]).rows[0][2:7]] == [
        "25.0",
        "40.0",
        "15.5",
        "30.0 %",
        "1.0 %",
    ]


def test_kinds_that_were_not_scored_have_no_column():
    made = tables([only(SCORES[0], (SUPERVISED, DIRECT))])
    assert made["systems"].columns == ["system", "seeds", "supervised", "supervised chrF++"]
    assert "over 2 supervised directions;" in made["systems"].note and len(made["directions"].rows) == 2


def test_comet_has_columns_only_where_it_was_scored():
    scored = [all_changed(scores, comet=0.75) for scores in SCORES]
    for all_scores, columns in (
        (SCORES, set()),
        (scored, {"supervised COMET", "zero-shot COMET", "COMET through pivot"}),
    ):
        made = tables(
            [replace(scores, signatures=scores.signatures | dict(comet="wmt22")) for scores in all_scores]
        )
        assert {title for title in made["systems"].columns if "COMET" in title} == columns
        assert ("COMET" in made["directions"].columns) is bool(columns)
    assert (
        str(column(made["systems"], "zero-shot COMET")[0]) == "0.750"
        and "COMET: wmt22" in made["systems"].signatures
    )


def test_zero_shot_minus_pivot_is_the_difference_of_the_means():
    found = column(systems_table(SCORES), "zero-shot minus pivot")
    assert found[2].mean == pytest.approx(40.0 - 15.5) and found[0].mean == pytest.approx(6.5 - 15.5)


def test_zero_shot_minus_pivot_is_of_the_directions_scored_in_both_ways():
    in_one_way = [without(scores, ("fr-de", PIVOT)) for scores in RESAMPLED]
    for found, runs in zip(column(systems_table(in_one_way), "zero-shot minus pivot"), SYSTEMS):
        results = [
            result
            for scores in in_one_way[runs]
            for result in scores.results
            if str(result.direction) == "de-fr"
        ]
        direct, pivot = ([result for result in results if result.way == way] for way in (DIRECT, PIVOT))
        assert found.mean == pytest.approx(
            fmean(one.figures["bleu"] - other.figures["bleu"] for one, other in zip(direct, pivot))
        )
        assert same_test(found, paired_test(mean_resamples(direct), mean_resamples(pivot), found.mean))
    direct = [only(scores, (ZERO_SHOT, DIRECT), (SUPERVISED, DIRECT)) for scores in SCORES]
    assert "zero-shot minus pivot" not in systems_table(direct).columns


def test_a_gain_is_marked_unless_it_leaves_the_seed_noise():
    near, far = column(gains_table(SCORES), "zero-shot")
    assert near.mean == pytest.approx(22.0 - 6.5) and near.note == INSIDE == "inside the seed noise"
    assert far.mean == pytest.approx(40.0 - 5.0) and far.note == ONE_SEED == "one seed"
    assert gains_table(SCORES[:2]) is None


def test_a_gain_is_over_the_seeds_of_both_systems_or_over_all_where_they_share_none():
    others = [made_up_scores("third", seed, 40.0) for seed in (2, 3)]
    gains = [gains_table([*SCORES[:2], *runs]) for runs in (others, others[:1], others[1:])]
    means = [column(table, "zero-shot")[0].mean for table in gains]
    assert means == [pytest.approx(40.0 - base) for base in (8.0, 8.0, 6.5)]
    said = "over the seeds that both baseline and the other system have"
    apart = "; where they share none, over all of both."
    assert [f"{said}{end}" in table.about for table, end in zip(gains, (".", ".", apart))] == [True] * 3
    assert "over the seeds that" not in gains_table(SCORES[:4]).about


def test_the_marks_of_gains_are_explained_where_there_are_any():
    apart = [
        made_up_scores(system, seed, bleu + seed)
        for system, bleu in (("baseline", 5.0), ("residual", 30.0))
        for seed in (1, 2)
    ]
    table = gains_table(apart).only(["system", "zero-shot"])
    assert {cell.note for cell in figures(table)} == {""}
    about = gains_table(SCORES).about
    assert (
        "Inside the seed noise: no more than" in about and "One seed: the seed noise is not known." in about
    )
    assert (
        "One seed" not in gains_table(SCORES[:4]).about
        and "Inside" not in gains_table([SCORES[0], SCORES[4]]).about
    )


def test_seed_noise_is_symmetric_grows_with_the_deviation_and_needs_two_seeds():
    for values, others, inside in (
        ([1, 2], [11, 12], False),
        ([1, 9], [11, 19], True),
        ([5, 5], [5, 5], True),
        ([0, 2], [3.9, 5.9], True),  # the bound is 2 √(2 + 2)
        ([0, 2], [4.1, 6.1], False),
    ):
        assert inside_seed_noise(values, others) is inside_seed_noise(others, values) is inside
    assert inside_seed_noise([1.0], [2.0, 3.0]) is None


@pytest.mark.parametrize("title", COLUMNS)
def test_a_gain_has_interval_and_p_value_of_the_naive_means_over_the_seeds(title):
    kind, way, figure = COLUMNS[title]
    base, *others = (
        [unpack(scores.means[kind, way].resampled[figure], FIGURES[figure].top) for scores in RESAMPLED[runs]]
        for runs in SYSTEMS
    )
    for cell, runs in zip(column(gains_table(RESAMPLED), title), others):
        same = base[: len(runs)]  # of the same seeds
        assert same_test(cell, paired_test(sum(runs) / len(runs), sum(same) / len(same), cell.mean))


def test_resamples_change_neither_a_gain_nor_its_mark():
    plain, tested = (figures(gains_table(all_scores)) for all_scores in (SCORES, RESAMPLED))
    assert [(cell.mean, cell.note) for cell in tested] == [(cell.mean, cell.note) for cell in plain]
    assert all(cell.p is None and cell.interval is None for cell in plain) and all(
        cell.p and cell.interval for cell in tested
    )
    near = column(gains_table(RESAMPLED), "zero-shot")[0]
    assert (
        near.note == INSIDE and near.p < 0.01
    )  # what the test lines say and what the seeds say are two things


def test_one_score_file_without_resamples_takes_the_test_from_its_own_system_only():
    mixed = [*RESAMPLED[:2], SCORES[2], *RESAMPLED[3:]]
    near, far = column(gains_table(mixed), "zero-shot")
    assert near.p is None and near.mean == column(gains_table(SCORES), "zero-shot")[0].mean
    assert far.p == column(gains_table(RESAMPLED), "zero-shot")[1].p


def family_scores(system="baseline", make=lambda scores: scores):
    bleu = {"de-nl": 1.0, "nl-de": 3.0, "de-fr": 10.0, "fr-nl": 20.0, "ja-de": 70.0}
    scores = made_up_scores(system, 1, 5.0)
    result = scores.results[2]
    results = [
        replace(changed(result, bleu=score + shift), direction=parse_direction(direction), way=way)
        for direction, score in bleu.items()
        for way, shift in ((DIRECT, 0), (PIVOT, 5))
    ]
    return make(replace(scores, languages=["en", "de", "nl", "fr", "ja"], results=results))


def test_families_are_means_over_directions_within_and_between():
    table = families_table([family_scores(), family_scores("residual")])
    assert (
        column(table, "family") == ["Germanic"] * 2 + [BETWEEN] * 2
        and column(table, "directions") == ["2"] * 4
    )
    assert column(table, "system") == ["baseline", "residual"] * 2
    assert [cell.mean for cell in column(table, "zero-shot")] == [fmean([1, 3])] * 2 + [fmean([10, 20])] * 2
    assert {cell.mean for cell in column(table, "zero-shot minus pivot")} == {-5.0}


def test_families_are_tested_over_their_own_directions():
    scores = family_scores(make=with_resamples)
    table = families_table([scores])
    for family, cell in zip(({"de-nl", "nl-de"}, {"de-fr", "fr-nl"}), column(table, "zero-shot minus pivot")):
        results = [result for result in scores.results if str(result.direction) in family]
        ways = (
            mean_resamples([result for result in results if result.way == way]) for way in (DIRECT, PIVOT)
        )
        assert same_test(cell, paired_test(*ways, -5.0))
    assert "In brackets" in table.note and "p: paired" in table.note


def test_a_family_partly_scored_through_the_pivot_is_compared_over_that_part_which_is_said():
    within, between = families_table([without(family_scores(), ("de-nl", PIVOT))]).rows
    assert within[3].mean == 2.0 and within[4] is None and between[5].mean == -5.0
    assert (within[5].mean, within[5].note, between[5].note) == (-5.0, "1 of 2 directions", "")
    both = ("de-nl", PIVOT), ("nl-de", PIVOT)
    within, _ = families_table([without(family_scores(), *both)]).rows
    assert within[4:] == [None, None]


def test_families_that_are_not_known_have_no_table_unless_the_score_file_names_them():
    assert families_table(SCORES) is None  # German and French share none
    assert "families" not in tables(SCORES)
    named = [replace(scores, families={"de": "One", "fr": "One"}) for scores in SCORES]
    assert column(families_table(named), "family") == ["One"] * 3


def test_every_direction_and_system_has_a_row_and_nothing_is_made_up():
    table = directions_table(SCORES)
    assert len(table.rows) == 4 * 3 and column(table, "kind") == ["zero-shot"] * 6 + ["supervised"] * 6
    assert set(column(table, "BLEU through pivot")[6:]) == {None}
    assert not {"length ratio", "copied"} & set(tables(SCORES)["directions"].columns)


def test_every_direction_says_who_pivots_and_how_much_was_scored():
    assert directions_table(SCORES).about == ""
    scores = replace(SCORES[0], pivot_by="third, seed 1", decoding=dict(beam=4, lines=60))
    said = (
        "Only the first 60 lines of the test set are scored. Through the pivot: baseline, seed 1, by "
        "third, seed 1."
    )
    assert directions_table([scores]).about == said


def test_what_score_files_have_beyond_the_usual_is_shown():
    scores = all_changed(SCORES[4], copied=0.25, length_ratio=1.1)
    results = [replace(result, uncertainty=Uncertainty({"bleu": [1.0, 99.0]})) for result in scores.results]
    scores = replace(
        scores, results=results, means={(ZERO_SHOT, DIRECT): Uncertainty({"bleu": [38.0, 42.0]})}
    )
    made = tables([scores])
    assert str(column(made["directions"], "BLEU")[0]).endswith("[1.0, 99.0]")
    assert (
        str(column(made["directions"], "copied")[0]) == "25.0 %"
        and str(column(made["directions"], "length ratio")[0]) == "1.10"
    )
    assert str(column(made["systems"], "zero-shot")[0]) == "40.0 [38.0, 42.0]"
    assert "interval" in made["systems"].note
    assert (
        "interval" not in systems_table(SCORES).note + systems_table([scores, replace(scores, seed=2)]).note
    )


def test_the_gain_in_every_direction_is_that_over_the_first_system():
    table = direction_gains_table(RESAMPLED)
    assert [row[:3] for row in table.rows] == [
        [direction, kind, system]
        for direction, kind in (
            ("de-fr", "zero-shot"),
            ("fr-de", "zero-shot"),
            ("de-en", "supervised"),
            ("en-de", "supervised"),
        )
        for system in ("residual", "third")
    ]
    direct, through, off_target = table.rows[1][3:]
    assert (direct.mean, through.mean, off_target.mean) == (pytest.approx(39.0 - 4.0), 0.0, 0.0)
    results = [scores.results[2] for scores in RESAMPLED]
    of_the_same_seed = mean_resamples(results[:1])
    assert same_test(direct, paired_test(mean_resamples(results[4:]), of_the_same_seed, direct.mean))
    assert {row[4] for row in table.rows[4:]} == {None}  # supervised directions have no pivot
    assert direction_gains_table(SCORES[:2]) is None and "p: paired" in table.note


def test_what_made_each_run_is_told():
    row = dict(zip(runs_table(SCORES).columns, runs_table(SCORES).rows[2]))
    assert (
        row["command"] == "bash recipes/train.sh x.conf residual"
        and row["commit"] == "a" * 12
        and row["seed"] == "1"
    )
    depends = (
        "BLEU: tok:13a; off-target: py3langid. Runs: baseline seed 1, 2; residual seed 1, 2; third seed 1."
    )
    assert runs_table(SCORES).signatures == depends


def test_tsv_of_the_gains_has_interval_and_p_value():
    first, _ = csv.DictReader(io.StringIO(tsv(tables(RESAMPLED)["gains"])), delimiter="\t")
    cell = column(gains_table(RESAMPLED), "zero-shot")[0]
    assert [float(first[f"zero-shot{part}"]) for part in ("", " low", " high", " p")] == [
        cell.mean,
        *cell.interval,
        cell.p,
    ]
    assert "zero-shot p" not in tsv(tables(SCORES)["gains"])


@pytest.mark.slow
@pytest.mark.parametrize("config", CONFIGS)
def test_kept_score_files_have_all_tables_whether_resampled_or_not(config):
    all_scores = kept_scores(ROOT / "docs" / "results", config)
    made = tables(all_scores)
    assert {"systems", "directions", "runs"} <= {*made} and made["systems"].rows
    tested = {  # kept files have the resamples of means alone
        "gains": all(mean.resampled for scores in all_scores for mean in scores.means.values())
        and all(scores.means for scores in all_scores),
        "direction_gains": all(
            result.uncertainty.resampled or len(scores.select(result.kind, result.way)) == 1
            for scores in all_scores
            for result in scores.results
        ),
    }
    for name in {*tested} & {*made}:
        assert {cell.p is not None for cell in figures(made[name])} == {tested[name]}
