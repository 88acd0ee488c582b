"""Translation of raw text with a run folder."""

import logging
import shutil

import pytest

from tests.conftest import run_command
from zsnmt.errors import InputError
from zsnmt.translation import Translator


@pytest.fixture(scope="module")
def translator(tiny) -> Translator:
    return Translator(tiny.run(), beam=2)


@pytest.fixture(scope="module")
def lines(tiny) -> list[str]:
    return (tiny.folder / "text" / "test.velan").read_text().split("\n")[:-1]


def test_one_line_for_each_line_in_order_whatever_the_companions(translator, lines):
    together = translator.translate(lines, "tamun", "velan")
    assert len(together) == len(lines)
    assert together == [translator.translate([line], "tamun", "velan")[0] for line in lines]
    assert translator.translate(lines[::-1], "tamun", "velan") == together[::-1]


def test_empty_lines_stay_empty(translator, lines):
    mixed = ["", lines[0], "   ", lines[1], ""]
    translated = translator.translate(mixed, "tamun", "velan")
    assert [not line for line in translated] == [True, False, True, False, True]
    assert translator.translate([], "tamun", "velan") == []
    assert translator.translate(["", ""], "tamun") == ["", ""]


def test_via_is_two_translations(translator, lines):
    pivot = translator.translate(lines, "inglan", "velan")
    assert translator.translate(lines, "tamun", "velan", via="inglan") == translator.translate(pivot, "tamun", "inglan")


def test_the_source_may_be_left_out_where_the_model_does_not_see_it(translator, lines):
    assert translator.translate(lines[:3], "tamun") == translator.translate(lines[:3], "tamun", "velan")


def test_a_line_too_long_is_translated_in_parts_with_a_warning(translator, lines, caplog):
    long_line = " ".join(lines)
    with caplog.at_level(logging.WARNING, logger="zsnmt.translation"):
        translated = translator.translate([lines[0], long_line], "tamun", "velan", first_line=2001)
    assert "line 2002 has" in caplog.text and "at most 39" in caplog.text
    assert translated[0] == translator.translate([lines[0]], "tamun", "velan")[0] and translated[1]
    direction = translator.direction("velan", "tamun")
    parts = list(translator.parts(0, long_line, direction))
    assert len(parts) > 1 and max(map(len, parts)) <= 40
    pieces = [translator.dictionary[token] for part in parts for token in part.tolist() if token >= 4]
    assert translator.pipeline.decode(pieces, "velan") == long_line  # nothing is lost


def test_batches_hold_like_lengths_and_every_sentence_once(translator, lines):
    direction = translator.direction("velan", "tamun")
    sources = [part for number, line in enumerate(lines) for part in translator.parts(number, line, direction)]
    translator.batch_tokens, before = 30, translator.batch_tokens
    batches = list(translator.batches(sources))
    translator.batch_tokens = before
    assert sorted(index for batch in batches for index in batch) == list(range(len(sources)))
    assert all(len(batch) == 1 or len(batch) * max(len(sources[i]) for i in batch) <= 30 for batch in batches)


def test_unknown_languages_are_named_with_the_known_ones(translator):
    for wrong in (dict(target="nolan"), dict(target="tamun", source="nolan"), dict(target="tamun", via="nolan")):
        with pytest.raises(InputError, match="unknown language 'nolan': this model knows inglan, velan, tamun, velor"):
            translator.translate(["x"], **wrong)


def test_a_language_into_itself_is_refused(translator):
    for same in (dict(target="velan", source="velan"), dict(target="tamun", source="velan", via="velan"),
                 dict(target="tamun", source="velan", via="tamun")):  # fmt: skip
        with pytest.raises(InputError, match="source and target are both"):
            translator.translate(["x"], **same)


def test_progress_counts_every_line_once(translator, lines):
    for via in (None, "inglan"):
        told: list[float] = []
        translator.translate(["", *lines, " ".join(lines)], "tamun", "velan", via, finished=told.append)
        assert sum(told) == pytest.approx(len(lines) + 2)


def test_a_run_folder_alone_is_enough(tiny, tmp_path, translator, lines):
    moved = tmp_path / "elsewhere"
    shutil.copytree(tiny.run(), moved, ignore=shutil.ignore_patterns("checkpoints", "hypotheses", "run.json", "*.log"))
    hidden = tiny.folder.with_name("hidden")
    tiny.folder.rename(hidden)  # nothing of the experiment is where it was
    try:
        translated = Translator(moved, beam=2).translate(lines[:2], "tamun", "velan")
    finally:
        hidden.rename(tiny.folder)
    assert translated == translator.translate(lines[:2], "tamun", "velan")


def test_the_command_translates_stdin_and_files(tiny, tmp_path, lines, translator):
    text = "\n".join([lines[0], "", lines[1]]) + "\n"
    expected = translator.translate([lines[0], "", lines[1]], "tamun", "velan", via="inglan")
    options = [tiny.run(), "--from", "velan", "--to", "tamun", "--via", "inglan", "--beam", "2"]
    piped = run_command("scripts/translate.py", *options, input=text)
    assert piped.returncode == 0 and piped.stdout.split("\n")[:-1] == expected and piped.stderr == ""

    (tmp_path / "in").write_text(text)
    filed = run_command("scripts/translate.py", *options, "--input", tmp_path / "in", "--output", tmp_path / "out")
    assert filed.returncode == 0 and (tmp_path / "out").read_text().split("\n")[:-1] == expected


def test_bad_input_gets_one_sentence_and_leaves_the_output_alone(tiny, tmp_path):
    (tmp_path / "latin1").write_bytes("Nuk.\nGrün.\n".encode("latin-1"))
    (tmp_path / "out").write_text("before")
    broken = run_command("scripts/translate.py", tiny.run(), "--to", "velan", "--input", tmp_path / "latin1",
                         "--output", tmp_path / "out")  # fmt: skip
    assert broken.returncode == 1 and "latin1, line 2" in broken.stderr and broken.stderr.count("\n") == 1
    assert (tmp_path / "out").read_text() == "before"

    truncated = tmp_path / "truncated"
    shutil.copytree(tiny.run(), truncated, ignore=shutil.ignore_patterns("checkpoints"))
    (truncated / "model.pt").write_bytes((truncated / "model.pt").read_bytes()[:5000])
    for folder, message in ((truncated, "truncated"), (tmp_path, "is no run folder")):
        refused = run_command("scripts/translate.py", folder, "--to", "velan", input="Nuk.\n")
        assert refused.returncode == 1 and message in refused.stderr and refused.stderr.count("\n") == 1
