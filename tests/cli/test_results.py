"""`zsnmt results`: runs are kept with or without the tables."""

import json
import shutil

import pytest

from tests.conftest import OLDER_RUN
from zsnmt.cli import results
from zsnmt.errors import InputError
from zsnmt.results import keep_run


@pytest.mark.parametrize("further, made", [((), ["page.md"]), (("--keep-only",), [])])
def test_a_run_is_kept_and_the_tables_are_made_unless_they_are_to_stay(
    older, tmp_path, monkeypatch, capsys, further, made
):
    filled = []
    monkeypatch.setattr(results, "KEPT_RESULTS", tmp_path)
    monkeypatch.setattr("zsnmt.results.FIGURES", tmp_path)
    monkeypatch.setattr("zsnmt.results.documents", lambda: ["page.md"])
    monkeypatch.setattr("zsnmt.results.fill_file", lambda path, *_: filled.append(path))
    monkeypatch.setattr("zsnmt.results.kept_figures", lambda kept: [])
    monkeypatch.setattr("zsnmt.results.configs_without_page", lambda kept: [])
    results.main([str(older / OLDER_RUN), *further])
    (kept,) = tmp_path.rglob("*.json")
    assert capsys.readouterr().out == f"{kept}\n" and filled == made


def test_what_was_measured_of_another_model_is_not_kept_beside_the_scores(older, tmp_path):
    """As after a training that went on: a table would have figures of two models in one row."""
    run, kept = shutil.copytree(older / OLDER_RUN, tmp_path / "run"), tmp_path / "kept"
    names = dict(config="tiny", system="zs_transformer_residual", commit="0" * 40)
    decoding = {"model": "another", "beam": 4}
    signatures = {"chrf": "nc:6", "intervals": "bs:1000"}
    record = dict(**names, seed=1, decoding=decoding, signatures=signatures, directions=[], means=[])
    (run / "confidence.json").write_text(json.dumps(record))
    with pytest.raises(InputError, match="confidence.json is of another model than .* was scored with; mea"):
        keep_run(run, kept)
    assert not kept.exists()
    decoding["model"] = json.loads((run / "scores.json").read_text())["decoding"].get("model")
    (run / "confidence.json").write_text(json.dumps(record))
    assert len(keep_run(run, kept)) == 2
