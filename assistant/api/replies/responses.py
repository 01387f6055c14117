"""Replies of OpenAI's Responses API: whole, or as the named events of a stream."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, Self

from assistant.api.replies import Reply
from assistant.api.replies.chat import ANSWER, MemoryTrace, token_counts
from assistant.api.requests.chat import ResponseRequest
from assistant.api.stream import event
from assistant.chat import ChatCall, ChatDone
from assistant.models.chat_model import TokenCounts

Status = Literal["in_progress", "completed", "incomplete"]


class OutputText(Reply):
    """Text of a response."""

    type: Literal["output_text"]
    text: str
    annotations: list[Any]
    logprobs: list[Any]

    @classmethod
    def of(cls, text: str) -> Self:
        """A text that nothing is said about."""
        return cls(type="output_text", text=text, annotations=[], logprobs=[])


class OutputMessage(Reply):
    """The message of a response."""

    type: Literal["message"]
    id: str
    status: Status
    role: Literal["assistant"]
    content: list[OutputText]


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
    def of(cls, counts: TokenCounts) -> Self:
        """The tokens of an answered call."""
        return cls(
            input_tokens=counts.prompt,
            input_tokens_details=InputDetails(cached_tokens=0, cache_write_tokens=0),
            output_tokens=counts.completion,
            output_tokens_details=OutputDetails(reasoning_tokens=0),
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
    output: list[OutputMessage]
    conversation: ConversationId
    previous_response_id: str | None
    parallel_tool_calls: bool
    tool_choice: str
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


@dataclass(slots=True)
class ResponseReply:
    """What every part of one response has in common, and how many events were made of it."""

    id: str
    message_id: str
    created: int
    model: str
    call: ChatCall
    request: ResponseRequest
    _events: int = field(default=0, init=False)

    def whole(self, text: str, done: ChatDone) -> ResponseObject:
        """The response in one object."""
        return self._finished(text, done)

    def opening(self) -> list[str]:
        """See `StreamedReply`."""
        begun = {"response": self._response("in_progress", [])}
        return [
            self._event("response.created", begun),
            self._event("response.in_progress", begun),
            self._event("response.output_item.added", self._item("in_progress", [])),
            self._event("response.content_part.added", self._part("")),
        ]

    def piece(self, text: str, *, first: bool) -> list[str]:
        """A piece of the text; the opening has said all that the first one needs."""
        return [self._event("response.output_text.delta", self._place() | {"delta": text})]

    def ending(self, text: str, done: ChatDone) -> list[str]:
        """See `StreamedReply`."""
        content = [OutputText.of(text)]
        return [
            self._event("response.output_text.done", self._place() | {"text": text}),
            self._event("response.content_part.done", self._part(text)),
            self._event("response.output_item.done", self._item("completed", content)),
            self._event(
                "response.incomplete" if _is_cut(done) else "response.completed",
                {"response": self._finished(text, done)},
            ),
        ]

    def failure(self, error: Mapping[str, Any]) -> str:
        """Clients look at `error`; the event itself has its parts beside it."""
        return self._event("error", {**error, "error": error})

    def _event(self, kind: str, body: Mapping[str, Any]) -> str:
        self._events += 1
        return event({**body, "type": kind, "sequence_number": self._events - 1}, kind)

    def _place(self) -> dict[str, Any]:
        place = {"item_id": self.message_id, "output_index": 0, "content_index": 0}
        return place | {"logprobs": []}

    def _part(self, text: str) -> dict[str, Any]:
        return self._place() | {"part": OutputText.of(text)}

    def _item(self, status: Status, content: list[OutputText]) -> dict[str, Any]:
        return {"output_index": 0, "item": self._message(status, content)}

    def _message(self, status: Status, content: list[OutputText]) -> OutputMessage:
        return OutputMessage(
            type="message", id=self.message_id, status=status, role="assistant", content=content
        )

    def _finished(self, text: str, done: ChatDone) -> ResponseObject:
        message = self._message("completed", [OutputText.of(text)])
        response = self._response("incomplete" if _is_cut(done) else "completed", [message])
        if _is_cut(done):
            response.incomplete_details = IncompleteDetails(reason="max_output_tokens")
        response.usage = ResponseUsage.of(token_counts(self.call, text, done))
        if self.call.debug:
            response.memory = MemoryTrace.of(self.call, done)
        return response

    def _response(self, status: Status, output: list[OutputMessage]) -> ResponseObject:
        asked = self.request
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
            parallel_tool_calls=False,
            tool_choice="none",
            tools=[],
            temperature=asked.temperature,
            top_p=asked.top_p,
            usage=None,
        )


def _is_cut(done: ChatDone) -> bool:
    return done.trace.finish_reason == "length"


RESPONSE_STREAMED = (
    "event: response.output_text.delta\n"
    'data: {"item_id": "msg_1", "output_index": 0, "content_index": 0, "logprobs": [], '
    '"delta": "Noted.", "type": "response.output_text.delta", "sequence_number": 4}\n\n'
)
