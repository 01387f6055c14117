"""Forgetting by chat: the rounds meant are named, and deleted if the next message confirms it.

A user has at most one request that waits, and only in its conversation. The server keeps it, so
that nothing that a client sends along can stand for a request. It holds ids and digests, no text.
"""

import hashlib
from collections import OrderedDict
from collections.abc import Sequence
from datetime import timedelta
from typing import NamedTuple, Protocol

from assistant.answering.layouts import plural
from assistant.answering.packing import shortened
from assistant.answering.reader import Outcome
from assistant.chat.call import UserSession
from assistant.chat.recorder import Recorder
from assistant.clock import Clock
from memory_store import (
    CORRECTION,
    Days,
    Documents,
    Forgotten,
    MemoryStore,
    Query,
    Reach,
    Record,
    Round,
    reading_of,
)
from memory_store.language import TELLING, confirms, declines, is_everything, terms, topic_of
from memory_store.scheduler import in_slices

_MOST_USERS = 10_000
_KEPT = timedelta(days=1)


class Pending(Protocol):
    """The last request of each user, until it is taken."""

    async def keep(self, user_id: str, session_id: str, round_ids: Sequence[str]) -> None:
        """Keep a request to forget these rounds, over any other one of this user."""

    async def take(self, user_id: str, session_id: str) -> Sequence[str]:
        """Return the rounds of the request that was made in this session, and end it; none where
        there is no request. Of several callers at a time one gets them."""

    async def waits(self, user_id: str, session_id: str) -> bool:
        """Whether there is a request that was made in this session. It goes on waiting."""


class PendingHere(Pending):
    """Requests in the memory of the one process there is."""

    def __init__(self) -> None:
        self._requests: OrderedDict[str, tuple[str, Sequence[str]]] = OrderedDict()

    async def keep(self, user_id: str, session_id: str, round_ids: Sequence[str]) -> None:
        self._requests[user_id] = (session_id, round_ids)
        self._requests.move_to_end(user_id)
        if len(self._requests) > _MOST_USERS:
            self._requests.popitem(last=False)

    async def take(self, user_id: str, session_id: str) -> Sequence[str]:
        session, round_ids = self._requests.get(user_id, ("", ()))
        if session != session_id:
            return ()
        del self._requests[user_id]
        return round_ids

    async def waits(self, user_id: str, session_id: str) -> bool:
        return self._requests.get(user_id, ("", ()))[0] == session_id


class PendingShared(Pending):
    """Requests as documents that all workers on a Qdrant server see."""

    def __init__(self, documents: Documents, clock: Clock) -> None:
        self._documents = documents
        self._clock = clock

    async def keep(self, user_id: str, session_id: str, round_ids: Sequence[str]) -> None:
        body = {"session": _digest(session_id), "rounds": list(round_ids)}
        over = await self._documents.read(_name(user_id))
        # If another request was faster, that one is kept.
        await self._documents.write(_name(user_id), body, over, until=self._clock() + _KEPT)

    async def take(self, user_id: str, session_id: str) -> Sequence[str]:
        found = await self._documents.read(_name(user_id))
        if found.body.get("session") != _digest(session_id):
            return ()
        taken = await self._documents.write(_name(user_id), {}, found, until=self._clock() + _KEPT)
        round_ids: list[str] = found.body["rounds"]
        return round_ids if taken.done else ()

    async def waits(self, user_id: str, session_id: str) -> bool:
        found = await self._documents.read(_name(user_id))
        return found.body.get("session") == _digest(session_id)


def _name(user_id: str) -> str:
    return f"forget:{_digest(user_id)}"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


_SEARCHED = 100
# The number of sessions of which it is remembered that a request was left.
_MOST_LEFT = 10_000
# Where no round has the words of the topic, a round has to be as near as this, and almost as near
# as the nearest one.
_FLOOR = 0.45
_NEAR_THE_NEAREST = 0.05
# The nearest round is offered alone from this nearness on.
_LEAST = 0.25
# A round that names the topic only mentions it if it is less near than this share of the nearest.
_SHARE_OF_NAMED = 0.5
_TELLS = 0.5
# A request of at least this many words may say more than "forget that".
_SAYS_MORE = 6


class Said(NamedTuple):
    """An answer, and what became of the message."""

    text: str
    outcome: Outcome
    gone: Sequence[Round] = ()


class Forgetting:
    """Carries out requests to forget, in two steps."""

    def __init__(self, store: MemoryStore, recorder: Recorder, pending: Pending) -> None:
        self._store = store
        self._seen = store.seen_up_to(Reach.THIS_COMPUTER)
        """The memory without what is never in answers: an offer quotes what it finds."""
        self._recorder = recorder
        self._pending = pending
        self._left: OrderedDict[UserSession, None] = OrderedDict()

    async def offer(self, place: UserSession, request: str, days: Days) -> Said:
        """Say what would be forgotten and how to go on; the request waits from now on. In a shared
        space only what the member said themselves is offered."""
        user_id, session_id, person = place
        topic = topic_of(request)
        if not topic and is_everything(request):
            return Said(EVERYTHING, Outcome.ASKED_BACK)
        if topic:
            found = await self._about(user_id, topic, days)
        else:
            # "Forget that" means what was told last here; else its own words say what it means.
            found = await self._last_told(user_id, session_id)
            if not found and len(request.split()) >= _SAYS_MORE:
                found = await self._about(user_id, request, days)
        found = [*found, *await self._put_right(user_id, found)]
        found = [record for record in found if person in (None, record.round.person)]
        if not found:
            nothing = nothing_about(topic) if topic else NOTHING_TOLD
            return Said(nothing, Outcome.ASKED_BACK)
        await self._pending.keep(_asker(place), session_id, [record.id for record in found])
        return Said(offered(found), Outcome.ASKED_BACK)

    async def confirmed(self, place: UserSession, text: str) -> Said | None:
        """What became of the request that waits in this session; None where there is none, or the
        message is about something else, which ends it."""
        round_ids = await self._pending.take(_asker(place), place.session_id)
        if not round_ids:
            return None
        if confirms(text):
            return await self._carried_out(place.user_id, round_ids)
        if declines(text):
            return Said(NOT_DELETED, Outcome.POLITE)
        self._leave(place)
        return None

    def was_left(self, place: UserSession) -> bool:
        """Whether a request of this session was ended by a message about something else."""
        return place in self._left

    def _leave(self, place: UserSession) -> None:
        self._left[place] = None
        if len(self._left) > _MOST_LEFT:
            self._left.popitem(last=False)

    async def end(self, place: UserSession) -> None:
        """End the request that waits in this session, if there is one."""
        if await self._pending.take(_asker(place), place.session_id):
            self._leave(place)

    async def waits(self, place: UserSession) -> bool:
        """Whether a request waits in this session."""
        return await self._pending.waits(_asker(place), place.session_id)

    async def _carried_out(self, user_id: str, round_ids: Sequence[str]) -> Said:
        done = Forgotten()
        for round_id in round_ids:
            done += await self._recorder.forget(user_id, round_id=round_id)
        return Said(deleted(done.rounds, done.answers), Outcome.FORGOTTEN, done.gone)

    async def _last_told(self, user_id: str, session_id: str) -> list[Record]:
        """The last round of the session in which something was told, else its last one."""
        rounds = [r for r in await self._store.session(user_id, session_id) if r.round.user_text]
        told = [
            r
            async for r in in_slices(rounds)
            if reading_of(r.round, self._store.language).kind in TELLING
        ]
        return (told or rounds)[-1:]

    async def _about(self, user_id: str, topic: str, days: Days) -> list[Record]:
        """The rounds in which the user spoke of the topic: by its words, else by meaning."""
        query = Query(user_id, topic, _SEARCHED, days, sessions=False)
        recall = await self._seen.recall(query)
        found = [one.record for one in recall.rounds if one.record.round.user_text]
        # Rounds that only ask about the topic stay, where others tell of it.
        told = [one for one in found if reading_of(one.round).telling >= _TELLS] or found
        wanted = set(terms(topic))
        named = [r async for r in in_slices(found) if wanted <= set(terms(r.round.user_text))]
        said = [record for record in told if record in named] or named
        near = await self._nearest(topic, said if wanted and said else told, named=bool(said))
        await self._store.let_go(topic)
        return sorted(near, key=lambda record: record.round.session_date)

    async def _put_right(self, user_id: str, records: Sequence[Record]) -> list[Record]:
        """The messages that corrected one of these records: alone, "oops 15:30" says nothing."""
        links = [fact.superseded_by for record in records for fact in record.facts]
        ids = {link.round_id for link in links if link and link.by == CORRECTION}
        found = [await self._seen.round(user_id, id) for id in ids - {r.id for r in records}]
        return [record for record in found if record]

    async def _nearest(self, topic: str, of: Sequence[Record], *, named: bool) -> list[Record]:
        """Rounds nearest to the topic. Those that name it may be farther from it than the
        nearest one; where none names it and none is near, the nearest one alone."""
        near = await self._seen.closeness(topic, [record.round.user_text for record in of])
        best = max(near, default=0.0)
        floor = best * _SHARE_OF_NAMED if named else max(_FLOOR, best - _NEAR_THE_NEAREST)
        if not named and _LEAST <= best < _FLOOR:
            floor = best
        return [r for r, closeness in zip(of, near, strict=True) if closeness >= floor]


def _asker(place: UserSession) -> str:
    """Whose request it is: each member of a shared space has their own."""
    return place.user_id if place.person is None else f"{place.user_id}\n{place.person}"


_QUOTES = 3
# A yes deletes the whole message, so the user must see before what else it says.
_LONGEST_QUOTE = 600

OFFERED = "Say “yes” to delete"
NOTHING_TOLD = (
    "Nothing of this conversation is stored, so there is nothing to delete. To delete something "
    "older, say what it was about: “delete what I said about” something."
)
EVERYTHING = (
    "To delete everything, use “Forget everything” in the web page, or /forget all in `assistant "
    "chat`. To delete a part, say what it is about: “delete what I said about” something."
)


NOT_DELETED = "Nothing was deleted."
WHAT_TO_FORGET = (
    "Is there something that I should forget? I have not stored this message. To delete something, "
    "say what it is about: “delete what I said about” something. Else say it again in other words, "
    "beginning with “remember:”."
)


def nothing_about(topic: str) -> str:
    """No round is about the topic."""
    return f"I found nothing stored about “{topic}”, so there is nothing to delete."


def offered(found: Sequence[Record]) -> str:
    """Words that say what would be deleted, and how to do it or to leave it."""
    lines = [f"This would delete {_memories(len(found))}, with the answers:"]
    for record in found[:_QUOTES]:
        said_on = record.round.session_date
        said = shortened(" ".join(record.round.user_text.split()), _LONGEST_QUOTE)
        lines.append(f"- On {said_on.day} {said_on:%B %Y} you said: “{said}”")
    if len(found) > _QUOTES:
        lines.append(f"- and {len(found) - _QUOTES} more")
    return "\n".join([*lines, "", say_what(len(found))])


def say_what(count: int) -> str:
    """How to confirm a request, or to leave it."""
    them = "this memory" if count == 1 else f"these {count} memories"
    return f"{OFFERED} {them}; it cannot be undone. Say anything else, and nothing is deleted."


def deleted(count: int, answers: int) -> str:
    """Words that say what was deleted."""
    if not count:
        return "There was nothing left to delete: it was deleted before."
    also = f", and {plural(answers, 'answer')} that repeated it withdrawn" if answers else ""
    return f"Deleted: {_memories(count)}{also}. This cannot be undone."


def _memories(count: int) -> str:
    return "1 memory" if count == 1 else f"{count} memories"
