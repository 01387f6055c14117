"""One chat request end to end: recall, read, store. The same steps for every mode and client."""

import time
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from typing import Any

from assistant.acts.acts import Acts, Place
from assistant.acts.wording import NOT_KEPT, NOT_KEPT_LINE, NOT_KEPT_MODE
from assistant.conversation import Role, Turn
from assistant.models.chat_model import Message
from assistant.observing.gen_ai import traced_answer, traced_reading
from assistant.reading.quoting.wording import NOTED
from assistant.reading.reader import Question, Reader, Trace
from assistant.reading.repeated import repeated
from assistant.recorder import Recorder
from assistant.understanding.retriever import Retrieved, Retriever, Understanding, known_until
from assistant.understanding.time_alone import days_alone
from memory_store import (
    LONGEST_QUERY,
    Days,
    Labels,
    Query,
    Recall,
    Recalled,
    Round,
    Where,
    aside,
)

# Whatever the budget: each is a value to be read.
_MOST_ROUNDS = 200
# So many characters are taken apart into words while rules read one.
_WORDS = 64
# The place of a round that comes after those that are there.
_AFTER_ALL = 1 << 30

Observer = Callable[[str, float], None]


class MemoryMode(StrEnum):
    """What a chat request does with memory."""

    ON = "on"
    READ_ONLY = "read_only"
    WRITE_ONLY = "write_only"
    OFF = "off"

    @property
    def recalls(self) -> bool:
        """Whether the question is answered from memory."""
        return self in (MemoryMode.ON, MemoryMode.READ_ONLY)

    @property
    def stores(self) -> bool:
        """Whether the new round is kept."""
        return self in (MemoryMode.ON, MemoryMode.WRITE_ONLY)


@dataclass(frozen=True, slots=True)
class ChatCall:
    """A chat request, resolved: who says what, when, in which session, after which messages."""

    user_id: str
    session_id: str
    text: str
    asked_at: datetime
    timed: bool
    mode: MemoryMode
    conversation: Sequence[Message] = ()
    """What the model is shown of what was said before."""
    sent_along: Sequence[Message] | None = None
    """Those of it that the client sent, by which a round is known that is sent again; by default
    all of it."""
    name: str | None = None
    turn_id: str | None = None
    """The caller's own id of what is said: the same id is the same round."""
    retried: bool = False
    """Whether the client says that it sends the request again."""
    days: Days = field(default_factory=Days)
    """The days that memory is cut to; all of them by default."""
    debug: bool = False
    """Whether the caller wants to see what was recalled, and why."""
    is_task: bool = False
    """Whether a front end asks for itself: for a title, for tags."""
    is_question: bool = False
    """Whether it is a question whatever its form, and wants nothing else done."""
    options: Mapping[str, Any] = field(default_factory=dict)
    where: Where = ()
    """How the rounds that are recalled must be labelled."""
    labels: Labels | None = None
    """What the new round is labelled with; None for what the session's last one is."""
    expires_at: datetime | None = None
    """When the new round may be forgotten."""

    @property
    def place(self) -> Place:
        """Whose it is, and in which session."""
        return Place(self.user_id, self.session_id)

    @property
    def asked(self) -> str:
        """The text as it is searched and read; a question is known to rules by its mark."""
        is_marked = not self.is_question or self.text.rstrip().endswith("?")
        return self.text if is_marked else f"{self.text}?"


@dataclass(frozen=True, slots=True)
class ChatDone:
    """What happened, once the answer is complete and, where asked for, stored."""

    trace: Trace
    recall: Recall | None
    round: Round | None
    timings: Mapping[str, float]
    understanding: Understanding | None = None


class Chat:
    """Answers chat calls. The only place where recalling, reading and storing meet."""

    def __init__(
        self,
        retriever: Retriever,
        recorder: Recorder,
        reader: Reader,
        acts: Acts,
        *,
        recalled_rounds: int = 0,
        observe: Observer = lambda stage, seconds: None,
    ) -> None:
        """`recalled_rounds` is how many, if not as much as the reader can make use of; `observe`
        hears how many seconds each stage of an answer took."""
        self._retriever = retriever
        self._recorder = recorder
        self._reader = reader
        self._acts = acts
        self._recalled_rounds = recalled_rounds
        self._observe = observe

    def answer(self, call: ChatCall) -> AsyncGenerator[str | ChatDone, None]:
        """The answer in pieces, then one `ChatDone`.

        An answer that fails, or that is closed before its end, is not stored.
        """
        return traced_answer(self._answer(call))

    async def waits(self, call: ChatCall) -> bool:
        """Whether a request to forget waits in this session for its confirmation."""
        return await self._acts.waits(call.place)

    async def _answer(self, call: ChatCall) -> AsyncGenerator[str | ChatDone, None]:
        if (reply := await self._acted(call)) is not None:
            yield reply
            yield ChatDone(Trace(), None, None, {})
        elif call.mode.stores and not call.is_task and self._acts.refuses(call.text):
            async for piece in self._unkept(call):
                yield piece
        elif self._is_said(call) and (reply := self._acts.polite(call.text)):
            yield reply
            yield ChatDone(Trace(), None, await self._store_round(call, reply), {})
        else:
            async for piece in self._read(call):
                yield piece

    async def _acted(self, call: ChatCall) -> str | None:
        """The reply to a message that wants something forgotten, or confirms it."""
        if call.is_task or call.is_question or call.mode is MemoryMode.OFF:
            return None
        if call.mode is not MemoryMode.ON:
            await self._acts.ends_request(call.place)
            return None
        return await self._acts.forgetting(call.place, call.text, call.conversation, call.days)

    async def _unkept(self, call: ChatCall) -> AsyncGenerator[str | ChatDone, None]:
        """The answer to a message that is not to be remembered. Memory is not even searched, so
        that no vector of it stays."""
        if not self._acts.has_model:
            yield NOT_KEPT
            yield ChatDone(Trace(), None, None, {})
            return
        async with aclosing(self._read(replace(call, mode=MemoryMode.OFF))) as pieces:
            async for piece in pieces:
                if isinstance(piece, ChatDone):
                    await self._recorder.forget_replies()
                    yield f"\n\n{NOT_KEPT_LINE}"
                yield piece

    async def _read(self, call: ChatCall) -> AsyncGenerator[str | ChatDone, None]:
        started = time.perf_counter()
        retrieved = await self._retrieve(call) if call.mode.recalls else None
        recall = retrieved.recall if retrieved else None
        recalled_at = time.perf_counter()
        text: list[str] = []
        trace = Trace()
        is_statement = False
        reading = traced_reading(self._reader.read(self._question(call, recall)))
        async with aclosing(reading) as pieces:
            async for piece in pieces:
                trace = piece.trace or trace
                if piece.text == NOTED and not self._acts.has_model:
                    is_statement = True
                elif piece.text:
                    if not text:
                        self._observe("first_token", time.perf_counter() - started)
                    text.append(piece.text)
                    yield piece.text
        read_at = time.perf_counter()
        trace = _by_rounds(trace, recall)
        round = None
        if is_statement and not call.mode.stores:
            yield self._acts.polite(call.text) or NOT_KEPT_MODE
        elif is_statement:
            # Nothing is said before it is stored. What is noted stands in the message and in older
            # ones: the answer that is kept repeats none of it.
            noted = await self._acts.acknowledged(_next_round(call))
            round = await self._store_round(call, NOTED, shown=noted)
            yield noted
        elif call.mode.stores:
            recalled = recall.rounds if recall else ()
            size = sum(one.record.round.size for one in recalled)
            repeats = await aside(
                size // _WORDS, repeated, call.text, "".join(text), trace, recalled
            )
            round = await self._store_round(call, "".join(text), repeats)
        timings = {
            "recall_ms": (recalled_at - started) * 1000,
            "read_ms": (read_at - recalled_at) * 1000,
            "store_ms": (time.perf_counter() - read_at) * 1000,
        }
        for stage, ms in {**timings, **_parts(recall)}.items():
            self._observe(stage.removesuffix("_ms"), ms / 1000)
        understanding = retrieved.understanding if retrieved else None
        yield ChatDone(trace, recall, round, timings, understanding)

    @staticmethod
    def _is_said(call: ChatCall) -> bool:
        """Whether it is said in a conversation that is kept, rather than asked of memory."""
        return call.mode.stores and not call.is_task and not call.is_question

    async def _retrieve(self, call: ChatCall) -> Retrieved | None:
        query = call.asked[:LONGEST_QUERY]
        if not query.strip():
            return None
        # Those that the conversation shows already are not read twice.
        shown = len(call.conversation) // 2 if self._reader.reads_conversation else 0
        wanted = self._recalled_rounds or self._reader.most_rounds
        return await self._retriever.retrieve(
            Query(
                call.user_id,
                query,
                min(wanted + shown, _MOST_ROUNDS),
                known_until(call.days, call.asked_at, timed=call.timed),
                asked_on=call.asked_at.date(),
                explained=call.debug,
                sessions=False,
                short_limit=0 if self._recalled_rounds else _MOST_ROUNDS,
                where=call.where,
            )
        )

    def _question(self, call: ChatCall, recall: Recall | None) -> Question:
        recalled = None
        if call.mode.recalls:
            rounds = recall.read if recall else ()
            recalled = _unseen(rounds, call, reads_all=self._reader.reads_conversation)
        return Question(
            text=call.asked if not self._acts.has_model else call.text,
            asked_at=call.asked_at,
            conversation=call.conversation,
            recalled=recalled,
            options=call.options,
            days=days_alone(call.text, recall.time_range) if recall else None,
            is_task=call.is_task,
            is_kept=call.mode.stores,
        )

    async def _store_round(
        self,
        call: ChatCall,
        answer: str,
        repeats: Sequence[str] = (),
        shown: str | None = None,
    ) -> Round:
        said = Turn(
            Role.USER,
            call.text,
            call.asked_at,
            call.timed,
            call.name,
            call.turn_id,
            call.retried,
            labels=call.labels,
            expires_at=call.expires_at,
        )
        reply = Turn(Role.ASSISTANT, answer, call.asked_at, call.timed, shown=shown)
        sent = call.conversation if call.sent_along is None else call.sent_along
        before = [m.content for m in sent if m.role in (Role.USER, Role.ASSISTANT)]
        return await self._recorder.record_round(
            call.user_id, call.session_id, said, reply, before, repeats
        )


def _parts(recall: Recall | None) -> Mapping[str, float]:
    """The stages of a recall, in milliseconds."""
    if recall is None:
        return {}
    return {name: recall.timings[name] for name in ("embed_ms", "search_ms")}


def _by_rounds(trace: Trace, recall: Recall | None) -> Trace:
    """The trace with the rounds that values were derived from in place of these values."""
    derived = {one.record.id: one.sources for one in (recall.read if recall else ()) if one.sources}
    if not derived:
        return trace

    def rounds(ids: Sequence[str]) -> tuple[str, ...]:
        return tuple(dict.fromkeys(source for id in ids for source in derived.get(id, (id,))))

    return replace(
        trace,
        context=rounds(trace.context),
        quoted=rounds(trace.quoted),
        dropped=rounds(trace.dropped),
        trimmed=rounds(trace.trimmed),
    )


def _next_round(call: ChatCall) -> Round:
    """What is said, as a round that is stored next."""
    return Round(
        call.user_id, call.session_id, _AFTER_ALL, call.asked_at, call.text, user_name=call.name
    )


def _unseen(rounds: Sequence[Recalled], call: ChatCall, *, reads_all: bool) -> list[Recalled]:
    """Recalled rounds without this one, sent before, and without those that the reader sees as
    earlier messages where it reads them all."""
    seen = {call.text}
    if reads_all:
        seen |= {m.content for m in call.conversation if m.role == "user"}
    return [
        found
        for found in rounds
        if found.record.round.session_id != call.session_id
        or found.record.round.user_text not in seen
    ]
