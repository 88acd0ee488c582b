"""`zsnmt translate`: what it refuses before it reads text, and what is there when it is stopped."""

import fcntl
import os
import select
import signal
import subprocess
import sys
import time
from argparse import Namespace
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import OLDER_RUN, ROOT
from tests.support.disk import full_after
from tests.support.kernels import forget_kernels
from tests.support.serving import ToldTranslator
from zsnmt import cli
from zsnmt.cli.translate import AUTO, make_parser, refuse_wrong_languages
from zsnmt.console import WrongUse
from zsnmt.decoding.options import EngineChoice
from zsnmt.decoding.search import Search
from zsnmt.errors import InputError
from zsnmt.inference.line_files import LineTranslation, open_lines
from zsnmt.inference.translator import Line, Translator
from zsnmt.languages import Direction, read_languages
from zsnmt.processes import KERNELS, kernel_limit, memory
from zsnmt.runs import folder
from zsnmt.text.lines import read_lines

WORDS = ("--from", "velan", "--to", "tamun", "--beam", "2", "--workers", "1")


def asked(languages: list[str], **given: str | None) -> None:
    translator = ToldTranslator()
    translator.languages = languages
    others = {"way": None, "scores": None, "agreement": False, "nbest": None, "beside": []}
    options = Namespace(**{"source": AUTO, "via": None, **others, **given})
    refuse_wrong_languages(translator, options)


def test_any_source_that_is_found_may_be_the_pivot():
    asked(["en", "de"], to="de", via="en")  # a model of two languages
    asked(["en", "de", "fr"], to="de", via="en")
    with pytest.raises(InputError, match="xx"):
        asked(["en", "de"], to="xx", via="en")
    with pytest.raises(InputError, match="yy"):
        asked(["en", "de", "fr"], to="de", via="yy")


@pytest.mark.parametrize(
    "given, remedy",
    [
        (dict(source="de", to="fr"), "compare with --via en"),
        (dict(source="en", to="fr", via="de"), "leave out --via"),
    ],
)
def test_a_direction_without_text_is_named_with_a_way_that_can_be_taken(given, remedy, caplog):
    asked(["en", "de", "fr"], **given)
    assert "not trained on de-fr:" in caplog.text and f"; {remedy}" in caplog.text


def test_a_way_without_a_name_is_none():
    with pytest.raises(InputError, match="there is no way '' to translate; choose"):
        cli.run(["translate", "nowhere", *WORDS, "--way", ""])


def test_without_a_target_the_command_says_which_languages_there_are(older, tmp_path):
    run = older / OLDER_RUN
    with pytest.raises(WrongUse, match=f"by --to: {' '.join(read_languages(run / 'pipeline'))}; see"):
        cli.run(["translate", str(run)])
    with pytest.raises(InputError, match="is not a run folder; did you mean"):
        cli.run(["translate", str(run.parent)])
    with pytest.raises(InputError, match="there is no folder"):
        cli.run(["translate", str(tmp_path / "none")])


@pytest.mark.parametrize("name", ["text.de", "same.de", "link.de", "page.html"])
def test_a_text_is_not_replaced_by_its_translation(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    for each in ("text.de", "page.html"):
        Path(each).write_text("Ein Text.\n")
    Path("same.de").hardlink_to("text.de")
    Path("link.de").symlink_to("text.de")
    given = name if name == "page.html" else "text.de"
    with pytest.raises(WrongUse, match="--output is the file of --input, whose text would be lost; give it"):
        cli.run(["translate", "run", *WORDS, "--input", given, "--output", f"./{name}"])
    assert Path(given).read_text() == "Ein Text.\n"


def test_a_text_does_not_grow_while_it_is_translated(tmp_path, monkeypatch):
    """As by `--input text.de >> text.de`."""
    path = tmp_path / "text.de"
    path.write_text("Ein Text.\n")
    with path.open("a") as file:
        monkeypatch.setattr("sys.stdout", file)
        with pytest.raises(WrongUse, match="the output goes to the file of --input, and would be translated"):
            cli.run(["translate", "run", *WORDS, "--input", str(path)])
    assert path.read_text() == "Ein Text.\n"


@pytest.mark.parametrize(
    "words, message",
    [
        (["--nbest", "2", "--input", "page.html"], "a document has no place for --nbest; give its text as"),
        (["--nbest", "2", "--scores", "jsonl"], "--nbest has scores of its own; leave out --scores"),
        (["--nbest", "2", "--via", "inglan"], "--nbest is what one search finds, and --via are two"),
        (["--nbest", "2", "--from", "auto"], "--nbest must be told the source language"),
        (["--nbest", "3"], "--nbest 3 is more than the search keeps; give --beam 3"),
        (["--nbest", "5", "--beam", "4"], "--nbest 5 is more than the search keeps; give --beam 5"),
        (["--nbest", "2", "--way", "sample:beam=1"], "keeps; give --nbest 1, or beam=2 in --way"),
        (["--nbest", "2", "--way", "search:beam=1"], "keeps; give --nbest 1, or beam=2 in --way"),
        (["--buffer-lines", "1", "--input", "page.html"], "read to its end before it is translated; leave"),
        (["--buffer-lines", "1", "--from", "auto"], "read to its end before it is translated; leave out"),
        (["--buffer-lines", "1", "--way", "contrast"], "read to its end before it is translated; leave out"),
        (
            ["--input", "a.docx", "--output", "a.txt"],
            "a.txt would be written in the format of --input, .docx",
        ),
        (["--input", "a.po", "--output", "a.pdf"], "a.pdf would be written in the format of --input, .po"),
        (["--input", "a.de", "--output", "a.html"], "a.html would be written as lines of text"),
        (["--input", "a.odt", "--output", "a.ods"], "a.ods would be written in the format of --input, .odt"),
        (["--way", "search:beam=1", "--way", "mask"], "--way: given twice; give it once, with all of its"),
        (["--buffer-lines", "0"], "'0' is not a whole number above 0"),
    ],
)
def test_options_that_do_not_go_together_are_refused_before_anything_is_read(words, message):
    with pytest.raises(WrongUse, match=message):
        cli.run(["translate", "nowhere", *WORDS, *words])


def test_runs_that_translate_together_may_be_named_one_by_one():
    parser = make_parser()
    assert [*map(str, parser.parse_args("A --with B C --with D".split()).beside)] == ["B", "C", "D"]
    assert parser.parse_args(["A"]).beside == []


@pytest.mark.parametrize("given", [None, "77"])
def test_the_memory_for_kernels_is_shared_before_anything_is_multiplied(given, monkeypatch):
    forget_kernels(monkeypatch)
    if given:
        monkeypatch.setenv(KERNELS, given)
    for words, processes in (
        (["translate", "--to", "de", "--workers", "3"], 3),
        (["serve", "--port", "0"], 1),
    ):
        with pytest.raises(InputError, match="there is no folder /nowhere; give a run"):
            cli.run([*words, "/nowhere"])
        assert os.environ[KERNELS] == (given or str(kernel_limit(memory(), processes)))


# Files


@pytest.fixture(scope="module")
def lines(older) -> list[str]:
    return read_lines(older / "runs/tiny/text/test.velan")


@pytest.fixture
def text(tmp_path, lines) -> Path:
    path = tmp_path / "text"
    path.write_text("\n".join([*lines[:3], "", *lines[3:]]) + "\n")
    return path


def translate(older: Path, text: Path, *words: str) -> bytes:
    """What the command writes into a file beside the text, some lines at a time."""
    output = text.with_name("out")
    files = ("--input", str(text), "--output", str(output))
    cli.run(["translate", str(older / OLDER_RUN), *WORDS, *files, "--buffer-lines", "2", *words])
    return output.read_bytes()


class Watch:
    """Notes the lines that are translated; after so many of them an interrupt comes."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.lines: list[str] = []
        self.most = 1000
        stock = LineTranslation.rows

        def rows(translation: LineTranslation, lines: list[str], *rest: Any) -> list[str]:
            if len(self.lines) >= self.most:
                raise KeyboardInterrupt
            self.lines += lines
            return stock(translation, lines, *rest)

        monkeypatch.setattr(LineTranslation, "rows", rows)


@pytest.fixture
def watch(monkeypatch) -> Watch:
    return Watch(monkeypatch)


@pytest.mark.slow
@pytest.mark.parametrize("words", [(), ("--scores", "tsv"), ("--nbest", "2")], ids=" ".join)
def test_a_file_is_gone_on_with_where_it_was_stopped(older, text, words, watch, capfd):
    expected = translate(older, text, *words)
    text.with_name("out").write_text("before")
    watch.most = (before := len(watch.lines)) + 4
    with pytest.raises(KeyboardInterrupt):
        translate(older, text, *words)
    assert text.with_name("out").read_text() == "before"
    assert "4 of 12 lines are kept; the same command goes on there" in capfd.readouterr().err
    watch.most = 1000
    assert translate(older, text, *words) == expected
    assert watch.lines[before:] == read_lines(text, allow_empty_lines=True)
    assert capfd.readouterr().err == "4 of 12 lines were translated before\n"
    assert {path.name for path in text.parent.iterdir()} == {"text", "out"}
    assert len(expected.splitlines()) > 12 or "--nbest" not in words


@pytest.mark.slow
def test_what_was_begun_with_other_text_or_settings_is_not_gone_on_with(older, text, watch):
    watch.most = 4
    with pytest.raises(KeyboardInterrupt):
        translate(older, text)
    for change in (("--length-penalty", "0.5"), ("--to", "velor"), ("--batch-tokens", "50")):
        watch.most = len(watch.lines)
        with pytest.raises(KeyboardInterrupt):  # before its first line
            translate(older, text, *change)
    content = text.read_text()
    text.write_text(content + "Ba.\n")
    with pytest.raises(KeyboardInterrupt):
        translate(older, text)
    text.write_text(content)
    watch.most, before = 1000, len(watch.lines)
    translate(older, text, "--workers", "2")  # which changes nothing
    assert len(watch.lines) - before == 8


@pytest.mark.slow
def test_a_mask_of_pieces_that_were_counted_anew_begins_anew(older, text, watch, monkeypatch):
    pipeline = older / OLDER_RUN / "pipeline"
    pieces = [line.split()[0] for line in next(iter(pipeline.glob("dict.*"))).read_text().splitlines()]
    for share in (1, 2):
        counts = {each: Counter(pieces[: len(pieces) // share]) for each in read_languages(pipeline)}
        monkeypatch.setattr(folder, "piece_counts", lambda run, counts=counts: counts)
        watch.most, before = len(watch.lines) + 4, len(watch.lines)
        with pytest.raises(KeyboardInterrupt):
            translate(older, text, "--way", "mask")
        assert watch.lines[before:] == read_lines(text, allow_empty_lines=True)[:4]


@pytest.mark.slow
def test_a_full_disk_leaves_what_was_translated(older, text, watch, capfd):
    with pytest.raises(OSError) as error, full_after(100):
        translate(older, text)
    assert error.value.filename == str(text.with_name("out"))
    kept = int(capfd.readouterr().err.partition(" of 12 lines are kept")[0])
    before = len(watch.lines)
    translate(older, text)
    assert 0 < kept < 12 and len(watch.lines) - before == 12 - kept


@pytest.mark.slow
def test_a_file_that_changes_is_not_translated_on(older, text, monkeypatch):
    stock = LineTranslation.rows

    def rows(translation: LineTranslation, *rest: Any) -> list[str]:
        with text.open("a") as file:
            file.write("Ba.\n")
        return stock(translation, *rest)

    monkeypatch.setattr(LineTranslation, "rows", rows)
    with pytest.raises(InputError, match="text was changed while it was translated; run the same command"):
        translate(older, text)
    assert {path.name for path in text.parent.iterdir()} == {"text"}


def test_a_fault_of_any_line_is_found_before_the_first_is_translated(older, text, watch):
    with text.open("ab") as file:
        file.write(b"Gr\xfcn.\n")
    with pytest.raises(InputError, match="text, line 13, byte 3: 0xfc is not UTF-8"):
        translate(older, text)
    assert not watch.lines


def test_lines_of_a_file_are_counted_and_known_by_their_content(tmp_path):
    checksums = set()
    for content in ("one\n\nthree\n", "one\n\nthree", "one\n\nfour\n"):
        (tmp_path / "text").write_text(content)
        with open_lines(tmp_path / "text") as file:
            assert file.number == 3 and [*file.lines(1)] == ["", content.split()[-1]]
            assert [*file.lines()] == content.split("\n")[:3]
            checksums.add(file.checksum)
    assert len(checksums) == 2


# Processes


def command(older: Path, *words: str | Path, **streams: Any) -> subprocess.Popen:
    """The command as a person runs it."""
    words = (sys.executable, "-m", "zsnmt", "translate", older / OLDER_RUN, *WORDS, *words)
    return subprocess.Popen([*map(str, words)], cwd=ROOT, **streams)


@pytest.mark.slow
def test_what_a_killed_command_translated_is_kept(older, text, lines, warm_python, capfd):
    text.write_text("\n".join(lines * 40) + "\n")
    expected = translate(older, text)
    text.with_name("out").unlink()
    process = command(older, "--input", text, "--output", text.with_name("out"), "--buffer-lines", "2")
    deadline = time.monotonic() + 300
    while not any(path.stat().st_size for path in text.parent.glob("out.*.part.ends")):
        assert time.monotonic() < deadline and process.poll() is None
        time.sleep(0.005)
    process.kill()
    assert process.wait() == -signal.SIGKILL
    (part,) = text.parent.glob("out.*.part")
    with part.open("ab") as file:
        fcntl.flock(file, fcntl.LOCK_EX)  # what it was a copy of ends a moment later
    assert translate(older, text) == expected
    assert " of 440 lines were translated before" in capfd.readouterr().err


@pytest.mark.slow
def test_a_pipe_that_waits_for_each_answer_gets_it(older, lines, warm_python):
    process = command(older, "--buffer-lines", "1", stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    by = Translator.open(older / OLDER_RUN, Search(beam=2), EngineChoice(workers=1))
    for line in (lines[0], "", lines[1]):
        process.stdin.write(f"{line}\n".encode())
        process.stdin.flush()
        assert select.select([process.stdout], [], [], 300)[0]
        assert process.stdout.readline().decode() == f"{by.translate([line], 'tamun', 'velan')[0]}\n"
    rest, _ = process.communicate()
    assert process.returncode == 0 and rest == b""


# N-best lists


@pytest.mark.slow
def test_the_best_translations_of_each_line_are_numbered_and_have_the_score_of_the_search(
    older, text, capfd, caplog
):
    long = " ".join(read_lines(text, allow_empty_lines=True))
    text.write_text(text.read_text() + long + "\n")
    search = ("--beam", "4", "--length-penalty", "0.5", "--nbest", "3")
    cli.run(["translate", str(older / OLDER_RUN), *WORDS, *search, "--input", str(text)])
    rows = [row.split(" ||| ") for row in capfd.readouterr().out.splitlines()]
    assert "line 13 has" in caplog.text and "translated in parts" in caplog.text
    by = Translator.open(older / OLDER_RUN, Search(4, 0.5), EngineChoice(workers=1))
    asked = [Line(line, Direction("velan", "tamun"), 3) for line in read_lines(text, allow_empty_lines=True)]
    expected = by.n_best(asked)
    assert [[text for number, text, _ in rows if int(number) == place] for place in range(13)] == [
        [each.text for each in found] for found in expected
    ]
    assert rows[[int(number) for number, _, _ in rows].index(3)] == ["3", "", "0.0000"]  # the empty line
    scores = [[float(score) for number, _, score in rows if int(number) == place] for place in range(13)]
    assert all(found == sorted(found, reverse=True) for found in scores) and max(map(len, scores)) == 3
    best = expected[0][0]
    assert scores[0][0] == pytest.approx(best.log_probability / best.tokens**0.5, abs=1e-4)


@pytest.mark.slow
def test_a_contrast_has_no_scores_for_a_list(older):
    with pytest.raises(InputError, match="has none of its translations; leave out --scores and --nbest, or"):
        cli.run(["translate", str(older / OLDER_RUN), *WORDS, "--nbest", "2", "--way", "contrast"])
