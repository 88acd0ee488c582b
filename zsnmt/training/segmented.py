"""Training text in pieces, as it lies on disk between the two times that it is needed: its pieces are counted
before a dictionary gives them ids. So it is cut once.
"""

from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path

import numpy as np

END = -1  # of a sentence, where the pieces of a file have numbers from 0
TOGETHER = 10_000  # sentences written at a time
READ = 2**20  # numbers read at a time


def write_segmented(path: Path, sentences: Iterable[Sequence[str]]) -> Counter[str]:
    """Write sentences as numbers of their pieces; how often each piece occurs, in order of the numbers."""
    numbers: dict[str, int] = {}
    counts = np.zeros(0, dtype=np.int64)
    sentences = iter(sentences)
    with path.open("wb") as file:
        while together := [*islice(sentences, TOGETHER)]:
            written = array("i")
            for pieces in together:
                written.extend([numbers.setdefault(piece, len(numbers)) for piece in pieces])
                written.append(END)
            file.write(written)
            counts.resize(len(numbers), refcheck=False)
            here = np.frombuffer(written, dtype=np.int32)
            counts += np.bincount(here[here != END], minlength=len(numbers))
    return Counter(dict(zip(numbers, counts.tolist())))


def read_segmented(path: Path, ids: Sequence[int], eos: int) -> Iterator[np.ndarray]:
    """The sentences of a file as ids with EOS; `ids` are those of its pieces, by number."""
    id_of = np.array([*ids, eos], dtype=np.int64)  # the last is that of END
    rest = np.zeros(0, dtype=np.int32)
    with path.open("rb") as file:
        while len(numbers := np.fromfile(file, dtype=np.int32, count=READ)):
            numbers = np.concatenate([rest, numbers])
            *sentences, rest = np.split(numbers, np.flatnonzero(numbers == END) + 1)
            yield from (id_of[sentence] for sentence in sentences)
