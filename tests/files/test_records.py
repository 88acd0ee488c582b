"""Files of records: what is not a file is refused before anything waits for it, and how they are laid out."""

import json
import os

import pytest

from tests.conftest import ROOT
from zsnmt.errors import InputError
from zsnmt.files.checksums import check_archive, sha256
from zsnmt.files.records import LONGEST, json_text, lay_out, read_json, write_json


def test_a_pipe_and_a_folder_are_not_read(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    for path in tmp_path.iterdir():
        for read in (lambda path: read_json(path, "make it anew"), sha256, check_archive):
            with pytest.raises(InputError, match=f"{path.name} is not a file; put the file in its place"):
                read(path)


RESULT = {"direction": "de-fr", "bleu": 0.1 + 0.2, "lines": 3, "intervals": {"bleu": [0.0, 1e-17]}, "é": None}


def test_a_long_value_has_one_line_for_each_of_its_items_and_nothing_changes():
    long = [RESULT | {"lines": lines} for lines in range(LONGEST)]
    content = {
        "beam": 4,
        "few": [RESULT],
        "directions": long,
        "by pair": {str(n): [n] for n in range(99)},
        "no": {},
    }
    text = json_text(content)
    assert json.loads(text) == content and [*json.loads(text)] == [*content]
    lines = text.splitlines()
    assert len(lines) == 2 + len(content) + (1 + len(long)) + (1 + 99) and "é" in text
    assert lines[1:3] == ['"beam": 4,', f'"few": [{json.dumps(RESULT, ensure_ascii=False)}],']
    assert json.loads(lines[4].strip(" ,")) == long[0]


def test_a_file_in_other_lines_is_laid_out_anew_and_says_the_same(tmp_path):
    path = tmp_path / "scores.json"
    path.write_text(json.dumps({"directions": [RESULT] * 9}, indent=1), encoding="utf-8")
    lay_out(path, "score it again")
    assert (
        json.loads(path.read_text("utf-8"))
        == {"directions": [RESULT] * 9}
        == read_json(path, "score it again")
    )
    before = path.stat().st_mtime_ns, path.stat().st_ino
    lay_out(path, "score it again")
    assert (path.stat().st_mtime_ns, path.stat().st_ino) == before
    write_json(tmp_path / "again.json", {"directions": [RESULT] * 9})
    assert (tmp_path / "again.json").read_bytes() == path.read_bytes()


def test_the_files_that_the_project_keeps_are_laid_out_so():
    kept = sorted((ROOT / "docs" / "results").rglob("*.json"))
    assert kept
    for path in kept:
        text = path.read_text(encoding="utf-8")
        assert text == json_text(json.loads(text)), f"{path}: run zsnmt results"


def test_a_name_of_a_file_that_is_not_utf_8_can_be_written(tmp_path):
    name = os.fsdecode(b"B\xfccher.tsv")
    write_json(tmp_path / "a.json", {"files": {name: [1]}})
    assert read_json(tmp_path / "a.json", "again") == {"files": {name: [1]}}
