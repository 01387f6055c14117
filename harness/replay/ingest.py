"""Bringing one history into the assistant under opaque names: in date order, turn by turn or a
session at a time, then proof that all of it arrived.

In LongMemEval a session id can carry its own evidence label, so original ids never reach an
assistant. Names are hashes with the run's salt: the same run always produces the same names,
another run produces others.
"""

import asyncio
import hashlib
import secrets
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Literal, get_args

from harness.assistants.client import AssistantClient
from harness.assistants.wire import StoredSession
from harness.datasets.questions import HaystackSession, Question, Round, rounds_of
from harness.errors import BadReply, IngestMismatch
from harness.text import rfc3339


def new_salt() -> str:
    """A fresh secret for one run, 128 bits as hex."""
    return secrets.token_hex(16)


class Blinding:
    def __init__(self, salt: str) -> None:
        if not salt:
            raise ValueError("a run needs a salt")
        self._salt = salt

    def user(self, history_id: str, attempt: int = 1) -> str:
        """The fresh user that owns this history; another attempt to bring it in is another user."""
        again = () if attempt == 1 else (attempt,)
        return "u" + self._digest("user", history_id, *again)

    def session(self, history_id: str, position: int) -> str:
        """The session at this file position; duplicates of one id get different names."""
        return "s" + self._digest("session", history_id, position)

    def turn(self, history_id: str, position: int, turn: int) -> str:
        """One turn: sending it twice under this name must record it once."""
        return "t" + self._digest("turn", history_id, position, turn)

    def request(self, history_id: str, position: int, part: int, attempt: int) -> str:
        """A request with some turns of a session: sending it twice must record them once."""
        return "r" + self._digest("request", history_id, position, part, attempt)

    def asking_session(self, question_id: str) -> str:
        """The session in which the question itself is asked."""
        return "s" + self._digest("asking", question_id)

    def asking_turn(self, question_id: str) -> str:
        """The turn that is the question itself."""
        return "t" + self._digest("asking", question_id)

    def prompt(self, question_id: str) -> str:
        """The prompt of the question, where it is exported and answered elsewhere."""
        return "p" + self._digest("prompt", question_id)

    def _digest(self, *parts: str | int) -> str:
        text = "\x1f".join([self._salt, *(str(part) for part in parts)])
        return hashlib.sha256(text.encode()).hexdigest()[:24]


Together = Literal["turn", "session"]
"""What one request carries."""
TOGETHER: tuple[Together, ...] = get_args(Together)
# A long session is sent some rounds at a time: servers limit what a request may carry.
_MOST_TURNS = 64
_MOST_CHARACTERS = 400_000
_FIRST_POLL = 0.05
_LONGEST_POLL = 1.0


@dataclass(slots=True)
class Ingested:
    """What was sent of one history, and how long it took.

    `round_ms` holds one latency for each round: the sum over its turns, each of which has an equal
    share of its request's time. `seconds` is the whole ingest without the barrier;
    `rounds_by_session` is keyed by opaque session id.
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
    """Sends histories for one run, by requests of a turn or of a session each. `on_round` is called
    after every stored round.
    """

    def __init__(
        self,
        client: AssistantClient,
        blinding: Blinding,
        *,
        barrier_seconds: float,
        on_round: Callable[[], None],
        together: Together = "turn",
    ) -> None:
        self._client = client
        self._parts = _turn_by_turn if together == "turn" else _many_turns
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
        round_of = {i: round_.index for round_ in rounds for i in round_.turns}
        taken = [0.0] * len(rounds)
        for part in self._parts(session, rounds):
            messages = [self._message(history_id, session, i) for i in part]
            started = time.perf_counter()
            last = part[-1] == len(session.turns) - 1
            touched = await self._client.record(user_id, session_id, messages, close=last)
            elapsed = time.perf_counter() - started
            _check_rounds(touched, sorted({round_of[i] for i in part}))
            for i in part:
                taken[round_of[i]] += elapsed / len(part)
                ingested.turns += 1
                ingested.characters += len(session.turns[i].content)
            for _ in range(sum(round_.turns[-1] in part for round_ in rounds)):
                self._on_round()
        ingested.round_ms += [round(seconds * 1000, 2) for seconds in taken]
        ingested.rounds_by_session[session_id] = len(rounds)

    def _message(self, history_id: str, session: HaystackSession, i: int) -> dict[str, str]:
        turn = session.turns[i]
        message = {
            "id": self._blinding.turn(history_id, session.position, i),
            "role": turn.role,
            "content": turn.content,
            "timestamp": rfc3339(session.session_date + timedelta(seconds=i)),
        }
        return message if turn.name is None else message | {"name": turn.name}

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


def _turn_by_turn(session: HaystackSession, rounds: Sequence[Round]) -> list[list[int]]:
    return [[i] for round_ in rounds for i in round_.turns]


def _many_turns(session: HaystackSession, rounds: Sequence[Round]) -> list[list[int]]:
    parts: list[list[int]] = []
    turns = characters = 0
    for round_ in rounds:
        said = sum(len(session.turns[i].content) for i in round_.turns)
        turns, characters = turns + len(round_.turns), characters + said
        if not parts or turns > _MOST_TURNS or characters > _MOST_CHARACTERS:
            parts.append([])
            turns, characters = len(round_.turns), said
        parts[-1] += round_.turns
    return parts


def _check_rounds(touched: list[int], expected: list[int]) -> None:
    if touched and sorted(touched) != expected:
        sent, found = (", ".join(map(str, indices)) for indices in (expected, touched))
        raise BadReply(
            f"what was said in round {sent} was put into round {found}",
            route="POST /v1/sessions/{session_id}/messages",
        )


def _difference(sent: dict[str, int], stored: list[StoredSession]) -> str | None:
    found = {session.session_id: session.rounds for session in stored if session.rounds}
    wrong = [name for name in {**sent, **found} if sent.get(name, 0) != found.get(name, 0)]
    if wrong:
        first = wrong[0]
        totals = f"{sum(sent.values())} rounds sent, {sum(found.values())} stored"
        detail = f"{found.get(first, 0)} stored for {sent.get(first, 0)} sent"
        return f"{totals}; {len(wrong)} sessions differ, the first by {detail}"
    pending = sum(session.pending for session in stored)
    return f"{pending} rounds still wait for enrichment" if pending else None
