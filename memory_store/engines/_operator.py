"""What an operator may do with a whole memory, whoever its rounds belong to.

This is kept apart from `Engine`, whose every read and delete is for one user. Only moving and
reindexing (`memory_store.transfer`) work on all users, and only with these engines. No store, and
so no request, is ever given one.
"""

import uuid
from collections.abc import Sequence
from typing import Protocol

from memory_store.engines._engine import Engine, Payload, Point
from memory_store.engines._layout import IDENTITY_ID


class OperatorEngine(Engine, Protocol):
    """An engine with calls that are for all users. Its writes do not wait for a reindex."""

    shared: bool
    """Whether assistants may be using the memory while an operator has it open."""

    @property
    def place(self) -> str:
        """The place of the memory, for messages and marks; the same in every run."""

    async def open_existing(self) -> Payload | None:
        """Open an existing memory and return its identity; None, and nothing made, without one."""

    async def identity(self) -> Payload | None:
        """The identity as it is now."""

    async def sign(self, identity: Payload) -> None:
        """Write the identity, whatever it was."""

    async def total(self) -> int:
        """How many rounds all users have, exactly."""

    async def browse(self, after: str | None, limit: int, *, with_keys: bool) -> list[Point]:
        """Up to `limit` rounds of any user in the order of their ids, those after `after`.

        Without keys, the points have no words either.
        """

    async def remove(self, ids: Sequence[str]) -> None:
        """Delete rounds by id."""

    def successor(self) -> "OperatorEngine":
        """The index, not opened, that is to take the place of this open one."""

    async def hand_over(self) -> None:
        """Let the successor, complete and closed, take this index's place, in one atomic step."""

    async def drop(self) -> None:
        """Delete this index and all its data; do nothing if there is none."""

    async def drop_retired(self) -> None:
        """Delete the indexes that have handed over."""


def following(id: str | None) -> str:
    """The lowest id after this one; with None, the lowest that a round can have."""
    return str(uuid.UUID(int=uuid.UUID(id or IDENTITY_ID).int + 1))
