"""The page of the masked-LM study, its files, and the script that writes them."""

import re
from html.parser import HTMLParser

import pytest

from tests.conftest import run_command
from tests.support.masked_lms import grid, made_up_masked_lm, write_runs
from zsnmt.masked_lm.report.figures import figures_of
from zsnmt.masked_lm.report.page import ABOUT, FORMATS, PAGE_FILE, page, write_report
from zsnmt.masked_lm.report.runs import ABLATIONS, sort_runs
from zsnmt.masked_lm.report.tables import tables
from zsnmt.masked_lm.report.text_tables import text_report

FEW = sort_runs(grid(("sinusoidal", "learned", "separate_parameters"), ("same",), (0,)))
RUNS = sort_runs(grid(seeds=(0, 42)) + grid(tuple(ABLATIONS), ("same", "de"), (0,)))
COMMAND = "python", "-m", "zsnmt", "masked-lm-report"


class Seen(HTMLParser):
    """Ids, links, headings and what is fetched from elsewhere."""

    def __init__(self, text):
        super().__init__()
        self.ids, self.links, self.fetched, self.strong = [], [], [], 0
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        named = dict(attributes)
        self.ids += [named["id"]] if "id" in named else []
        self.links += [named["href"]] if tag == "a" else []
        self.strong += tag == "strong"
        source = named.get("src") or (tag != "a" and (named.get("href") or named.get("xlink:href"))) or ""
        self.fetched += [source] if source and not source.startswith(("#", "data:")) else []


@pytest.fixture(scope="module")
def drawn():
    return figures_of(RUNS)


@pytest.fixture(scope="module")
def made(drawn):
    return page(RUNS, drawn)


@pytest.mark.slow
def test_the_page_is_whole_in_itself_and_its_links_lead_somewhere(made):
    seen = Seen(made)
    assert not seen.fetched and "url(http" not in made
    assert len(seen.ids) == len(set(seen.ids))
    assert seen.links and all(link[1:] in seen.ids for link in seen.links)


@pytest.mark.slow
def test_the_page_has_all_tables_and_figures_with_how_to_read_them(made, drawn):
    seen = Seen(made)
    assert {*tables(RUNS), "figures", *(name for name, _, _ in drawn)} <= {*seen.ids}
    assert {name for name, _, _ in drawn} == {*ABOUT}
    assert all(ABOUT[name] in made for name, _, _ in drawn)
    best = sum(
        len(table.columns) - 2 for name, table in tables(RUNS).items() if name.startswith("encodings_")
    )
    assert seen.strong == best


def test_what_runs_say_is_text_on_the_page():
    bad = "<script>alert(1)</script>"
    made = page([made_up_masked_lm(config=bad, command=bad)], [])
    assert bad not in made and made.count("&lt;script&gt;alert(1)") >= 3


@pytest.mark.slow
def test_tables_and_figures_are_files_beside_it_and_others_stay(tmp_path):
    (tmp_path / "mine").write_text("mine")
    written = write_report(tmp_path, FEW)
    named = {
        PAGE_FILE,
        *(f"{name}.{ending}" for name in tables(FEW) for ending in FORMATS),
        *(f"{name}.{ending}" for name, _, _ in figures_of(FEW) for ending in ("png", "svg")),
    }
    assert {path.name for path in written} == named == {path.name for path in tmp_path.iterdir()} - {"mine"}
    assert (tmp_path / "curves.png").read_bytes().startswith(b"\x89PNG") and b"<svg" in (
        tmp_path / "curves.svg"
    ).read_bytes()


@pytest.mark.slow
def test_the_script_writes_the_report_and_prints_table_4(tmp_path):
    runs = grid(("sinusoidal", "learned"), ("same",), (0,))
    write_runs(tmp_path / "runs", runs)
    done = run_command(*COMMAND, tmp_path / "runs", "--output", tmp_path / "out" / "report")
    assert done.returncode == 0, done.stderr
    assert done.stdout == text_report(sort_runs(runs)) + "\n" and "masked_lm.html" in done.stderr
    assert re.search(
        r"<title>made_up: position encodings",
        (tmp_path / "out" / "report" / PAGE_FILE).read_text(encoding="utf-8"),
    )


def test_the_script_leaves_a_report_as_it_was_where_runs_do_not_compare(tmp_path):
    write_runs(tmp_path / "runs", [made_up_masked_lm(), made_up_masked_lm(seed=1, epochs=11)])
    (tmp_path / PAGE_FILE).write_text("before")
    done = run_command(*COMMAND, tmp_path / "runs", "--output", tmp_path)
    assert done.returncode == 1 and "their epochs differ" in done.stderr and done.stderr.count("\n") == 1
    assert (tmp_path / PAGE_FILE).read_text() == "before" and len([*tmp_path.iterdir()]) == 2


@pytest.mark.slow
def test_the_corpora_stand_side_by_side_where_that_is_asked_for(tmp_path):
    for config in ("one", "other"):
        write_runs(
            tmp_path / config,
            [made_up_masked_lm(system, config=config) for system in ("learned", "sinusoidal")],
        )
    command = *COMMAND, tmp_path / "one", "--beside", tmp_path / "other", "--output", tmp_path / "report"
    done = run_command(*command)
    assert done.returncode == 0 and "other: ML score" in done.stdout, done.stderr
    assert "one: ML score" in (tmp_path / "report" / "encodings_beside_same.md").read_text()
    twice = run_command(*COMMAND, tmp_path / "one", "--beside", tmp_path / "one", "--output", tmp_path / "no")
    assert twice.returncode == 1 and "two studies are of the config one; give" in twice.stderr
    assert not (tmp_path / "no").exists()
