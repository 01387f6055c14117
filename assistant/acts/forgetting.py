"""Forgetting by chat: what is meant is found and named, and goes when the next message confirms."""

from collections.abc import Sequence

from assistant.acts import wording
from assistant.acts.meaning import confirms, nearly_confirms
from assistant.acts.pending import Pending
from assistant.acts.topic import is_everything, topic_of
from assistant.recorder import Recorder
from memory_store import Days, Kind, MemoryStore, Query, Record, in_slices, kind_of, terms

_SEARCHED = 100
# Where no round has the words of the topic: how near one has to be, and to the nearest one.
_FLOOR = 0.45
_NEAR_THE_NEAREST = 0.1
_TOLD = (Kind.TELLS, Kind.CORRECTS)


class Forgetting:
    """Carries out requests to forget, in two steps."""

    def __init__(self, store: MemoryStore, recorder: Recorder, pending: Pending) -> None:
        self._store = store
        self._recorder = recorder
        self._pending = pending

    async def offer(self, user_id: str, session_id: str, request: str, days: Days) -> str:
        """What would be forgotten and how to go on, in words; the request waits from now on."""
        topic = topic_of(request)
        if not topic and is_everything(request):
            return wording.EVERYTHING
        if topic:
            found = await self._about(user_id, topic, days)
        else:
            found = await self._last_told(user_id, session_id)
        if not found:
            return wording.nothing_about(topic) if topic else wording.NOTHING_TOLD
        await self._pending.keep(user_id, session_id, [record.id for record in found])
        return wording.offer(found)

    async def confirmed(self, user_id: str, session_id: str, text: str) -> str | None:
        """What became of the request that waits in this session; None where there is none, or the
        message is about something else, which ends it."""
        round_ids = await self._pending.take(user_id, session_id)
        if not round_ids:
            return None
        if nearly_confirms(text):
            await self._pending.keep(user_id, session_id, round_ids)
            return wording.say_what(len(round_ids))
        return await self._carried_out(user_id, round_ids) if confirms(text) else None

    async def end(self, user_id: str, session_id: str) -> None:
        """Let a request that waits in this session wait no more."""
        await self._pending.take(user_id, session_id)

    async def waits(self, user_id: str, session_id: str) -> bool:
        """Whether a request waits in this session."""
        return await self._pending.waits(user_id, session_id)

    async def _carried_out(self, user_id: str, round_ids: Sequence[str]) -> str:
        gone = answers = 0
        for round_id in round_ids:
            done = await self._recorder.forget(user_id, round_id=round_id)
            gone += done.rounds
            answers += done.answers
        return wording.gone(gone, answers)

    async def _last_told(self, user_id: str, session_id: str) -> list[Record]:
        """The last round of the session in which something was told, else its last one."""
        rounds = [r for r in await self._store.session(user_id, session_id) if r.round.user_text]
        told = [r async for r in in_slices(rounds) if kind_of(r.round.user_text) in _TOLD]
        return (told or rounds)[-1:]

    async def _about(self, user_id: str, topic: str, days: Days) -> list[Record]:
        """The rounds in which the user spoke of it: by its words, else by meaning."""
        query = Query(user_id, topic, _SEARCHED, days, sessions=False)
        recall = await self._store.recall(query)
        found = [one.record for one in recall.rounds if one.record.round.user_text]
        wanted = set(terms(topic))
        said = [r async for r in in_slices(found) if wanted <= set(terms(r.round.user_text))]
        near = said if wanted and said else await self._nearest(topic, found)
        await self._store.let_go(topic)
        return sorted(near, key=lambda record: record.round.session_date)

    async def _nearest(self, topic: str, found: Sequence[Record]) -> list[Record]:
        near = await self._store.closeness(topic, [record.round.user_text for record in found])
        floor = max(_FLOOR, max(near, default=0.0) - _NEAR_THE_NEAREST)
        return [r for r, closeness in zip(found, near, strict=True) if closeness >= floor]
