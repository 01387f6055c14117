"""The protocol between the store and a vector engine, and the nouns it speaks.

An engine keeps points and finds them. It does not rank, fuse or gather: that is shared code, so
that every engine ranks alike.
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
    """Whose points a call may touch. The one place where user scope is enforced.

    Every read and delete of an engine takes a scope, and no scope exists without a user.
    """

    user_id: str
    session_id: str | None = None
    ids: tuple[str, ...] | None = None
    days: Days = field(default_factory=Days)
    """When it was said."""
    event_days: Days = field(default_factory=Days)
    """Which days it talks about: at least one of them lies in this range."""
    slots: tuple[str, ...] | None = None
    """What its statements give a value for: at least one of these."""
    states: tuple[EnrichmentState, ...] | None = None
    """How far its enrichment is: one of these."""
    repeats: tuple[str, ...] | None = None
    """Whose words its answer repeats: at least one of these rounds."""
    in_conflict: bool = False
    """Only those whose facts contradict others."""
    to_ask: bool = False
    """Only those with a fact that the user is to be asked about."""
    pinned: bool = False
    """Only those that the user pinned."""
    labels: Where = ()
    """How they are labelled."""
    expired_by: datetime | None = None
    """Only those that might go at this time."""
    up_to: Reach = Reach.NEVER_IN_ANSWERS
    """Without those that are kept closer than this."""
    beyond: Reach | None = None
    """Only those that are kept closer than this."""
    person: str | None = None
    """Of a shared space, only those that this member said."""

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
"""Points found, best first: how near each is by its id, which here is the number that a UUID is.

A recall goes through a thousand of them; texts and payloads would take longer than the search.
"""


@dataclass(frozen=True, slots=True)
class Claim:
    """Who enriches a point, and until when nobody else may: a lease, told in the point itself."""

    by: str
    until: datetime


@dataclass(frozen=True, slots=True)
class StoredPoint:
    """A point read, with the payload fields that were asked for."""

    id: str
    payload: Payload


class WriteWatcher(Protocol):
    """Keeps something of points in memory, and hears when it may no longer hold."""

    def written(self, user_id: str, ids: Sequence[str] | None) -> None:
        """This process wrote or deleted these points of a user; or any, where there is None."""

    def found(self, user_id: str, versions: Mapping[int, int]) -> None:
        """A search found these points of a user in these versions, by the numbers of their ids.

        Whoever writes to a point gives it another version. Told where others write, too.
        """


class ReadableEngine(Protocol):
    """What can be read of the points of a user."""

    async def nearest(
        self, vector: npt.NDArray[np.float32], scope: UserScope, limit: int
    ) -> Similarities:
        """Points by their best key (largest inner product over the keys of a point)."""

    async def postings(
        self, terms: Sequence[int], scope: UserScope, limit: int
    ) -> list[Similarities]:
        """Points that hold each term; the similarity is the term's count."""

    async def keys(self, scope: UserScope) -> dict[str, Matrix]:
        """The keys of every point in scope, by id, in the order they were written."""

    async def scroll(
        self, scope: UserScope, fields: Sequence[str] | None = None
    ) -> list[StoredPoint]:
        """Every point in scope, in no order; all payload fields unless named."""

    async def count(self, scope: UserScope) -> int:
        """How many points are in scope, exactly."""


class Engine(ReadableEngine, Protocol):
    """Keeps points durably. When `upsert` returns, its points survive a crash and can be found."""

    name: str

    async def open(self, dimension: int) -> Payload | None:
        """Open or create; return the identity stored by `write_identity`, None when new."""

    def watch(self, watcher: WriteWatcher) -> bool:
        """Tell of everything that is written from now on; False where others write, too, of whose
        writes the versions of what is found tell alone."""

    def unwatch(self, watcher: WriteWatcher) -> None:
        """Tell this one no more."""

    async def write_identity(self, identity: Payload) -> None:
        """Store who made this data (embedder, dimension, schema), apart from every user."""

    async def upsert(
        self, points: Sequence[Point], over: Held | None = None, *, erasing: bool = False
    ) -> None:
        """Write points, replacing those with the same id.

        With `over`, points named there are replaced where they hold exactly these turns, and all
        others are made where there are none. Any other is silently left as it is: what is there,
        and, of what is named, what is gone. `erasing` says that a text is written over of which no
        trace shall stay, so that `scrub` knows of it.
        """

    async def set_payload(
        self, scope: UserScope, payload: Payload, turn_ids: Sequence[str] | None = None
    ) -> None:
        """Replace these payload fields of the points in scope that, if turns are given, hold
        exactly these; the other fields stay."""

    async def claim(self, scope: UserScope, held: Held, claim: Claim, now: datetime) -> set[str]:
        """Take points in scope that hold exactly these turns and wait for enrichment, where nobody
        else has them at this time; which ones are this claim's now.

        Whoever has one claims it again to keep it for longer, or until `now` to give it back. A
        claim is no change of the point, and goes when the point is written.
        """

    async def in_state(
        self, states: Sequence[str], lapsed: datetime | None = None
    ) -> list[StoredPoint]:
        """The points of every user whose enrichment is in one of these states; with `lapsed` only
        those of a claim that was over at that time.

        For the upkeep of the store alone: whatever a user asks goes by a scope.
        """

    async def users(self) -> set[str]:
        """Everybody who has points; as `in_state`, for the upkeep of the store alone."""

    async def owners(self, person: str) -> set[str]:
        """Under which names the spaces of a user have points (`memory_store._types`)."""

    async def delete(self, scope: UserScope) -> None:
        """Delete every point in scope."""

    async def scrub(self, *, if_due: bool = False) -> bool:
        """Take what was deleted or written over off the disk; False where that is not ours to do.

        With `if_due` only where so much of it is there that the work is worth it.
        """

    async def traces(self, words: Sequence[str]) -> tuple[int, dict[str, int]] | None:
        """How many files there are, and in how many of them each of these words still stands,
        whoever said it; None where the files are not ours."""

    async def verify(self) -> None:
        """Read everything there is. Raises `StoreDamaged` where something that was acknowledged is
        missing or altered, as far as the engine can tell."""

    async def promise(self) -> str:
        """When a write is acknowledged, in words for the operator."""

    async def check(self) -> None:
        """Raise what is wrong when points cannot be read or written."""

    async def close(self) -> None:
        """Release files and locks. Safe to call twice."""
