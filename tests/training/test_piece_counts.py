"""The counts of pieces that a run keeps, and those of runs that are older than the file."""

import pytest

from zsnmt.cli import count_pieces
from zsnmt.errors import InputError
from zsnmt.files.locks import Busy, locked
from zsnmt.runs.checksums import check_pipeline, read_checksums
from zsnmt.runs.folder import piece_counts
from zsnmt.text.piece_counts import PIECE_COUNTS_FILE, read_piece_counts


@pytest.mark.slow
def test_a_run_keeps_the_counts_of_its_data_with_its_pipeline(tiny):
    run, name = tiny.run(), f"pipeline/{PIECE_COUNTS_FILE}"
    assert (run / name).read_bytes() == (tiny.folder / "data" / PIECE_COUNTS_FILE).read_bytes()
    assert name in read_checksums(run)
    assert piece_counts(run) == read_piece_counts(tiny.folder / "data")


@pytest.mark.slow
def test_an_older_run_is_counted_by_its_data_and_stays_what_it_is(own_tiny, capsys):
    run = own_tiny.run()
    before = piece_counts(run)
    (run / "pipeline" / PIECE_COUNTS_FILE).unlink()
    (run / "checksums.json").unlink()
    with pytest.raises(InputError, match="zsnmt count-pieces RUN"):
        piece_counts(run)
    count_pieces.main([str(run)])
    assert piece_counts(run) == before and not (run / "pipeline" / PIECE_COUNTS_FILE).exists()
    check_pipeline(run)
    head, *printed = [line.split("\t") for line in capsys.readouterr().out.splitlines()]
    assert head == ["run", "language", "different pieces", "pieces"]
    assert [(language, int(total)) for _, language, _, total in printed] == [
        (language, counts.total()) for language, counts in before.items()
    ]


@pytest.mark.slow
def test_a_run_in_which_another_process_is_at_work_is_refused(own_tiny):
    run = own_tiny.run()
    with locked(run), pytest.raises(Busy, match="another process is at work in"):
        count_pieces.main([str(run)])
    assert not (run / PIECE_COUNTS_FILE).exists()


@pytest.mark.slow
def test_data_that_are_gone_or_others_are_refused(own_tiny):
    dictionary = own_tiny.folder / "data" / "dict.inglan.txt"
    dictionary.write_bytes(dictionary.read_bytes() + b"more 1\n")
    with pytest.raises(
        InputError, match="data, on which .* was trained, is not there any more or holds other"
    ):
        count_pieces.main([str(own_tiny.run())])
