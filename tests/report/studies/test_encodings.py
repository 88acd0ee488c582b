"""The table of position encodings, from score files."""

import itertools
from dataclasses import replace
from statistics import fmean, stdev

import pytest

from tests.support.scores import made_up_result, made_up_scores
from zsnmt.languages import SUPERVISED, ZERO_SHOT
from zsnmt.report.comparison import markdown_table, text_table
from zsnmt.report.documents import MAKERS, fill, keep_scores
from zsnmt.report.studies.encodings import encodings_table
from zsnmt.report.systems import tables
from zsnmt.report.table import markdown_rows, text_rows
from zsnmt.runs.ways import DIRECT

ORDERS = {"inglan": "SVO", "velan": "SOV", "tamun": "VSO", "velor": "SVO", "tamek": "SOV"}
LANGUAGES = [*ORDERS]
SYSTEMS = ["residual_none", "zs_transformer", "zs_transformer_residual", "relative_key", "none"]


def scored(system, seed=1, shift=0.0, languages=LANGUAGES, **others):
    """A score file in which no two directions are alike."""
    scores = made_up_scores(system, seed, 5.0)
    results = [
        made_up_result(
            "-".join(pair),
            SUPERVISED if languages[0] in pair else ZERO_SHOT,
            DIRECT,
            shift + place**1.5,
            place / 100,
        )
        for place, pair in enumerate(itertools.permutations(languages, 2))
    ]
    return replace(
        scores,
        **{
            "languages": languages,
            "pivot": languages[0],
            "word_orders": ORDERS,
            "results": results,
            **others,
        },
    )


SCORES = [scored(system, shift=float(place)) for place, system in enumerate(SYSTEMS)]


def rows(all_scores):
    table = encodings_table(all_scores)
    return {row[0]: dict(zip(table.columns, row)) for row in table.rows}


def mean(scores, kind, figure="bleu", chosen=lambda source, target: True):
    return fmean(
        result.figures[figure]
        for result in scores.results
        if result.kind == kind and chosen(*result.direction)
    )


def test_a_row_has_the_means_of_both_variants():
    found = rows([*SCORES, scored("learned_positions")])
    assert [*found] == ["sinusoidal", "none", "relative_key"]
    for encoding, variants in {
        "sinusoidal": SCORES[1:3],
        "none": [SCORES[4], SCORES[0]],
        "relative_key": [SCORES[3], None],
    }.items():
        for variant, scores in zip(("baseline", "residual"), variants):
            for title, of in {
                "supervised": ("supervised",),
                "zero-shot": ("zero_shot",),
                "off-target": ("zero_shot", "off_target"),
            }.items():
                cell = found[encoding][f"{variant} {title}"]
                assert cell is None if scores is None else cell.mean == pytest.approx(mean(scores, *of)), (
                    encoding,
                    variant,
                    title,
                )


def test_a_row_names_the_seeds_of_each_variant_where_they_differ():
    found = rows([*SCORES, scored(SYSTEMS[1], seed=2)])
    assert [row["seeds"] for row in found.values()] == ["1, 2; 1", "1", "1"]
    assert [row["seeds"] for row in rows(SCORES).values()] == ["1", "1", "1"]


def test_zero_shot_is_split_by_the_word_orders_of_source_and_target():
    found = rows(SCORES)["sinusoidal"]

    def same(source, target):
        return {source, target} == {"velan", "tamek"}

    cells = {group: found[f"baseline zero-shot, {group} word order"].mean for group in ("same", "other")}
    assert cells["same"] == pytest.approx(mean(SCORES[1], "zero_shot", chosen=same))
    assert cells["other"] == pytest.approx(mean(SCORES[1], "zero_shot", chosen=lambda *pair: not same(*pair)))
    assert 2 * cells["same"] + 10 * cells["other"] == pytest.approx(12 * found["baseline zero-shot"].mean)
    assert "Word orders: velan SOV, tamun VSO, velor SVO, tamek SOV." in encodings_table(SCORES).about


@pytest.mark.parametrize(
    "languages, orders, groups",
    [
        (["inglan", "velan", "velor"], ORDERS, ["other"]),
        (["inglan", "velan", "tamek"], ORDERS, ["same"]),
        (["inglan", "velan", "xx"], ORDERS, []),
        (["en", "velan", "tamek"], ORDERS, ["same"]),
        (["en", "de"], {}, []),
    ],
)
def test_directions_are_split_where_all_word_orders_are_known(languages, orders, groups):
    scores = [scored(system, languages=languages, word_orders=orders) for system in SYSTEMS[:2]]
    table = tables(scores)["encodings"]
    assert [title for title in table.columns if title.startswith("baseline zero-shot, ")] == [
        f"baseline zero-shot, {group} word order" for group in groups
    ]
    assert ("Word orders" in table.about) == (bool(groups))


def test_positions_below_the_removal_have_a_row_of_their_own_without_a_baseline():
    found = rows([*SCORES, scored("residual_relative_key_below", shift=9.0)])
    assert [*found][-1] == "relative_key, below the removal"
    below = found["relative_key, below the removal"]
    assert (
        below["residual zero-shot"].mean == pytest.approx(mean(scored("x", shift=9.0), "zero_shot"))
        and below["baseline zero-shot"] is None
    )


def test_seeds_have_a_mean_with_its_deviation():
    both = [scored("none", seed, shift) for seed, shift in ((1, 2.0), (2, 5.0))]
    cell = rows([*SCORES[1:3], *both])["none"]["baseline zero-shot"]
    values = [mean(scores, "zero_shot") for scores in both]
    assert (cell.mean, cell.deviation) == (pytest.approx(fmean(values)), pytest.approx(stdev(values)))


@pytest.mark.parametrize(
    "systems", [SYSTEMS[1:3], ["zs_transformer", "learned_positions"], ["none", "residual_none"]]
)
def test_fewer_than_two_encodings_have_no_table(systems):
    assert "encodings" not in tables([scored(system) for system in systems])


def test_variants_and_kinds_that_are_not_there_have_no_columns():
    scores = [scored(system, languages=["inglan", "velan"]) for system in ("zs_transformer", "none")]
    assert tables(scores)["encodings"].columns == ["encoding", "seeds", "baseline supervised"]


def test_terminal_and_entry_have_it_and_a_document_has_a_block_of_it(tmp_path):
    table = tables(SCORES)["encodings"]
    assert text_rows(table) in text_table(SCORES) and markdown_rows(table) in markdown_table(SCORES)
    for scores in SCORES:
        keep_scores(scores, tmp_path)
    filled = fill("<!-- begin made_up:encodings -->\n<!-- end made_up:encodings -->", tmp_path, MAKERS)
    assert (
        "| relative_key | " in filled and "Word orders: " in filled and filled.count("`bash") == len(SCORES)
    )
    assert fill(filled, tmp_path, MAKERS) == filled
