"""Modes by the name given on the command line."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from harness.assistants.add_search import AddSearchClient
from harness.assistants.client import AssistantClient, ChatClient
from harness.assistants.endpoint import Endpoint
from harness.assistants.profile import ADD_SEARCH, AssistantProfile, load_profile
from harness.assistants.returned_sources import SourceLayout
from harness.assistants.transport import Transport
from harness.assistants.wire import FoundValues, RankedValue
from harness.datasets.questions import HaystackSession, Question, rounds_of
from harness.errors import BadReply, UsageError
from harness.records.schema import IngestLine, RankedRound, RetrievalLine
from harness.replay.chat_mode import Attempts, ChatMode
from harness.replay.context_modes import CHOICES, ContextMode, ContextWindow, prompt_of
from harness.replay.guesses import GUESSES, GuessMode
from harness.replay.ingest import Blinding, Ingester, Together
from harness.replay.mode import (
    AnswerLines,
    ReplayMode,
    hypothesis_line,
    ingest_line,
    ms_since,
    ranked_round,
    ranked_session,
)
from harness.replay.source_matching import HistoryRound
from harness.replay.store_mode import READING, TOP_K, StoreMode
from harness.spending import Meter
from harness.text import rfc3339

_SEARCH = "POST /v1/memories/search"


class NativeMode(ReplayMode):
    """Records, searches and asks under opaque names."""

    searches = True

    def __init__(
        self,
        client: AssistantClient,
        blinding: Blinding,
        ingester: Ingester,
        meter: Meter,
        *,
        explained: bool,
    ) -> None:
        self._client = client
        self._blinding = blinding
        self._ingester = ingester
        self._meter = meter
        self._explained = explained

    async def is_ingested(self, question: Question) -> bool:
        return await self._ingester.is_stored(question)

    async def ingest(self, question: Question) -> IngestLine:
        ingested = await self._ingester.ingest(question)
        user_id = self._blinding.user(question.history_id)
        return ingest_line(question.history_id, user_id, ingested)

    async def retrieve(self, question: Question) -> RetrievalLine:
        rounds, rounds_ms = await self._search(question, "round")
        sessions, sessions_ms = await self._search(question, "session")
        by_name = {
            self._blinding.session(question.history_id, session.position): session
            for session in question.sessions
        }
        line: RetrievalLine = {
            "question_id": question.question_id,
            "user_id": self._blinding.user(question.history_id),
            "ranked_sessions": [
                ranked_session(_unblinded(value, by_name)) | {"similarity": value.similarity}
                for value in sessions.values
            ],
            "ranked_rounds": [_ranked_round(value, by_name) for value in rounds.values],
            "search_ms": {"round": rounds_ms, "session": sessions_ms},
        }
        if rounds.index_ms is not None:
            line["index_ms"] = rounds.index_ms
        return line

    async def ask(self, question: Question) -> AnswerLines:
        started = time.perf_counter()
        answer = await self._meter.spend(
            len(question.question),
            lambda: self._client.ask(
                self._blinding.user(question.history_id),
                self._blinding.asking_session(question.question_id),
                question.question,
                now=rfc3339(question.question_date),
                explained=self._explained,
            ),
        )
        return AnswerLines(hypothesis_line(question, answer, started))

    async def forget(self, history_id: str, when: datetime) -> None:
        await self._client.forget_user(self._blinding.user(history_id))

    async def _search(
        self, question: Question, unit: Literal["round", "session"]
    ) -> tuple[FoundValues, float]:
        """A ranking, best first, with the milliseconds that it took."""
        user_id, now = self._blinding.user(question.history_id), rfc3339(question.question_date)
        started = time.perf_counter()
        found = await self._client.search(
            user_id, question.question, now=now, unit=unit, top_k=TOP_K
        )
        return found, ms_since(started)


def _ranked_round(value: RankedValue, by_name: Mapping[str, HaystackSession]) -> RankedRound:
    session = _unblinded(value, by_name)
    rounds = rounds_of(session.turns)
    if not 0 <= value.round_index < len(rounds):
        problem = f"search returned round {value.round_index} of a session with {len(rounds)}"
        raise BadReply(problem, route=_SEARCH)
    place = HistoryRound(session, value.round_index)
    return ranked_round(place, value.characters) | {"similarity": value.similarity}


def _unblinded(value: RankedValue, by_name: Mapping[str, HaystackSession]) -> HaystackSession:
    session = by_name.get(value.session_id)
    if session is None:
        problem = f"search returned session {value.session_id!r}, which this user never had"
        raise BadReply(problem, route=_SEARCH)
    return session


NATIVE = "native"
CHATTED: tuple[Literal["teacher", "live"], ...] = ("teacher", "live")
MODES = (NATIVE, *CHATTED, *CHOICES, *GUESSES)


@dataclass(frozen=True, slots=True)
class Approach:
    """How histories are sent and questions are put: the mode, the assistant's profile, what fits
    into a prompt, what a request of `native` carries, and the model that reads what a store finds.
    """

    mode: str = NATIVE
    profile: AssistantProfile = field(default_factory=lambda: load_profile("aide-memoire"))
    window: ContextWindow = field(default_factory=ContextWindow)
    together: Together = "turn"
    reader: Endpoint | None = None

    def __post_init__(self) -> None:
        if self.mode not in MODES:
            raise UsageError(f"unknown mode {self.mode!r}, expected one of {', '.join(MODES)}")
        if self.window.last_tokens is not None and self.mode != "last-n":
            raise UsageError("--last-tokens is for --mode last-n")
        if self.together != "turn" and not (self.mode == NATIVE and self.profile.is_ours):
            raise UsageError("--send session is for --mode native and an assistant with our routes")
        if self.profile.is_store and self.mode != NATIVE:
            raise UsageError(f"profile {self.profile.name} is for --mode native: it has no chat")
        if self.reader is not None and not self.profile.is_store:
            raise UsageError(f"--reader is for --profile {ADD_SEARCH}: others answer themselves")
        if self.mode == NATIVE and not self.searches and self.profile.record is None:
            raise UsageError(
                f"--mode native needs [record] in profile {self.profile.name}; without such a "
                "route histories are chatted: --mode teacher or --mode live"
            )

    @property
    def uses_memory(self) -> bool:
        return self.mode in (NATIVE, *CHATTED)

    @property
    def guesses(self) -> bool:
        """Whether answers are guessed, without asking an assistant or a model."""
        return self.mode in GUESSES

    @property
    def searches(self) -> bool:
        return self.mode == NATIVE and (self.profile.is_ours or self.profile.is_store)

    @property
    def identity(self) -> dict[str, Any]:
        """What must not change within a run directory, beside the mode's name."""
        if self.guesses:
            return {}
        if self.uses_memory:
            # Runs made before there was this choice lack the field, so `turn` is left out, too.
            sent = {} if self.together == "turn" else {"together": self.together}
            return {"profile": self.profile.identity, **sent, **self._reading}
        latest = {
            "last_sessions": self.window.last_sessions,
            "last_tokens": self.window.last_tokens,
        }
        named = {name: value for name, value in latest.items() if value is not None}
        return {
            "profile": self.profile.identity,
            "prompt": prompt_of(self.mode, self.window).hash,
            "context_tokens": self.window.tokens,
            **({"layout": self.window.layout} if self.window.layout != "text" else {}),
            **(named if self.mode == "last-n" else {}),
        }

    @property
    def _reading(self) -> dict[str, Any]:
        if self.reader is None:
            return {}
        model = {"model": self.reader.model, "url": self.reader.public_url}
        return {"reader": model, "prompt": READING.hash, "context_tokens": self.window.tokens}


@dataclass(frozen=True, slots=True)
class ModeContext:
    transport: Transport
    blinding: Blinding
    attempts: Attempts
    meter: Meter
    barrier_seconds: float
    on_round: Callable[[], None]
    explained: bool = False
    """Whether answers are to report the searches that the model makes itself."""
    seed: int = 0
    """What guesses are drawn with."""
    reader: Transport | None = None
    """The way to the model that reads what a store finds."""


def make_mode(approach: Approach, around: ModeContext) -> ReplayMode:
    if approach.profile.is_store:
        return _store_mode(approach, around)
    if approach.searches:
        client = AssistantClient(around.transport)
        ingester = Ingester(
            client,
            around.blinding,
            barrier_seconds=around.barrier_seconds,
            on_round=around.on_round,
            together=approach.together,
        )
        return NativeMode(
            client, around.blinding, ingester, around.meter, explained=around.explained
        )
    if approach.guesses:
        return GuessMode(approach.mode, around.seed, around.blinding)
    chat = ChatClient(around.transport, approach.profile, around.meter)
    if approach.mode in CHOICES:
        choose = CHOICES[approach.mode]
        return ContextMode(chat, around.blinding, choose, approach.window)
    way = next((way for way in CHATTED if way == approach.mode), None)
    return ChatMode(
        chat,
        approach.profile,
        around.blinding,
        around.attempts,
        way=way or "recorded",
        barrier_seconds=around.barrier_seconds,
        on_round=around.on_round,
    )


def _store_mode(approach: Approach, around: ModeContext) -> ReplayMode:
    reader = None
    if around.reader is not None:
        reader = ChatClient(around.reader, load_profile("plain"), around.meter)
    return StoreMode(
        AddSearchClient(around.transport),
        approach.profile.sources or SourceLayout(),
        reader,
        around.blinding,
        around.attempts,
        approach.window,
        around.on_round,
    )
