"""Vectors by key in memory, the least recently used forgotten first. Not safe across threads."""

from collections import OrderedDict
from collections.abc import Hashable

import numpy as np
import numpy.typing as npt

Vector = npt.NDArray[np.float32]


class VectorCache:
    """Up to `capacity` vectors in one block of memory.

    One block, because thousands of small long-lived arrays between the encoder's large short-lived
    ones leave holes in the heap that nothing fits into.
    """

    def __init__(self, capacity: int, dimension: int) -> None:
        # The system takes no memory for rows before they are written.
        self._rows = np.empty((capacity, dimension), dtype=np.float32)
        self._row_by_key: OrderedDict[Hashable, int] = OrderedDict()
        self._left: list[int] = []  # rows of vectors that were forgotten

    def __len__(self) -> int:
        return len(self._row_by_key)

    def __contains__(self, key: Hashable) -> bool:
        return key in self._row_by_key

    def get(self, key: Hashable) -> Vector | None:
        """A copy of the vector, which stays what it is when the row is used again."""
        row = self._row_by_key.get(key)
        if row is None:
            return None
        self._row_by_key.move_to_end(key)
        vector: Vector = self._rows[row].copy()
        return vector

    def put(self, key: Hashable, vector: Vector) -> None:
        """Keep a vector, in the place of the one used longest ago when all are taken."""
        if not len(self._rows):
            return
        row = self._row_by_key.pop(key, None)
        if row is None:
            row = self._free_row()
        self._row_by_key[key] = row
        self._rows[row] = vector

    def forget(self, key: Hashable) -> None:
        """Let go of a vector, if it is there; nothing of it stays in memory."""
        row = self._row_by_key.pop(key, None)
        if row is not None:
            self._rows[row] = 0
            self._left.append(row)

    def clear(self) -> None:
        """Let go of all vectors; nothing of them stays in memory."""
        self._rows[: len(self._row_by_key) + len(self._left)] = 0
        self._row_by_key.clear()
        self._left.clear()

    def _free_row(self) -> int:
        if self._left:
            return self._left.pop()
        used = len(self._row_by_key)
        return used if used < len(self._rows) else self._row_by_key.popitem(last=False)[1]
