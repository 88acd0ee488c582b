"""A fake language: a copy of a real one whose every symbol is another (Dufter and Schütze 2020; K et al.
2020).

Nothing but its structure ties it to the original: no symbol is shared, unless the special ones are.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from zsnmt.errors import InputError


@dataclass(frozen=True)
class FakeLanguage:
    """The copy of a vocabulary of `size` symbols, of which the first `specials` are shared by both languages,
    or none.

    A symbol i of the original is i + size in the copy: the vocabulary of both has 2·size symbols, and those
    of the copies of shared specials are never used. Raises `InputError` for a number of specials that is not
    from 0 to size.
    """

    size: int
    specials: int = 0

    def __post_init__(self) -> None:
        if not 0 <= self.specials <= self.size:
            raise InputError(
                f"{self.specials} of {self.size} symbols cannot be shared; give a number from 0 to "
                f"{self.size}"
            )

    def shift(self, ids: ArrayLike) -> np.ndarray:
        """The original's symbols, of any shape, in the copy; raises `InputError` for ids that are not of the
        original.
        """
        ids = self._check_ids(ids, 0, "original")
        return np.where(ids < self.specials, ids, ids + self.size)

    def invert(self, ids: ArrayLike) -> np.ndarray:
        """The copy's symbols, of any shape, in the original, the inverse of `shift`; raises `InputError` for
        ids that are not of the copy.
        """
        ids = np.asarray(ids)
        shared = (ids >= 0) & (ids < self.specials)
        self._check_ids(ids[~shared], self.size + self.specials, "copy")
        return np.where(shared, ids, ids - self.size)

    def names(self, symbols: Sequence[str]) -> list[str]:
        """The names of all 2·size symbols: the original's, then each in brackets, so many that no two
        names are the same.
        """
        copies = [f"[{symbol}]" for symbol in symbols]
        while not set(symbols).isdisjoint(copies):
            copies = [f"[{copy}]" for copy in copies]
        return [*symbols, *copies]

    def _check_ids(self, ids: ArrayLike, start: int, of: str) -> np.ndarray:
        ids = np.asarray(ids)
        end = start + self.size if start == 0 else 2 * self.size
        wrong = (ids < start) | (ids >= end)
        if wrong.any():
            raise InputError(f"symbol {ids[wrong][0]} is not of the {of}, whose ids are {start} to {end - 1}")
        return ids
