"""What figures show: heat maps and curves."""

from pathlib import Path

import pytest

from tests.report.made_up import made_up_scores
from tests.report.made_up_runs import log_line
from zsnmt.languages import Direction
from zsnmt.report.comparison import Run
from zsnmt.report.plotted import curves, heat_maps, validation_losses

SCORES = [made_up_scores("baseline", 1, 5.0), made_up_scores("baseline", 2, 8.0), made_up_scores("residual", 1, 14.0)]


def test_a_map_holds_the_mean_over_the_seeds_and_no_direction_that_was_not_scored():
    maps = {(cells.kind, cells.system): cells for cells in heat_maps(SCORES)}
    assert len(maps) == 6
    bleu, minus = maps["bleu", "baseline"], maps["direct_minus_pivot", "baseline"]
    assert bleu.values[Direction("de", "fr")] == pytest.approx(5.5) and Direction("en", "fr") not in bleu.values
    assert minus.values[Direction("de", "fr")] == pytest.approx(5.5 - 15.0)
    assert bleu.languages == ["en", "de", "fr"] and minus.languages == ["de", "fr"]
    assert maps["off_target", "residual"].values[Direction("de", "fr")] == 50.0


def test_maps_of_a_kind_share_a_scale_and_differences_have_zero_in_the_middle():
    for kind in ("bleu", "off_target", "direct_minus_pivot"):
        scales = {(cells.low, cells.high) for cells in heat_maps(SCORES) if cells.kind == kind}
        assert len(scales) == 1
        low, high = scales.pop()
        assert all(low <= value <= high for cells in heat_maps(SCORES) if cells.kind == kind for value in cells.values.values())
        assert kind != "direct_minus_pivot" or low == -high


def test_a_curve_is_loss_by_update_and_a_repeated_epoch_counts_once(tmp_path):
    log = "noise\n" + log_line(200, 5.0) + log_line(100, 6.0) + log_line(200, 4.5)
    assert validation_losses(log) == {100: 6.0, 200: 4.5}
    (tmp_path / "train.log").write_text(log)
    (curve,) = curves([Run(tmp_path, SCORES[0]), Run(Path("gone"), SCORES[1])])
    assert (curve.system, curve.seed, curve.updates, curve.losses) == ("baseline", 1, [100, 200], [6.0, 4.5])
