"""A store that only keeps and finds: histories go in by requests of messages, questions are
searched for, and a model of the harness's own reads what was found.
"""

import asyncio
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timedelta

from harness.assistants.add_search import AddSearchClient, BoardMessage, FoundText, SearchResults
from harness.assistants.client import ChatClient, Message
from harness.assistants.returned_sources import SourceLayout, read_sources
from harness.assistants.template import Occasion
from harness.datasets.questions import HaystackSession, Question, Turn, rounds_of
from harness.errors import UsageError
from harness.records.schema import IngestLine, RetrievalLine
from harness.replay.chat_mode import Attempts
from harness.replay.context_modes import PROMPTS, ContextWindow
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
from harness.text import characters_of

TOP_K = 50
READING = PROMPTS["context"]
# Leaderboards cut sessions into requests of this size.
_MOST_MESSAGES = 20
_MOST_WORDS = 2000


class StoreMode(ReplayMode):
    """Adds, searches, and reads with `reader` where there is one."""

    searches = True

    def __init__(
        self,
        store: AddSearchClient,
        layout: SourceLayout,
        reader: ChatClient | None,
        blinding: Blinding,
        attempts: Attempts,
        window: ContextWindow,
        on_round: Callable[[], None],
    ) -> None:
        self._store = store
        self._layout = layout
        self._reader = reader
        self._blinding = blinding
        self._attempts = attempts
        self._window = window
        self._on_round = on_round
        self._found: dict[str, SearchResults] = {}
        """What was found for questions that are not answered yet."""

    async def ingest(self, question: Question) -> IngestLine:
        """Send the history. Nothing can be deleted, so another attempt is another user."""
        history = question.history_id
        self._attempts.begin(history)
        ingested = Ingested()
        started = time.perf_counter()
        for session in question.sessions_by_date():
            name = self._blinding.session(history, session.position)
            ingested.sessions += 1
            ingested.turns += len(session.turns)
            ingested.characters += sum(len(turn.content) for turn in session.turns)
            begun = time.perf_counter()
            for part, messages in enumerate(_requests(session)):
                request = self._blinding.request(
                    history, session.position, part, self._attempts.of(history)
                )
                await self._store.add(request, self._user(history), name, messages)
            rounds = rounds_of(session.turns)
            for _ in rounds:
                ingested.round_ms.append(round(ms_since(begun) / len(rounds), 2))
                self._on_round()
        ingested.seconds = time.perf_counter() - started
        return ingest_line(history, self._user(history), ingested)

    async def retrieve(self, question: Question) -> RetrievalLine:
        found = await self._search(question)
        self._found[question.question_id] = found
        returned = read_sources(self._layout, found.reply.json(), found.reply.headers)
        matcher = SourceMatcher(question, self._blinding)
        # Matching in a long history takes up to a second: in a thread, others go on meanwhile.
        told = await asyncio.to_thread(sources_line, self._layout, returned, matcher)
        return RetrievalLine(
            question_id=question.question_id,
            user_id=self._user(question.history_id),
            search_ms={"round": found.ms},
            ranked_sessions=told["ranked_sessions"],
            ranked_rounds=told["ranked_rounds"],
            sources=told["sources"],
        )

    async def ask(self, question: Question) -> AnswerLines:
        """The reader's answer to the question, with what was found before it."""
        if self._reader is None:
            raise UsageError("a store answers nothing: name a model with --reader MODEL@BASE_URL")
        started = time.perf_counter()
        found = self._found.pop(question.question_id, None) or await self._search(question)
        prompt = READING.render(
            question=question.question,
            today=f"{question.question_date:%A %Y-%m-%d}",
            conversations=_told(found.texts, characters_of(self._window.tokens)),
        )
        name = self._blinding.asking_session(question.question_id)
        when = Occasion(self._user(question.history_id), name, question.question_date)
        answer = await self._reader.chat("control", [Message("user", prompt)], when)
        return AnswerLines(hypothesis_line(question, answer, started))

    async def _search(self, question: Question) -> SearchResults:
        user = self._user(question.history_id)
        return await self._store.search(user, question.question, TOP_K)

    def _user(self, history_id: str) -> str:
        return self._blinding.user(history_id, self._attempts.of(history_id))


def _told(texts: Sequence[FoundText], room: int) -> str:
    """The best texts that fit together, in their order."""
    told: list[str] = []
    for text in texts:
        shown = f"[{text.created_at}]\n{text.content}" if text.created_at else text.content
        room -= len(shown)
        if room < 0:
            break
        told.append(shown)
    return "\n\n".join(told)


def _requests(session: HaystackSession) -> Iterator[list[BoardMessage]]:
    """The messages of a session, some for each request."""
    part: list[BoardMessage] = []
    words = 0
    for place, turn in enumerate(session.turns):
        said = len(turn.content.split())
        if part and (len(part) == _MOST_MESSAGES or words + said > _MOST_WORDS):
            yield part
            part, words = [], 0
        words += said
        part.append(_message(turn, session.session_date + timedelta(seconds=place)))
    if part:
        yield part


def _message(turn: Turn, said_at: datetime) -> BoardMessage:
    text = turn.content if turn.name is None else f"{turn.name}: {turn.content}"
    milliseconds = round(said_at.timestamp() * 1000)
    return {"role": turn.role, "content": text, "timestamp": milliseconds}
