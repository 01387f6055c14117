"""Choices that look random and are the same everywhere: hashes of seed, question and text.

Not a chain of random numbers: a question's history does not change with the other questions
selected, and a smaller history is part of a larger one.
"""

from collections.abc import Iterable
from datetime import datetime, timedelta
from hashlib import sha256
from typing import TypeVar

from harness.compilation.pool import Filler, PlacedSession

T = TypeVar("T", Filler, PlacedSession)
_MINUTE = timedelta(minutes=1)
_WHOLE = 1 << 256


def rank(seed: int, *parts: str | bytes) -> int:
    """A large number that looks random and is the same everywhere for the same arguments."""
    digest = sha256(str(seed).encode())
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        digest.update(len(data).to_bytes(4, "big") + data)
    return int.from_bytes(digest.digest(), "big")


class Draws:
    """The draws of one question."""

    def __init__(self, seed: int, question_id: str) -> None:
        self._seed = seed
        self._question_id = question_id

    def order(self, fillers: Iterable[T], use: str = "order") -> list[T]:
        """An order by chance, one for each use."""
        return sorted(fillers, key=lambda filler: self._rank(use, filler.content.key))

    def share(self, use: str, key: bytes) -> float:
        """A number from 0 to 1."""
        return self._rank(use, key) / _WHOLE

    def minute(self, key: bytes, first: datetime, last: datetime) -> datetime:
        """Any minute from the first to the last, both included; the first if there is no other."""
        minutes = max(0, (last - first) // _MINUTE)
        return first + self._rank("date", key) % (minutes + 1) * _MINUTE

    def _rank(self, use: str, key: bytes) -> int:
        return rank(self._seed, use, self._question_id, key)
