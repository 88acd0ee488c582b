"""`zsnmt results`: runs are kept with or without the tables."""

import pytest

from tests.conftest import OLDER_RUN
from zsnmt.cli import results


@pytest.mark.parametrize("further, made", [((), ["page.md"]), (("--keep-only",), [])])
def test_a_run_is_kept_and_the_tables_are_made_unless_they_are_to_stay(
    older, tmp_path, monkeypatch, capsys, further, made
):
    filled = []
    monkeypatch.setattr(results, "KEPT_RESULTS", tmp_path)
    monkeypatch.setattr(results, "FIGURES", tmp_path)
    monkeypatch.setattr(results, "documents", lambda: ["page.md"])
    monkeypatch.setattr("zsnmt.report.documents.fill_file", lambda path, *_: filled.append(path))
    monkeypatch.setattr("zsnmt.report.in_short.kept_figures", lambda kept: [])
    monkeypatch.setattr("zsnmt.report.config_pages.configs_without_page", lambda kept: [])
    results.main([str(older / OLDER_RUN), *further])
    (kept,) = tmp_path.rglob("*.json")
    assert capsys.readouterr().out == f"{kept}\n" and filled == made
