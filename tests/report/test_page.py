"""The page as text, and what is written beside it."""

import json
import re
import shutil
from dataclasses import replace
from html.parser import HTMLParser
from statistics import fmean

import pytest

from tests.conftest import run_command
from tests.support.probes import make_probes
from tests.support.runs import SIGNATURE, TEXT, make_run, make_text, validate
from tests.support.scores import made_up_result, only
from zsnmt.languages import SUPERVISED, ZERO_SHOT, Direction
from zsnmt.report.comparability import read_runs
from zsnmt.report.examples import Example, Output, examples
from zsnmt.report.page import heading, page, write_beside
from zsnmt.report.scores import Run
from zsnmt.report.validation import curves_table
from zsnmt.runs.validation import read_validations
from zsnmt.runs.ways import DIRECT

SMALL = 2_000_000  # bytes that a page of twelve directions stays below


class Outline(HTMLParser):
    """Elements with their attributes, and the text outside style and script."""

    def __init__(self, html):
        super().__init__()
        self.elements, self.text, self.open = [], "", []
        self.feed(html)

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        self.open.append(tag)

    def handle_endtag(self, tag):
        while self.open and self.open.pop() != tag:
            pass

    def handle_data(self, data):
        if not {"style", "script"} & {*self.open}:
            self.text += data

    def all(self, *tags):
        return [attributes for tag, attributes in self.elements if tag in tags]


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    base = tmp_path_factory.mktemp("runs")
    text = make_text(base / "text")
    return [
        make_run(base, text, *run)
        for run in (("baseline", 1, 5.0), ("baseline", 2, 8.0), ("residual", 1, 14.0), ("residual", 2, 30.0))
    ]


@pytest.fixture(scope="module")
def html(folders):
    runs = read_runs(folders)
    return page(runs, examples(runs, 3), 1)


@pytest.fixture(scope="module")
def outline(html):
    return Outline(html)


def test_text_of_the_corpus_stays_text(html, outline):
    assert "<script>alert" not in html
    for lines in TEXT.values():
        assert all(line in outline.text for line in lines)
    assert len(outline.all("script")) == 1


@pytest.mark.slow
def test_names_stay_text_too(folders):
    (run,), name = read_runs(folders[:1]), '<i>"a"</i>'
    written = Outline(page([Run(run.folder, replace(run.scores, system=name, config=name))], {}, 1))
    assert not written.all("i") and written.text.count('<i>"a"</i>') > 5


def test_the_pivot_is_named_where_another_code_has_its_letters(folders):
    (run,) = read_runs(folders[:1])
    scores = replace(run.scores, languages=["ben", "en", "de", "fr"])
    said = heading([scores])["lead"]
    assert said == "Systems: baseline. Languages: ben, en (the pivot), de, fr."


def test_a_page_speaks_of_the_pivot_where_something_went_through_it(folders):
    (run,) = read_runs(folders[:1])
    direct = replace(run, scores=only(run.scores, (SUPERVISED, DIRECT), (ZERO_SHOT, DIRECT)))
    for each, said in ((run, "made_up: zero-shot against pivot"), (direct, "made_up: zero-shot")):
        written = page([each], {}, 1)
        assert f"<h1>{said}</h1>" in written
        assert ("Through the pivot, a sentence" in written) is (each is run)


def test_a_system_with_a_slash_in_its_name_has_files_beside_the_page(folders, tmp_path):
    run = read_runs(folders[:1])[0]
    odd = replace(run, scores=replace(run.scores, system="a/b.c"))
    written = write_beside(tmp_path / "report.v2.html", [odd], ["svg", "md"])
    assert {*written} == {*tmp_path.iterdir()}
    assert tmp_path / "report.v2.bleu.a%2Fb.c.svg" in written and tmp_path / "report.v2.systems.md" in written


def test_the_page_needs_nothing_else(outline):
    for attributes in (attributes for _, attributes in outline.elements):
        for name in ("src", "href", "xlink:href", "data", "action"):
            assert attributes.get(name, "#").startswith("#"), attributes
    assert any("default-src 'none'" in attributes.get("content", "") for attributes in outline.all("meta"))
    assert not outline.all("link", "img", "iframe")


def test_links_lead_somewhere_and_ids_are_unique(outline):
    ids = [attributes["id"] for _, attributes in outline.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    assert {attributes["href"][1:] for attributes in outline.all("a")} <= set(ids)
    assert {"systems", "gains", "maps", "training", "directions", "examples", "runs", "de-fr"} <= set(ids)


def test_tables_and_drawings_name_themselves(outline):
    assert len(outline.all("table")) == len(outline.all("caption")) == 6
    assert {attributes.get("scope") for attributes in outline.all("th")} == {"row", "col"}
    drawings = outline.all("svg")
    assert len(drawings) == 1 + 3 * 2 + 3 and all(
        drawing["role"] == "img" and re.search("; .+ in .*table", drawing["aria-label"])
        for drawing in drawings
    )


def test_a_table_of_many_columns_is_printed_as_small_as_they_need(html):
    """Or paper would cut it, and say nothing."""
    for opening, titles in re.findall(r"<table ([^>]*)>.*?<thead>(.*?)</thead>", html, re.DOTALL):
        assert f'style="--columns: {titles.count("<th ")}"' in opening
    printed = html[html.index("@media print") :]
    assert re.search(r"table {[^}]*font-size: min[(][^}]*var[(]--columns", printed)


def test_sentences_say_their_language_as_browsers_name_it(folders):
    (run,) = read_runs(folders[:1])
    said = {}
    for code in ("de", "pt_BR", "zh_Hant", "sov1"):
        example = Example(1, "a source", "a reference", [Output("baseline", "direct", "an output")])
        results = [made_up_result(f"{code}-fr", ZERO_SHOT, DIRECT, 5.0)]
        scores = replace(run.scores, languages=["en", code, "fr"], results=results)
        written = Outline(page([replace(run, scores=scores)], {Direction(code, "fr"): [example]}, 1))
        said[code] = written.all("dd")[0].get("lang")
    assert said == {"de": "de", "pt_BR": "pt-BR", "zh_Hant": "zh-Hant", "sov1": None}


def test_a_table_of_many_systems_can_be_sorted(folders):
    (run,) = read_runs(folders[:1])
    for number, sortable in ((3, False), (9, True)):
        runs = [replace(run, scores=replace(run.scores, system=f"system{each}")) for each in range(number)]
        tables = {each["id"]: each.get("class") for each in Outline(page(runs, {}, 1)).all("table")}
        assert (tables["table.systems"] == "sortable") is sortable
        assert tables["table.directions"] == "sortable" and tables["table.runs"] is None


def test_every_figure_says_what_it_depends_on(outline):
    for word in (
        "tok:13a",
        SIGNATURE,
        "a" * 12,
        "bash recipes/train.sh x.conf residual",
        "sacrebleu 2.6.0",
        "seed 1, 2",
        "3 epochs",
    ):
        assert word in outline.text


def test_gains_and_strays_are_marked(html, outline):
    assert "inside the seed noise" in outline.text
    assert html.count("<mark>off-target: en</mark>") == 2 * 2  # directions and systems
    assert f"Off-target outputs are marked by {SIGNATURE}" in outline.text


def test_sentences_have_language_and_reading_direction(outline):
    sentences = outline.all("dd")
    assert sentences and all(sentence["dir"] == "auto" for sentence in sentences)
    assert {sentence["lang"] for sentence in sentences} == {"en", "de", "fr"}


def test_a_page_without_examples_and_logs_is_whole(folders, outline):
    (run,) = read_runs(folders[:1])
    written = Outline(page([Run(folders[0] / "gone", only(run.scores, (SUPERVISED, DIRECT)))], {}, 1))
    explained = "zero-shot directions have none. Through the pivot"  # where there are any
    assert explained in outline.text and explained not in written.text
    assert "None are shown" in written.text and not [
        a for a in written.all("section") if a.get("id") in ("training", "gains")
    ]
    assert {a["href"][1:] for a in written.all("a")} <= {a["id"] for _, a in written.elements if "id" in a}


@pytest.mark.slow
def test_an_example_through_the_pivot_has_its_english_above_it(html):
    names = re.findall("<dt>(baseline, [^<]*)</dt>", html.partition('id="de-fr"')[2])
    assert names[:3] == ["baseline, direct", "baseline, into en", "baseline, through en"]


@pytest.mark.slow
def test_the_page_says_what_validation_is_and_which_loss_is_of_a_log(folders, outline, tmp_path):
    assert (
        "translated by greedy search. The best checkpoint is chosen on supervised directions alone"
        in " ".join(outline.text.split())
    )
    assert {
        "Validation loss by update",
        "Validation BLEU by update",
        "Validation BLEU by direction",
    } < titles(outline)
    assert "training log" not in outline.text
    logged = tmp_path / "logged"
    shutil.copytree(folders[2], logged, ignore=shutil.ignore_patterns("checkpoints"))
    runs = read_runs([folders[0], logged])
    assert "from the training log: residual seed 1." in Outline(page(runs, {}, 1)).text
    alone = Outline(page(runs[1:], {}, 1))
    assert [title for title in titles(alone) if "Validation" in title] == ["Validation loss by update"]


def titles(outline):
    """What the drawings of a page show."""
    return {drawing["aria-label"].partition("; ")[0] for drawing in outline.all("svg")}


def test_curves_of_training_have_their_numbers_in_a_table(folders, tmp_path):
    logged = tmp_path / "logged"
    shutil.copytree(folders[2], logged, ignore=shutil.ignore_patterns("checkpoints"))
    table = curves_table(read_runs([folders[0], logged]))
    assert table.columns == ["system", "seed", "directions", "updates", "validation loss", "BLEU"]
    rows = {tuple(row[:4]): row[4:] for row in table.rows}
    found = [
        read_validations(folders[0] / "checkpoints")[0]["directions"][name] for name in ("de-en", "en-de")
    ]
    loss, bleu = rows["baseline", "1", "supervised", "100"]
    assert loss.mean == fmean(each["nll_loss"] for each in found)
    assert bleu.mean == fmean(each["bleu"] for each in found)
    assert [row[1] for key, row in rows.items() if key[0] == "residual"][0] is None  # a log has no BLEU


@pytest.fixture
def probed(folders, tmp_path):
    """A run without probes, and one with."""
    copies = [
        shutil.copytree(folder, tmp_path / "copies" / folder.parent.name)
        for folder in (folders[0], folders[2])
    ]
    make_probes(copies[1], removed=2)
    return copies


@pytest.mark.slow
def test_probes_have_a_section_where_a_run_has_some(probed, outline):
    assert not [a for a in outline.all("section", "a") if "probe" in a.get("id", "") + a.get("href", "")]
    written = Outline(page(read_runs(probed), {}, 1))
    ids = [a["id"] for _, a in written.elements if "id" in a]
    assert len(ids) == len(set(ids)) and {
        "probes",
        "probe_positions",
        "probe_similarity",
        "probe_figures",
        "table.probe_layers",
    } <= {*ids}
    assert {a["href"][1:] for a in written.all("a")} <= {*ids}
    assert "Not probed: baseline seed 1." in written.text and "bash recipes/probe.sh residual" in written.text
    assert (
        len(written.all("details")) == 4 and len(written.all("table")) == len(written.all("caption")) == 6 + 6
    )
    named = [drawing["aria-label"] for drawing in written.all("svg")]
    assert [name.partition("; ")[0] for name in named if "by layer" in name] == [
        "Accuracy of linear classifiers by layer",
        "Similarity of languages by layer",
        "Figures of the states by layer",
    ]
    assert "language of tokens, %, residual, true by predicted; the numbers are in a table below" in named
    assert "Dotted in a system's colour" in written.text and "Independent states keep" in written.text
    make_probes(probed[0], split="valid")
    other = Outline(page(read_runs(probed), {}, 1)).text
    assert "Not probed" not in other and "Dotted in a system's colour" not in other
    assert "Not shown here, probed otherwise: residual seed 1 (other probed splits)." in other


@pytest.mark.slow
def test_what_probes_without_similarity_lack_is_not_explained(probed):
    shutil.rmtree(probed[1] / "probes")
    (make_probes(probed[1], classifiers_only=True) / "similarity.tsv").unlink()
    assert "Independent states" not in Outline(page(read_runs(probed), {}, 1)).text


@pytest.mark.slow
def test_names_in_probes_stay_text(probed):
    for name in ("scores.json", "probes/record.json"):
        said = json.loads((probed[1] / name).read_text())
        (probed[1] / name).write_text(json.dumps({**said, "system": '<i>"a"</i>', "command": "<b>"}))
    written = Outline(page(read_runs(probed), {}, 1))
    assert not written.all("i", "b") and written.text.count('<i>"a"</i>') > 15


@pytest.mark.slow
def test_tables_and_figures_of_probes_are_written_too(probed, tmp_path):
    output = tmp_path / "report.html"
    done = run_command(
        "scripts/report.py", *probed, "--output", output, "--examples", "0", "--format", "svg", "tsv"
    )
    assert done.returncode == 0, done.stderr
    drawn = ("accuracy", "similarity", "figures")
    tables = ("positions", "similarity", "figures", "layers", "confusion", "runs")
    assert (
        all((tmp_path / f"report.probe_{name}.svg").is_file() for name in drawn)
        and (tmp_path / "report.confusion.residual.svg").is_file()
    )
    columns = {
        name: (tmp_path / f"report.probe_{name}.tsv").read_text().split("\n")[0].split("\t")
        for name in tables
    }
    assert columns["positions"] == ["system", "seeds", "token id", "position id"] and columns["layers"][
        :3
    ] == ["layer", "system", "residual"]
    (probed[1] / "probes" / "similarity.tsv").write_text("layer\n")
    output.write_text("before")
    stopped = run_command("scripts/report.py", *probed, "--output", output)
    assert (
        stopped.returncode == 1 and "similarity.tsv in" in stopped.stderr and stopped.stderr.count("\n") == 1
    )
    assert output.read_text() == "before"


@pytest.mark.slow
def test_many_directions_have_a_panel_a_target_language(folders, tmp_path):
    many = tmp_path / "many"
    shutil.copytree(folders[0], many)
    languages = ["en", "de", "fr", "it", "nl", "ro", "es"]
    validate(
        many / "checkpoints",
        4,
        [f"{one}-{other}" for one in languages for other in languages if one != other],
        ["en-de"],
        bleu=False,
    )
    written = Outline(page(read_runs([many]), {}, 1))
    assert "Validation BLEU by target language" in titles(written)


@pytest.mark.slow
def test_the_script_writes_page_tables_and_figures(folders, tmp_path):
    output = tmp_path / "report.html"
    done = run_command(
        "scripts/report.py", *folders, "--output", output, "--format", "png", "svg", "md", "tsv"
    )
    assert done.returncode == 0, done.stderr
    written = {line.rpartition("/")[2] for line in done.stdout.split()}
    assert written == {path.name for path in tmp_path.iterdir()} and output.stat().st_size < SMALL
    assert {
        f"report.{name}.{form}"
        for name in ("systems", "gains", "directions", "runs")
        for form in ("md", "tsv")
    } < written
    drawn = (
        "training",
        "training_bleu",
        "training_directions",
        "bleu.residual",
        "direct_minus_pivot.baseline",
    )
    assert {f"report.{name}.{form}" for name in drawn for form in ("png", "svg")} < written
    assert len((tmp_path / "report.directions.tsv").read_text().splitlines()) == 1 + 4 * 2
    columns, *rows = [
        line.split("\t") for line in (tmp_path / "report.validation.tsv").read_text().splitlines()
    ]
    assert columns == ["system", "seed", "epoch", "updates", "direction", "kind", "nll_loss", "bleu"]
    assert len(rows) == 4 * 3 * 4 and rows[0] == [
        "baseline",
        "1",
        "1",
        "100",
        "de-fr",
        "zero-shot",
        "7.0",
        "10.0",
    ]
    assert not re.search(r"/tmp|\.part", "".join(written))


def test_the_script_refuses_what_it_cannot_show_and_leaves_the_page_as_it_was(folders, tmp_path):
    output = tmp_path / "report.html"
    output.write_text("before")
    (tmp_path / "empty").mkdir()
    other = tmp_path / "other"
    other.mkdir()
    (other / "scores.json").write_text(
        json.dumps({**json.loads((folders[0] / "scores.json").read_text()), "config": "other"})
    )
    for runs, message in (
        ([tmp_path / "empty"], "empty is not a run folder; give one made by zsnmt train"),
        ([folders[0], other], "cannot stand in one table"),
    ):
        stopped = run_command("scripts/report.py", *runs, "--output", output)
        assert stopped.returncode == 1 and message in stopped.stderr and stopped.stderr.count("\n") == 1
        assert output.read_text() == "before" and not list(tmp_path.glob("*.part"))
