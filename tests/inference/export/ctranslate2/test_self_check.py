"""An export says where it was checked, and checks itself elsewhere."""

import pytest

from tests.conftest import make_dictionary
from tests.support.exports import export, random_model, random_translations
from zsnmt.decoding.search import Search
from zsnmt.errors import InputError
from zsnmt.files.records import read_json, write_json
from zsnmt.inference.export.ctranslate2 import self_check
from zsnmt.inference.export.ctranslate2.check import EXACT, score_translations
from zsnmt.inference.export.ctranslate2.engine import CTranslate2Engine
from zsnmt.inference.export.ctranslate2.processor import this_processor
from zsnmt.inference.export.ctranslate2.self_check import (
    PLACES,
    Bound,
    open_export,
    place,
    read_check,
    write_check,
)
from zsnmt.inference.export.folder import EXPORT_FILE, checksums

pytest.importorskip("ctranslate2")


@pytest.fixture(scope="module")
def model():
    return random_model(encoder_residual_removal_layers="middle")


@pytest.fixture
def folder(model, tmp_path):
    """An export that was checked on this processor."""
    dictionary = make_dictionary()
    folder = export(model, dictionary, tmp_path / "export")
    write_check(
        folder, score_translations(model, random_translations(50, dictionary)), Bound("largest", EXACT)
    )
    here = place(CTranslate2Engine(folder, Search()))
    write_json(folder / EXPORT_FILE, record(folder) | {PLACES: [here], "files": checksums(folder)})
    return folder


def record(folder) -> dict:
    return read_json(folder / EXPORT_FILE, "")


@pytest.fixture
def elsewhere(monkeypatch) -> dict:
    """Another kind of processor."""
    here = this_processor() | {"name": "Another", "instructions": ["sse4_1"]}
    monkeypatch.setattr(self_check, "this_processor", lambda: here)
    return here


def test_where_it_was_checked_it_opens_at_once(folder, monkeypatch):
    monkeypatch.setattr(self_check, "read_check", None)
    assert open_export(folder, Search()).search == Search()


def test_elsewhere_it_is_checked_once_and_says_so(folder, elsewhere, caplog, monkeypatch):
    caplog.set_level("INFO", "zsnmt.inference.export")
    open_export(folder, Search())
    assert "is checked on this processor (Another): log-probabilities differ by up to" in caplog.text
    first, second = record(folder)[PLACES]
    assert second | {"compute_type": "", "ctranslate2": ""} == elsewhere | {
        "compute_type": "",
        "ctranslate2": "",
    }
    assert first["instructions"] != second["instructions"]
    monkeypatch.setattr(self_check, "read_check", None)
    open_export(folder, Search())
    assert len(record(folder)[PLACES]) == 2


@pytest.mark.parametrize("change", [{"model": "another"}, {PLACES: [{"name": "a third"}]}])
def test_what_another_process_wrote_during_the_check_stays(folder, elsewhere, change, monkeypatch):
    measured = self_check.agreement

    def measure(*arguments):
        write_json(folder / EXPORT_FILE, record(folder) | change)
        return measured(*arguments)

    monkeypatch.setattr(self_check, "agreement", measure)
    open_export(folder, Search())
    there = record(folder)
    if "model" in change:
        assert there["model"] == "another" and len(there[PLACES]) == 1
    else:
        assert [each["name"] for each in there[PLACES]] == ["a third", "Another"]


def test_elsewhere_a_wrong_translation_is_found(folder, elsewhere, monkeypatch):
    own = CTranslate2Engine.log_probabilities

    def wrong(self, sentences, translations):
        return [[value + 0.01 for value in values] for values in own(self, sentences, translations)]

    monkeypatch.setattr(CTranslate2Engine, "log_probabilities", wrong)
    reason = (
        r"translates wrongly on this processor \(Another, computing in float32\): .* differ by up to "
        r"0.01, and at most 0.0001 is right"
    )
    with pytest.raises(InputError, match=reason):
        open_export(folder, Search())
    assert len(record(folder)[PLACES]) == 1


def test_a_folder_that_cannot_be_written_is_checked_each_time(folder, elsewhere, caplog, monkeypatch):
    def full(path, content):
        raise OSError(28, "No space left on device", str(path))

    monkeypatch.setattr(self_check, "write_json", full)
    caplog.set_level("INFO", "zsnmt.inference.export")
    for _ in range(2):
        open_export(folder, Search())
    assert (
        caplog.text.count("is checked on this processor") == 2
        and "so the check is made each time" in caplog.text
    )


def test_an_export_without_a_check_says_that_it_has_none(model, tmp_path, caplog):
    old = export(model, make_dictionary(), tmp_path / "old")
    open_export(old, Search())
    assert (
        "cannot be checked on this processor: it is of an older version of the toolkit; export the run again"
        in caplog.text
    )


def test_an_int16_export_of_an_older_version_is_refused(folder):
    write_json(folder / EXPORT_FILE, record(folder) | {"quantization": "int16"})
    with pytest.raises(
        InputError, match="was exported in int16: CTranslate2 computes int16 on Intel .* export the run again"
    ):
        open_export(folder, Search())


def test_the_check_is_kept_whole(model, folder):
    expected, bound = read_check(folder)
    assert bound == Bound("largest", EXACT) and len(expected) == 50
    again = score_translations(model, [(each.sentence, each.tokens) for each in expected])
    for kept, computed in zip(expected, again):
        assert kept.log_probabilities == pytest.approx(computed.log_probabilities, abs=2e-6)


def test_the_environment_that_forbids_instructions_makes_another_kind(monkeypatch):
    monkeypatch.delenv("CT2_FORCE_CPU_ISA", raising=False)
    here = this_processor()
    monkeypatch.setenv("CT2_FORCE_CPU_ISA", "GENERIC")
    assert here["forced"] != this_processor()["forced"] and here["architecture"]
