"""One chat request end to end: recall, read, store. The same steps for every mode and client."""

import time
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import replace

from assistant.answering.phrases import NOTED
from assistant.answering.reader import AnswerPiece, Outcome, Question, Reader, Trace, demanded
from assistant.chat.acts import NOT_KEPT, NOT_KEPT_LINE, NOT_KEPT_MODE, Acts, Settled, tells
from assistant.chat.call import ChatCall, ChatDone, Meaning, MemoryMode, UserSession
from assistant.chat.forgetting import Said
from assistant.chat.held_back import HeldBack
from assistant.chat.recalling import Loop, Loops, Recalling
from assistant.chat.recorder import Recorder
from assistant.chat.retriever import Retriever, known_until
from assistant.chat.rounds import ChatRounds, next_round
from assistant.errors import InvalidRequest
from assistant.observing.gen_ai import traced_answer, traced_reading
from memory_store import (
    MemoryReader,
    Recall,
)
from memory_store.scheduler import aside

# For `aside`: this many characters are searched for words while rules read one.
_READ_FAST = 4

Observer = Callable[[str, float], None]


Pieces = AsyncGenerator[AnswerPiece | ChatDone, None]
"""An answer in pieces, then what happened."""


class Chat:
    """Answers chat calls. The only place where recalling, reading and storing meet."""

    def __init__(
        self,
        retriever: Retriever,
        recorder: Recorder,
        reader: Reader,
        acts: Acts,
        loops: Loops,
        memory: MemoryReader,
        *,
        beside: "Chat | None" = None,
        strict: bool = False,
        recalled_rounds: int = 0,
        kept_of_results: int = 0,
        observe: Observer = lambda stage, seconds: None,
    ) -> None:
        """`memory` is the part of memory that the reader sees. Where that is not all, `beside`
        answers, without a model, what may not go to the model. `strict` says whether recall is
        strict where a call does not say. `recalled_rounds` is how many are recalled, 0 for as many
        as the reader can use; `kept_of_results` is how many characters of each tool's result are
        stored; `observe` is told how many seconds each stage of an answer took."""
        self._recorder = recorder
        self._reader = reader
        self._acts = acts
        self._loops = loops
        self._memory = memory
        self._held_back = HeldBack(recorder, memory)
        self._beside = beside
        self._recalling = Recalling(
            retriever, reader, memory, loops, strict=strict, recalled_rounds=recalled_rounds
        )
        self._rounds = ChatRounds(recorder, kept_of_results)
        self._observe = observe

    def answer(self, call: ChatCall) -> Pieces:
        """The answer in pieces, then one `ChatDone`.

        An answer that fails, or that is closed before its end, is not stored. Raises
        `InvalidRequest` for what only a language model can give, where there is none.
        """
        return traced_answer(self._answer(call))

    async def waits(self, call: ChatCall) -> bool:
        """Whether a request to forget waits in this session for its confirmation."""
        return await self._acts.requests.waits(call.place)

    def loop(self, place: UserSession) -> Loop | None:
        """The question of a session that is being answered with tools."""
        return self._loops.of(place)

    async def _answer(self, call: ChatCall) -> Pieces:
        self._check_model(call)
        meaning = await self._meaning(call)
        call, stays_here = await self._held_back.apart(call, meaning)
        chat = self._beside or self if stays_here else self
        async with aclosing(chat._go_on(call, meaning)) as pieces:
            async for piece in pieces:
                if isinstance(piece, ChatDone) and piece.record:
                    piece = replace(piece, record=await self._memory.as_seen(piece.record))
                yield piece

    async def _go_on(self, call: ChatCall, meaning: Meaning) -> Pieces:
        if self._is_said(call) and (settled := await self._acts.settled(call)):
            async for piece in self._settle(call, meaning, settled):
                yield piece
        elif (said := await self._acted(call, meaning)) is not None:
            yield AnswerPiece(said.text, outcome=said.outcome)
            yield ChatDone(Trace(), None, None, {}, outcome=said.outcome, gone=said.gone)
        elif call.mode.stores and not call.is_task and self._acts.refuses(meaning):
            async for piece in self._unkept(call, meaning):
                yield piece
        elif self._is_said(call) and (reply := self._acts.polite(meaning)):
            yield AnswerPiece(reply)
            record = await self._rounds.store(call, reply, meaning, Outcome.POLITE)
            yield ChatDone(Trace(), None, record, {}, outcome=Outcome.POLITE)
        elif self._is_only_told(call, meaning):
            async for piece in self._kept(call, meaning):
                yield piece
        else:
            async for piece in self._read(call, meaning):
                yield piece

    async def _meaning(self, call: ChatCall) -> Meaning:
        """What the message may mean: read here, once."""
        asked_on, language = call.asked_at.date(), self._acts.language
        given = (call.text, call.asked, language, asked_on, call.week_begins)
        return await aside(len(call.text) // _READ_FAST, Meaning.of, *given)

    async def _kept(self, call: ChatCall, meaning: Meaning) -> Pieces:
        """The acknowledgement of what is told, which is given after the message is stored. The
        stored answer does not repeat what was kept, as the message has it."""
        started = time.perf_counter()
        noted = await self._acts.acknowledged(meaning, next_round(call, meaning)) or NOTED
        noted = "\n".join(filter(None, [noted, await self._questions(call, meaning)]))
        record = await self._rounds.store(call, NOTED, meaning, Outcome.KEPT, shown=noted)
        yield AnswerPiece(noted)
        store_ms = (time.perf_counter() - started) * 1000
        self._observe("store", store_ms / 1000)
        timings = {"store_ms": store_ms}
        yield ChatDone(Trace(), None, record, timings, outcome=Outcome.KEPT)

    async def _settle(self, call: ChatCall, meaning: Meaning, settled: Settled) -> Pieces:
        """The acknowledgement of a message that says up to when something holds."""
        await self._acts.requests.end(call.place)
        for round_id, correction in settled.corrections:
            await self._recorder.correct(call.user_id, round_id, correction)
        noted = settled.noted
        record = await self._rounds.store(call, NOTED, meaning, Outcome.KEPT, shown=noted)
        yield AnswerPiece(noted)
        yield ChatDone(Trace(), None, record, {}, outcome=Outcome.KEPT)

    async def _questions(self, call: ChatCall, meaning: Meaning) -> str:
        """What the user is asked beside the answer."""
        # In a shared space a fact may be another member's, so nobody is asked about it.
        today = call.asked_at.date()
        due = [] if call.person else await self._recorder.ask_again(call.user_id, today)
        return await self._acts.still_open(call, meaning, due)

    def _check_model(self, call: ChatCall) -> None:
        wanted = demanded(call.options, call.message) or (("tools",) if call.after else ())
        if wanted and not self._acts.has_model:
            raise InvalidRequest(
                f"{', '.join(wanted)}: this needs a language model, and none is set up here (set "
                "chat_model)",
                code="needs_model",
                param=wanted[0],
            )

    async def _acted(self, call: ChatCall, meaning: Meaning) -> Said | None:
        """The reply to a message that wants something forgotten, or confirms it."""
        if call.is_task or call.is_question or call.mode is MemoryMode.OFF:
            return None
        if not call.wants_words:
            return None
        if call.mode is not MemoryMode.ON:
            # A message that changes no memory ends a request all the same.
            await self._acts.requests.end(call.place)
            return None
        return await self._acts.forgetting(call.place, meaning, call.days)

    async def _unkept(self, call: ChatCall, meaning: Meaning) -> Pieces:
        """The answer to a message that is not to be remembered. Memory is not even searched, so
        that no vector of it stays."""
        if not self._acts.has_model:
            yield AnswerPiece(NOT_KEPT)
            yield ChatDone(Trace(), None, None, {}, outcome=Outcome.REFUSED)
            return
        async with aclosing(self._read(replace(call, mode=MemoryMode.OFF), meaning)) as pieces:
            async for piece in pieces:
                if isinstance(piece, ChatDone):
                    await self._recorder.forget_replies()
                    if call.wants_words and not piece.trace.calls:
                        yield AnswerPiece(f"\n\n{NOT_KEPT_LINE}")
                    piece = replace(piece, outcome=Outcome.REFUSED)
                yield piece

    async def _read(self, call: ChatCall, meaning: Meaning) -> Pieces:
        started = time.perf_counter()
        known = self._recalling.kept(call)
        retrieved = known or await self._recalling.retrieved(call, meaning)
        recall = retrieved.recall if retrieved else None
        recalled_at = time.perf_counter()
        answer = _Answer()
        reading = traced_reading(self._reader_for(call).read(self._question(call, meaning, recall)))
        async with aclosing(reading) as pieces:
            async for piece in pieces:
                if shown := answer.shown(piece):
                    if not answer.is_begun:
                        self._observe("first_token", time.perf_counter() - started)
                    answer.is_begun = True
                    yield shown
        read_at = time.perf_counter()
        trace = _by_rounds(answer.trace, recall)
        record, outcome = None, answer.outcome
        if call.mode.stores:
            noted = "" if trace.calls else await self._noted_beside(call, meaning)
            if not answer.text and not trace.calls and not self._acts.has_model:
                noted, outcome = noted or NOTED, Outcome.KEPT
                record = await self._rounds.store(call, NOTED, meaning, outcome, shown=noted)
            else:
                noted = f"\n\n{noted}" if noted else ""
                record = await self._rounds.store_answer(
                    call, answer.text, trace, recall, noted, meaning, outcome
                )
            if noted:
                yield AnswerPiece(noted)
        elif not answer.text and not trace.calls and not self._acts.has_model:
            yield AnswerPiece(NOT_KEPT_MODE)
        self._recalling.keep(call, retrieved, answer.text, trace)
        timings = {
            "recall_ms": (recalled_at - started) * 1000,
            "read_ms": (read_at - recalled_at) * 1000,
            "store_ms": (time.perf_counter() - read_at) * 1000,
        }
        for stage, ms in {**timings, **_parts(None if known else recall)}.items():
            self._observe(stage.removesuffix("_ms"), ms / 1000)
        if trace.looks:
            timings["looking_ms"] = trace.looking_ms
        understanding = retrieved.understanding if retrieved else None
        yield ChatDone(trace, recall, record, timings, understanding, outcome)

    async def _noted_beside(self, call: ChatCall, meaning: Meaning) -> str:
        """The note after an answer to a message that told something, too, and what is asked."""
        if not self._is_said(call):
            return ""
        noted = await self._acts.acknowledged(meaning, next_round(call, meaning))
        return "\n".join(filter(None, [noted, await self._questions(call, meaning)]))

    @staticmethod
    def _is_said(call: ChatCall) -> bool:
        """Whether it is said in a conversation that is kept, rather than asked of memory."""
        return call.mode.stores and call.may_tell

    def _is_only_told(self, call: ChatCall, meaning: Meaning) -> bool:
        """Whether the answer only says what was kept: no model reads the message, and it asks
        nothing or memory is not to be read."""
        tells = meaning.only_tells or (meaning.tells and not call.mode.recalls)
        return tells and not self._acts.has_model and self._is_said(call)

    def _reader_for(self, call: ChatCall) -> Reader:
        memory = self._recalling.memory_for(call)
        return self._reader if memory is self._memory else self._reader.over(memory)

    def _question(self, call: ChatCall, meaning: Meaning, recall: Recall | None) -> Question:
        recalled = None
        if call.mode.recalls:
            recalled = self._recalling.unseen(recall, call)
        return Question(
            text=call.asked if not self._acts.has_model else call.text,
            asked_at=call.asked_at,
            user_id=call.user_id,
            conversation=call.conversation,
            message=call.message,
            after=call.after,
            recalled=recalled,
            options=call.options,
            known=known_until(call.days, call.asked_at, timed=call.timed),
            where=call.where,
            unknown=recall.unknown if recall else frozenset(),
            asked=meaning.asked.within(recall.time_range, call.text) if recall else meaning.asked,
            is_task=call.is_task,
            tells=call.may_tell and meaning.tells_more,
            asking=" ".join(one.text for one in meaning.reading.sentences if not tells(one)),
            is_kept=call.mode.stores,
            left_out=(recall.left_out if recall else {})
            if self._recalling.is_strict(call)
            else None,
        )


class _Answer:
    """An answer while it is read: its text, and what is known at its end."""

    def __init__(self) -> None:
        self.trace = Trace()
        self.outcome = Outcome.ANSWERED
        self.is_begun = False
        self._texts: list[str] = []

    @property
    def text(self) -> str:
        """All of its text so far."""
        return "".join(self._texts)

    def shown(self, piece: AnswerPiece) -> AnswerPiece | None:
        """The part of a piece that is shown at once."""
        self.trace = piece.trace or self.trace
        self.outcome = piece.outcome or self.outcome
        if not (piece.text or piece.choices or piece.notes):
            return None
        self._texts.append(piece.text)
        return AnswerPiece(piece.text, choices=piece.choices, notes=piece.notes)


def _parts(recall: Recall | None) -> Mapping[str, float]:
    """The stages of a recall, in milliseconds."""
    if recall is None:
        return {}
    return {name: recall.timings[name] for name in ("embed_ms", "search_ms")}


def _by_rounds(trace: Trace, recall: Recall | None) -> Trace:
    """The trace, with each derived value replaced by the rounds that it was derived from."""
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
