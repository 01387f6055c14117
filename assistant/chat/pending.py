"""Requests to forget that wait for their confirmation: by user, and in one conversation only.

The server keeps them, and nothing that a client sends along can stand for one. They hold ids and
digests, no text.
"""

import hashlib
from collections import OrderedDict
from collections.abc import Sequence
from datetime import timedelta
from typing import Protocol

from assistant.clock import Clock
from memory_store import Documents

_MOST_USERS = 10_000
_KEPT = timedelta(days=1)


class Pending(Protocol):
    """Of each user the last request, until it is taken."""

    async def keep(self, user_id: str, session_id: str, round_ids: Sequence[str]) -> None:
        """Keep a request to forget these rounds, over any other one of this user."""

    async def take(self, user_id: str, session_id: str) -> Sequence[str]:
        """The rounds of the request that was made in this session, which is over now; none where
        there is no request. Of several who ask at a time one gets them."""

    async def waits(self, user_id: str, session_id: str) -> bool:
        """Whether there is a request that was made in this session. It goes on waiting."""


class PendingHere(Pending):
    """Requests in the memory of the one process there is."""

    def __init__(self) -> None:
        self._requests: OrderedDict[str, tuple[str, Sequence[str]]] = OrderedDict()

    async def keep(self, user_id: str, session_id: str, round_ids: Sequence[str]) -> None:
        """See `Pending.keep`."""
        self._requests[user_id] = (session_id, round_ids)
        self._requests.move_to_end(user_id)
        if len(self._requests) > _MOST_USERS:
            self._requests.popitem(last=False)

    async def take(self, user_id: str, session_id: str) -> Sequence[str]:
        """See `Pending.take`."""
        session, round_ids = self._requests.get(user_id, ("", ()))
        if session != session_id:
            return ()
        del self._requests[user_id]
        return round_ids

    async def waits(self, user_id: str, session_id: str) -> bool:
        """See `Pending.waits`."""
        return self._requests.get(user_id, ("", ()))[0] == session_id


class PendingShared(Pending):
    """Requests as documents that all workers on a Qdrant server see."""

    def __init__(self, documents: Documents, clock: Clock) -> None:
        self._documents = documents
        self._clock = clock

    async def keep(self, user_id: str, session_id: str, round_ids: Sequence[str]) -> None:
        """See `Pending.keep`."""
        body = {"session": _digest(session_id), "rounds": list(round_ids)}
        over = await self._documents.read(_name(user_id))
        # Who is faster with another request has the last one.
        await self._documents.write(_name(user_id), body, over, until=self._clock() + _KEPT)

    async def take(self, user_id: str, session_id: str) -> Sequence[str]:
        """See `Pending.take`."""
        found = await self._documents.read(_name(user_id))
        if found.body.get("session") != _digest(session_id):
            return ()
        taken = await self._documents.write(_name(user_id), {}, found, until=self._clock() + _KEPT)
        round_ids: list[str] = found.body["rounds"]
        return round_ids if taken.done else ()

    async def waits(self, user_id: str, session_id: str) -> bool:
        """See `Pending.waits`."""
        found = await self._documents.read(_name(user_id))
        return found.body.get("session") == _digest(session_id)


def _name(user_id: str) -> str:
    return f"forget:{_digest(user_id)}"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
