"""The page, driven in a real browser: headless Chromium, where it is installed."""

import json
import re
from dataclasses import replace
from html import unescape
from html.parser import HTMLParser
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from sacrebleu import sentence_chrf

from tests.support.browser import CHROMIUM, PHONE, dump
from tests.support.serving import GERMAN, Client, ToldTranslator, serving, told_system
from zsnmt.decoding.methods.settings import parse_method
from zsnmt.serving.limits import Limits

LOOK = """\
<!DOCTYPE html><pre id="seen"></pre>
<iframe id="frame" src="PLACE" style="width: WIDTHpx; height: 800px; border: 0"></iframe>
<script>
document.getElementById("frame").addEventListener("load", async (event) => {
  const view = event.target.contentWindow, page = view.document, by = (id) => page.getElementById(id);
  const until = async (holds) => { while (!holds()) await new Promise((go) => setTimeout(go, 20)); };
  const write = (text) => { by("text").value = text; by("text").dispatchEvent(new view.Event("input")); };
  const pressed = (key) => new view.KeyboardEvent("keydown", { key, ctrlKey: key === "Enter" });
  const press = (key) => view.dispatchEvent(pressed(key));
  const shown = (several) => [...several].filter((one) => one.offsetHeight);
  const words = (several) => shown(several).map((one) => one.textContent);
  const all = (what, within = page) => [...within.querySelectorAll(what)];
  const cards = () => shown(all("article")).map((card) => words(all("h3, p, mark", card)));
  const done = () => by("said").textContent !== "Translating …";
  const seen = {};
  await until(() => by("target").options.length);
VISIT
  document.getElementById("seen").textContent = JSON.stringify(seen);
});
</script>""".replace("WIDTH", str(PHONE))
WHOLE = """\
  seen.targets = [...by("target").options].map((one) => one.text);
  seen.labelled = all("select, textarea, input").every((one) => one.labels.length);
  seen.reachable = all("select, textarea, input, button").every((one) => one.tabIndex === 0);
  write("TEXT"); by("ways").querySelectorAll("input")[1].click(); by("source").value = "auto";
  press("Enter"); await until(done);
  seen.all = cards(); seen.said = by("said").textContent; seen.headings = words(all("h2"));
  seen.width = page.documentElement.scrollWidth;
  seen.loaded = view.performance.getEntriesByType("resource").map((one) => new URL(one.name).pathname);
  by("target").value = "fr"; by("source").value = "fr"; press("Enter"); await until(done);
  seen.wrong = by("said").textContent; seen.fault = by("said").className;
  write("<b>fail</b>"); by("source").value = "en"; press("Enter"); await until(done);
  seen.failed = by("said").textContent;
  write("<b>bold</b> & more"); press("Enter"); await until(done);
  seen.plain = page.querySelector("article p").textContent;
  write("x".repeat(301)); seen.over = by("count").className + " " + by("text").getAttribute("aria-invalid");
  by("systems").querySelectorAll("input")[1].click(); by("ways").querySelectorAll("input")[2].click();
  by("agreement").click(); by("source").value = "de"; by("target").value = ""; write("TEXT");
  press("Enter"); await until(done);
  seen.surely = shown(all("article")).map((card) => words(all("h3, footer div span", card)).slice(0, -1));
  const still = () => by("said").textContent.startsWith("Translating"), given = new view.DataTransfer();
  by("send").click(); seen.nothing = by("said").textContent;
  given.items.add(new view.File(["Hello."], "my letter.txt")); by("document").files = given.files;
  by("send").click(); seen.several = by("said").textContent;
  by("source").value = "de"; by("target").value = "fr"; by("send").click(); await until(() => !still());
  seen.document = words(all("#found a")); seen.accepted = by("document").accept;
  seen.formats = by("formats").textContent;
  seen.content = await (await view.fetch(by("found").querySelector("a").href)).text();
  given.items.clear(); given.items.add(new view.File(["Hello."], "letter.pdf"));
  by("document").files = given.files;
  by("send").click(); await until(() => !still()); seen.unread = by("said").textContent;
  by("target").value = "";
  write("wait"); press("Enter"); await until(() => !done()); press("Escape");
  seen.stopped = by("said").textContent; seen.left = cards();
""".replace("TEXT", GERMAN)


@pytest.fixture(scope="module")
def seen(tmp_path_factory):
    """What a visit on a phone finds: everything is asked for in all ways, then some of it wrongly."""
    by_ensemble = ToldTranslator(parse_method("ensemble").of(ToldTranslator.languages))
    systems = [told_system("first", ensemble=by_ensemble), told_system("second", ToldTranslator())]
    with serving(*systems, limits=Limits(characters=300)) as client:
        return visit(client, WHOLE, tmp_path_factory.mktemp("browser"))


def visit(client: Client, script: str, folder: Path, *, place: str = "/") -> dict[str, Any]:
    """What a script notes of the page, which is at a place of a web server."""
    if CHROMIUM is None:
        pytest.skip("Chromium is not installed: the page was not looked at in a browser")
    from fastapi.responses import HTMLResponse

    look = LOOK.replace("VISIT", script).replace("PLACE", place)
    client.app.get("/look")(lambda: HTMLResponse(look))
    found = re.search(r'<pre id="seen">(.*?)</pre>', dump(f"{client.url}/look", folder), re.DOTALL)[1]
    assert found, "the page did not load or its script failed"
    return json.loads(unescape(found))


@pytest.mark.slow
def test_languages_are_chosen_by_their_names(seen):
    assert seen["targets"] == ["All languages", "English", "German", "French"]


@pytest.mark.slow
def test_every_control_has_a_label_and_is_reached_by_keyboard(seen):
    assert seen["labelled"] and seen["reachable"]


@pytest.mark.slow
def test_one_text_goes_into_all_languages_by_all_systems_and_ways(seen):
    assert seen["headings"] == ["English", "French"]  # it is in German
    assert "The text looks German" in seen["said"] and "Done in" in seen["said"]
    mark = "off-target: looks German"  # as what is written there does
    expected = [
        card
        for way in ("de-en", "de-fr")
        for system in ("first", "second")
        for card in (
            [f"{system} · direct", f"{way}: {GERMAN}", mark],
            [f"{system} · through English", f"en-fr: de-en: {GERMAN}", mark],
        )
        if way == "de-fr" or "direct" in card[0]
    ]
    assert seen["all"] == expected


@pytest.mark.slow
def test_nothing_is_loaded_from_elsewhere_and_nothing_is_wider_than_a_phone(seen):
    assert {*seen["loaded"]} == {"/frontend/settings", "/translate"} and seen["width"] <= PHONE


@pytest.mark.slow
def test_errors_are_said_in_words(seen):
    assert seen["wrong"] == "Source and target are both 'fr'." and seen["fault"] == "fault"
    assert seen["failed"].startswith("The translation failed; the log of the server")
    assert seen["over"] == "over true"


@pytest.mark.slow
def test_what_is_translated_is_text_and_not_markup(seen):
    assert seen["plain"] == "en-fr: <b>bold</b> & more"


@pytest.mark.slow
def test_a_document_is_translated_into_one_language(seen):
    assert seen["nothing"] == "There is no document to translate. Choose one."
    assert seen["several"] == "Choose the one language that the document is to be in."
    assert seen["document"] == ["Download my letter_fr.txt"] and seen["content"] == "de-fr: Hello."
    assert {".docx", ".txt"} <= {*seen["accepted"].split(",")}
    assert ".docx" in seen["formats"] and "characters, into one language" in seen["formats"]
    assert seen["unread"].startswith("'letter.pdf' is not of a known format; send a file that ends in")


@pytest.mark.slow
def test_escape_stops(seen):
    assert seen["stopped"] == "Stopped." and seen["left"] == []


@pytest.mark.slow
def test_each_translation_says_how_sure_it_is_and_a_method_stands_where_it_can(seen):
    def agreement(one: str, other: str) -> str:
        return f"agreement {round(sentence_chrf(f'{one}: {GERMAN}', [f'{other}: {GERMAN}']).score)}"

    sure, through = "confidence 78 %", "en-fr: de-en"  # e^-0.25
    assert seen["surely"] == [
        ["first · direct", sure, "de-en", "supervised"],
        ["first · direct", sure, agreement("de-fr", through), "de-fr", "zero-shot"],
        ["first · through English", sure, agreement(through, "de-fr"), "de-en, en-fr", "zero-shot"],
        ["first · ensemble", sure, agreement("ensemble de-fr", through), "de-fr", "zero-shot"],
    ]


@pytest.mark.slow
def test_what_goes_through_another_language_is_not_called_direct(tmp_path):
    """On a server with `--via`, which is how it usually translates."""
    script = """
  seen.ways = words(all("#ways label")); by("source").value = "de"; write("Hallo.");
  press("Enter"); await until(done); seen.usual = cards();
  by("ways").querySelectorAll("input")[1].click(); press("Enter"); await until(done); seen.both = cards();
"""
    with serving(replace(told_system(), via="en")) as client:
        seen = visit(client, script, tmp_path)
    assert seen["ways"] == ["usual: through English where untrained", "direct", "through English"]
    usual = [["told · usual", "de-en: Hallo."], ["told · usual", "en-fr: de-en: Hallo."]]
    assert [card[:2] for card in seen["usual"]] == usual
    direct = [["told · direct", "de-en: Hallo."], ["told · direct", "de-fr: Hallo."]]
    assert [card[:2] for card in seen["both"]] == [direct[0], usual[1], direct[1]]


@pytest.mark.slow
def test_the_page_asks_its_server_below_a_prefix(tmp_path):
    script = """
  const given = new view.DataTransfer(); by("source").value = "de"; by("target").value = "fr";
  write("Hallo."); press("Enter"); await until(done); seen.cards = cards();
  given.items.add(new view.File(["Hallo."], "my letter.txt")); by("document").files = given.files;
  by("send").click(); await until(() => by("found").querySelector("a"));
  seen.content = await (await view.fetch(by("found").querySelector("a").href)).text();
  seen.loaded = view.performance.getEntriesByType("resource").map((one) => new URL(one.name).pathname);
"""
    with serving(told_system()) as client:
        client.app.mount("/mt", client.app)  # as a web server in front of it has it there
        seen = visit(client, script, tmp_path, place="/mt/")
    assert (seen["cards"][0][1], seen["content"]) == ("de-fr: Hallo.", "de-fr: Hallo.")
    assert [path.rpartition("/")[0] for path in seen["loaded"][:3]] == ["/mt/frontend", "/mt", "/mt"]
    assert all(path.startswith("/mt/") for path in seen["loaded"])


class Opened(HTMLParser):
    """Elements of HTML that are open, and the ids that were seen."""

    VOID = ("meta", "link", "input", "br")

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[dict] = []

    def handle_starttag(self, tag, attrs):
        self.seen.append(dict(attrs))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_the_page_is_well_formed_and_refers_to_itself_alone():
    page = files("zsnmt.serving").joinpath("page.html").read_text(encoding="utf-8")
    reader = Opened()
    reader.feed(page)
    ids = [each["id"] for each in reader.seen if "id" in each]
    assert not reader.open and len({*ids}) == len(ids)
    assert {each[name] for each in reader.seen for name in ("for", "aria-describedby") if name in each} <= {
        *ids
    }
    assert "http" not in page and not any("src" in each for each in reader.seen)
