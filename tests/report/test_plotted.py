"""What figures show: heat maps, and validation by update."""

from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.runs import log_line, validate
from tests.support.scores import all_changed, made_up_scores, only
from zsnmt.languages import FEW_SHOT, ZERO_RESOURCE, ZERO_SHOT, Direction
from zsnmt.report.figures import place_on_scale
from zsnmt.report.plotted import (
    DIFFERENCE,
    Curve,
    Validation,
    against_pivot,
    curves,
    heat_maps,
    log_curves,
    panels,
    validation_losses,
    validations,
)
from zsnmt.report.scores import Run
from zsnmt.runs.ways import DIRECT

SCORES = [
    made_up_scores("baseline", 1, 5.0),
    made_up_scores("baseline", 2, 8.0),
    made_up_scores("residual", 1, 14.0),
]


def test_a_map_holds_the_mean_over_the_seeds_and_no_direction_that_was_not_scored():
    maps = {(cells.kind, cells.system): cells for cells in heat_maps(SCORES)}
    assert len(maps) == 6
    bleu, minus = maps["bleu", "baseline"], maps["direct_minus_pivot", "baseline"]
    assert (
        bleu.values[Direction("de", "fr")] == pytest.approx(5.5) and Direction("en", "fr") not in bleu.values
    )
    assert minus.values[Direction("de", "fr")] == pytest.approx(5.5 - 15.0)
    assert bleu.languages == ["en", "de", "fr"] and minus.languages == ["de", "fr"]
    assert maps["off_target", "residual"].values[Direction("de", "fr")] == 50.0


def test_maps_of_a_kind_share_a_scale_and_differences_have_zero_in_the_middle():
    for kind in ("bleu", "off_target", "direct_minus_pivot"):
        scales = {(cells.low, cells.high) for cells in heat_maps(SCORES) if cells.kind == kind}
        assert len(scales) == 1
        low, high = scales.pop()
        assert all(
            low <= value <= high
            for cells in heat_maps(SCORES)
            if cells.kind == kind
            for value in cells.values.values()
        )
        assert kind != "direct_minus_pivot" or low == -high


def test_differences_of_nothing_have_the_colour_in_the_middle():
    (cells,) = (cells for cells in heat_maps([all_changed(SCORES[0], bleu=0.0)]) if cells.scale == DIFFERENCE)
    assert {*cells.values.values()} == {0.0} and place_on_scale(0.0, cells) == 0.5


def test_direct_translation_stands_against_the_pivot_as_means_over_the_seeds():
    baseline, residual = against_pivot(SCORES)
    assert (baseline.system, baseline.kinds, baseline.above) == ("baseline", [ZERO_SHOT], 0)
    assert baseline.points == {
        Direction("de", "fr"): (15.0, pytest.approx(5.5)),
        Direction("fr", "de"): (16.0, pytest.approx(7.5)),
    }
    assert residual.points[Direction("fr", "de")] == (16.0, 15.0)
    better = against_pivot([made_up_scores("better", 1, 15.5)])[0]
    assert better.points[Direction("de", "fr")] == (15.0, 14.5) and better.above == 1


def test_a_system_that_was_scored_one_way_is_not_against_the_pivot():
    alone = only(SCORES[2], (ZERO_SHOT, DIRECT))
    assert [one.system for one in against_pivot([SCORES[0], alone])] == ["baseline"]


def test_a_system_whose_seeds_have_two_pivots_is_not_against_either():
    two = [SCORES[0], replace(SCORES[1], pivot_by="other, seed 2")]
    assert against_pivot(two) == []
    assert {cells.kind for cells in heat_maps(two)} == {"bleu", "off_target"}
    one = [replace(scores, pivot_by=f"other, seed {scores.seed}") for scores in two]
    assert [each.pivot_by for each in against_pivot(one)] == ["other"]
    assert [each.pivot_by for each in against_pivot(SCORES)] == [None, None]


def test_all_kinds_of_the_points_of_a_system_are_known():
    kinds = {"de-fr": ZERO_RESOURCE}
    results = [replace(each, kind=kinds.get(str(each.direction), each.kind)) for each in SCORES[0].results]
    (found,) = against_pivot([replace(SCORES[0], results=results)])
    assert found.kinds == [ZERO_SHOT, ZERO_RESOURCE]


def validated(folder, scores, bleu=True):
    """A run that validated twice on a zero-shot and two supervised directions."""
    (folder / "checkpoints").mkdir(parents=True)
    for epoch in (1, 2):
        validate(folder / "checkpoints", epoch, ["de-fr", "de-en", "en-de"], ["de-en", "en-de"], bleu)
    return Run(folder, scores)


def test_a_validation_is_a_row_for_each_direction(tmp_path):
    found = validations([validated(tmp_path, SCORES[0]), Run(Path("gone"), SCORES[1])])
    assert len(found) == 2 * 3
    assert found[0] == Validation("baseline", 1, 1, 100, Direction("de", "fr"), "zero_shot", 7.0, 10.0)
    assert [(one.epoch, str(one.direction)) for one in found[2:5]] == [
        (1, "en-de"),
        (2, "de-fr"),
        (2, "de-en"),
    ]


def test_a_curve_is_the_mean_over_the_directions_of_a_kind_by_update(tmp_path):
    found = validations([validated(tmp_path / name, scores) for name, scores in zip("abc", SCORES)])
    drawn = {(curve.system, curve.seed, curve.kind): curve for curve in curves(found, "bleu")}
    assert len(drawn) == 3 * 2
    for system, seed in (("baseline", 1), ("baseline", 2), ("residual", 1)):
        assert drawn[system, seed, "zero_shot"].values == [10, 20]
        assert drawn[system, seed, "supervised"] == Curve(
            system, seed, "supervised", [100, 200], [11.5, 21.5]
        )


def test_a_figure_that_was_not_recorded_has_no_curve(tmp_path):
    found = validations(
        [validated(tmp_path / "a", SCORES[0], bleu=False), validated(tmp_path / "b", SCORES[2])]
    )
    assert {curve.system for curve in curves(found, "bleu")} == {"residual"}
    assert {curve.system for curve in curves(found, "nll_loss")} == {"baseline", "residual"}
    assert not panels([one for one in found if one.system == "baseline"], "bleu", by_target=False)


def test_a_direction_or_target_language_has_a_panel_with_supervised_ones_first(tmp_path):
    found = validations([validated(tmp_path, SCORES[0])])
    assert [*panels(found, "bleu", by_target=False)] == ["de → en", "en → de", "de → fr, zero-shot"]
    to_target = panels(
        [*found, replace(found[0], direction=Direction("it", "fr"), bleu=30.0)], "bleu", by_target=True
    )
    assert [*to_target] == ["to en", "to de", "to fr, zero-shot"]
    assert to_target["to fr, zero-shot"][0].values == [(10 + 30) / 2, 20]
    few = [replace(one, kind=FEW_SHOT) if one.kind == ZERO_SHOT else one for one in found]
    assert [*panels(few, "bleu", by_target=True)] == ["to en", "to de", "to fr, few-shot"]


def test_the_log_gives_the_loss_of_a_run_without_validations_and_a_repeated_epoch_counts_once(tmp_path):
    log = "noise\n" + log_line(200, 5.0) + log_line(100, 6.0) + log_line(200, 4.5)
    assert validation_losses(log) == {100: 6.0, 200: 4.5}
    recorded = validated(tmp_path / "recorded", SCORES[2])
    for folder in (tmp_path, recorded.folder):
        (folder / "train.log").write_bytes(b"\xff\xfe broken\n" + log.encode())
    found = log_curves([Run(tmp_path, SCORES[0]), Run(Path("gone"), SCORES[1]), recorded])
    assert found == [Curve("baseline", 1, "supervised", [100, 200], [6.0, 4.5])]
