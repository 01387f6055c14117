"""The write side of each user: one write at a time, and the rounds of the sessions in use."""

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from assistant.worker_messages import ERASED, Notices
from memory_store import MemoryReader, Round

_USERS_KEPT = 32
_SESSIONS_KEPT = 4


@dataclass(slots=True)
class Writer:
    """The write side of one user: one write at a time, and the sessions it was last about."""

    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    callers: int = 0
    sessions: OrderedDict[str, list[Round]] = field(default_factory=OrderedDict)
    as_of: str = ""
    """The last erasure that these sessions know of."""

    def keep(self, session_id: str, rounds: list[Round]) -> None:
        """Hold the rounds of a session, so that the next turn needs no reading of it."""
        self.sessions[session_id] = rounds
        self.sessions.move_to_end(session_id)
        while len(self.sessions) > _SESSIONS_KEPT:
            self.sessions.popitem(last=False)


class Writers:
    """The writers of all users; of idle ones only the latest are kept."""

    def __init__(self, memory: MemoryReader, notices: Notices | None) -> None:
        """`notices` are those of all assistants on this memory, where there may be others."""
        self._memory = memory
        self._notices = notices
        self._writers: OrderedDict[str, Writer] = OrderedDict()

    @asynccontextmanager
    async def writing(self, user_id: str) -> AsyncIterator[Writer]:
        """The writer of a user, as soon as no other call writes for this user."""
        writer = self._writers.setdefault(user_id, Writer())
        self._writers.move_to_end(user_id)
        writer.callers += 1
        try:
            async with writer.lock:
                yield writer
        except BaseException:
            # It is unknown how much reached the store: the next call reads the session again.
            writer.sessions.clear()
            raise
        finally:
            writer.callers -= 1
            self._drop_idle()

    async def rounds(self, writer: Writer, user_id: str, session_id: str) -> list[Round]:
        """The rounds of a session, which are read where nobody holds them."""
        if self._notices and writer.as_of != (version := await self._notices.version(ERASED)):
            writer.sessions.clear()
            writer.as_of = version
        if session_id not in writer.sessions:
            records = await self._memory.session(user_id, session_id)
            writer.keep(session_id, [record.round for record in records])
        return writer.sessions[session_id]

    def let_go(self) -> None:
        """Drop the rounds held, as another assistant may have forgotten some of them."""
        for writer in self._writers.values():
            # A writer at work finds the erasure by itself before it uses its rounds again.
            if not writer.lock.locked():
                writer.sessions.clear()

    def _drop_idle(self) -> None:
        idle = [user_id for user_id, writer in self._writers.items() if not writer.callers]
        for user_id in idle[: max(0, len(self._writers) - _USERS_KEPT)]:
            del self._writers[user_id]
