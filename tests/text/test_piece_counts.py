"""The file of how often each language uses each piece."""

from collections import Counter

import pytest

from zsnmt.errors import InputError
from zsnmt.text.piece_counts import PIECE_COUNTS_FILE, read_piece_counts, write_piece_counts

COUNTS = {"en": Counter({"▁a": 3, "b": 1, "#": 3}), "de": Counter({"▁a": 7, "ß": 2})}


def test_what_is_written_is_read_in_the_order_of_languages_and_of_frequency(tmp_path):
    write_piece_counts(tmp_path, COUNTS)
    read = read_piece_counts(tmp_path)
    assert read == COUNTS and [*read] == ["en", "de"]
    assert [*read["en"]] == ["#", "▁a", "b"]


def test_a_missing_file_is_refused_with_the_command_that_makes_it(tmp_path):
    with pytest.raises(InputError, match="piece_counts.tsv is missing.*zsnmt count-pieces RUN"):
        read_piece_counts(tmp_path)


@pytest.mark.parametrize(
    "content",
    ["", "en\ta\n", "en\ta\tmany\n", "en\ta\t0\n", "en\ta\t1\nen\ta\t2\n", "en\ta\t1\n\n", "en\ta\t1\t1\n"],
)
def test_a_damaged_file_is_refused(tmp_path, content):
    (tmp_path / PIECE_COUNTS_FILE).write_text(content)
    with pytest.raises(InputError, match="piece_counts.tsv is damaged"):
        read_piece_counts(tmp_path)
