"""The dictionary that is read without fairseq is fairseq's."""

import fairseq.data
import pytest

from zsnmt.errors import InputError
from zsnmt.text.dictionary import Dictionary

FILES = {
    "plain": "a 3\nb 2\n__de__ 1\n",
    "a symbol with a space, and ends of lines of another system": "a b 3\r\nc 2 \r\n",
    "symbols that stand twice": "<unk> 1 #fairseq:overwrite\na 3\na 1 #fairseq:overwrite\n\u2581 2\n",
}


@pytest.mark.parametrize("content", FILES.values(), ids=FILES)
def test_symbols_and_ids_are_those_of_fairseq(tmp_path, content):
    path = tmp_path / "dict.txt"
    path.write_bytes(content.encode())
    ours, theirs = Dictionary.load(path, "copy it"), fairseq.data.Dictionary.load(str(path))
    assert ours.symbols == theirs.symbols and ours.indices == theirs.indices
    assert len(ours) == len(theirs) > ours.nspecial == theirs.nspecial
    assert [*map(ours.index, [*ours.symbols, "not there"])] == [
        *map(theirs.index, [*theirs.symbols, "not there"])
    ]
    assert [ours[number] for number in range(len(ours) + 2)] == [
        theirs[number] for number in range(len(ours) + 2)
    ]
    assert (ours.pad(), ours.eos(), ours.unk()) == (theirs.pad(), theirs.eos(), theirs.unk())


@pytest.mark.parametrize(
    "content", [b"\xff\xfe x 1\n", b"a\n", b"a x\n", b"\0\0", b"a 1\na 2\n", b"<pad> 1\n"]
)
def test_a_file_that_is_not_a_dictionary_is_named(tmp_path, content):
    path = tmp_path / "dict.txt"
    path.write_bytes(content)
    with pytest.raises(InputError, match=f"{path} is damaged .*; remove it, then copy it"):
        Dictionary.load(path, "copy it")
    with pytest.raises(Exception):  # noqa: B017 (fairseq raises many kinds)
        fairseq.data.Dictionary.load(str(path))
