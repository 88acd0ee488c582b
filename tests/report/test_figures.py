"""Drawings as PNG and SVG."""

import xml.etree.ElementTree as ElementTree
from dataclasses import replace

import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

from zsnmt.languages import ZERO_RESOURCE, ZERO_SHOT, Direction
from zsnmt.report import figures, scatters
from zsnmt.report.plotted import DIFFERENCE, AgainstPivot, Curve, HeatMap
from zsnmt.scoring.figures import HIGHER

MAP = HeatMap(
    "direct_minus_pivot",
    DIFFERENCE,
    "a system",
    "BLEU",
    ["aa", "b$b", "c$"],
    {Direction("aa", "b$b"): -3.25, Direction("b$b", "aa"): 2.0},
    -4,
    4,
)
TITLE = 'figures of <b> & "c"'


def texts(drawing):
    return [
        element.text for element in ElementTree.fromstring(drawing).iter("{http://www.w3.org/2000/svg}text")
    ]


@pytest.fixture(scope="module")
def drawn():
    return figures.heat_map(MAP)


def test_each_number_is_written_in_its_cell_and_names_are_no_formulas(drawn):
    found = texts(figures.svg(drawn, TITLE))
    assert found.count("−3.2") == 1 and found.count("+2.0") == 1
    assert found.count("b$b") == 2 and found.count("c$") == 2


def test_a_drawing_for_a_page_names_itself_takes_the_text_colour_and_has_its_own_ids(drawn):
    one, other = (figures.inline_svg(drawn, name, TITLE) for name in ("one", "other"))
    root = ElementTree.fromstring(one)
    assert root.get("aria-label") == TITLE and root.get("role") == "img"
    assert root.find("{http://www.w3.org/2000/svg}title").text == TITLE
    assert "currentColor" in one and figures.INK not in one and "<metadata" not in one
    ids = [
        {element.get("id") for element in ElementTree.fromstring(drawing).iter() if element.get("id")}
        for drawing in (one, other)
    ]
    assert ids[0] and not ids[0] & ids[1]


@pytest.mark.filterwarnings("error")
def test_a_drawing_for_a_page_may_have_letters_that_are_not_in_the_fonts_here():
    cells = replace(MAP, languages=["中", "文"], values={Direction("中", "文"): 1.0})
    assert "中" in figures.inline_svg(figures.heat_map(cells), "a", TITLE)


def test_files_are_pictures_and_the_same_each_time(drawn):
    assert figures.png(drawn).startswith(b"\x89PNG")
    assert figures.svg(drawn, "a") == figures.svg(figures.heat_map(MAP), "a")


@pytest.mark.parametrize(
    "colour, text", [((1, 1, 1), "black"), ((0, 0, 0), "white"), ((1, 1, 0), "black"), ((0, 0, 0.5), "white")]
)
def test_numbers_stand_out_from_their_cells(colour, text):
    assert figures.readable_on(colour) == text


@pytest.mark.parametrize("number", [2, 5, 20])
def test_numbers_do_not_touch_however_many_languages_there_are(number):
    languages = [f"l{place}" for place in range(number)]
    values = {Direction(one, other): -12.3 for one in languages for other in languages if one != other}
    cells = HeatMap("kind", DIFFERENCE, "a", "title", languages, values, low=-99, high=99)
    figure = figures.heat_map(cells)
    renderer = FigureCanvasAgg(figure).get_renderer()
    (axes,) = figure.axes
    widest = max(text.get_window_extent(renderer).width for text in axes.texts)
    assert widest < 0.9 * axes.get_window_extent(renderer).width / number


def test_colours_of_small_differences_show_beside_large_ones():
    """A quarter of the largest is half of the way to its colour; the scales of others are linear."""
    cells = HeatMap("kind", DIFFERENCE, "a", "title", ["b", "c"], {}, low=-16, high=16)
    places = [figures.place_on_scale(value, cells) for value in (-16, -4, 0, 1, 16)]
    assert places == pytest.approx([0, 0.25, 0.5, 0.625, 1])
    linear = replace(cells, scale=HIGHER, low=0)
    assert [figures.place_on_scale(value, linear) for value in (0, 4, 16)] == pytest.approx([0, 0.25, 1])


SYSTEMS = ["one", "two", "three$"]
CURVES = [
    Curve(system, seed, kind, [10, 20, 30], [1.0 + place, 4.0, 2.0])
    for place, kind in enumerate(("zero_shot", "supervised"))
    for system, seed in (("one", 1), ("one", 2), ("three$", 1))
]


def lines(axes):
    """Colour, marker and stroke of each line."""
    return [(line.get_color(), line.get_marker(), line.get_linestyle()) for line in axes.get_lines()]


def named(figure):
    """The entries of the key and their looks."""
    (legend,) = figure.legends
    return {
        text.get_text(): line.get_linestyle() for text, line in zip(legend.get_texts(), legend.get_lines())
    }


def test_systems_differ_in_colour_and_marker_and_kinds_in_stroke_and_seeds_in_nothing():
    seen = lines(figures.training_curves(CURVES, SYSTEMS, "BLEU").axes[0])
    zero_shot, supervised = seen[:3], seen[3:]
    assert zero_shot[0] == zero_shot[1] and zero_shot[0][:2] == supervised[0][:2]
    assert zero_shot[0][0] != zero_shot[2][0] and zero_shot[0][1] != zero_shot[2][1]
    assert {look[2] for look in zero_shot} == {"--"} and {look[2] for look in supervised} == {"-"}


def test_systems_of_one_colour_are_filled_otherwise():
    looks = [figures.look(place) for place in range(12)]
    assert len({(look["color"], look["fillstyle"]) for look in looks}) == 12
    assert len({(look["marker"], look["fillstyle"]) for look in looks[:9]}) == 9
    drawing = figures.training_curves([replace(CURVES[0], system="5")], ["0", "1", "2", "3", "5"], "BLEU")
    assert [line.get_fillstyle() for line in drawing.axes[0].get_lines()] == ["none"]


def test_systems_that_have_a_remedy_in_common_are_not_joined_by_a_line():
    (axes,) = scatters.remedy_gains({"one": [(0.1, 2.0), (0.5, 3.0)], "two": [(0.2, 1.0)]}).axes
    assert {line.get_linestyle() for line in axes.get_lines()[:2]} == {"None"}
    assert axes.get_lines()[0].get_xydata().tolist() == [[10.0, 2.0], [50.0, 3.0]]


def test_a_system_keeps_its_colour_where_another_has_no_curve():
    (alone,) = lines(figures.training_curves([CURVES[2]], SYSTEMS, "BLEU").axes[0])
    assert alone == lines(figures.training_curves(CURVES, SYSTEMS, "BLEU").axes[0])[2]


def test_the_key_names_each_system_once_and_kinds_where_there_are_both():
    both = named(figures.training_curves(CURVES, SYSTEMS, "BLEU"))
    assert [*both] == ["one", "three$", "supervised", "zero-shot"] and (
        both["supervised"],
        both["zero-shot"],
    ) == ("-", "--")
    assert [*named(figures.training_curves(CURVES[:3], SYSTEMS, "BLEU"))] == ["one", "three$"]
    assert [*named(figures.training_curves([CURVES[0], CURVES[3]], SYSTEMS, "BLEU"))] == [
        "one",
        " ",
        "supervised",
        "zero-shot",
    ]


def test_the_key_stands_above_the_lines():
    figure = figures.training_curves(CURVES, SYSTEMS, "BLEU")
    figures.png(figure)  # lays it out
    assert figure.legends[0].get_window_extent().y0 >= figure.axes[0].get_window_extent().y1


def test_a_long_key_takes_no_room_from_the_lines_and_stands_beside_no_title():
    systems = [f"system {number}" for number in range(9)]
    many = [Curve(system, 1, "supervised", [10, 20], [4.0, 2.0]) for system in systems]
    for few, figure in [
        (figures.training_curves(many[:2], systems, "BLEU"), figures.training_curves(many, systems, "BLEU")),
        (
            figures.small_multiples({"a": many[:2]}, systems, "loss, bits a token"),
            figures.small_multiples({"a": many}, systems, "loss, bits a token"),
        ),
    ]:
        for drawing in (few, figure):
            drawing.canvas.draw()
        heights = [drawing.axes[0].get_window_extent().height for drawing in (few, figure)]
        assert heights[1] > 0.9 * heights[0]
        title = figure._supylabel or figure.axes[0].yaxis.label
        assert not title.get_window_extent().overlaps(figure.legends[0].get_window_extent())


@pytest.mark.parametrize("from_zero", [True, False])
def test_a_scale_of_losses_begins_near_the_least(from_zero):
    high = [Curve("one", 1, "supervised", [10, 90], [50.0, 40.0])]
    for figure in (
        figures.training_curves(high, SYSTEMS, "loss", from_zero=from_zero),
        figures.small_multiples({"a": high}, SYSTEMS, "loss", from_zero=from_zero),
    ):
        (axes,) = figure.axes
        assert axes.get_xlim()[0] == 0 and (axes.get_ylim()[0] == 0) == from_zero
        assert axes.get_ylim()[0] < 40


@pytest.mark.slow
def test_panels_share_scales_that_hold_all_lines_and_a_kind_begins_a_row():
    of = dict(zip(("zero_shot", "supervised"), (CURVES[:3], CURVES[3:])))
    high = [Curve("one", 1, "zero_shot", [10, 90], [1.0, 50.0])]
    panels = {
        **{f"aa → b{place}": of["supervised"] for place in range(7)},
        "b0 → b1, zero-shot": of["zero_shot"],
        "b1 → b0, zero-shot": high,
    }
    figure = figures.small_multiples(panels, SYSTEMS, "BLEU")
    assert [axes.get_title() for axes in figure.axes] == [*panels]
    limits = {(axes.get_xlim(), axes.get_ylim()) for axes in figure.axes}
    ((left, right), (low, top)) = limits.pop()
    assert not limits and (left, low) == (0, 0) and right > 90 and top > 50
    rows = [axes.get_subplotspec().rowspan.start for axes in figure.axes]
    assert rows == [0] * 6 + [1] + [2] * 2
    labelled = [axes.xaxis.get_tick_params()["labelbottom"] for axes in figure.axes]
    assert labelled == [False] + [True] * 5 + [False] + [True] * 2
    assert "b0 → b1, zero-shot" in texts(figures.svg(figure, TITLE))


def test_the_scatter_has_a_point_for_each_direction_on_equal_axes_and_counts_those_above():
    points = {Direction("a", "b"): (10.0, 4.0), Direction("b", "a"): (12.0, 18.0)}
    compared = [
        AgainstPivot("one", [ZERO_SHOT], points),
        AgainstPivot("three$", [ZERO_SHOT, ZERO_RESOURCE], points, "two"),
    ]
    figure = scatters.pivot_scatter(compared, SYSTEMS, "BLEU")
    (axes,) = figure.axes
    dots = [line.get_xydata().tolist() for line in axes.lines if line.get_marker() != "None"]
    assert dots == [[[10.0, 4.0], [12.0, 18.0]]] * 2
    assert axes.get_xlim() == axes.get_ylim() and axes.get_xlim()[0] == 0 and axes.get_xlim()[1] > 18
    assert [*named(figure)] == [
        "one, zero-shot:\nabove the pivot of one in 1 of 2",
        "three$, zero-shot and zero-resource:\nabove the pivot of two in 1 of 2",
    ]
    colours = {line.get_color() for line in axes.lines}
    assert colours == {figures.look(SYSTEMS.index(name))["color"] for name in ("one", "three$")} | {
        figures.INK
    }


def test_the_pivot_that_all_systems_of_a_scatter_have_stands_below_it():
    points = {Direction("a", "b"): (10.0, 4.0)}
    compared = [
        AgainstPivot("one", [ZERO_SHOT], points),
        AgainstPivot("three$", [ZERO_RESOURCE], points, "one"),
    ]
    figure = scatters.pivot_scatter(compared, SYSTEMS, "BLEU")
    assert figure.axes[0].get_xlabel() == "BLEU through the pivot of one"
    assert [*named(figure)] == [
        "one, zero-shot: above the pivot in 0 of 1",
        "three$, zero-resource: above the pivot in 0 of 1",
    ]
