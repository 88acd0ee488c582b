"""Reports of very many languages: what they cost for each direction, and how they are to be read."""

import re
import sys

import pytest

from tests.report.test_page import Outline
from tests.support.scores import many_languages
from zsnmt.report import html
from zsnmt.report import page as module
from zsnmt.report.comparison import every_direction
from zsnmt.report.page import kind_names, page
from zsnmt.report.plotted import heat_maps
from zsnmt.report.scores import Run
from zsnmt.report.systems import tables

SYSTEMS = ("baseline", "residual")


def steps(job, all_scores) -> int:
    """How many lines of Python a job executes, each turn of a loop being one at least."""
    number = 0

    def count(frame, event, argument):
        nonlocal number
        number += event == "line"
        return count

    before = sys.gettrace()
    sys.settrace(count)
    try:
        job(all_scores)
    finally:
        sys.settrace(before)
    return number


@pytest.mark.parametrize("job", [every_direction, tables, kind_names])
def test_a_direction_is_no_more_work_where_there_are_more(job):
    """Where it looked through all of them, it would be a fifth more."""
    few, many = (
        steps(job, [many_languages(number, system) for system in SYSTEMS]) / (number * (number - 1))
        for number in (6, 10)
    )
    assert many / few < 1.1  # and not 1, as more of the directions have a way through the pivot


def test_a_heat_map_of_many_languages_is_a_table_whose_names_can_stay_in_sight(monkeypatch):
    monkeypatch.setattr(html, "MOST_DRAWN", 4)
    drawn, table = (
        html.drawn_maps(heat_maps([many_languages(number)])[:1], "a table")["baseline"][0]["drawing"]
        for number in (4, 5)
    )
    assert drawn.startswith("<svg") and table.startswith('<table class="matrix">')
    outline = Outline(table)
    assert [each["scope"] for each in outline.all("th")] == ["col"] * 5 + ["row"] * 5
    coloured = [each["style"] for each in outline.all("td") if "style" in each]
    assert len(coloured) == outline.text.count("20.0") == 5 * 4
    assert re.fullmatch("background:#[0-9a-f]{6};color:(black|white)", coloured[0])
    assert len(table) < len(drawn) / 4


def test_a_table_of_many_rows_opens_on_request(tmp_path, monkeypatch):
    runs = [Run(tmp_path, many_languages(4))]
    monkeypatch.setattr(module, "MOST_ROWS", 11)
    folded = page(runs, {}, 1)
    assert "<summary>12 rows</summary>" in folded and folded.count("<details>") == 1
