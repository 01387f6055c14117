"""The protocol between the store and a vector engine, and the types that it uses.

An engine keeps points and finds them. It does not rank, fuse or gather them: shared code does that,
so that every engine ranks alike.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from memory_store._labels import Where
from memory_store._reach import Reach
from memory_store._types import Days, EnrichmentState, Held
from memory_store.embedding.encoder import Matrix
from memory_store.errors import InvalidRecord

Payload = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class UserScope:
    """Which points a call may touch. This is the one place where user scope is enforced.

    Every read and delete of an engine takes a scope, and no scope exists without a user. All
    conditions that are set must hold for a point.
    """

    user_id: str
    session_id: str | None = None
    ids: tuple[str, ...] | None = None
    days: Days = field(default_factory=Days)
    """The round was said on one of these days."""
    event_days: Days = field(default_factory=Days)
    """At least one of the days that the round talks about is one of these."""
    slots: tuple[str, ...] | None = None
    """The round's statements give a value for at least one of these slots."""
    states: tuple[EnrichmentState, ...] | None = None
    """The round's enrichment is in one of these states."""
    repeats: tuple[str, ...] | None = None
    """The round's answer repeats the words of at least one of these rounds."""
    in_conflict: bool = False
    """Only rounds whose facts contradict others."""
    to_ask: bool = False
    """Only rounds with a fact that the user is to be asked about."""
    pinned: bool = False
    """Only rounds that the user pinned."""
    labels: Where = ()
    """Only rounds that pass this filter by labels."""
    expired_by: datetime | None = None
    """Only rounds that may be forgotten at this time."""
    up_to: Reach = Reach.NEVER_IN_ANSWERS
    """No rounds that are kept closer than this."""
    beyond: Reach | None = None
    """Only rounds that are kept closer than this."""
    person: str | None = None
    """In a shared space, only rounds that this member said."""

    def __post_init__(self) -> None:
        if not self.user_id:
            raise InvalidRecord("a scope needs a user_id")


@dataclass(frozen=True, slots=True)
class Point:
    """One round on its way into the engine: keys (rows of unit length), words (term → count)."""

    id: str
    keys: Matrix
    words: Mapping[int, float]
    payload: Payload


Similarities = dict[int, float]
"""The similarity of each found point by its id, best first. The id is the UUID as a number.

A recall goes through a thousand of them; texts and payloads would take longer than the search.
"""


@dataclass(frozen=True, slots=True)
class Claim:
    """Who enriches a point, and until when nobody else may: a lease, told in the point itself."""

    by: str
    until: datetime


@dataclass(frozen=True, slots=True)
class StoredPoint:
    """A point as read, with the payload fields that were asked for."""

    id: str
    payload: Payload


class WriteWatcher(Protocol):
    """Keeps data of points in memory, and is told when it may be out of date."""

    def written(self, user_id: str, ids: Sequence[str] | None) -> None:
        """This process wrote or deleted these points of a user; with None, any of them."""

    def found(self, user_id: str, versions: Mapping[int, int]) -> None:
        """A search found these points of a user, with these versions by the numbers of their ids.

        Every write to a point changes its version. Only engines with other writers tell this.
        """


class ReadableEngine(Protocol):
    """The calls of an engine that read the points of one user."""

    async def nearest(
        self, vector: npt.NDArray[np.float32], scope: UserScope, limit: int
    ) -> Similarities:
        """The nearest points, by their best key (the largest inner product over a point's keys)."""

    async def postings(
        self, terms: Sequence[int], scope: UserScope, limit: int
    ) -> list[Similarities]:
        """For each term, the points that hold it; the similarity is the term's count."""

    async def keys(self, scope: UserScope) -> dict[str, Matrix]:
        """The keys of every point in scope, by id, in the order they were written."""

    async def scroll(
        self, scope: UserScope, fields: Sequence[str] | None = None
    ) -> list[StoredPoint]:
        """Every point in scope, in no order, with the named payload fields or with all."""

    async def count(self, scope: UserScope) -> int:
        """How many points are in scope, exactly."""


class Engine(ReadableEngine, Protocol):
    """Keeps points durably. When `upsert` returns, its points survive a crash and can be found."""

    name: str

    async def open(self, dimension: int) -> Payload | None:
        """Open or create; return the identity stored by `write_identity`, None when new."""

    def watch(self, watcher: WriteWatcher) -> bool:
        """Tell the watcher of every write from now on. Return False if other processes write too:
        only the versions of found points tell of their writes."""

    def unwatch(self, watcher: WriteWatcher) -> None:
        """Stop telling this watcher."""

    async def write_identity(self, identity: Payload) -> None:
        """Store what made this data (embedder, dimension, schema), apart from every user."""

    async def upsert(
        self, points: Sequence[Point], over: Held | None = None, *, erasing: bool = False
    ) -> None:
        """Write points, replacing those with the same id.

        With `over`, a point named there is only replaced if it exists and holds exactly these
        turns, and a point not named is only written if it does not exist. All others are silently
        left as they are. `erasing` says that texts are written over of which no trace shall stay,
        so that `scrub` knows of them.
        """

    async def set_payload(
        self, scope: UserScope, payload: Payload, turn_ids: Sequence[str] | None = None
    ) -> None:
        """Replace these payload fields of the points in scope; the other fields stay. If turns are
        given, only points that hold exactly these are changed."""

    async def claim(self, scope: UserScope, held: Held, claim: Claim, now: datetime) -> set[str]:
        """Claim the points in scope that hold exactly these turns, wait for enrichment, and are
        claimed by nobody else at this time. Return the ids of those that the claim now has.

        The owner of a claim claims again to keep a point for longer, or until `now` to give it
        back. A claim does not count as a change of the point, and ends when the point is written.
        """

    async def in_state(
        self, states: Sequence[str], lapsed: datetime | None = None
    ) -> list[StoredPoint]:
        """The points of every user whose enrichment is in one of these states; with `lapsed` only
        those with a claim that was over at that time.

        Only for the upkeep of the store: all requests of users go by a scope.
        """

    async def users(self) -> set[str]:
        """All owners that have points; like `in_state`, only for the upkeep of the store."""

    async def owners(self, person: str) -> set[str]:
        """The owners of points in the spaces of a user (`memory_store._types`, `Round.person`)."""

    async def delete(self, scope: UserScope) -> None:
        """Delete every point in scope."""

    async def scrub(self, *, if_due: bool = False) -> bool:
        """Remove deleted and overwritten data from the disk. Return False if nothing was done.

        With `if_due`, only do so if there is so much of it that the work is worth it.
        """

    async def traces(self, words: Sequence[str]) -> tuple[int, dict[str, int]] | None:
        """How many files there are, and in how many of them each of these words still occurs,
        whoever said it. None if the files are not ours."""

    async def verify(self) -> None:
        """Read everything. Raises `StoreDamaged` if an acknowledged point is missing or altered, as
        far as the engine can tell."""

    async def promise(self) -> str:
        """When a write is acknowledged, in words for the operator."""

    async def check(self) -> None:
        """Raise an error if points cannot be read or written."""

    async def close(self) -> None:
        """Release files and locks. Safe to call twice."""
