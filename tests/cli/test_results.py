"""`zsnmt results`: runs are kept with or without the tables."""

import json
import shutil
from dataclasses import replace

import pytest

from tests.conftest import OLDER_RUN
from zsnmt.cli import results
from zsnmt.console import WrongUse
from zsnmt.errors import InputError
from zsnmt.results import keep_run
from zsnmt.runs.score_file import read_score_file, write_score_file
from zsnmt.runs.ways import Way


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


def test_a_run_is_kept_in_another_folder_which_has_no_tables(older, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(results, "KEPT_RESULTS", tmp_path / "usual")
    monkeypatch.setattr(results, "CHECKOUT", None)  # which only the usual folder is in
    results.main([str(older / OLDER_RUN), "--keep-only", "--to", str(tmp_path / "other")])
    (kept,) = tmp_path.rglob("*.json")
    assert kept.is_relative_to(tmp_path / "other") and capsys.readouterr().out == f"{kept}\n"
    with pytest.raises(WrongUse, match="--to keeps runs in another folder, .*: give --keep-only, too"):
        results.main([str(older / OLDER_RUN), "--to", str(tmp_path)])


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


def test_a_run_that_was_made_again_takes_nothing_from_what_is_kept_unless_it_is_to(older, tmp_path, caplog):
    """As a claim's job does, which trains the baseline again for one figure: tables of masks and probes need
    what was measured of the baseline before.
    """
    run, kept = older / OLDER_RUN, tmp_path / "kept"
    (path,) = keep_run(run, kept)
    scores = read_score_file(path, "")
    masks = [replace(each, way=Way("mask", (("pieces", 1),))) for each in scores.select("zero_shot").values()]
    assert masks
    richer = replace(scores, decoding={**scores.decoding, "model": "e"}, results=[*scores.results, *masks])
    write_score_file(path, richer)
    probes = path.parent / "probes" / path.name
    probes.parent.mkdir()
    probes.touch()
    before = path.read_bytes()
    assert keep_run(run, kept) == [] and path.read_bytes() == before
    assert "translation by mask (pieces 1), probes would be lost, which" in caplog.text
    write_score_file(path, replace(richer, decoding=scores.decoding))
    assert keep_run(run, kept) == [path] and len(read_score_file(path, "").results) == len(richer.results)
    write_score_file(path, richer)
    assert keep_run(run, kept, replace=True) == [path]
    assert read_score_file(path, "").results == scores.results
