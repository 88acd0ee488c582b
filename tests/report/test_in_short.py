"""Tables for a screen, pages of configs, and what RESULTS.md may be."""

import re
from dataclasses import replace
from statistics import fmean

import pytest
from PIL import Image

from tests.conftest import ROOT
from tests.support.kept import CONFIGS
from tests.support.masked_lms import grid, write_runs
from tests.support.scores import changed, made_up_scores
from zsnmt.errors import InputError
from zsnmt.languages import ZERO_RESOURCE, ZERO_SHOT
from zsnmt.masked_lm.report.kept_inference import drawn_inference
from zsnmt.masked_lm.report.kept_scores import keep_masked_lm
from zsnmt.report.candidates import CANDIDATES
from zsnmt.report.config_pages import configs_without_page, new_page
from zsnmt.report.documents import BLOCK, fill, keep_scores
from zsnmt.report.drawn_data import checksum
from zsnmt.report.in_short import what_to_use, what_to_use_first
from zsnmt.report.kept_figures import FIRST_DRAWN, first_figure, kept_figures
from zsnmt.results import makers
from zsnmt.runs.probe_folder import PROBES
from zsnmt.runs.systems import BASELINE, RESIDUAL
from zsnmt.runs.ways import OWN_PIVOT, PIVOT

RESULTS = (ROOT / "RESULTS.md").read_text(encoding="utf-8")
PAGES = "docs/results"  # from RESULTS.md
TABLES = re.compile(r"^\|.*\n(?=\| ?-)", re.M)  # their first rows
FIGURE = re.compile(r"\d\.\d|\d ?%|\d BLEU|\d points|±")  # as results are written


def block(name: str) -> str:
    return f"<!-- begin {name} -->\n<!-- end {name} -->"


def keep_two(folder, config="made_up", **changed):
    for system, zero_shot in ((BASELINE.name, 5.0), (RESIDUAL.name, 9.0)):
        for seed in (1, 2):
            keep_scores(replace(made_up_scores(system, seed, zero_shot), config=config, **changed), folder)


def test_a_table_of_systems_in_short_has_six_columns_and_a_link_to_the_rest(tmp_path):
    keep_two(tmp_path)
    filled = fill(block("made_up:systems_short"), tmp_path, makers())
    assert "| system | seeds | supervised | zero-shot | through pivot | off-target |" in filled
    assert "| zs_transformer_residual | 1, 2 | 25.0 | 9.0 | 15.5 | 30.0 % |" in filled
    assert "(docs/results/made_up.md)" in filled and fill(filled, tmp_path, makers()) == filled


def test_a_table_that_the_runs_do_not_make_is_refused(tmp_path):
    keep_two(tmp_path)
    with pytest.raises(InputError, match="the kept runs of made_up have no such table"):
        fill(block("made_up:encodings_short"), tmp_path, makers())


def test_what_to_use_has_a_row_for_each_system_on_real_text_and_says_what_learned_from_synthetic(tmp_path):
    keep_two(tmp_path, config="captions_long")
    keep_two(tmp_path, config="captions")
    keep_two(tmp_path, config="demo")
    student = made_up_scores(f"{RESIDUAL.name}_distilled", 1, zero_shot=14.0)
    taught = [
        replace(result, kind=ZERO_RESOURCE if result.kind == ZERO_SHOT else result.kind)
        for result in student.results
    ]
    keep_scores(replace(student, config="tatoeba_long", results=taught), tmp_path)
    rows = what_to_use(tmp_path, "").splitlines()
    assert rows[2:5] == [
        f"| [Tatoeba: eight languages]({PAGES}/tatoeba_long.md) | 1 "
        "| residual removed, distilled (zero-resource) | 25.0 | 14.0 | 15.5 | 30.0 % |",
        f"| [captions]({PAGES}/captions_long.md) | 1, 2 | baseline | 25.0 | 5.0 | 15.5 | 30.0 % |",
        f"| [captions]({PAGES}/captions_long.md) | 1, 2 | residual removed | 25.0 | 9.0 | 15.5 | 30.0 % |",
    ]
    assert "by an earlier rule" not in "".join(rows), "it has a page of its own"
    assert rows[5] == "" and "demo" not in "".join(rows)


def test_what_to_use_first_is_of_one_text_without_intervals():
    kept = ROOT / "docs" / "results"
    rows = makers()["what_to_use_first"](kept, "").splitlines()[2:-2]
    assert [row.split(" | ")[0] for row in rows][:2] == ["| baseline", "| residual removed"]
    assert {len(row.split("|")) for row in rows} == {7}
    assert "[" not in "".join(rows) and "±" in "".join(rows)


def test_systems_are_compared_over_the_seeds_of_the_last(tmp_path):
    keep_two(tmp_path, config="tatoeba_nordic")
    third = replace(made_up_scores(BASELINE.name, 3, zero_shot=50.0), config="tatoeba_nordic")
    keep_scores(third, tmp_path)
    whole, brief = (make(tmp_path, "") for make in (what_to_use, what_to_use_first))
    assert "| 1, 2 | baseline | 25.0 | 5.0 |" in whole and "| baseline | 25.0 | 5.0 |" in brief
    assert "Of each text the seeds that its last system has; its page names the runs." in whole
    assert "Each system: seeds 1, 2." in brief and "not measured" not in whole + brief
    alone = replace(third, results=[result for result in third.results if result.way != PIVOT])
    keep_scores(replace(alone, config="captions_long"), tmp_path)
    row = f"| [captions]({PAGES}/captions_long.md) | 3 | baseline | 25.0 | 50.0 | – |"
    assert row in what_to_use(tmp_path, "") and "–: not measured." in what_to_use(tmp_path, "")


def test_readme_draws_the_directions_without_the_pivot(tmp_path):
    drawing = first_figure(ROOT / "docs" / "results")
    (axes,), (key,) = drawing.axes, drawing.legends
    assert [text.get_text() for text in key.get_texts()][1:3] == [
        "directly: baseline",
        "directly: residual removed",
    ]
    labels = [label.get_text() for label in axes.get_yticklabels()]
    assert len(labels) == 6 and "en" not in " ".join(labels).split() and labels[-1] == "sv → da"
    keep_two(tmp_path, config="tatoeba_nordic")
    assert first_figure(tmp_path) is None, "two of its systems are lacking"


def test_readme_draws_the_runs_of_its_table():
    """The baseline has a further seed, which the others have not."""
    kept = ROOT / "docs" / "results"
    (axes,) = first_figure(kept).axes
    _, *drawn = axes.lines
    rows = [row.strip("| ").split(" | ") for row in what_to_use_first(kept, "").splitlines()]
    for system, points in zip(FIRST_DRAWN.values(), drawn, strict=True):
        said = CANDIDATES[system], f"{CANDIDATES[system]} (zero-resource)"
        (direct,) = (cells[2] for cells in rows if cells[0] in said)
        assert direct.startswith(f"{fmean(points.get_xdata()):.1f} ±")


def test_what_to_use_shows_what_a_system_makes_of_the_pivot_itself(tmp_path):
    """The bar, another system's pivot, is in that one's row."""
    scores = replace(
        made_up_scores(BASELINE.name, 1, zero_shot=5.0), config="tatoeba_long", pivot_by="another, seed 1"
    )
    keep_scores(scores, tmp_path)
    assert "| 25.0 | 5.0 | – | 30.0 % |" in what_to_use(tmp_path, "")
    own = [replace(result, way=OWN_PIVOT) for result in scores.results if result.way == PIVOT]
    keep_scores(replace(scores, results=[*scores.results, *own]), tmp_path)
    assert "| 25.0 | 5.0 | 15.5 | 30.0 % |" in what_to_use(tmp_path, "")


def test_a_config_with_results_gets_a_page_with_all_there_is(tmp_path):
    keep_two(tmp_path)
    for run in write_runs(tmp_path / "runs", grid(("learned", "tupe_absolute"), seeds=(0,))):
        keep_masked_lm(run, tmp_path)
    (tmp_path / "runs").rename(tmp_path.parent / "runs_elsewhere")
    assert configs_without_page(tmp_path) == ["made_up"]
    page = new_page(tmp_path, "made_up")
    assert [match[1] for match in BLOCK.finditer(page)] == ["made_up", "made_up:compression"]
    filled = fill(page, tmp_path, makers())
    assert "every direction" in filled and "<summary>versions</summary>" in filled
    (tmp_path / "made_up.md").write_text(filled, encoding="utf-8")
    assert configs_without_page(tmp_path) == []


def test_every_config_with_kept_results_has_its_page():
    assert configs_without_page(ROOT / "docs" / "results") == []
    assert all(f"<!-- begin {name} -->" in page_of(name) for name in CONFIGS if name != "compression")


def page_of(config: str) -> str:
    return (ROOT / "docs" / "results" / f"{config}.md").read_text(encoding="utf-8")


def test_results_is_short_its_tables_fit_a_screen_and_its_prose_has_no_figure_by_hand():
    assert len(RESULTS.splitlines()) <= 320
    rows = TABLES.findall(RESULTS)
    assert len(rows) > 8 and all(row.count("|") - 1 <= 7 for row in rows)
    prose = BLOCK.sub("", RESULTS)
    assert not FIGURE.search(prose), FIGURE.search(prose)


def test_each_question_of_results_has_one_table_or_figure_limits_and_a_link():
    sections = [
        each for each in RESULTS.split("\n## ")[1:-1] if not each.startswith("What the papers claim,")
    ]
    assert len(sections) == RESULTS.count("\n## ") - 2 > 5
    for section in sections:
        assert len(BLOCK.findall(section)) <= 1 and "](docs/" in section, section
        if BLOCK.search(section) and "overlap" not in section:
            assert "*Limits:*" in section, section


def test_real_text_has_a_drawing_of_direct_translation_against_the_pivot(tmp_path):
    keep_two(tmp_path)
    keep_two(tmp_path, config="tatoeba")
    ((name, drawing),) = kept_figures(tmp_path)
    assert name == "direct_against_pivot_tatoeba"
    (key,) = drawing.legends
    assert [text.get_text() for text in key.get_texts()] == [
        f"{system}, zero-shot:\nabove the pivot of {system} in 0 of 2"
        for system in (BASELINE.name, RESIDUAL.name)
    ]


def test_the_projects_drawings_are_those_of_its_score_files():
    results = ROOT / "docs" / "results"
    figures = [*kept_figures(results), *drawn_inference(results)]
    assert figures
    for name, drawing in figures:
        with Image.open(ROOT / "docs" / "figures" / f"{name}.png") as kept:
            assert kept.text.get("Comment") == checksum(drawing), f"{name} is stale; run zsnmt results"


def test_the_checksum_of_a_drawing_tells_figures_apart(tmp_path):
    keep_two(tmp_path, config="tatoeba")
    sums = []
    for figure in (15.0, 15.0, 15.1):
        keep_scores(
            replace(with_pivot(made_up_scores(RESIDUAL.name, 1, 9.0), figure), config="tatoeba"), tmp_path
        )
        ((_, drawing),) = kept_figures(tmp_path)
        sums.append(checksum(drawing))
    assert sums[0] == sums[1] != sums[2]


def with_pivot(scores, bleu):
    results = [changed(each, bleu=bleu) if each.way == PIVOT else each for each in scores.results]
    return replace(scores, results=results)


def test_every_drawing_of_the_project_is_on_a_page():
    pages = "".join(page.read_text() for page in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
    shown = {*re.findall(r"figures/([\w.]+\.png)\)", pages)}
    assert {path.name for path in (ROOT / "docs" / "figures").glob("*.png")} == shown


def test_probes_are_drawn_by_layer_and_by_system(tmp_path):
    for system in (BASELINE.name, RESIDUAL.name):
        path = tmp_path / "made_up" / PROBES / f"{system}.seed1.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        kept = ROOT / "docs" / "results" / "tatoeba" / PROBES / path.name
        path.write_bytes(kept.read_bytes())
    assert [name for name, _ in kept_figures(tmp_path)] == [
        "probe_accuracy_made_up",
        f"confusion_{BASELINE.name}_made_up",
        f"confusion_{RESIDUAL.name}_made_up",
    ]
