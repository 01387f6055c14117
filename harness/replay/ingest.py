"""Bringing one history into the assistant: turn by turn, in date order, then proof that all of it
arrived.
"""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta

from harness.assistants.client import AssistantClient
from harness.assistants.wire import StoredSession
from harness.datasets.questions import HaystackSession, Question, rounds_of
from harness.errors import BadReply, IngestMismatch
from harness.replay.blinding import Blinding
from harness.text import rfc3339

_FIRST_POLL = 0.05
_LONGEST_POLL = 1.0


@dataclass(slots=True)
class Ingested:
    """What was sent of one history, and how long it took.

    `round_ms` holds one latency for each round, the sum over its turns; `seconds` is the whole
    ingest without the barrier; `rounds_by_session` is keyed by opaque session id.
    """

    sessions: int = 0
    turns: int = 0
    characters: int = 0
    seconds: float = 0.0
    barrier_seconds: float = 0.0
    enrichment_failed: int = 0
    round_ms: list[float] = field(default_factory=list)
    rounds_by_session: dict[str, int] = field(default_factory=dict)


class Ingester:
    """Sends histories for one run. `on_round` is called after every stored round."""

    def __init__(
        self,
        client: AssistantClient,
        blinding: Blinding,
        *,
        barrier_seconds: float,
        on_round: Callable[[], None],
    ) -> None:
        self._client = client
        self._blinding = blinding
        self._barrier_seconds = barrier_seconds
        self._on_round = on_round

    async def ingest(self, question: Question) -> Ingested:
        """Empty the history's user, send the history and wait until all of it is stored and
        enriched.
        """
        user_id = self._blinding.user(question.history_id)
        # Leftovers of an interrupted attempt would be searched along with the history.
        await self._client.forget_user(user_id)
        ingested = Ingested()
        started = time.perf_counter()
        for session in question.sessions_by_date():
            await self._send(question.history_id, user_id, session, ingested)
        ingested.seconds = time.perf_counter() - started
        await self._barrier(user_id, ingested)
        return ingested

    async def is_stored(self, question: Question) -> bool:
        """Whether the assistant holds exactly this history already, nothing pending."""
        sent = {
            self._blinding.session(question.history_id, session.position): len(
                rounds_of(session.turns)
            )
            for session in question.sessions
            if session.turns
        }
        stored = await self._client.sessions(self._blinding.user(question.history_id))
        return _difference(sent, stored) is None

    async def _send(
        self, history_id: str, user_id: str, session: HaystackSession, ingested: Ingested
    ) -> None:
        session_id = self._blinding.session(history_id, session.position)
        ingested.sessions += 1
        if not session.turns:
            await self._client.open_session(user_id, session_id, rfc3339(session.session_date))
            return
        rounds = rounds_of(session.turns)
        for round_ in rounds:
            elapsed = 0.0
            for i in round_.turns:
                turn = session.turns[i]
                message = {
                    "id": self._blinding.turn(history_id, session.position, i),
                    "role": turn.role,
                    "content": turn.content,
                    "timestamp": rfc3339(session.session_date + timedelta(seconds=i)),
                }
                if turn.name is not None:
                    message["name"] = turn.name
                started = time.perf_counter()
                last = i == len(session.turns) - 1
                touched = await self._client.record(user_id, session_id, [message], close=last)
                elapsed += time.perf_counter() - started
                _check_round(touched, round_.index)
                ingested.turns += 1
                ingested.characters += len(turn.content)
            ingested.round_ms.append(round(elapsed * 1000, 2))
            self._on_round()
        ingested.rounds_by_session[session_id] = len(rounds)

    async def _barrier(self, user_id: str, ingested: Ingested) -> None:
        started = time.monotonic()
        pause = _FIRST_POLL
        while True:
            stored = await self._client.sessions(user_id)
            problem = _difference(ingested.rounds_by_session, stored)
            ingested.barrier_seconds = time.monotonic() - started
            ingested.enrichment_failed = sum(session.failed for session in stored)
            if problem is None:
                return
            if ingested.barrier_seconds + pause > self._barrier_seconds:
                waited = f"after waiting {ingested.barrier_seconds:.1f} s"
                raise IngestMismatch(f"{problem}, {waited}", route="GET /v1/sessions")
            await asyncio.sleep(pause)
            pause = min(pause * 2, _LONGEST_POLL)


def _check_round(touched: list[int], expected: int) -> None:
    if touched and touched != [expected]:
        raise BadReply(
            f"a turn of round {expected} was put into round {touched}",
            route="POST /v1/sessions/{session_id}/messages",
        )


def _difference(sent: dict[str, int], stored: list[StoredSession]) -> str | None:
    """What still differs between sent and stored, or None."""
    found = {session.session_id: session.rounds for session in stored if session.rounds}
    wrong = [name for name in {**sent, **found} if sent.get(name, 0) != found.get(name, 0)]
    if wrong:
        first = wrong[0]
        totals = f"{sum(sent.values())} rounds sent, {sum(found.values())} stored"
        detail = f"{found.get(first, 0)} stored for {sent.get(first, 0)} sent"
        return f"{totals}; {len(wrong)} sessions differ, the first by {detail}"
    pending = sum(session.pending for session in stored)
    return f"{pending} rounds still wait for enrichment" if pending else None
