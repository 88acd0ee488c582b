"""A way of decoding, a kind of direction and a figure that no code of the report names: they are shown all
the same.
"""

from dataclasses import replace

import pytest

from tests.support.resampled import with_resamples
from tests.support.runs import make_text, write_run
from tests.support.scores import all_changed, changed, made_up_result, made_up_scores, without
from zsnmt.errors import InputError
from zsnmt.languages import FAMILIES, ZERO_RESOURCE, ZERO_SHOT, Direction
from zsnmt.report.comparability import check_comparable, read_runs
from zsnmt.report.comparison import every_direction, markdown_table, text_table
from zsnmt.report.directions import direction_gains_table
from zsnmt.report.documents import drop_resamples
from zsnmt.report.examples import examples
from zsnmt.report.page import files_beside, page
from zsnmt.report.systems import gains_table, systems_table, tables
from zsnmt.report.table import FORMS, Form
from zsnmt.runs.ways import DIRECT, Way
from zsnmt.scoring.bootstrap import paired_test, unpack
from zsnmt.scoring.figures import FIGURES, HIGHER, LOWER, Figure

MASK = Way("mask", {"keep": 0.9})
LABEL = "mask (keep 0.9)"
TITLES = [
    f"zero-shot by {LABEL}",
    f"off-target by {LABEL}",
    f"zero-shot by {LABEL} minus direct",
    f"zero-shot by {LABEL} minus pivot",
]


def masked(system: str, seed: int, zero_shot: float):
    """Scores with zero-shot directions also decoded in another way, six points better than directly."""
    scores = made_up_scores(system, seed, zero_shot)
    direct = scores.select(ZERO_SHOT).values()
    by_mask = [replace(changed(result, bleu=result.figures["bleu"] + 6), way=MASK) for result in direct]
    return with_resamples(replace(scores, results=[*scores.results, *by_mask]))


SCORES = [masked("baseline", 1, 5.0), masked("baseline", 2, 8.0), masked("residual", 1, 14.0)]


def cell(table, row, title):
    return table.rows[row][table.columns.index(title)]


def test_terminal_and_markdown_have_columns_of_another_way():
    entry, terminal = markdown_table(SCORES), text_table(SCORES)
    for title in TITLES:
        assert title in entry.split("\n")[0].split(" | ") and f"\n{title} " in terminal
    assert f"| zero-shot chrF++ by {LABEL} |" in entry
    header, _, *rows = every_direction(SCORES).split("\n")
    assert f"| BLEU by {LABEL} |" in header and f"| {LABEL} minus direct | {LABEL} minus pivot |" in header
    found = dict(
        zip(
            header.split(" | "),
            next(row for row in rows if row.startswith("| de-fr | zero-shot | residual")).split(" | "),
        )
    )
    assert found[f"BLEU by {LABEL}"].startswith("19.0") and found[f"{LABEL} minus direct"].startswith("+6.0")


def test_its_differences_from_direct_and_pivot_and_between_systems_are_tested():
    systems, gains = systems_table(SCORES), gains_table(SCORES)
    assert cell(systems, 0, TITLES[2]).mean == pytest.approx(6.0) and cell(
        systems, 0, TITLES[3]
    ).mean == pytest.approx(12.5 - 15.5)
    alone = cell(systems, 1, TITLES[2])
    draws = [
        sum(
            unpack(result.uncertainty.resampled["bleu"], 100)
            for result in SCORES[2].select(ZERO_SHOT, way).values()
        )
        / 2
        for way in (MASK, DIRECT)
    ]
    expected = paired_test(*draws, 6.0)
    assert alone.interval == pytest.approx(expected.interval) and alone.p == expected.p
    assert cell(gains, 0, TITLES[0]).mean == pytest.approx(20.0 - 11.0) and cell(gains, 0, TITLES[0]).p


def test_a_difference_of_ways_over_fewer_directions_than_stand_beside_it_says_so():
    fewer = [without(scores, ("de-fr", MASK)) for scores in SCORES]
    table = systems_table(fewer)
    assert cell(table, 0, "zero-shot").mean == 6.5 and cell(table, 0, TITLES[0]).mean == 13.5
    found = cell(table, 0, TITLES[2])
    assert found.mean == pytest.approx(6.0) and str(found).endswith("(1 of 2 directions)")
    assert (
        not cell(table, 0, "zero-shot minus pivot").note
        and not cell(systems_table(SCORES), 0, TITLES[2]).note
    )


def test_a_kept_score_file_still_has_the_intervals_of_differences_of_ways():
    """Such a file has no resamples of single directions, only those of the means over a kind."""
    kept = [replace(scores, results=drop_resamples(scores.results)) for scores in SCORES]
    for title in TITLES[2:]:
        interval = cell(systems_table(kept), 1, title).interval
        assert interval == pytest.approx(cell(systems_table(SCORES), 1, title).interval, abs=0.01)


def test_families_and_adapted_runs_have_it_too():
    families = tables([replace(scores, families=dict.fromkeys(FAMILIES, "One")) for scores in SCORES])[
        "families"
    ]
    assert {TITLES[0], *TITLES[2:]} <= {*families.columns}
    base = dict(config="old", system="base", seed=1, languages=["en", "de"], mode="full")
    adapted = [replace(scores, adapted_from=base, before=scores.results) for scores in SCORES[:2]]
    made = tables(adapted)
    assert {f"old → new by {LABEL}", f"new → old by {LABEL} minus direct"} <= {*made["adaptation"].columns}
    assert cell(made["adaptation"], 0, f"new → old by {LABEL} minus direct").mean == pytest.approx(6.0)
    assert f"BLEU by {LABEL} before" in made["adaptation_directions"].columns


@pytest.fixture
def runs(tmp_path):
    text = make_text(tmp_path / "text")
    return read_runs([write_run(tmp_path, text, scores) for scores in SCORES])


@pytest.mark.slow
def test_the_page_has_its_columns_maps_and_examples(runs):
    shown = examples(runs, 3)
    html = page(runs, shown, 1)
    for title in (*TITLES, f"BLEU, {LABEL} minus direct", f"BLEU, {LABEL} minus pivot"):
        assert title in html
    for system, number in {"baseline": 4, "residual": 4}.items():
        assert f"<summary>{number} heat maps of other ways to decode, {system}</summary>" in html
    outputs = shown[Direction("de", "fr")][0].outputs
    assert [(output.system, output.way) for output in outputs[:3]] == [
        ("baseline", way) for way in ("direct", "through en", f"by {LABEL}")
    ]
    written = dict(files_beside(runs, ["md", "tsv", "svg"]))
    assert f"{TITLES[2]} p" in written["systems.tsv"].decode().split("\n")[0].split("\t")
    assert {f"bleu.{MASK.file_name}.baseline.svg", f"{MASK.file_name}_minus_direct.residual.svg"} <= {
        *written
    }


def test_directions_of_synthetic_text_alone_have_columns_of_their_own():
    more = [made_up_result("de-it", ZERO_RESOURCE, DIRECT, 12.0, 0.25)]
    shown = text_table([replace(scores, results=[*scores.results, *more]) for scores in SCORES])
    assert "\nzero-resource " in shown and "\nzero-resource off-target " in shown
    assert "2 supervised, 2 zero-shot and 1 zero-resource directions" in " ".join(shown.split())


@pytest.mark.slow
def test_a_figure_that_is_declared_and_measured_is_shown(monkeypatch, runs):
    figure = Figure(Form("TER", 1, 2), LOWER, 100, "all")
    monkeypatch.setitem(FIGURES, "ter", figure)
    monkeypatch.setitem(FORMS, "ter", figure.form)
    scored = [all_changed(scores, ter=40.0) for scores in SCORES]
    assert {"supervised TER", "zero-shot TER", "TER through pivot", f"zero-shot TER by {LABEL}"} <= {
        *markdown_table(scored).split("\n")[0].split(" | ")
    }
    assert "\nzero-shot TER " in text_table(scored) and "| TER |" in every_direction(scored)
    html = page([replace(run, scores=all_changed(run.scores, ter=40.0)) for run in runs], {}, 1)
    assert "TER through pivot" in html and "zero-shot TER" in html


def test_every_figure_says_how_it_is_shown_and_which_way_is_better():
    for name, figure in FIGURES.items():
        assert FORMS[name] is figure.form and figure.better in (HIGHER, LOWER, None)
        assert figure.shown != "all" or (figure.top and figure.better), (
            "a figure of all tables has intervals and a map"
        )


def test_a_method_may_be_scored_for_some_systems_alone_but_in_the_same_directions():
    without = with_resamples(made_up_scores("residual", 1, 14.0))
    check_comparable([SCORES[0], without])
    table = systems_table([SCORES[0], without])
    assert cell(table, 0, TITLES[0]).mean == pytest.approx(11.0) and cell(table, 1, TITLES[0]) is None
    fewer = [result for result in SCORES[2].results if result.way != MASK or result.direction.source == "de"]
    with pytest.raises(InputError, match=r"their directions differ: only baseline seed 1 has fr-de"):
        check_comparable([SCORES[0], replace(SCORES[2], results=fewer)])


def test_of_several_methods_each_has_a_row_in_place_of_columns():
    other = Way("mask", {"keep": 0.5})
    both = [
        replace(scores, results=[*scores.results, *(replace(each, way=other) for each in of_mask)])
        for scores in SCORES
        for of_mask in [[result for result in scores.results if result.way == MASK]]
    ]
    made = tables([*both[:2], with_resamples(made_up_scores("residual", 1, 14.0))])
    assert not [title for name in ("systems", "gains") for title in made[name].columns if "mask" in title]
    methods = made["methods"]
    rows = [row[:3] for row in methods.rows]
    of_baseline = [["baseline", "supervised", "direct"]]
    of_baseline += [["baseline", "zero-shot", way] for way in ("direct", "pivot", LABEL, other.label)]
    assert rows == of_baseline  # the other system was not decoded by either
    assert cell(methods, 3, "minus direct").mean == pytest.approx(6.0)
    assert cell(methods, 3, "minus pivot").mean == pytest.approx(12.5 - 15.5)
    assert cell(methods, 1, "minus direct") is None and cell(methods, 3, "BLEU").mean == pytest.approx(12.5)


def test_columns_have_direct_and_pivot_first_where_a_method_has_supervised_directions_too():
    both = []
    for scores in SCORES:
        masked_too = [
            replace(each, way=MASK)
            for each in scores.results
            if each.kind == "supervised" and each.way == DIRECT
        ]
        both.append(replace(scores, results=[*scores.results, *masked_too]))
    columns = direction_gains_table(both).columns
    assert [title for title in columns if "BLEU" in title] == [
        "BLEU",
        "BLEU through pivot",
        f"BLEU by {LABEL}",
    ]


def test_a_way_that_some_seeds_were_scored_by_has_a_row_of_these():
    other = Way("mask", {"keep": 0.5})
    first = masked("baseline", 1, 5.0)
    first = replace(
        first,
        results=[
            *first.results,
            *(replace(each, way=other) for each in first.select(ZERO_SHOT, MASK).values()),
        ],
    )
    plain = [made_up_scores(*of) for of in (("baseline", 2, 8.0), ("residual", 1, 14.0))]
    methods = tables([first, *plain])["methods"]
    assert {row[0] for row in methods.rows} == {"baseline"}, "the other was scored by none"
    seeds = {row[2]: row[methods.columns.index("seeds")] for row in methods.rows}
    assert seeds == {"direct": "1, 2", "pivot": "1, 2", LABEL: "1", "mask (keep 0.5)": "1"}
    assert all(row[methods.columns.index("BLEU")] for row in methods.rows)
