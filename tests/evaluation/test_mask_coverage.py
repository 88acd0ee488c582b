"""What a mask lets through of a test set."""

from pathlib import Path

import pytest

from zsnmt.cli import count_pieces
from zsnmt.decoding.methods.pieces import has_letter
from zsnmt.decoding.methods.settings import Mask
from zsnmt.errors import InputError
from zsnmt.evaluation.mask_coverage import mask_coverage
from zsnmt.runs.folder import piece_counts, read_record
from zsnmt.text.lines import read_lines
from zsnmt.text.pipeline import TextPipeline

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("pieces", [1, 40])
def test_it_is_what_a_loop_over_the_references_finds(tiny, pieces):
    run = tiny.run()
    text, pipeline = Path(read_record(run)["text"]), TextPipeline.load(run / "pipeline")
    found = mask_coverage(run, Mask(pieces))
    assert [*found] == [*piece_counts(run)]
    for language, covered in found.items():
        sentences = {line for file in text.glob(f"test*.{language}") for line in read_lines(file)}
        enough = {piece for piece, number in piece_counts(run)[language].items() if number >= pieces}
        lines = [pipeline.encode(sentence, language) for sentence in sentences]
        allowed = [[piece in enough or not has_letter(piece) for piece in line] for line in lines]
        assert covered.sentences == len(sentences)
        assert covered.pieces == pytest.approx(sum(map(sum, allowed)) / sum(map(len, allowed)))
        assert covered.whole == pytest.approx(sum(map(all, allowed)) / len(allowed))
    assert any(covered.whole < 1 for covered in found.values())


def test_it_is_printed_for_each_language_and_text_without_test_sets_is_refused(tiny, tmp_path, capsys):
    run = tiny.run()
    count_pieces.main([str(run), "--coverage", "1", "--text", read_record(run)["text"]])
    head, *rows = [line.split("\t") for line in capsys.readouterr().out.splitlines()]
    assert head == ["run", "language", "sentences", "of pieces", "whole"]
    assert [row[1] for row in rows] == [*piece_counts(run)]
    assert all(row[3].endswith("%") and row[4].endswith("%") for row in rows)
    with pytest.raises(InputError, match="has no test set in the languages of .*; name one with --text"):
        mask_coverage(run, Mask(), tmp_path)
