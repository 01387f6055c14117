"""Replies of chats, as OpenAI's clients read them: whole, or as the chunks of a stream."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import ConfigDict, Field

from assistant.answering.reader import AnswerPiece, Look, Outcome
from assistant.api.replies import Instant, Reply, one_of
from assistant.api.replies.memories import DayRange, LinkedFact
from assistant.api.replies.receipts import GivenReceipt, Receipted
from assistant.api.replies.search import FoundMemory, QuestionUnderstood, TimeAsked
from assistant.api.stream import DONE, event
from assistant.chat.call import TELLS, ChatCall, ChatDone, MemoryMode
from assistant.models.chat_model import TokenCounts, merge
from assistant.models.token_counter import about_tokens
from memory_store import Fact, Record, whose

ANSWER = "From what we talked about:\n- On 2023-05-20 (Sat) you said: “I live in Ghent.”"


class Understood(Reply):
    """A statement of a message that was kept: the days it is about, and what it replaces."""

    text: str
    days: list[DayRange] = Field(validation_alias="event_dates")
    replaces: list[LinkedFact] = Field(validation_alias="supersedes")


class LookedAgain(Reply):
    """What the model looked for in memory before it answered, the ids of what it read of it, and
    the tokens of the result."""

    tool: str
    asked: str
    found: list[str]
    tokens: int

    @classmethod
    def of_look(cls, look: Look) -> Self:
        """One call of a tool."""
        return cls.of(look, found=[one.record.id for one in look.found])


class MemoryTrace(Reply):
    """What was recalled for an answer, and what became of it; on request only."""

    user_id: str
    space: str | None
    session_id: str
    round_id: str | None
    outcome: Annotated[Outcome, one_of(Outcome)]
    kept: list[Understood]
    mode: Annotated[MemoryMode, one_of(MemoryMode)]
    now: Instant
    understanding: QuestionUnderstood | None
    time_range: TimeAsked | None
    time_fell_back: bool
    steps: list[str]
    data: list[FoundMemory]
    left_out: dict[str, int]
    """How many statements were left out of strict recall, by why."""
    held_back: int
    """How many more would be among these, had they been allowed to be read for this answer."""
    read: list[str]
    dropped: list[str]
    trimmed: list[str]
    context_tokens: int
    notes: str
    looks: list[LookedAgain]
    timings: dict[str, float]

    @classmethod
    def of_chat(cls, call: ChatCall, done: ChatDone) -> Self:
        """The trace of an answered call."""
        recall, record = done.recall, done.record
        return cls.of(
            done.trace,
            **whose(call.user_id)._asdict(),
            session_id=call.session_id,
            round_id=record.id if record else None,
            outcome=done.outcome,
            kept=list(_told(record)) if record else [],
            mode=call.mode,
            now=call.asked_at,
            understanding=done.understanding,
            time_range=recall.time_range if recall else None,
            time_fell_back=recall.fell_back if recall else False,
            steps=recall.steps if recall else [],
            data=[FoundMemory.of_found(found) for found in (recall.rounds if recall else ())],
            left_out=recall.left_out if recall else {},
            held_back=recall.held_back if recall else 0,
            looks=list(map(LookedAgain.of_look, done.trace.looks)),
            read=done.trace.context,
            timings={name: round(ms, 3) for name, ms in done.timings.items()},
        )


def _told(record: Record) -> Iterator[Fact]:
    """The facts that a message told, without the requests that rules have taken for facts."""
    reading = record.round.reading
    told = [one.text for one in reading.sentences if one.telling >= TELLS] if reading else None
    for fact in record.facts:
        if told is None or any(fact.text in text for text in told):
            yield fact


class AnswerMessage(Reply):
    """The answer, with whatever else the model said in OpenAI's shape, such as calls of tools."""

    model_config = ConfigDict(extra="allow")
    role: Literal["assistant"]
    content: str | None
    tool_calls: list[dict[str, Any]] | None = None


class ChatChoice(Reply):
    """A choice of a reply: the only one, unless more were asked for (`n`)."""

    index: int
    message: AnswerMessage
    logprobs: dict[str, Any] | None
    finish_reason: str | None


class ChatUsage(Reply):
    """Tokens of a chat, with all that the model's provider says of them."""

    model_config = ConfigDict(extra="allow")
    prompt_tokens: int
    completion_tokens: int
    total_tokens: int

    @classmethod
    def of_counts(cls, counts: TokenCounts) -> Self:
        return cls(
            **{
                "prompt_tokens": counts.prompt,
                "completion_tokens": counts.completion,
                "total_tokens": counts.prompt + counts.completion,
                **(counts.usage or {}),
            }
        )


class ChatCompletion(Receipted):
    """A whole chat reply."""

    id: str
    object: Literal["chat.completion"]
    created: int
    model: str
    choices: list[ChatChoice]
    usage: ChatUsage
    memory: MemoryTrace | None = None
    example: ClassVar[Mapping[str, Any]] = {
        "id": "chatcmpl-16b3f9c2e16a406da410b2af973246bc",
        "object": "chat.completion",
        "created": 1686387600,
        "model": "aide-memoire",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": ANSWER},
                "logprobs": None,
                "finish_reason": "stop",
            }
        ],
        "usage": {"prompt_tokens": 4, "completion_tokens": 20, "total_tokens": 24},
    }


@dataclass(frozen=True, slots=True)
class ChatReply:
    """What every part of one reply has in common."""

    id: str
    created: int
    model: str
    call: ChatCall
    debug: bool
    with_usage: bool
    receipt_of: Callable[[ChatDone], GivenReceipt | None]
    """The receipt for what was done, where one was asked for."""

    def whole(self, pieces: Sequence[AnswerPiece], done: ChatDone) -> ChatCompletion:
        reply = ChatCompletion(
            id=self.id,
            object="chat.completion",
            created=self.created,
            model=self.model,
            choices=whole_choices(pieces, done),
            usage=ChatUsage.of_counts(token_counts(self.call, pieces, done)),
        )
        if self.debug:
            reply.memory = MemoryTrace.of_chat(self.call, done)
        if receipt := self.receipt_of(done):
            reply.receipt = receipt
        return reply

    def opening(self) -> list[str]:
        return []

    def piece(self, piece: AnswerPiece, *, first: bool) -> list[str]:
        """A chunk with text, the first of which names the role; or a chunk as the model gave it.
        Notes are sent as `reasoning_content`, in which models tell what they think."""
        begun = {"role": "assistant"} if first else {}
        if piece.notes:
            return [event(self._chunk(begun | {"reasoning_content": piece.notes}, None))]
        if not piece.choices:
            return [event(self._chunk(begun | {"content": piece.text}, None))]
        told = [{"logprobs": None, **one, "delta": begun | one["delta"]} for one in piece.choices]
        return [event(self._envelope(told))]

    def ending(self, pieces: Sequence[AnswerPiece], done: ChatDone) -> list[str]:
        """The chunk with the finish reason, where asked for the one with the usage, and the end."""
        last = self._chunk({}, done.trace.finish_reason)
        if self.debug:
            last["memory"] = MemoryTrace.of_chat(self.call, done)
        if receipt := self.receipt_of(done):
            last["receipt"] = receipt
        events = [event(last)]
        if self.with_usage:
            usage = ChatUsage.of_counts(token_counts(self.call, pieces, done))
            events.append(event(self._envelope([]) | {"usage": usage}))
        return [*events, DONE]

    def failure(self, error: Mapping[str, Any]) -> str:
        return event({"error": error})

    def _chunk(self, delta: Mapping[str, Any], finish_reason: str | None) -> dict[str, Any]:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish_reason}
        return self._envelope([choice])

    def _envelope(self, choices: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        return {
            "id": self.id,
            "object": "chat.completion.chunk",
            "created": self.created,
            "model": self.model,
            "choices": choices,
        }


def whole_choices(pieces: Sequence[AnswerPiece], done: ChatDone) -> list[ChatChoice]:
    # The first choice is there even if it is empty. Notes are left out: they are for people who
    # wait, and clients would send them back with the message.
    told: dict[int, dict[str, Any]] = {0: {"finish_reason": done.trace.finish_reason}}
    for piece in (one for one in pieces if not one.notes):
        for choice in piece.choices or ({"delta": {"content": piece.text}},):
            whole = told.setdefault(choice.get("index") or 0, {})
            known = {name: value for name, value in choice.items() if value is not None}
            merge(whole, {name: value for name, value in known.items() if name != "index"})
    return [_choice(index, whole) for index, whole in sorted(told.items())]


def _choice(index: int, whole: Mapping[str, Any]) -> ChatChoice:
    message = {"content": None, **whole.get("delta", {}), "role": "assistant"}
    if calls := message.get("tool_calls"):
        # The index of a call is its place in the stream, and no part of the call.
        message["tool_calls"] = [{k: v for k, v in one.items() if k != "index"} for one in calls]
    return ChatChoice(
        index=index,
        message=AnswerMessage(**message),
        logprobs=whole.get("logprobs"),
        finish_reason=whole.get("finish_reason"),
    )


def token_counts(call: ChatCall, pieces: Sequence[AnswerPiece], done: ChatDone) -> TokenCounts:
    """The model's own counts; about four characters a token where no model was asked."""
    asked = [call.text, *(message.content for message in call.conversation)]
    text = "".join(piece.text for piece in pieces)
    return done.trace.tokens or TokenCounts(
        prompt=sum(map(about_tokens, asked)), completion=about_tokens(text)
    )


STREAMED = (
    'data: {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1686387600, '
    '"model": "aide-memoire", "choices": [{"index": 0, "delta": {"role": "assistant", '
    '"content": "Noted."}, "logprobs": null, "finish_reason": null}]}\n\n'
    "data: [DONE]\n\n"
)
