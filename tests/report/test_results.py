"""Documents with tables from score files."""

import json

import pytest

from tests.conftest import ROOT
from tests.report.made_up import made_up_scores
from zsnmt.errors import InputError
from zsnmt.report.results import ROUND_TRIPS, fill, keep_scores
from zsnmt.report.table import markdown_table, text_table


def test_blocks_are_filled_and_the_rest_is_left_alone(tmp_path):
    scores = [made_up_scores("baseline", seed, 5.0) for seed in (2, 1)]
    for entry in scores:
        keep_scores({**entry, "text": "/somewhere/private"}, tmp_path)
    document = "before\n<!-- begin made_up -->\nold\n<!-- end made_up -->\nmiddle\n<!-- begin made_up:text -->\n<!-- end made_up:text -->\n"
    filled = fill(document, tmp_path)
    assert filled.startswith("before\n") and "\nmiddle\n" in filled and "old" not in filled
    assert markdown_table(scores[::-1]) in filled and text_table(scores[::-1]) in filled
    assert fill(filled, tmp_path) == filled
    assert not any("private" in path.read_text() for path in tmp_path.rglob("*.json"))


def test_a_block_without_scores_is_refused(tmp_path):
    with pytest.raises(InputError, match="holds no score files"):
        fill("<!-- begin nothing -->\n<!-- end nothing -->", tmp_path)


@pytest.mark.parametrize("name", ["README.md", "RESULTS.md"])
def test_the_projects_tables_are_those_of_its_score_files(name):
    document = (ROOT / name).read_text(encoding="utf-8")
    assert fill(document, ROOT / "docs" / "results") == document


def test_every_kept_score_file_says_how_it_was_made():
    files = [path for path in (ROOT / "docs" / "results").rglob("*.json") if path.parent.name != ROUND_TRIPS]
    assert files
    for path in files:
        scores = json.loads(path.read_text(encoding="utf-8"))
        assert scores["command"].startswith(("bash recipes/", "fairseq-train ")) and len(scores["commit"].split("+")[0]) == 40
        assert path.name == f"{scores['system']}.seed{scores['seed']}.json" and path.parent.name == scores["config"]
        assert scores["signatures"]["bleu"] and scores["training"]
