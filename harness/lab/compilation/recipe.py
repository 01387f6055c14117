"""The recipe of histories, and draws that look random and are the same everywhere: they are hashes
of seed, question and text.

A chain of random numbers would not do: a question's history must not change with the other
questions selected, and a smaller history is part of a larger one.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Literal, TypeVar, cast, get_args

from harness.errors import UsageError
from harness.lab.compilation.pool import Filler, PlacedSession

UNIFORM = "uniform"
Dates = Literal["kept", "paper"]


@dataclass(frozen=True, slots=True)
class Recipe:
    """How histories are made: their size in `sessions` or (about) in `tokens`; the seed of every
    draw; whether a question's own fillers stay; and `lead_days`, the days before its evidence at
    which the history begins at the latest.

    `depth` is the share of the fillers' tokens that comes before the evidence; `uniform` draws a
    share for each evidence session, None leaves the order to the dates. `dates` are `kept` (the
    evidence stays where it was) or follow the rules of the `paper` for each type of question.
    """

    sessions: int | None = None
    tokens: int | None = None
    seed: int = 0
    keep_fillers: bool = True
    lead_days: int = 30
    depth: float | Literal["uniform"] | None = None
    dates: Dates = "kept"

    @property
    def lead(self) -> timedelta:
        return timedelta(days=self.lead_days)

    def __post_init__(self) -> None:
        if (self.sessions is None) == (self.tokens is None):
            raise UsageError("either --sessions or --tokens says how large histories are")

    @property
    def size(self) -> int:
        return self.sessions or self.tokens or 0

    @property
    def arranges(self) -> bool:
        """Whether a history's order is arranged first, instead of following from drawn dates."""
        return self.depth is not None or self.dates == "paper"


def parse_depth(text: str | None) -> float | Literal["uniform"] | None:
    if text is None or text == UNIFORM:
        return None if text is None else "uniform"
    try:
        depth = float(text)
    except ValueError:
        depth = -1.0
    if not 0 <= depth <= 1:
        raise UsageError(f"--depth {text}: expected a share from 0 to 1, or {UNIFORM}")
    return depth


def parse_dates(text: str) -> Dates:
    if text not in get_args(Dates):
        raise UsageError(f"--dates {text}: expected kept or paper")
    return cast(Dates, text)


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
    def __init__(self, seed: int, question_id: str) -> None:
        self._seed = seed
        self._question_id = question_id

    def order(self, fillers: Iterable[T], use: str = "order") -> list[T]:
        return sorted(fillers, key=lambda filler: self._rank(use, filler.content.key))

    def share(self, use: str, key: bytes) -> float:
        return self._rank(use, key) / _WHOLE

    def minute(self, key: bytes, first: datetime, last: datetime) -> datetime:
        """Any minute from the first to the last, both included; the first if there is no other."""
        minutes = max(0, (last - first) // _MINUTE)
        return first + self._rank("date", key) % (minutes + 1) * _MINUTE

    def _rank(self, use: str, key: bytes) -> int:
        return rank(self._seed, use, self._question_id, key)


@dataclass(frozen=True, slots=True)
class Arranged:
    """`gaps[i]` are the fillers before the evidence session `evidence[i]`; the last gap has the
    fillers after all evidence.
    """

    evidence: list[PlacedSession]
    gaps: list[list[Filler]]

    def in_order(self) -> list[Filler | PlacedSession]:
        order: list[Filler | PlacedSession] = []
        for number, gap in enumerate(self.gaps):
            order += [*gap, *self.evidence[number : number + 1]]
        return order


def arrange(
    evidence: Sequence[PlacedSession], fillers: Sequence[Filler], depth: float | None, draws: Draws
) -> Arranged:
    """Put evidence in the order of its dates among the fillers, at this depth or, without one, at a
    depth drawn for each evidence session.

    A depth is a share of the fillers' characters; the middle of a filler decides its side.
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
