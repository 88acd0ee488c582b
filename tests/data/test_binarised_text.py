"""Texts as ids in the files that fairseq reads."""

import numpy as np
from fairseq.data import data_utils

from zsnmt.data.binarised_text import count_ids, count_sentences, deal_ids, parts_of


def test_texts_get_rows_in_turn_and_are_counted(tmp_path):
    rows, paths = [[5, 7, 2], [2], [7, 7, 6, 2], [6, 2], [5, 2]], [tmp_path / "a", tmp_path / "b"]
    assert deal_ids(paths, (np.array(row, dtype=np.int64) for row in rows), 9) == 5
    for path, expected in zip(paths, (rows[::2], rows[1::2])):
        assert [ids.tolist() for ids in data_utils.load_indexed_dataset(str(path))] == expected
        assert count_sentences(path) == len(expected)
        assert count_ids(path, 9).tolist() == [sum(row.count(id) for row in expected) for id in range(9)]


def test_ids_are_counted_in_parts_as_they_are_at_once():
    ids = np.arange(11, dtype=np.uint16)
    assert [part.tolist() for part in parts_of(ids, 4)] == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10]]
