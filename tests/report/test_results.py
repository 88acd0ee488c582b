"""Documents with tables from score files."""

import json

import pytest

from tests.conftest import ROOT
from tests.report.made_up import made_up_scores
from tests.report.resampled import with_resamples
from zsnmt.errors import InputError
from zsnmt.report.printed import every_direction, markdown_table, text_table
from zsnmt.report.results import OVERLAPS, ROUND_TRIPS, fill, keep_scores, kept_scores


@pytest.mark.parametrize("made", [lambda scores: scores, with_resamples])
def test_blocks_are_filled_and_the_rest_is_left_alone(tmp_path, made):
    scores = [made(made_up_scores(system, seed, 5.0)) for system in ("residual_query", "baseline") for seed in (2, 1)]
    for entry in scores:
        keep_scores({**entry, "text": "/somewhere/private"}, tmp_path)
    document = "before\n<!-- begin made_up -->\nold\n<!-- end made_up -->\nmiddle\n<!-- begin made_up:text -->\n<!-- end made_up:text -->\n"
    filled = fill(document, tmp_path)
    assert filled.startswith("before\n") and "\nmiddle\n" in filled and "old" not in filled
    kept = [{**entry, "directions": [{key: value for key, value in result.items() if key != "resampled"} for result in entry["directions"]]}
            for entry in scores[::-1]]  # fmt: skip
    assert all(form(kept) in filled for form in (markdown_table, text_table, every_direction))
    assert fill(filled, tmp_path) == filled
    assert not any("private" in path.read_text() for path in tmp_path.rglob("*.json"))
    assert kept_scores(tmp_path, "made_up") == kept  # with the resamples of means


def test_what_overlaps_and_what_comes_back_have_tables_too(tmp_path):
    counts = dict(lines=1000, valid=2, test=3, overlapping=4, removed=4, kept=996)
    for folder, name, content in (("overlap", "corpus", {"en-de": counts, "en-fr": counts}), ("round_trip", "talks", dict(
            commit="a" * 40, units="no subwords", languages={"de": dict(
                kind="raw", sentences=1234, respelt=0, exact=99.5, spaced=0.5, recased=0, lost=0)}))):  # fmt: skip
        (tmp_path / folder).mkdir()
        (tmp_path / folder / f"{name}.json").write_text(json.dumps(content))
    filled = fill("".join(f"<!-- begin {name} -->\n<!-- end {name} -->\n" for name in ("overlap", "talks:round_trip")), tmp_path)
    assert "| corpus | 2 | 2,000 | 4 | 6 | 8 |" in filled
    assert "| de | `raw` | 1,234 | 0.00 % | 99.50 % | 0.50 % | 0.00 % | 0.00 % |" in filled and "aaaaaaaaaaaa" in filled


def test_a_block_without_scores_is_refused(tmp_path):
    with pytest.raises(InputError, match="holds no score files"):
        fill("<!-- begin nothing -->\n<!-- end nothing -->", tmp_path)


@pytest.mark.parametrize("name", ["README.md", "RESULTS.md"])
def test_the_projects_tables_are_those_of_its_score_files(name):
    document = (ROOT / name).read_text(encoding="utf-8")
    assert fill(document, ROOT / "docs" / "results") == document


def test_every_kept_score_file_says_how_it_was_made():
    files = [path for path in (ROOT / "docs" / "results").rglob("*.json") if path.parent.name not in (ROUND_TRIPS, OVERLAPS)]
    assert files
    for path in files:
        scores = json.loads(path.read_text(encoding="utf-8"))
        assert scores["command"].startswith(("bash recipes/", "fairseq-train ")) and len(scores["commit"].split("+")[0]) == 40
        assert path.name == f"{scores['system']}.seed{scores['seed']}.json" and path.parent.name == scores["config"]
        assert scores["signatures"]["bleu"] and scores["training"]
