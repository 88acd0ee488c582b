"""Drawings of the masked-LM study."""

from dataclasses import replace

import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_hex

from tests.support.masked_lms import DIMENSIONS, POSITIONS, SEEDS, WORDS, grid, made_up_masked_lm
from zsnmt.masked_lm.report.figures import figures_of
from zsnmt.masked_lm.report.looks import LOOKS
from zsnmt.masked_lm.report.runs import ABLATIONS, ENCODINGS, sort_runs
from zsnmt.masked_lm.score_file import Curves
from zsnmt.report.figures import INK

WITH_CURVES = len(ENCODINGS) - 1  # all but the one without positions
RUNS = sort_runs(
    grid(conditions=("none", "same", "de", "fi")) + grid(tuple(ABLATIONS), ("same", "de", "fi"), (0, 42))
)


def drawn_of(runs):
    return {name: figure for name, _, figure in figures_of(sort_runs(runs))}


@pytest.fixture(scope="module")
def drawn():
    return drawn_of(RUNS)


def titles(figure):
    return [axes.get_title() for axes in figure.axes if axes.get_title()]


def named(figure):
    (legend,) = figure.legends
    return [text.get_text() for text in legend.get_texts() if text.get_text().strip()]


def colours(axes):
    return {to_hex(line.get_color()) for line in axes.get_lines()}


def test_encodings_differ_in_colour_in_marker_and_in_stroke():
    assert [*LOOKS] == [*ENCODINGS]
    for part in zip(*LOOKS.values()):
        assert len(set(part)) == len(ENCODINGS)


@pytest.mark.slow
def test_all_are_drawn_where_there_is_something_for_them(drawn):
    assert [*drawn] == [
        "trade_off",
        "across_conditions",
        "curves",
        "procrustes_losses",
        "word_positions",
        "ablation_bars_same",
        "ablation_bars_reordered",
    ]


def test_one_condition_is_not_compared_with_others_and_ablations_need_some():
    some = ("sinusoidal", "learned", "tupe_absolute", "relative_key")
    assert [*drawn_of(grid(some, ("same",)))] == [
        "trade_off",
        "curves",
        "procrustes_losses",
        "word_positions",
    ]
    assert [*drawn_of(grid(("relative_key",), ("same",)))] == ["trade_off", "curves"]
    bare = made_up_masked_lm("sinusoidal", "none", curves=None, procrustes=None, correlations=None)
    assert drawn_of([bare]) == {}


def test_the_trade_off_has_a_panel_a_group_with_every_seed_and_the_mean(drawn):
    figure = drawn["trade_off"]
    assert titles(figure) == ["EN+[EN]", "EN+[EN∼XX], mean of 2"] and named(figure) == [*ENCODINGS.values()]
    left = figure.axes[0]
    seeds = [line for line in left.get_lines() if line.get_alpha()]
    runs = [made_up_masked_lm("learned", "same", seed) for seed in SEEDS]
    (learned,) = [line for line in seeds if line.get_color() == LOOKS["learned"][0]]
    assert [*learned.get_xdata()] == pytest.approx([run.perplexity.first for run in runs])
    assert [*learned.get_ydata()] == pytest.approx([100 * run.ml_score for run in runs])
    assert len(seeds) == len(ENCODINGS) and left.get_ylim()[0] == 0


def test_one_seed_is_one_mark():
    (axes,) = drawn_of([made_up_masked_lm()])["trade_off"].axes
    assert [len(line.get_xdata()) for line in axes.get_lines()] == [1]


def test_conditions_stand_side_by_side(drawn):
    upper, lower = drawn["across_conditions"].axes
    assert [text.get_text() for text in lower.get_xticklabels()] == ["EN+[EN]", "EN+[EN∼DE]", "EN+[EN∼FI]"]
    assert (upper.get_ylabel(), lower.get_ylabel()) == ("perplexity, full", "ML score, %")
    assert len(lower.containers) == len(ENCODINGS) * 3


@pytest.mark.slow
def test_curves_are_of_one_reordered_condition_with_a_row_a_dimension(drawn):
    figure = drawn["curves"]
    axes = figure.axes
    assert len(axes) == len(DIMENSIONS) * WITH_CURVES
    assert [one.get_ylabel() for one in axes if one.get_ylabel()] == [
        f"dim. {dimension}" for dimension in DIMENSIONS
    ]
    assert titles(figure)[1] == "Absolute\nseed 0"
    (line,) = axes[WITH_CURVES + 1].get_lines()  # second row, second column
    assert [*line.get_ydata()] == made_up_masked_lm("learned", "de").curves.values[1]
    starts = (
        {axes[place].get_lines()[0].get_xdata()[0] for place in range(4)},
        {axes[place].get_lines()[0].get_xdata()[0] for place in (4, 5)},
    )
    assert starts == ({0}, {-len(POSITIONS) // 2})  # of positions, of offsets
    (title,) = [title for name, title, _ in figures_of(RUNS) if name == "curves"]
    assert title.endswith("EN+[EN∼DE]")


def test_a_table_of_fewer_dimensions_has_fewer_curves():
    """That of relative keys is as wide as a head."""
    narrow = made_up_masked_lm("relative_key")
    narrow = replace(narrow, curves=Curves(*(values[:3] for values in narrow.curves)))
    for runs in ([made_up_masked_lm(), narrow], [narrow]):
        axes = drawn_of(runs)["curves"].axes
        columns = [axes[place :: len(runs)] for place in range(len(runs))]
        assert [sum(one.get_visible() for one in column) for column in columns] == [4, 3][-len(runs) :]
        assert columns[-1][2].get_xticklabels()[0].get_visible()


def test_losses_have_a_panel_a_condition_on_one_scale_beginning_with_the_control(drawn):
    figure = drawn["procrustes_losses"]
    assert titles(figure) == ["EN alone", "EN+[EN]", "EN+[EN∼DE]", "EN+[EN∼FI]"]
    assert named(figure) == ["Sinusoidal", "Absolute", "TUPE (absolute)"]
    assert len({axes.get_ylim() for axes in figure.axes}) == 1 and figure.axes[0].get_ylim()[0] == 0
    assert all(
        colours(axes) == {to_hex(LOOKS[system][0]) for system in ("sinusoidal", "learned", "tupe_absolute")}
        for axes in figure.axes
    )


def test_words_and_positions_share_a_scale_with_zero_in_the_middle(drawn):
    figure = drawn["word_positions"]
    images = [image for axes in figure.axes for image in axes.get_images()]
    assert len(images) == 4 and {image.get_clim() for image in images} == {
        (-images[0].get_clim()[1], images[0].get_clim()[1])
    }
    assert images[0].get_clim()[1] == max(abs(image.get_array()).max() for image in images)
    assert images[0].get_array().shape == (len(WORDS), len(POSITIONS))
    assert [text.get_text() for text in figure.axes[0].get_yticklabels()] == WORDS


def test_words_that_differ_are_named_at_each_panel():
    other = {"words": ["else"], "values": [[0.5] * len(POSITIONS)]}
    runs = [made_up_masked_lm(condition="none"), made_up_masked_lm(correlations=other)]
    none, same = drawn_of(runs)["word_positions"].axes[:2]
    assert [
        len([text for text in axes.get_yticklabels() if text.get_visible()]) for axes in (none, same)
    ] == [len(WORDS), 1]


def test_ablations_are_bars_from_zero_beside_absolute_positions(drawn):
    for group, conditions in {"same": ["same"], "reordered": ["de", "fi"]}.items():
        panels = drawn[f"ablation_bars_{group}"].axes
        assert [axes.get_xlabel() for axes in panels] == [
            "perplexity, full",
            "ML score, %",
            "median Procrustes loss",
        ]
        assert [text.get_text() for text in panels[0].get_yticklabels()] == ["Absolute", *ABLATIONS.values()]
        of_learned = panels[0].patches[0]
        values = [
            made_up_masked_lm("learned", one, seed).perplexity.full for one in conditions for seed in SEEDS
        ]
        assert of_learned.get_x() == 0 and of_learned.get_width() == pytest.approx(sum(values) / len(values))


def test_ablations_without_tables_of_positions_have_no_panel_of_their_loss():
    runs = [made_up_masked_lm(), made_up_masked_lm("separate_parameters", procrustes=None)]
    assert [axes.get_xlabel() for axes in drawn_of(runs)["ablation_bars_same"].axes] == [
        "perplexity, full",
        "ML score, %",
    ]


@pytest.mark.slow
def test_keys_lie_beside_the_panels_and_inside_the_drawing(drawn):
    for name, figure in drawn.items():
        renderer = FigureCanvasAgg(figure).get_renderer()
        figure.draw(renderer)
        legends = [legend.get_window_extent(renderer) for legend in figure.legends]
        panels = [axes.get_window_extent(renderer) for axes in figure.axes]
        assert not any(legend.overlaps(panel) for legend in legends for panel in panels), name
        assert all(figure.bbox.x1 + 1 >= legend.x1 for legend in legends), name


def test_the_ink_is_that_of_the_page():
    assert LOOKS["sinusoidal"][0] == INK
