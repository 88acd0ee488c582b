"""A person's text written as parallel text."""

from itertools import combinations
from pathlib import Path
from unittest import mock

import pytest

from zsnmt.corpora.own_text import rewriting
from zsnmt.corpora.own_text.table import Table, look_for_gaps
from zsnmt.errors import refuse

LANGUAGES = ("en", "da", "de", "fr", "sv")


@pytest.fixture
def gap_table(tmp_path) -> tuple[Table, mock.Mock]:
    """Training text in five languages of which each row lacks one, English too; and what counts its
    readings.
    """
    rows = [
        tuple(f"{language} {number}" * (language != missing) for language in LANGUAGES)
        for number in range(100)
        for missing in LANGUAGES
    ]
    read = mock.Mock(side_effect=lambda on_fault=refuse: iter(rows))
    (tmp_path / "file").touch()
    table = look_for_gaps(Table("train", LANGUAGES, (tmp_path / "file",), read), refuse)
    read.reset_mock()
    return table, read


@pytest.mark.parametrize("together, readings", [(100, 1), (4, 3)])
def test_a_table_is_read_once_for_many_pairs(gap_table, tmp_path, monkeypatch, together, readings):
    monkeypatch.setattr(rewriting, "TOGETHER", together)
    table, read = gap_table
    rewriting.write_parallel_text([table], tmp_path, LANGUAGES)
    assert read.call_count == readings
    assert number_of_lines(tmp_path) == {
        "-".join(pair): 300 if "en" in pair else 100 for pair in combinations(LANGUAGES, 2)
    }


def test_a_table_is_not_read_for_pairs_of_which_it_has_too_little(gap_table, tmp_path, monkeypatch):
    monkeypatch.setattr(rewriting, "TOGETHER", 1)
    monkeypatch.setattr("zsnmt.corpora.own_text.languages.FEWEST_TO_TRAIN", 101)
    table, read = gap_table
    rewriting.write_parallel_text([table], tmp_path, LANGUAGES)
    assert read.call_count == len(number_of_lines(tmp_path)) == len(LANGUAGES) - 1


def number_of_lines(folder: Path) -> dict[str, int]:
    """The lines of the training text of each pair, which are as many in both languages."""
    counts: dict[str, set[int]] = {}
    for file in folder.glob("train.*"):
        counts.setdefault(file.name.split(".")[1], set()).add(len(file.read_text().splitlines()))
    return {pair: number for pair, (number,) in counts.items()}
