"""Replies of OpenAI's Responses API: whole, or as the named events of a stream."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, Self

from assistant.answering.reader import AnswerPiece
from assistant.api.replies import Reply
from assistant.api.replies.chat import ANSWER, MemoryTrace, token_counts
from assistant.api.replies.response_items import Items, OutputItem, Status, Told
from assistant.api.requests.responses import ResponseRequest
from assistant.api.stream import event
from assistant.chat.call import ChatCall, ChatDone
from assistant.models.chat_model import TokenCounts


class InputDetails(Reply):
    """Input tokens that came from a cache."""

    cached_tokens: int
    cache_write_tokens: int


class OutputDetails(Reply):
    """Output tokens that nobody sees."""

    reasoning_tokens: int


class ResponseUsage(Reply):
    """Tokens of a response."""

    input_tokens: int
    input_tokens_details: InputDetails
    output_tokens: int
    output_tokens_details: OutputDetails
    total_tokens: int

    @classmethod
    def of_counts(cls, counts: TokenCounts) -> Self:
        read = (counts.usage or {}).get("prompt_tokens_details") or {}
        written = (counts.usage or {}).get("completion_tokens_details") or {}
        return cls(
            input_tokens=counts.prompt,
            input_tokens_details=InputDetails(
                cached_tokens=read.get("cached_tokens") or 0,
                cache_write_tokens=read.get("cache_write_tokens") or 0,
            ),
            output_tokens=counts.completion,
            output_tokens_details=OutputDetails(
                reasoning_tokens=written.get("reasoning_tokens") or 0
            ),
            total_tokens=counts.prompt + counts.completion,
        )


class IncompleteDetails(Reply):
    """Why a response is cut."""

    reason: str


class ConversationId(Reply):
    """The session of a response."""

    id: str


class ResponseObject(Reply):
    """A whole response."""

    id: str
    object: Literal["response"]
    created_at: int
    status: Status
    error: None
    incomplete_details: IncompleteDetails | None
    instructions: str | None
    metadata: dict[str, Any]
    model: str
    output: list[OutputItem]
    conversation: ConversationId
    previous_response_id: str | None
    parallel_tool_calls: bool
    tool_choice: str | dict[str, Any]
    tools: list[Any]
    temperature: float | None
    top_p: float | None
    usage: ResponseUsage | None
    memory: MemoryTrace | None = None
    example: ClassVar[Mapping[str, Any]] = {
        "id": "resp_a623ecb1dc3d4010bdde3f1485d8fe22.Y2hhdC0xNDc2YmVjMDdmNzY5MTUwZTRiZTFlNDA",
        "object": "response",
        "created_at": 1686387600,
        "status": "completed",
        "error": None,
        "incomplete_details": None,
        "instructions": None,
        "metadata": {"user_id": "ann", "memory": "read_only"},
        "model": "aide-memoire",
        "output": [
            {
                "type": "message",
                "id": "msg_ed6db72080a449e18261d8fed0bec5ee",
                "status": "completed",
                "role": "assistant",
                "content": [
                    {"type": "output_text", "text": ANSWER, "annotations": [], "logprobs": []}
                ],
            }
        ],
        "conversation": {"id": "chat-1476bec07f769150e4be1e40"},
        "previous_response_id": None,
        "parallel_tool_calls": False,
        "tool_choice": "none",
        "tools": [],
        "temperature": None,
        "top_p": None,
        "usage": {
            "input_tokens": 4,
            "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
            "output_tokens": 20,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": 24,
        },
    }


_INCOMPLETE = {"length": "max_output_tokens", "content_filter": "content_filter"}
"""Why a reply ended early, in the words of chats and of responses."""


@dataclass(slots=True)
class ResponseReply:
    """What every part of one response has in common, and how many events were made of it."""

    id: str
    message_id: str
    created: int
    model: str
    call: ChatCall
    request: ResponseRequest
    tool_choice: str | dict[str, Any] | None
    _items: Items = field(init=False)
    _events: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        self._items = Items(self.message_id)

    def whole(self, pieces: Sequence[AnswerPiece], done: ChatDone) -> ResponseObject:
        for piece in pieces:
            self._items.add(piece)
        self._items.close()
        return self._finished(pieces, done)

    def opening(self) -> list[str]:
        begun = {"response": self._response("in_progress", [])}
        return [
            self._event("response.created", begun),
            self._event("response.in_progress", begun),
        ]

    def piece(self, piece: AnswerPiece, *, first: bool) -> list[str]:
        return self._told(self._items.add(piece))

    def ending(self, pieces: Sequence[AnswerPiece], done: ChatDone) -> list[str]:
        closed = self._told(self._items.close())
        response = self._finished(pieces, done)
        kind = f"response.{response.status}"
        return [*closed, self._event(kind, {"response": response})]

    def failure(self, error: Mapping[str, Any]) -> str:
        """Clients look at `error`; the protocol's event has the parts of the error at its top."""
        return self._event("error", {**error, "error": error})

    def _told(self, told: Sequence[Told]) -> list[str]:
        return [self._event(*one) for one in told]

    def _event(self, kind: str, body: Mapping[str, Any]) -> str:
        self._events += 1
        return event({**body, "type": kind, "sequence_number": self._events - 1}, kind)

    def _finished(self, pieces: Sequence[AnswerPiece], done: ChatDone) -> ResponseObject:
        why = _INCOMPLETE.get(done.trace.finish_reason)
        response = self._response("incomplete" if why else "completed", self._items.output)
        if why:
            response.incomplete_details = IncompleteDetails(reason=why)
        response.usage = ResponseUsage.of_counts(token_counts(self.call, pieces, done))
        if self.call.debug:
            response.memory = MemoryTrace.of_chat(self.call, done)
        return response

    def _response(self, status: Status, output: list[OutputItem]) -> ResponseObject:
        asked = self.request
        tools = asked.tools or []
        parallel = asked.parallel_tool_calls
        return ResponseObject(
            id=self.id,
            object="response",
            created_at=self.created,
            status=status,
            error=None,
            incomplete_details=None,
            instructions=asked.instructions,
            metadata=asked.metadata or {},
            model=self.model,
            output=output,
            conversation=ConversationId(id=self.call.session_id),
            previous_response_id=asked.previous_response_id,
            parallel_tool_calls=bool(tools) if parallel is None else parallel,
            tool_choice=self.tool_choice or ("auto" if tools else "none"),
            tools=list(tools),
            temperature=asked.temperature,
            top_p=asked.top_p,
            usage=None,
        )


RESPONSE_STREAMED = (
    "event: response.output_text.delta\n"
    'data: {"item_id": "msg_1", "output_index": 0, "content_index": 0, "logprobs": [], '
    '"delta": "Noted.", "type": "response.output_text.delta", "sequence_number": 4}\n\n'
)
