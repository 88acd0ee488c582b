"""Files that version 0.1 wrote (commit 43442fd, before folders and formats changed) are read as ever.

`older` is a whole experiment of that time: see `tests/conftest.py`.
"""

import shutil
from pathlib import Path

import pytest
import torch

from tests.conftest import OLDER_RUN as RUN
from tests.conftest import run_command
from zsnmt.decoding.search import Search
from zsnmt.inference.translator import Translator
from zsnmt.languages import Direction
from zsnmt.report.comparison import text_table
from zsnmt.runs.score_file import read_scores
from zsnmt.runs.ways import DIRECT, PIVOT
from zsnmt.text.lines import read_lines

DIRECTIONS = [Direction("velan", target) for target in ("inglan", "tamun", "velor")]


def share_as_before(translator: Translator, older: Path) -> float:
    """Of the test lines, the share whose translation is that of 0.1."""
    lines = read_lines(older / "runs/tiny/text/test.velan")
    before = {
        way: read_lines(older / RUN / f"hypotheses/direct.{way}.txt", allow_empty_lines=True)
        for way in DIRECTIONS
    }
    now = translator.translate_into(lines, DIRECTIONS)
    equal = [old == new for way in DIRECTIONS for old, new in zip(before[way], now[way], strict=True)]
    assert len(equal) == 3 * 11 and len({line for way in DIRECTIONS for line in before[way]}) > 6
    return sum(equal) / len(equal)


def test_a_run_translates_as_before(older):
    # Rounding of another processor may decide between two translations that are as good.
    assert share_as_before(Translator.open(older / RUN, Search(beam=2)), older) > 0.9


# Version 0.1 scaled int8 by single weights: without VNNI, sums overflow (`zsnmt.decoding.neighbours`).
OVERFLOWS = set() if torch.cpu._is_vnni_supported() else {"int8"}


@pytest.mark.parametrize("quantization, least", [("float32", 0.9), ("int8", 0.5)])
def test_an_export_translates_as_before_and_says_that_it_has_no_check(older, caplog, quantization, least):
    pytest.importorskip("ctranslate2")
    translator = Translator.open(older / RUN / f"ctranslate2-{quantization}", Search(beam=2))
    assert share_as_before(translator, older) > least or quantization in OVERFLOWS
    assert "cannot be checked on this processor" in caplog.text


def test_scores_have_kinds_and_ways_and_their_table(older):
    scores = read_scores(older / RUN)
    found = sorted((result.kind, result.way.name) for result in scores.results)
    assert (
        found
        == [("supervised", DIRECT.name)] * 6
        + [("zero_shot", DIRECT.name)] * 6
        + [("zero_shot", PIVOT.name)] * 6
    )
    rows = {line.split("  ")[0]: line for line in text_table([scores]).splitlines()}
    assert "2.2 [1.5, 2.6]" in rows["supervised"] and "3.0 [1.7, 3.9]" in rows["through pivot"]


@pytest.mark.slow
def test_a_finished_training_is_finished_and_a_stopped_one_goes_on(older, tmp_path):
    shutil.copytree(older, tmp_path, dirs_exist_ok=True)
    again = ["recipes/train.sh", tmp_path / "tiny.conf", "zs_transformer_residual"]
    done = run_command(*again, runs=tmp_path / "runs")
    assert done.returncode == 0 and "train: done before" in done.stderr and "data: done before" in done.stderr
    (tmp_path / RUN / ".done/train").unlink()
    (tmp_path / RUN / "checkpoints/checkpoint_last.pt").touch()
    done = run_command(*again, runs=tmp_path / "runs")
    assert done.returncode == 0, done.stderr
    log = (tmp_path / RUN / "train.log").read_text()
    assert "Loaded checkpoint" in log[len((older / RUN / "train.log").read_text()) :]
