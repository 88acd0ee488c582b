"""The record of an export, which no checksum of its files covers."""

import shutil
from pathlib import Path

import pytest

from tests.conftest import OLDER_RUN, make_dictionary
from tests.support.exports import export, random_model
from zsnmt.decoding.search import Search
from zsnmt.errors import InputError
from zsnmt.files.records import read_json, write_json
from zsnmt.inference.export.ctranslate2.self_check import PLACES
from zsnmt.inference.export.folder import CHECKSUM, EXPORT_FILE, checksum, describe_export, read_export
from zsnmt.inference.translator import Translator

pytest.importorskip("ctranslate2")


@pytest.fixture
def folder(tmp_path) -> Path:
    """An export of a random model."""
    folder = export(random_model(), make_dictionary(), tmp_path / "export")
    change(folder)
    return folder


def change(folder: Path, sealed: bool = True, **values) -> None:
    """Write other values into the record, with its checksum or, as before there was one, without."""
    record = {name: value for name, value in read_json(folder / EXPORT_FILE, "").items() if name != CHECKSUM}
    record |= values
    write_json(folder / EXPORT_FILE, record | ({CHECKSUM: checksum(record)} if sealed else {}))


@pytest.mark.parametrize(
    "wrong",
    [
        {"language_tags": "t_enc"},
        {"max_source_positions": 1},
        {"max_target_positions": 5},
        {"trained": ["aa-bb"]},
        {"quantization": "int8"},
        {"model": "0" * 64},
        {"files": {}},
    ],
)
def test_a_record_that_was_changed_is_refused(folder, wrong):
    kept = read_json(folder / EXPORT_FILE, "")
    write_json(folder / EXPORT_FILE, kept | wrong)
    with pytest.raises(InputError, match="export.json is damaged: it does not say what was exported; export"):
        describe_export(folder)
    with pytest.raises(InputError, match="export.json is damaged"):
        Translator.open(folder)
    write_json(folder / EXPORT_FILE, kept)
    assert read_export(folder) == kept and Translator.open(folder).translate(["w1 w2"], "aa", "bb")


def test_where_an_export_was_checked_may_be_added(folder):
    record = read_json(folder / EXPORT_FILE, "")
    write_json(folder / EXPORT_FILE, record | {PLACES: [{"name": "a processor"}]})
    assert describe_export(folder)[PLACES] == [{"name": "a processor"}]


@pytest.mark.parametrize(
    "wrong, reason",
    [
        ({"max_source_positions": 0}, "reads 0 tokens of a source"),
        ({"max_source_positions": 1}, "reads 1 tokens of a source"),
        ({"max_source_positions": "many"}, "max_source_positions cannot be .many."),
        ({"max_target_positions": 1}, "a translation cannot have at most 1 tokens"),
        ({"language_tags": "t_den"}, "unknown tag placement 't_den'"),
        ({"trained": ["aa"]}, "'aa'"),
    ],
)
def test_values_that_cannot_be_are_refused_in_older_records_too(folder, wrong, reason):
    change(folder, sealed=False, **wrong)
    with pytest.raises(
        InputError, match=f"export.json is damaged \\(.*{reason}.*\\); .*export the run again"
    ):
        Translator.open(folder)


def test_an_older_record_opens_and_its_pipeline_is_not_guessed(older, tmp_path):
    folder = shutil.copytree(older / OLDER_RUN / "ctranslate2-float32", tmp_path / "export")
    record = read_json(folder / EXPORT_FILE, "")
    assert CHECKSUM not in record and Translator.open(folder, Search(beam=2)).translate(["Ba."], "tamun")
    (folder / "pipeline/pipeline.json").unlink()
    with pytest.raises(InputError, match="pipeline/pipeline.json is missing; export the run again"):
        Translator.open(folder)
    del record["files"]["pipeline/pipeline.json"]  # an export of a time before there were pipelines
    write_json(folder / EXPORT_FILE, record)
    assert Translator.open(folder, Search(beam=2)).translate(["Ba."], "tamun")
