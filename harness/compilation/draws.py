"""Choices that look random and are the same everywhere: hashes of seed, question and text.

Not a chain of random numbers: a question's history does not change with the other questions
selected, and a smaller history is part of a larger one.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
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


@dataclass(frozen=True, slots=True)
class Arranged:
    """`gaps[i]` are the fillers before the evidence session `evidence[i]`, the last gap those after
    all of them.
    """

    evidence: list[PlacedSession]
    gaps: list[list[Filler]]

    def in_order(self) -> list[Filler | PlacedSession]:
        """All sessions as they follow each other."""
        order: list[Filler | PlacedSession] = []
        for number, gap in enumerate(self.gaps):
            order += [*gap, *self.evidence[number : number + 1]]
        return order


def arrange(
    evidence: Sequence[PlacedSession], fillers: Sequence[Filler], depth: float | None, draws: Draws
) -> Arranged:
    """Evidence by date, at this depth or, without one, each at a depth drawn for it.

    A depth is a share of the fillers' characters; a filler stands where its middle is.
    """
    ordered = sorted(evidence, key=lambda session: session.date)
    if depth is None:
        depths = sorted(draws.share("depth", session.content.key) for session in ordered)
    else:
        depths = [depth] * len(ordered)
    gaps: list[list[Filler]] = [[] for _ in range(len(ordered) + 1)]
    total = sum(filler.content.characters for filler in fillers) or 1
    passed = 0
    for filler in draws.order(fillers, "place"):
        size = filler.content.characters
        middle = (passed + size / 2) / total
        gaps[sum(one <= middle for one in depths)].append(filler)
        passed += size
    return Arranged(ordered, gaps)
