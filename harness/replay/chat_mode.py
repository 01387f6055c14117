"""A history as chat, for assistants that know no other way: session by session, in order.

`teacher`: every user turn is sent with the recorded conversation before it; the answer is thrown
away. `live`: the assistant's own answers stand in the conversation in place of the recorded ones.
`recorded`: the profile has a route that takes turns without answering.
"""

import asyncio
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Literal

from harness.assistants.client import ChatClient, Message
from harness.assistants.profile import AssistantProfile
from harness.assistants.template import Occasion
from harness.datasets.questions import HaystackSession, Question, Turn, rounds_of
from harness.records.run_dir import ATTEMPTS, RunDir
from harness.records.schema import AttemptLine, IngestLine, RetrievalLine
from harness.replay.ingest import Blinding, Ingested
from harness.replay.mode import (
    AnswerLines,
    ReplayMode,
    hypothesis_line,
    ingest_line,
    ms_since,
    sources_line,
)
from harness.replay.source_matching import SourceMatcher
from harness.text import rfc3339


class Attempts:
    """Attempts to bring in histories; each is written to `attempts.jsonl` before it begins."""

    def __init__(self, run_dir: RunDir) -> None:
        self._run_dir = run_dir
        lines = run_dir.records(ATTEMPTS, "history_id")
        self._begun = Counter(line["history_id"] for line in lines)

    def begin(self, history_id: str) -> None:
        self._begun[history_id] += 1
        line = AttemptLine(history_id=history_id, attempt=self._begun[history_id])
        self._run_dir.append(ATTEMPTS, line)

    def of(self, history_id: str) -> int:
        return max(1, self._begun[history_id])


Way = Literal["teacher", "live", "recorded"]


class ChatMode(ReplayMode):
    """Chats a history with the assistant, then asks in a session of its own."""

    def __init__(
        self,
        client: ChatClient,
        profile: AssistantProfile,
        blinding: Blinding,
        attempts: Attempts,
        *,
        way: Way,
        barrier_seconds: float,
        on_round: Callable[[], None],
    ) -> None:
        self.shares_histories = profile.leaves_no_trace
        self._client = client
        self._profile = profile
        self._blinding = blinding
        self._attempts = attempts
        self._way = way
        self._barrier_seconds = barrier_seconds
        self._on_round = on_round

    async def ingest(self, question: Question) -> IngestLine:
        self._attempts.begin(question.history_id)
        sessions = question.sessions_by_date()
        last = sessions[-1].session_date if sessions else question.question_date
        owner = self._occasion(question, "", last)
        await self._client.forget(owner)
        ingested = Ingested()
        started = time.perf_counter()
        for session in sessions:
            await self._session(question, session, ingested)
        ingested.seconds = time.perf_counter() - started
        waiting = time.perf_counter()
        await self._client.wait_until_ready(owner, limit_seconds=self._barrier_seconds)
        ingested.barrier_seconds = time.perf_counter() - waiting
        return ingest_line(question.history_id, owner.user, ingested)

    async def ask(self, question: Question) -> AnswerLines:
        """Ask in a new session, at the question's date, and look for sources where the profile
        says how.
        """
        session = self._blinding.asking_session(question.question_id)
        turn = self._blinding.asking_turn(question.question_id)
        when = self._occasion(question, session, question.question_date, turn)
        started = time.perf_counter()
        message = self._client.message("user", question.question, when)
        answer = await self._client.chat("question", [message], when)
        line = hypothesis_line(question, answer, started)
        if self._profile.sources is None or answer.returned is None:
            return AnswerLines(line)
        # Matching in a long history takes up to a second: in a thread, others go on meanwhile.
        matcher = SourceMatcher(question, self._blinding)
        ranked = await asyncio.to_thread(
            sources_line, self._profile.sources, answer.returned, matcher
        )
        named = question.question_id
        told: RetrievalLine = {
            "question_id": named,
            "user_id": when.user,
            "ranked_sessions": ranked["ranked_sessions"],
            "ranked_rounds": ranked["ranked_rounds"],
            "search_ms": {},
            "sources": ranked["sources"],
        }
        return AnswerLines(line, told)

    async def forget(self, history_id: str, when: datetime) -> None:
        await self._client.forget(Occasion(self._user(history_id), "", when))

    def _occasion(
        self, question: Question, session: str, when: datetime, turn: str = ""
    ) -> Occasion:
        return Occasion(self._user(question.history_id), session, when, turn=turn)

    def _user(self, history_id: str) -> str:
        return self._blinding.user(history_id, self._attempts.of(history_id))

    async def _session(
        self, question: Question, session: HaystackSession, ingested: Ingested
    ) -> None:
        name = self._blinding.session(question.history_id, session.position)
        ingested.sessions += 1
        said: list[Message] = []
        batch: list[dict[str, str]] = []
        for round_ in rounds_of(session.turns):
            started = time.perf_counter()
            for i in round_.turns:
                turn = session.turns[i]
                at = session.session_date + timedelta(seconds=i)
                turn_name = self._blinding.turn(question.history_id, session.position, i)
                when = self._occasion(question, name, at, turn_name)
                if self._way == "recorded":
                    await self._record(turn, when, batch)
                else:
                    await self._say(turn, when, said)
                ingested.turns += 1
                ingested.characters += len(turn.content)
            ingested.round_ms.append(ms_since(started))
            self._on_round()
        if batch:
            when = self._occasion(question, name, session.session_date)
            await self._client.record(replace(when, turns=batch))

    async def _say(self, turn: Turn, when: Occasion, said: list[Message]) -> None:
        """Send one turn of a chat; what stands in the conversation is added to `said`."""
        text = turn.content if turn.name is None else f"{turn.name}: {turn.content}"
        if turn.role == "assistant":
            if self._way == "teacher" and text.strip():
                said.append(self._client.message("assistant", text, when))
            return
        if not text.strip():  # many servers refuse an empty message
            return
        said.append(self._client.message("user", text, when))
        kind: Literal["teacher", "live"] = "teacher" if self._way == "teacher" else "live"
        answer = await self._client.chat(kind, said, when)
        if kind == "live":
            said.append(self._client.message("assistant", answer.text, when))

    async def _record(self, turn: Turn, when: Occasion, batch: list[dict[str, str]]) -> None:
        line = {"role": turn.role, "content": turn.content, "timestamp": rfc3339(when.time)}
        if turn.name is not None:
            line["name"] = turn.name
        if self._profile.sources is not None and self._profile.sources.turn:
            line["id"] = when.turn
        if self._profile.record is not None and self._profile.record.per == "turn":
            await self._client.record(replace(when, turns=[line]))
        else:
            batch.append(line)
