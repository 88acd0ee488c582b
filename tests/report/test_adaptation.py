"""What an added language gains and costs, from score files of adapted runs."""

import csv
import io
import itertools
from dataclasses import replace
from statistics import fmean, stdev

import pytest

from tests.support.resampled import with_resamples, without_resamples
from tests.support.scores import changed, made_up_scores
from zsnmt.errors import InputError
from zsnmt.evaluation.scorer import means
from zsnmt.languages import (
    SUPERVISED,
    ZERO_RESOURCE,
    ZERO_SHOT,
    parse_direction,
    supervised_directions,
    zero_shot_directions,
)
from zsnmt.report.adaptation import (
    GROUPS,
    WITHOUT_PIVOT,
    adaptation_directions_table,
    forgetting_table,
    group_of,
    new_language_gains_table,
    new_language_table,
)
from zsnmt.report.comparability import check_comparable
from zsnmt.report.comparison import every_direction, markdown_table, text_table
from zsnmt.report.documents import keep_scores
from zsnmt.report.page import files_beside, page
from zsnmt.report.scores import Run
from zsnmt.report.significance import INSIDE, ONE_SEED
from zsnmt.report.systems import tables
from zsnmt.report.table import Measured, markdown_rows, tsv
from zsnmt.runs.score_file import read_score_file
from zsnmt.runs.scores import Result
from zsnmt.runs.ways import DIRECT, PIVOT
from zsnmt.scoring.bootstrap import paired_test, unpack

OLD, NEW = ["en", "de", "fr"], ["cs"]
KEPT = "exactly as before in every direction that the base was scored in: BLEU, chrF++, off-target"


def results(languages, shift):
    """Results of which no two are alike."""
    groups = {
        (SUPERVISED, DIRECT): supervised_directions,
        (ZERO_SHOT, DIRECT): zero_shot_directions,
        (ZERO_SHOT, PIVOT): zero_shot_directions,
    }
    pairs = [
        (group, direction)
        for group, directions in groups.items()
        for direction in directions(languages, "en")
    ]
    return [
        Result(
            direction,
            *group,
            dict(
                bleu=shift + 1.5 * place + 0.1 * place**2,
                chrf=40 + shift + place,
                off_target=(1 + place + shift) / 100,
                reference_error=0.01,
                lines=10,
            ),
        )
        for place, (group, direction) in enumerate(pairs)
    ]


def scored(system="baseline", seed=1, shift=4.0, new=NEW):
    """The score file of a run with the languages, however it was made."""
    scores = made_up_scores(system, seed, 5.0)
    return with_resamples(replace(scores, languages=[*OLD, *new], results=results([*OLD, *new], shift)))


def adapted(system="baseline", seed=1, shift=4.0, mode="full", new=NEW):
    """The score file of a run made from one of the old languages; of a frozen one the old directions are as
    they were.
    """
    base = with_resamples(
        replace(made_up_scores(f"base_{system}", seed, 5.0), results=results(OLD, 3 + seed**2))
    )
    before = {(result.direction, result.kind, result.way): result for result in base.results}
    scores = scored(system, seed, shift, new)
    if mode == "frozen":
        found = [before.get((result.direction, result.kind, result.way), result) for result in scores.results]
        scores = replace(scores, results=found, means=means(found))
    origin = dict(config="old_config", system=base.system, seed=seed, languages=OLD, mode=mode)
    return replace(scores, adapted_from=origin, before=base.results)


SEEDS = [adapted(seed=1), adapted(seed=2, shift=6.0)]
SYSTEMS = [*SEEDS, adapted("residual", shift=9.0), adapted("baseline_frozen", mode="frozen")]


def row(table, number=0):
    return dict(zip(table.columns, table.rows[number]))


def naive_mean(results, figure, kind, chosen, way=DIRECT):
    return fmean(
        one.figures[figure]
        for one in results
        if (one.kind, one.way) == (kind, way) and chosen(*one.direction)
    )


def is_new(source, target):
    return "cs" in (source, target)


def is_old(source, target):
    return "cs" not in (source, target)


def without_before(scores, *left_out):
    """Without what was scored before, or without some directions of it."""
    return replace(
        scores,
        before=[result for result in scores.before if left_out and str(result.direction) not in left_out],
    )


@pytest.mark.parametrize("old, new", [(OLD, NEW), (OLD, ["cs", "it"]), (["en", "de"], NEW)])
def test_the_groups_part_all_directions(old, new):
    groups = [group_of(pair, old) for pair in itertools.permutations([*old, *new], 2)]
    n, m = len(old) - 1, len(new)
    sizes = dict(zip(GROUPS, (m, m, m * n, n * m, m * (m - 1), (n + 1) * n)))
    assert {group: groups.count(group) for group in GROUPS} == sizes and sum(sizes.values()) == len(groups)


def test_the_new_language_has_the_means_of_its_groups():
    found, results = row(new_language_table(SEEDS[:1])), SEEDS[0].results
    expected = {
        "new → pivot": ("bleu", "supervised", lambda source, target: (source, target) == ("cs", "en")),
        "pivot → new": ("bleu", "supervised", lambda source, target: (source, target) == ("en", "cs")),
        "new → old": ("bleu", "zero_shot", lambda source, target: source == "cs"),
        "old → new": ("bleu", "zero_shot", lambda source, target: target == "cs"),
        "new → old off-target": ("off_target", "zero_shot", lambda source, target: source == "cs"),
        "old → new off-target": ("off_target", "zero_shot", lambda source, target: target == "cs"),
    }
    for title, of in expected.items():
        assert found[title].mean == pytest.approx(naive_mean(results, *of)), title
    for group in ("new → old", "old → new"):
        _, _, chosen = expected[group]
        assert found[f"{group} minus pivot"].mean == pytest.approx(
            found[group].mean - naive_mean(results, "bleu", ZERO_SHOT, chosen, PIVOT)
        )
        assert found[f"{group} minus pivot"].p
    assert found["new → new"] is None and found["mode"] == "full"


def test_several_new_languages_have_a_column_of_their_own():
    table = tables([adapted(new=["cs", "it"])])["adaptation"]
    assert table.title == "New languages: cs, it" and {*WITHOUT_PIVOT} < {*table.columns}
    one = tables(SEEDS)["adaptation"]
    assert one.title == "New language: cs" and "new → new" not in one.columns
    assert "New: cs; old: de, fr; pivot: en." in one.about


def test_old_directions_stand_before_and_after_with_their_difference():
    found, scores = row(forgetting_table(SEEDS[:1])), SEEDS[0]
    columns = {
        "supervised": ("bleu", "supervised"),
        "zero-shot": ("bleu", "zero_shot"),
        "off-target": ("off_target", "zero_shot"),
    }
    for title, of in columns.items():
        before, after, difference = (found[f"{title} {part}"] for part in ("before", "after", "difference"))
        assert before.mean == pytest.approx(naive_mean(scores.before, *of, is_old))
        assert after.mean == pytest.approx(naive_mean(scores.results, *of, is_old))
        assert (
            difference.mean == pytest.approx(after.mean - before.mean)
            and difference.difference
            and difference.p
        )


def test_seeds_are_compared_each_with_its_own_base():
    found = row(forgetting_table(SEEDS))["supervised difference"]
    differences = [
        naive_mean(scores.results, "bleu", "supervised", is_old)
        - naive_mean(scores.before, "bleu", "supervised", is_old)
        for scores in SEEDS
    ]
    assert (found.mean, found.deviation) == (
        pytest.approx(fmean(differences)),
        pytest.approx(stdev(differences)),
    )
    assert row(forgetting_table(SEEDS))["seeds"] == "1, 2"


def test_every_direction_has_a_row_a_system_and_only_old_ones_a_before():
    table = adaptation_directions_table(SYSTEMS)
    directions = [str(result.direction) for result in SYSTEMS[0].results if result.way == DIRECT]
    assert sorted(line[0] for line in table.rows) == sorted(directions * 3)
    for line in range(len(table.rows)):
        found = row(table, line)
        old = is_old(*found["direction"].split("-"))
        assert (
            found["group"] == group_of(parse_direction(found["direction"]), OLD)
            and (found["group"] == "old") == old
        )
        for title in ("BLEU", "off-target"):
            before, after, difference = (
                found[f"{title} {part}"] for part in ("before", "after", "difference")
            )
            assert after and (before is None) == (difference is None) == (not old)
            assert not old or difference.mean == pytest.approx(after.mean - before.mean)
    assert [group for group, _ in itertools.groupby(line[2] for line in table.rows)] == [
        group for group in GROUPS if group != "new → new"
    ]


def test_a_difference_is_tested_on_the_resamples_of_both():
    scores, table = SEEDS[0], adaptation_directions_table(SEEDS[:1])
    found = next(row(table, line) for line, cells in enumerate(table.rows) if cells[0] == "fr-de")[
        "BLEU difference"
    ]
    before, after = (
        next(
            unpack(one.uncertainty.resampled["bleu"], 100)
            for one in side
            if (str(one.direction), one.way) == ("fr-de", DIRECT)
        )
        for side in (scores.before, scores.results)
    )
    test = paired_test(after, before, found.mean)
    assert [*found.interval, found.p] == pytest.approx([*test.interval, test.p])
    plain = replace(scores, before=without_resamples(scores.before))
    assert row(forgetting_table([plain]))["zero-shot difference"].p is None


def test_frozen_runs_are_said_to_be_as_before_where_they_are():
    for make in (forgetting_table, adaptation_directions_table):
        assert f"Frozen runs: {KEPT}." in make(SYSTEMS).about and "Frozen" not in make(SYSTEMS[:3]).about
    found = row(forgetting_table(SYSTEMS), 2)
    assert {found[f"{title} difference"].mean for title in ("supervised", "zero-shot", "off-target")} == {0.0}


@pytest.mark.parametrize(
    "figure, direction, way, said",
    [
        ("bleu", "en-de", DIRECT, "chrF++, off-target; BLEU not as before: {} en-de (supervised)"),
        (
            "off_target",
            "de-fr",
            PIVOT,
            "BLEU, chrF++; off-target not as before: {} de-fr (zero-shot through pivot)",
        ),
    ],
)
def test_what_a_frozen_run_changed_is_named(figure, direction, way, said):
    frozen = SYSTEMS[3]
    found = [
        changed(one, **{figure: one.figures[figure] + 1e-9})
        if (str(one.direction), one.way) == (direction, way)
        else one
        for one in frozen.results
    ]
    about = forgetting_table([replace(frozen, results=found)]).about
    assert f"Frozen runs: {KEPT.partition(':')[0]}: {said.format('baseline_frozen seed 1')}." in about


def test_a_frozen_run_may_change_new_directions_only():
    frozen = SYSTEMS[3]
    found = [changed(one, bleu=1.0) if is_new(*one.direction) else one for one in frozen.results]
    assert KEPT in forgetting_table([replace(frozen, results=found)]).about


@pytest.mark.parametrize("mode", ["full", "frozen"])
def test_without_scores_of_the_base_there_is_no_before_and_the_note_says_how_to_get_it(mode):
    made = tables([without_before(adapted(mode=mode))])
    for name in ("forgetting", "adaptation_directions"):
        titles = made[name].columns
        assert not [title for title in titles if "before" in title or "difference" in title] and [
            title for title in titles if "after" in title
        ]
        assert (
            "old_config base_baseline seed 1; score it with zsnmt evaluate, then run zsnmt adapt "
            "again, and zsnmt evaluate." in made[name].about
        )
        assert "Frozen" not in made[name].about
    assert "evaluate.sh" not in forgetting_table(SEEDS).about


def test_a_base_not_scored_in_every_direction_is_named_and_nothing_is_made_up():
    partly = without_before(SEEDS[0], "fr-de")
    table = forgetting_table([partly, SEEDS[1]])
    found = row(table)
    assert (
        found["zero-shot before"] is None
        and found["zero-shot difference"] is None
        and found["zero-shot after"]
    )
    assert (
        found["supervised difference"]
        and "every old direction: old_config base_baseline seed 1;" in table.about
    )
    assert "seed 2" not in table.about


def test_gains_with_the_new_language_are_over_the_first_adapted_system_and_marked():
    table = new_language_gains_table(
        [scored("anew"), *SEEDS, adapted("residual", 1, 9.0), adapted("residual", 2, 11.0), SYSTEMS[3]]
    )
    assert table.title == "New language: cs, difference from baseline" and [
        cells[0] for cells in table.rows
    ] == ["residual", "baseline_frozen"]
    first, second = row(table, 0), row(table, 1)
    assert (
        first["new → old"].mean == pytest.approx(5.0)
        and first["new → old"].note == ""
        and second["new → old"].note == ONE_SEED
    )
    assert (
        first["new → old"].p
        and "One seed: the seed noise is not known." in table.about
        and INSIDE not in table.about
    )
    assert new_language_gains_table([scored("anew"), *SEEDS]) is None


def test_a_direction_has_the_kind_that_it_has_to_its_system():
    """As where a student adds the language of one whose old directions are zero-shot."""
    plain, student = SEEDS[0], adapted("student")
    taught = [
        replace(each, kind=ZERO_RESOURCE if each.kind == ZERO_SHOT else each.kind) for each in student.results
    ]
    table = adaptation_directions_table([plain, replace(student, results=taught)])
    after = table.columns.index("BLEU after")
    found = {(each[0], each[3]): (each[1], each[after]) for each in table.rows}
    for system, kind in (("baseline", "zero-shot"), ("student", "zero-resource")):
        shown, bleu = found["de-fr", system]
        assert shown == kind and bleu is not None, system


def test_runs_that_were_trained_have_none_of_these_tables():
    trained = [scored("anew"), scored("other")]
    assert not [name for name in tables(trained) if "adaptation" in name or name == "forgetting"]
    assert every_direction(trained).count("\n\n") == 0
    beside = tables([scored("anew"), *SEEDS])
    for name in ("adaptation", "forgetting", "adaptation_directions"):
        assert not any("anew" in cells for cells in beside[name].rows)
    assert len(beside["systems"].rows) == 2


def test_adapted_runs_of_all_modes_can_stand_beside_trained_ones():
    check_comparable([*SYSTEMS, scored("anew"), without_before(adapted("residual_query"))])


@pytest.mark.parametrize(
    "other, message",
    [
        (
            dict(system="residual", adapted_from=SEEDS[0].adapted_from | {"languages": ["en", "fr"]}),
            "these runs cannot stand in one table, they add languages to different ones: en, de, fr; en, "
            "fr; make two tables",
        ),
        (
            dict(seed=3, adapted_from=SEEDS[0].adapted_from | {"mode": "frozen"}),
            "the runs of baseline are not seeds of one system: adapted from old_config base_baseline, "
            "frozen; adapted from old_config base_baseline, full; make two tables or give them two names",
        ),
        (
            dict(seed=3, before=[changed(SEEDS[0].before[0], lines=7)]),
            "baseline seed 3 cannot be compared with its base: de-en has 7 lines before and 10 after; score "
            "both on the same lines, the base first",
        ),
    ],
)
def test_what_cannot_be_compared_is_refused(other, message):
    with pytest.raises(InputError) as refused:
        text_table([*SEEDS, replace(SEEDS[0], **other)])
    assert str(refused.value) == message


def test_a_trained_run_is_no_seed_of_an_adapted_system():
    with pytest.raises(
        InputError, match="not seeds of one system: adapted from old_config base_baseline, full; trained;"
    ):
        check_comparable([*SEEDS, scored("baseline", 3)])


def test_terminal_and_results_have_both_tables_and_every_direction():
    made = tables(SYSTEMS)
    terminal, entry = text_table(SYSTEMS), markdown_table(SYSTEMS)
    for name in ("adaptation", "adaptation_gains", "forgetting"):
        assert f"{made[name].title}:\n\n" in terminal and markdown_rows(made[name]) in entry
    assert KEPT in " ".join(terminal.split()) and KEPT in entry
    assert every_direction(SYSTEMS).endswith(markdown_rows(made["adaptation_directions"]))


def test_kept_scores_lose_the_resamples_of_both_and_keep_the_figures(tmp_path):
    kept = read_score_file(keep_scores(SEEDS[0], tmp_path), "keep it again")
    assert kept.results == without_resamples(SEEDS[0].results) and kept.before == without_resamples(
        SEEDS[0].before
    )
    assert kept.means == SEEDS[0].means
    means = [
        [cell.mean for cell in forgetting_table([scores]).rows[0] if isinstance(cell, Measured)]
        for scores in (kept, SEEDS[0])
    ]
    assert means[0] == means[1]


@pytest.mark.slow
def test_the_page_and_the_files_beside_it_have_all_tables(tmp_path):
    runs = [
        Run(tmp_path / "none", replace(scores, results=without_resamples(scores.results)))
        for scores in SYSTEMS
    ]
    html, written = page(runs, {}, 1), dict(files_beside(runs, ["tsv", "md"]))
    for name in ("adaptation", "adaptation_gains", "forgetting", "adaptation_directions"):
        assert html.count(f'id="table.{name}"') == 1 and {f"{name}.tsv", f"{name}.md"} <= {*written}
    assert html.count('href="#adaptation"') == html.count('href="#forgetting"') == 1
    found = next(csv.DictReader(io.StringIO(tsv(forgetting_table(SYSTEMS))), delimiter="\t"))
    assert float(found["supervised difference"]) == pytest.approx(
        float(found["supervised after"]) - float(found["supervised before"])
    )


def test_how_many_outputs_stayed_as_they_were_is_a_mean_over_what_was_scored_before():
    told = [changed(result, unchanged=place / 10) for place, result in enumerate(SEEDS[0].before)]
    found = row(forgetting_table([replace(SEEDS[0], before=told)]).without_empty_columns())
    assert found["outputs unchanged"].mean == pytest.approx(fmean(place / 10 for place in range(len(told))))
    assert "outputs unchanged" not in forgetting_table(SEEDS[:1]).without_empty_columns().columns
