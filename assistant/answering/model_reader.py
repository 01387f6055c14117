"""The language model's reader: direct, with notes before the answer, or with a call for each note
(LongMemEval, section 5.5). Only the answer leaves as text. Notes go to the trace, and are streamed
apart from the answer while a client waits for it.
"""

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import Any

from assistant.answering.context import Context, read_memory
from assistant.answering.instructions import (
    AnswerFromNotesInput,
    BesideInput,
    ChainOfNoteInput,
    DirectInput,
)
from assistant.answering.looking_again import LookingModel, may_look
from assistant.answering.memory_tools import MemoryTools
from assistant.answering.notes import (
    MARKER,
    AnswerEnd,
    NotesFilter,
    take_notes,
    with_notes_before,
)
from assistant.answering.plan import LookAgain, Mode, ReadingPlan
from assistant.answering.reader import AnswerPiece, Look, Question, Trace
from assistant.dates import print_day
from assistant.errors import BadModelReply, FieldRefused, PromptRefused, PromptTooLong
from assistant.models.chat_model import ChatModel, Message, Piece, TokenCounts, merge
from assistant.models.token_counter import TokenCounter, about_tokens
from memory_store import MemoryReader
from memory_store.language import Asked

# If a prompt with less memory than this is too long, the memory is not the reason.
_LEAST_TOKENS = 500


class ModelReader:
    """Reads with a language model; without recalled rounds the conversation passes through."""

    reads_conversation = True

    def __init__(
        self,
        model: ChatModel,
        store: MemoryReader,
        plan: ReadingPlan,
        count: TokenCounter = about_tokens,
    ) -> None:
        self._model = model
        self._store = store
        self._plan = plan
        self._count = count
        self._refuses_tools = False
        self.name = f"{plan.mode}:{model.name}"

    def most_rounds(self, asked: Asked) -> int:
        """See `Reader.most_rounds`."""
        return self._plan.most_rounds(asked)

    def over(self, memory: MemoryReader) -> "ModelReader":
        """See `Reader.over`."""
        return ModelReader(self._model, memory, self._plan, self._count)

    async def read(self, question: Question) -> AsyncGenerator[AnswerPiece, None]:
        """See `Reader.read`. Raises the model's errors, `BadModelReply` for an empty answer.

        If the prompt is too long for the model, it is sent again with half of the memory each time.
        """
        plan = self._plan
        while True:
            try:
                async with aclosing(self._read(question, plan)) as pieces:
                    async for piece in pieces:
                        yield piece
                return
            except PromptTooLong:
                plan = replace(plan, context_tokens=plan.context_tokens // 2)
                if question.recalled is None or plan.context_tokens < _LEAST_TOKENS:
                    raise
            except PromptRefused as error:
                if not question.is_passed_on:
                    raise
                raise FieldRefused(error.message) from error

    async def _read(
        self, question: Question, plan: ReadingPlan
    ) -> AsyncGenerator[AnswerPiece, None]:
        prepared = await self._prepared(question, plan)
        tools = self._tools(question, plan, prepared)
        model = LookingModel(self._model, tools, plan.looks) if tools else self._model
        last = _Last()
        answered = False
        notes = prepared.filter
        options = with_notes_before(question.options) if notes else question.options
        end = AnswerEnd(question.options if notes else {})
        async with aclosing(model.stream(prepared.messages, options)) as pieces:
            async for piece in pieces:
                last.see(piece)
                text = end.feed(notes.feed(piece.text) if notes else piece.text)
                if notes and (more := notes.take()):
                    yield AnswerPiece(notes=last.parted(more))
                choices = () if notes and piece.text else piece.choices
                answered |= bool(text.strip() or (choices and question.is_passed_on))
                if text or choices:
                    yield AnswerPiece(text, choices=choices)
                if end.reason:
                    break
        unseen = notes.finish(cut=last.finish_reason == "length") if notes else ""
        rest = end.feed(unseen) + end.finish()
        if not (answered or rest or end.reason):
            raise BadModelReply(
                f"the chat model {self._model.name} gave no answer "
                f"(its reply ended with {last.finish_reason!r})"
            )
        trace = replace(
            prepared.trace,
            notes=notes.notes if notes else prepared.trace.notes,
            tokens=_sum(prepared.trace.tokens, last.tokens),
            finish_reason=end.reason or last.finish_reason,
            calls=() if notes else last.calls,
        )
        if isinstance(model, LookingModel):
            self._refuses_tools |= model.refuses_tools
            trace = replace(trace, looking_ms=model.looking_ms)
        yield AnswerPiece(rest, _with_looks(trace, tools.looks) if tools else trace)

    def _tools(
        self, question: Question, plan: ReadingPlan, prepared: "_Prepared"
    ) -> MemoryTools | None:
        """The tools to look again with; None if the model may not, or if that hardly helps."""
        if question.recalled is None or plan.look_again is LookAgain.OFF or self._refuses_tools:
            return None
        if plan.look_again is LookAgain.AUTO and not _wants_more(question):
            return None
        if not question.user_id or not may_look(question.options):
            return None
        tokens, layout = plan.looks.tokens, plan.layout
        return MemoryTools(self._store, question, prepared.shown, tokens, self._count, layout)

    async def _prepared(self, question: Question, plan: ReadingPlan) -> "_Prepared":
        """The request to the model, with the memory or the notes that it reads."""
        if question.recalled is None:
            return _Prepared(question.messages)
        context = await read_memory(self._store, question, question.recalled, plan, self._count)
        today, marks = print_day(question.asked_at), context.marks
        if question.is_passed_on:
            system = BesideInput(today, context.text, marks=marks).render()
            return _Prepared(_messages(question, system), context.ids, trace=_trace(context))
        if plan.mode is Mode.CHAIN_OF_NOTE_SEPARATE:
            return await self._from_notes(question, context)
        if plan.mode is Mode.DIRECT:
            system = DirectInput(today, context.text, marks=marks).render()
            return _Prepared(_messages(question, system), context.ids, trace=_trace(context))
        system = ChainOfNoteInput(today, context.text, MARKER, marks=marks).render()
        return _Prepared(_messages(question, system), context.ids, NotesFilter(), _trace(context))

    async def _from_notes(self, question: Question, context: Context) -> "_Prepared":
        taken = await take_notes(self._model, question, context)
        text = taken.text(question.asked_at)
        today = print_day(question.asked_at)
        system = AnswerFromNotesInput(today, text, marks=taken.marks).render()
        trace = replace(
            _trace(context),
            notes=text,
            context=taken.read,
            dropped=taken.dropped,
            tokens=taken.tokens,
        )
        return _Prepared(_messages(question, system), taken.read, trace=trace)


@dataclass(frozen=True, slots=True)
class _Prepared:
    """A prompt ready to be sent, the filter that splits notes from the reply, and the trace."""

    messages: Sequence[Message]
    shown: Sequence[str] = ()
    """Ids of the rounds that it shows."""
    filter: NotesFilter | None = None
    trace: Trace = field(default_factory=Trace)


class _Last:
    """The reply as a whole, gathered from its pieces."""

    def __init__(self) -> None:
        self.tokens: TokenCounts | None = None
        self.finish_reason = "stop"
        self._told: dict[str, Any] = {}

    @property
    def calls(self) -> Sequence[Mapping[str, Any]]:
        """The calls of tools in it."""
        return Message("assistant", "", self._told).calls

    def parted(self, notes: str) -> str:
        """Notes, after a blank line where reasoning came before: both are streamed alike."""
        return f"\n\n{notes}" if self._told.pop("reasoning_content", "") else notes

    def see(self, piece: Piece) -> None:
        for choice in piece.choices:
            if not choice.get("index"):
                merge(self._told, choice.get("delta") or {})
        self.tokens = piece.tokens or self.tokens
        self.finish_reason = piece.finish_reason or self.finish_reason


# If the nearest round is less near than this, little is known of what is asked.
_NEAR = 0.5


def _wants_more(question: Question) -> bool:
    """Whether one recall may well be too little: many rounds are wanted, or none is near. A program
    that brings tools or a format of its own gets no tools of ours."""
    if question.is_passed_on:
        return False
    asked = question.asked
    if asked.counts or asked.orders or asked.overview or asked.about_user:
        return True
    return max((one.similarity for one in question.recalled or ()), default=0.0) < _NEAR


def _with_looks(trace: Trace, looks: Sequence[Look]) -> Trace:
    """The trace, with the rounds that were found by looking again."""
    found = [id for look in looks for id in look.ids]
    return replace(trace, context=tuple(dict.fromkeys([*trace.context, *found])), looks=looks)


def _trace(context: Context) -> Trace:
    return Trace(
        context=context.used,
        dropped=context.dropped,
        trimmed=context.trimmed,
        context_tokens=context.tokens,
    )


def _messages(question: Question, ours: str) -> list[Message]:
    """The messages as they came, with our text behind the caller's own system text."""
    first, *rest = question.messages
    if first.role not in ("system", "developer"):
        return [Message("system", ours), first, *rest]
    return [_with_text(first, ours), *rest]


def _with_text(message: Message, text: str) -> Message:
    joined = f"{message.content}\n\n{text}"
    if message.sent is None:
        return Message(message.role, joined)
    content = message.sent.get("content")
    parts = [*content, {"type": "text", "text": text}] if isinstance(content, list) else joined
    return Message(message.role, joined, {**message.sent, "content": parts})


def _sum(before: TokenCounts | None, last: TokenCounts | None) -> TokenCounts | None:
    if before is None or last is None:
        return last or before
    return before + last
