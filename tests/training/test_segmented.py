"""Pieces on disk: what is read is what was written, whatever is read at a time."""

from collections import Counter

import pytest

from zsnmt.training import segmented
from zsnmt.training.segmented import read_segmented, write_segmented

SENTENCES = [["b", "a", "b"], [], ["c"], ["a"] * 5, ["b", "d"]]


@pytest.mark.parametrize("together, read", [(1, 1), (2, 3), (10, 100)])
def test_sentences_come_back_as_ids_with_eos(tmp_path, monkeypatch, together, read):
    monkeypatch.setattr(segmented, "TOGETHER", together)
    monkeypatch.setattr(segmented, "READ", read)
    counts = write_segmented(tmp_path / "x", SENTENCES)
    assert counts == Counter(b=3, a=6, c=1, d=1) and [*counts] == ["b", "a", "c", "d"]
    id_of = {"a": 7, "b": 5, "c": 3, "d": 11}
    ids = read_segmented(tmp_path / "x", [id_of[piece] for piece in counts], eos=2)
    assert [each.tolist() for each in ids] == [[*map(id_of.get, each), 2] for each in SENTENCES]
