"""One text as ids in the two files that fairseq reads, `PATH.bin` and `PATH.idx` of its mmap format."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import cycle
from pathlib import Path

import numpy as np
import torch
from fairseq.data import Dictionary, indexed_dataset

from zsnmt.data.reading import encode

SUFFIXES = (".bin", ".idx")


def ids_of(pieces: Sequence[str], dictionary: Dictionary) -> np.ndarray:
    """The ids of pieces, and EOS (T)."""
    return np.array(encode(pieces, dictionary), dtype=np.int64)


def write_ids(path: Path, rows: Iterable[np.ndarray], size: int) -> int:
    """Write rows of ids (T each) below `size`; returns how many there are."""
    return deal_ids([path], rows, size)


def deal_ids(paths: Sequence[Path], rows: Iterable[np.ndarray], size: int) -> int:
    """Write rows of ids (T each) below `size` as several texts, dealt to them in turn; returns how many there
    are.
    """
    builders = [indexed_dataset.make_builder(f"{path}.bin", impl="mmap", vocab_size=size) for path in paths]
    number = 0
    for number, (builder, row) in enumerate(zip(cycle(builders), rows), start=1):
        builder.add_item(torch.from_numpy(row))
    for builder, path in zip(builders, paths):
        builder.finalize(f"{path}.idx")
    return number


def count_sentences(path: Path) -> int:
    """How many sentences a text has, by its index alone."""
    return len(indexed_dataset.make_dataset(str(path), impl="mmap"))


def count_ids(path: Path, size: int) -> np.ndarray:
    """How often each id below `size` occurs in a text."""
    counts = np.zeros(size, dtype=np.int64)
    dtype = indexed_dataset.MMapIndexedDataset(str(path))._index.dtype
    for ids in parts_of(np.memmap(f"{path}.bin", dtype=dtype, mode="r")):
        counts += np.bincount(ids, minlength=size)
    return counts


def parts_of(ids: np.ndarray, length: int = 2**24) -> Iterator[np.ndarray]:
    """An array in parts, of which NumPy makes copies in 64 bits."""
    return (ids[start : start + length] for start in range(0, len(ids), length))
