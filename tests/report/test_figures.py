"""Drawings as PNG and SVG."""

import xml.etree.ElementTree as ElementTree

import pytest

from zsnmt.languages import Direction
from zsnmt.report import figures
from zsnmt.report.plotted import Curve, HeatMap

MAP = HeatMap("direct_minus_pivot", "a system", "BLEU", ["aa", "b$b", "c$"], {Direction("aa", "b$b"): -3.25, Direction("b$b", "aa"): 2.0}, -4, 4)
TITLE = 'figures of <b> & "c"'


def texts(drawing):
    return [element.text for element in ElementTree.fromstring(drawing).iter("{http://www.w3.org/2000/svg}text")]


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
    ids = [{element.get("id") for element in ElementTree.fromstring(drawing).iter() if element.get("id")} for drawing in (one, other)]
    assert ids[0] and not ids[0] & ids[1]


def test_files_are_pictures_and_the_same_each_time(drawn):
    assert figures.png(drawn).startswith(b"\x89PNG")
    assert figures.svg(drawn, "a") == figures.svg(figures.heat_map(MAP), "a")


@pytest.mark.parametrize("colour, text", [((1, 1, 1), "black"), ((0, 0, 0), "white"), ((1, 1, 0), "black"), ((0, 0, 0.5), "white")])
def test_numbers_stand_out_from_their_cells(colour, text):
    assert figures.readable_on(colour) == text


def test_systems_differ_in_colour_and_marker_and_seeds_do_not():
    curves = [Curve(system, seed, [1, 2], [3.0, 2.0]) for system, seed in (("one", 1), ("one", 2), ("two", 1))]
    figure = figures.training_curves(curves)
    looks = [(line.get_color(), line.get_marker()) for line in figure.axes[0].get_lines()]
    assert looks[0] == looks[1] and looks[0][0] != looks[2][0] and looks[0][1] != looks[2][1]
    assert [text.get_text() for text in figure.axes[0].get_legend().get_texts()] == ["one", "two"]
