"""The table of clipping distances, from score files."""

from dataclasses import replace
from statistics import fmean, stdev

import pytest

from tests.support.resampled import with_resamples
from tests.support.runs import make_run, make_text
from tests.support.scores import changed, made_up_scores
from zsnmt.errors import InputError
from zsnmt.languages import ZERO_SHOT
from zsnmt.report.comparability import read_runs
from zsnmt.report.comparison import markdown_table, text_table
from zsnmt.report.documents import MAKERS, fill, keep_scores
from zsnmt.report.page import page
from zsnmt.report.studies.clip_distance import clip_distance_table
from zsnmt.report.systems import tables
from zsnmt.report.table import markdown_rows, text_rows

SYSTEMS = ["zs_transformer_relative", "relative_64", "relative_0", "zs_transformer"]


def scored(system, seed=1, bleu=25.0, untrained=True):
    """The score file of a run trained from de to en."""
    scores = made_up_scores(system, seed, 5.0)
    trained, other = changed(scores.results[0], bleu=bleu), replace(scores.results[1], kind=ZERO_SHOT)
    return replace(scores, languages=["en", "de"], results=[trained, other] if untrained else [trained])


SCORES = [scored(system, bleu=20.0 + place) for place, system in enumerate(SYSTEMS)]


def test_rows_are_the_baseline_and_then_the_distances_in_their_order():
    table = clip_distance_table([*SCORES, scored("relative_long"), scored("zs_transformer_residual")])
    assert table.columns == ["k", "system", "seeds", "de-en", "published"]
    assert [row[4] and row[4].head for row in table.rows] == [None, "16.81", "33.11", "32.94"]
    assert "made_up beside published figures: not comparable" in table.about
    assert [(*row[:3], row[3].mean) for row in table.rows] == [
        (None, "zs_transformer", "1", 23.0),
        ("0", "relative_0", "1", 22.0),
        ("16", "zs_transformer_relative", "1", 20.0),
        ("64", "relative_64", "1", 21.0),
    ]
    assert "relative_long" not in table.signatures and "relative_64 seed 1" in table.signatures


def test_every_direction_of_training_has_a_column_and_others_have_none():
    both = clip_distance_table([made_up_scores(system, 1, 5.0) for system in SYSTEMS])
    assert both.columns[3:-1] == ["de-en", "en-de"]
    assert [cell.mean for cell in both.rows[0][3:-1]] == [30.0, 20.0]
    one = clip_distance_table([scored(system, untrained=False) for system in SYSTEMS])
    assert one.columns[3:-1] == ["de-en"]


def test_seeds_have_a_mean_with_its_deviation_and_one_seed_the_interval_of_the_direction():
    values = [24.0, 27.0]
    table = clip_distance_table(
        [*SCORES[:2], *(scored("relative_4", seed, bleu) for seed, bleu in enumerate(values, 1))]
    )
    k, _, seeds, cell, _ = table.rows[0]
    assert (k, seeds, cell.mean, cell.deviation) == ("4", "1, 2", fmean(values), pytest.approx(stdev(values)))
    first = with_resamples(SCORES[0])
    found = clip_distance_table([first, with_resamples(SCORES[1])]).rows[0][3]
    assert found.interval == tuple(first.results[0].uncertainty.intervals["bleu"])


@pytest.mark.parametrize(
    "systems", [SYSTEMS[:1], SYSTEMS[::3], ["zs_transformer", "zs_transformer_residual"]]
)
def test_fewer_than_two_distances_have_no_table(systems):
    scores = [scored(system) for system in systems]
    assert clip_distance_table(scores) is None and "clip_distance" not in tables(scores)


def test_terminal_and_entry_have_it_and_a_document_has_a_block_of_it(tmp_path):
    table = clip_distance_table(SCORES)
    assert text_rows(table) in text_table(SCORES) and markdown_rows(table) in markdown_table(SCORES)
    for scores in SCORES:
        keep_scores(scores, tmp_path)
    block = "<!-- begin made_up:clip_distance -->\n{}<!-- end made_up:clip_distance -->\n"
    filled = fill(block.format("old\n"), tmp_path, MAKERS)
    assert (
        "| – | zs_transformer | 1 | 23.0 | – |\n| 0 | relative_0 | 1 | 22.0 | 16.81 |" in filled
        and "old" not in filled
    )
    shown, _, folded = filled.partition("<details>")
    assert (
        "BLEU: tok:13a" in shown
        and "`bash" not in shown
        and folded.count("`bash recipes/train.sh") == len(SCORES)
    )
    assert fill(filled, tmp_path, MAKERS) == filled


def test_a_block_without_the_studys_runs_is_refused(tmp_path):
    keep_scores(SCORES[0], tmp_path)
    with pytest.raises(InputError) as refused:
        fill("<!-- begin made_up:clip_distance -->\n<!-- end made_up:clip_distance -->", tmp_path, MAKERS)
    assert (
        str(refused.value)
        == "the runs of made_up are not those of the study clip_distance; train and score its systems with "
        "zsnmt ablate"
    )


@pytest.mark.slow
def test_the_page_has_it(tmp_path):
    text = make_text(tmp_path / "text")
    shown = page(read_runs([make_run(tmp_path, text, system) for system in SYSTEMS]), {}, 1)
    assert shown.count('id="table.clip_distance"') == shown.count('href="#clip_distance"') == 1
