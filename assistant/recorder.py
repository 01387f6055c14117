"""The one way into memory: recorded turns and live rounds both pass here, in order, once.

Keeps the rounds of the sessions in use, so that a turn costs one write and no read.
"""

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from assistant.conversation import Turn, add_turn, is_known, same_round
from memory_store import MemoryStore, Round

_USERS_KEPT = 32
_SESSIONS_KEPT = 4


class Recorded(NamedTuple):
    """What a call recorded: rounds touched, new turns, turns that were already there."""

    rounds: list[Round]
    recorded: int
    known: int


@dataclass(slots=True)
class _Writer:
    """The write side of one user: one write at a time, and the sessions it was last about."""

    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    callers: int = 0
    sessions: OrderedDict[str, list[Round]] = field(default_factory=OrderedDict)


class Recorder:
    """Writes turns to the store and forgets them; a user's writes never overtake each other."""

    def __init__(self, store: MemoryStore) -> None:
        self._store = store
        self._writers: OrderedDict[str, _Writer] = OrderedDict()

    async def record(self, user_id: str, session_id: str, turns: Sequence[Turn]) -> Recorded:
        """Add turns that already happened; durable on return. Known turns change nothing."""
        async with self._writing(user_id) as writer:
            rounds = await self._rounds(writer, user_id, session_id)
            touched: dict[int, Round] = {}
            known = 0
            for turn in turns:
                if is_known(rounds, turn):
                    known += 1
                    continue
                round = add_turn(rounds, turn, user_id=user_id, session_id=session_id)
                rounds = _with(rounds, round)
                touched[round.round_index] = round
            if touched:
                await self._store.remember(list(touched.values()))
            _keep(writer, session_id, rounds)
            return Recorded(list(touched.values()), len(turns) - known, known)

    async def record_round(
        self, user_id: str, session_id: str, said: Turn, answer: Turn, previous: str | None
    ) -> Round:
        """Store a live round: what the user said and the answer just given.

        A retry or a regenerated answer (see `same_round`) overwrites the round it repeats.
        """
        async with self._writing(user_id) as writer:
            rounds = await self._rounds(writer, user_id, session_id)
            opened = add_turn(rounds, said, user_id=user_id, session_id=session_id)
            if repeated := same_round(rounds, said, previous):
                opened = replace(
                    opened,
                    round_index=repeated.round_index,
                    session_date=repeated.session_date,
                )
            round = add_turn([opened], answer, user_id=user_id, session_id=session_id)
            await self._store.remember([round])
            _keep(writer, session_id, _with(rounds, round))
            return round

    async def forget_session(self, user_id: str, session_id: str) -> int:
        """Forget a session; how many rounds went."""
        async with self._writing(user_id) as writer:
            writer.sessions.pop(session_id, None)
            return await self._store.forget_session(user_id, session_id)

    async def forget_round(self, user_id: str, round_id: str) -> int:
        """Forget one round; how many went (0 or 1)."""
        async with self._writing(user_id) as writer:
            writer.sessions.clear()
            return await self._store.forget_round(user_id, round_id)

    async def forget_user(self, user_id: str) -> int:
        """Forget everything of a user; how many rounds went."""
        async with self._writing(user_id) as writer:
            writer.sessions.clear()
            return await self._store.forget_user(user_id)

    @asynccontextmanager
    async def _writing(self, user_id: str) -> AsyncIterator[_Writer]:
        writer = self._writers.setdefault(user_id, _Writer())
        self._writers.move_to_end(user_id)
        writer.callers += 1
        try:
            async with writer.lock:
                yield writer
        except BaseException:
            # How much of it reached the store is unknown: the next call reads it again.
            writer.sessions.clear()
            raise
        finally:
            writer.callers -= 1
            self._drop_idle()

    def _drop_idle(self) -> None:
        idle = [user_id for user_id, writer in self._writers.items() if not writer.callers]
        for user_id in idle[: max(0, len(self._writers) - _USERS_KEPT)]:
            del self._writers[user_id]

    async def _rounds(self, writer: _Writer, user_id: str, session_id: str) -> list[Round]:
        if session_id not in writer.sessions:
            records = await self._store.session(user_id, session_id)
            _keep(writer, session_id, [record.round for record in records])
        return writer.sessions[session_id]


def _keep(writer: _Writer, session_id: str, rounds: list[Round]) -> None:
    writer.sessions[session_id] = rounds
    writer.sessions.move_to_end(session_id)
    while len(writer.sessions) > _SESSIONS_KEPT:
        writer.sessions.popitem(last=False)


def _with(rounds: Sequence[Round], round: Round) -> list[Round]:
    """The rounds with this one in place of the one with its index, or at the end."""
    if rounds and round.round_index <= rounds[-1].round_index:
        return [round if r.round_index == round.round_index else r for r in rounds]
    return [*rounds, round]
