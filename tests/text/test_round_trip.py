"""The count of what survives tokenisation, and the script that prints it."""

import json

import pytest

from tests.conftest import ROOT, run_command
from zsnmt.cli import round_trip as round_trip_command
from zsnmt.errors import InputError
from zsnmt.report.overlap import round_trip_table
from zsnmt.text.lines import write_lines
from zsnmt.text.pipeline import TextPipeline
from zsnmt.text.round_trip import WholePipeline, round_trip
from zsnmt.text.subword import Subwords, train_subwords
from zsnmt.text.tokenisation import load_tokeniser

SCRIPT = ROOT / "scripts/round_trip.py"


class Shortener:
    """Forgets the rest of what it was given."""

    def normalise(self, sentence: str) -> str:
        return sentence

    def tokenise(self, sentence: str) -> str:
        return sentence[:4]

    def detokenise(self, tokens: str) -> str:
        return tokens.upper()


def test_every_outcome_is_counted():
    sentences = ["A well.", "A “well”.", "Oh , no", "a..b .c"]
    result = round_trip(load_tokeniser("moses", "en"), sentences, examples=1)
    assert (result.sentences, result.respelt) == (4, 1)
    assert (result.exact, result.spaced, result.recased, result.lost) == (2, 2, 0, 0)
    assert result.examples == [("Oh , no", "Oh, no")]
    assert result.seconds > 0
    result = round_trip(Shortener(), ["four", "fives", "SIX"], examples=5)
    assert (result.exact, result.recased, result.lost) == (1, 1, 1)
    assert result.examples == [("four", "FOUR"), ("fives", "FIVE")]


@pytest.fixture
def folder(tmp_path):
    write_lines(tmp_path / "train.de-en.de", ["Das ist gut.", "Sie sagt, das Boot ist da."])
    write_lines(tmp_path / "train.de-en.en", ["That is good.", "The boat , she says, is the boat."])
    write_lines(tmp_path / "test.hi", ["यह घर है।"])
    write_lines(tmp_path / "notes.de", ["No text of a split ."])
    return tmp_path


def test_the_script_prints_a_row_for_each_language(folder):
    done = run_command(SCRIPT, folder, "--languages", "de,en,hi", "--examples", 3)
    assert done.returncode == 0, done.stderr
    head, *rows = (line.split("\t") for line in done.stdout.splitlines() if "\t" in line)
    rows = [dict(zip(head, row)) for row in rows]
    assert [row["kind"] for row in rows] == ["moses_truecase", "moses_truecase", "indic"]
    assert [row["sentences"] for row in rows] == ["2", "2", "1"]
    assert [row["exact"] for row in rows] == ["100.00", "50.00", "100.00"]
    assert {row["lost"] for row in rows} == {"0.00"}
    assert "  The boat , she says, is the boat.\n  The boat, she says, is the boat.\n" in done.stdout


def test_empty_lines_are_no_sentences(tmp_path, capsys):
    write_lines(tmp_path / "some.en", ["", "That is good.", " \u2581"])
    round_trip_command.main([str(tmp_path / "some.en"), "--languages", "en", "--tokenisation", "moses"])
    head, row = (line.split("\t") for line in capsys.readouterr().out.splitlines())
    assert dict(zip(head, row))["sentences"] == "1"
    write_lines(tmp_path / "none.en", ["", " "])
    with pytest.raises(InputError, match=r"none\.en: nothing but empty lines; give sentences"):
        round_trip_command.main([str(tmp_path / "none.en"), "--languages", "en"])


def test_the_script_reads_files_and_settings(folder):
    files = folder / "notes.de", folder / "test.hi"
    done = run_command(SCRIPT, *files, "--languages", "de,hi", "--tokenisation", "moses hi=raw")
    assert done.returncode == 0, done.stderr
    assert [line.split("\t")[1:3] for line in done.stdout.splitlines()[1:]] == [["moses", "1"], ["raw", "1"]]


def test_the_script_takes_the_whole_pipeline_and_keeps_the_figures(folder, tmp_path):
    train_subwords(
        {"de": [folder / "train.de-en.de"], "en": [folder / "train.de-en.en"]},
        tmp_path / "subwords.model",
        50,
    )
    pipeline = TextPipeline(Subwords(tmp_path / "subwords.model"), {"de": "raw", "en": "moses"})
    (tmp_path / "pipeline").mkdir()
    pipeline.save(tmp_path / "pipeline")
    assert round_trip(WholePipeline(pipeline, "de"), ["Das ist  gut .", "x ☃"]).exact == 2
    assert " ".join(pipeline.encode("gut", "de")) == WholePipeline(pipeline, "de").tokenise("gut")
    output = tmp_path / "figures.json"
    done = run_command(
        SCRIPT, folder, "--languages", "de,en", "--pipeline", tmp_path / "pipeline", "--output", output
    )
    assert done.returncode == 0, done.stderr
    figures = json.loads(output.read_text())
    assert figures["languages"]["de"] == dict(
        kind="raw", sentences=2, respelt=0, exact=100, spaced=0, recased=0, lost=0
    )
    assert figures["languages"]["en"]["spaced"] == 50 and len(figures["commit"].split("+")[0]) == 40
    assert "| en | `moses` | 2 | 0.00 % | 50.00 % | 50.00 % | 0.00 % | 0.00 % |" in round_trip_table(figures)


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["--examples", "-1"], "argument --examples: '-1' is not a whole number, 0 or above"),
        (
            ["--pipeline", "somewhere", "--tokenisation", "moses"],
            "argument --tokenisation: not allowed with argument --pipeline",
        ),
    ],
)
def test_options_that_would_do_nothing_are_refused(folder, arguments, message):
    with pytest.raises(InputError, match=message):
        round_trip_command.main([str(folder), "--languages", "de", *arguments])


@pytest.mark.parametrize(
    "arguments, message",
    [
        (
            ["--languages", "de,fr"],
            "there is no text of fr; looked for files that end in .fr as in parallel text",
        ),
        (
            ["--languages", "de", "--tokenisation", "raw dee=moses"],
            "'dee=moses' in 'raw dee=moses' is for none of de; correct it",
        ),
    ],
)
def test_mistakes_are_one_line(folder, arguments, message):
    done = run_command(SCRIPT, folder, *arguments)
    assert (done.returncode, done.stdout, done.stderr) == (1, "", f"error: {message}\n")
