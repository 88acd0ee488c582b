"""The page in a real browser: headless Chromium, where it is installed."""

import json
import re
from html import unescape

import pytest

from tests.support.browser import CHROMIUM, PHONE, dump
from tests.support.probes import make_probes
from tests.support.runs import make_run, make_text
from zsnmt.report.comparability import read_runs
from zsnmt.report.examples import examples
from zsnmt.report.page import page

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        CHROMIUM is None, reason="Chromium is not installed: the page was not looked at in a browser"
    ),
]

LOOK = """\
<!DOCTYPE html><pre id="seen"></pre>
<iframe id="frame" src="report.html" style="width: WIDTHpx; height: 800px; border: 0"></iframe>
<script>
document.getElementById("frame").addEventListener("load", (event) => {
  const view = event.target.contentWindow, page = view.document, by = (id) => page.getElementById(id);
  const directions = () => [...page.querySelectorAll(".direction")];
  const shown = () => directions().filter((one) => one.offsetHeight).map((one) => one.id);
  const change = (id, value) => {
    by(id)[id === "strayed" ? "checked" : "value"] = value;
    by(id).dispatchEvent(new view.Event("change"));
  };
  const first = () => by("table.directions").tBodies[0].rows[0].textContent;
  const rows = () => [...by("table.directions").tBodies[0].rows];
  const bleu = () => rows().map((row) => parseFloat(row.cells[3].textContent));
  const scrolled = (box) => box.scrollWidth > box.clientWidth;
  const seen = {
    scrolled: [...page.querySelectorAll(".curves .wide")].map(scrolled),
    width: page.documentElement.scrollWidth,
    requests: view.performance.getEntriesByType("resource").length,
    start: shown(),
  };
  change("direction", "en-de"); seen.chosen = shown(); seen.address = view.location.hash;
  change("direction", ""); seen.all = shown();
  change("order", "target"); seen.ordered = shown();
  change("strayed", true); seen.strayed = shown(); seen.count = by("count").value;
  const sort = by("table.directions").tHead.rows[0].cells[3].querySelector("button");
  sort.click(); seen.up = bleu(); sort.click(); seen.down = bleu();
  seen.sorted = sort.closest("th").getAttribute("aria-sort");
  seen.reachable = [...page.querySelectorAll("select, input, button")].every((one) => one.tabIndex === 0);
  document.getElementById("seen").textContent = JSON.stringify(seen);
});
</script>""".replace("WIDTH", str(PHONE))


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    folder = tmp_path_factory.mktemp("page")
    text = make_text(folder / "text")
    folders = [
        make_run(folder, text, "baseline"),
        make_run(folder, text, "residual_with_a_long_name", zero_shot=14.0),
    ]
    make_probes(folders[1], removed=2)
    runs = read_runs(folders)
    path = folder / "report.html"
    path.write_text(page(runs, examples(runs, 3), 1), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def seen(report, tmp_path_factory):
    """What a visit on a phone finds."""
    harness = report.with_name("look.html")
    harness.write_text(LOOK)
    found = re.search(
        r'<pre id="seen">(.*?)</pre>', dump(harness.as_uri(), tmp_path_factory.mktemp("browser")), re.DOTALL
    )[1]
    assert found, "the page did not load or its script failed"
    return json.loads(unescape(found))


def test_the_address_chooses_the_direction(report, tmp_path):
    document = dump(f"{report.as_uri()}#fr-de", tmp_path)
    hidden = {
        match[2]: "hidden" in match[0]
        for match in re.finditer(r'<section class="(direction)" id="(\S+?)"[^>]*>', document)
    }
    assert hidden == {"de-fr": True, "fr-de": False, "de-en": True, "en-de": True}


def test_nothing_is_fetched_and_nothing_is_wider_than_a_phone(seen):
    assert seen["requests"] == 0
    assert seen["width"] <= PHONE


def test_curves_shrink_to_a_phone_and_their_small_multiples_stay_legible_in_a_box_that_scrolls(seen):
    assert seen["scrolled"] == [False, False, True, True, False, False]  # of training, then of probes


def test_one_direction_is_shown_at_first_and_others_on_request(seen):
    assert seen["start"] == ["de-fr"]
    assert seen["chosen"] == ["en-de"] and seen["address"] == "#en-de"
    assert seen["all"] == ["de-fr", "fr-de", "de-en", "en-de"]


def test_examples_are_ordered_and_filtered(seen):
    assert [direction.split("-")[1] for direction in seen["ordered"]] == ["de", "de", "en", "fr"]
    assert set(seen["strayed"]) == {"de-fr", "fr-de"} and seen["count"] == "2 examples"


def test_the_table_of_directions_is_sorted_by_a_button_of_its_column(seen):
    assert seen["up"] == sorted(seen["up"]) and seen["down"] == seen["up"][::-1] != seen["up"]
    assert seen["sorted"] == "descending" and seen["reachable"]
