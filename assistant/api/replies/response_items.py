"""The output of a response, item by item: the message, and calls of the client's tools, made from
the pieces of an answer and told as the events of a stream."""

import uuid
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from assistant.answering.reader import AnswerPiece
from assistant.api.replies import Reply

Status = Literal["in_progress", "completed", "incomplete"]
Told = tuple[str, dict[str, Any]]
"""The kind of an event and its body."""


class OutputText(Reply):
    """Text of a response."""

    type: Literal["output_text"]
    text: str
    annotations: list[Any]
    logprobs: list[Any]


class OutputMessage(Reply):
    """The message of a response."""

    type: Literal["message"]
    id: str
    status: Status
    role: Literal["assistant"]
    content: list[OutputText]


class FunctionCall(Reply):
    """A call of one of the client's functions; `arguments` is JSON, as the model wrote it."""

    type: Literal["function_call"]
    id: str
    call_id: str
    name: str
    arguments: str
    status: Status


class CustomToolCall(Reply):
    """A call of one of the client's tools whose input is a text."""

    type: Literal["custom_tool_call"]
    id: str
    call_id: str
    name: str
    input: str
    status: Status


OutputItem = OutputMessage | FunctionCall | CustomToolCall


class _Message:
    """The message while it is written."""

    def __init__(self, id: str, place: int) -> None:
        self._id = id
        self._place = place
        self._text = ""
        self._logprobs: list[Any] = []

    def opened(self) -> list[Told]:
        return [
            ("response.output_item.added", self._item("in_progress", [])),
            ("response.content_part.added", self._part(_text(""))),
        ]

    def add(self, text: str, logprobs: Sequence[Any]) -> Told:
        self._text += text
        self._logprobs += logprobs
        told = self._at() | {"delta": text, "logprobs": list(logprobs)}
        return "response.output_text.delta", told

    def closed(self) -> list[Told]:
        whole = _text(self._text, self._logprobs)
        text = self._at() | {"text": self._text, "logprobs": self._logprobs}
        return [
            ("response.output_text.done", text),
            ("response.content_part.done", self._part(whole)),
            ("response.output_item.done", self._item("completed", [whole])),
        ]

    def item(self) -> OutputMessage:
        return self._message("completed", [_text(self._text, self._logprobs)])

    def _at(self) -> dict[str, Any]:
        return {"item_id": self._id, "output_index": self._place, "content_index": 0}

    def _part(self, text: OutputText) -> dict[str, Any]:
        return self._at() | {"part": text}

    def _item(self, status: Status, content: list[OutputText]) -> dict[str, Any]:
        return {"output_index": self._place, "item": self._message(status, content)}

    def _message(self, status: Status, content: list[OutputText]) -> OutputMessage:
        return OutputMessage(
            type="message", id=self._id, status=status, role="assistant", content=content
        )


class _Call:
    """A call of a tool while it is written."""

    def __init__(self, call: Mapping[str, Any], place: int) -> None:
        self._is_custom = call.get("type") == "custom"
        self._id = f"{'ctc' if self._is_custom else 'fc'}_{uuid.uuid4().hex}"
        self._call_id = str(call.get("id") or f"call_{uuid.uuid4().hex}")
        self._name = str(self._said(call).get("name") or "")
        self._place = place
        self._input = ""

    def opened(self) -> list[Told]:
        return [("response.output_item.added", self._told("in_progress"))]

    def add(self, call: Mapping[str, Any]) -> list[Told]:
        more = str(self._said(call).get("input" if self._is_custom else "arguments") or "")
        self._input += more
        return [(f"{self._kind}.delta", self._at() | {"delta": more})] if more else []

    def closed(self) -> list[Told]:
        whole = {"input" if self._is_custom else "arguments": self._input}
        done = self._at() | whole | ({} if self._is_custom else {"name": self._name})
        return [
            (f"{self._kind}.done", done),
            ("response.output_item.done", self._told("completed")),
        ]

    def item(self, status: Status = "completed") -> FunctionCall | CustomToolCall:
        common: dict[str, Any] = {"id": self._id, "call_id": self._call_id, "name": self._name}
        if self._is_custom:
            return CustomToolCall(
                type="custom_tool_call", input=self._input, status=status, **common
            )
        return FunctionCall(type="function_call", arguments=self._input, status=status, **common)

    @property
    def _kind(self) -> str:
        custom, function = "custom_tool_call_input", "function_call_arguments"
        return f"response.{custom if self._is_custom else function}"

    def _said(self, call: Mapping[str, Any]) -> Mapping[str, Any]:
        return call.get("custom" if self._is_custom else "function") or {}

    def _at(self) -> dict[str, Any]:
        return {"item_id": self._id, "output_index": self._place}

    def _told(self, status: Status) -> dict[str, Any]:
        return {"output_index": self._place, "item": self.item(status)}


class Items:
    """The output so far. Items are opened when their first piece comes, and closed at the end."""

    def __init__(self, message_id: str) -> None:
        self._message_id = message_id
        self._message: _Message | None = None
        self._calls: dict[Any, _Call] = {}
        self._items: list[_Message | _Call] = []

    @property
    def output(self) -> list[OutputItem]:
        return [item.item() for item in self._items]

    def add(self, piece: AnswerPiece) -> list[Told]:
        first = next((one for one in piece.choices if not one.get("index")), {})
        logprobs = (first.get("logprobs") or {}).get("content") or []
        told = self._say(piece.text, logprobs) if piece.text or logprobs else []
        for number, call in enumerate((first.get("delta") or {}).get("tool_calls") or ()):
            told += self._calling(call.get("index", (call.get("id"), number)), call)
        return told

    def close(self) -> list[Told]:
        """The events that end the output. If it is empty, a message without text is put in."""
        told = [] if self._items else self._say("", [])[:-1]
        return told + [event for item in self._items for event in item.closed()]

    def _say(self, text: str, logprobs: Sequence[Any]) -> list[Told]:
        told: list[Told] = []
        if self._message is None:
            self._message = _Message(self._message_id, len(self._items))
            self._items.append(self._message)
            told += self._message.opened()
        return [*told, self._message.add(text, logprobs)]

    def _calling(self, key: Any, call: Mapping[str, Any]) -> list[Told]:
        told: list[Told] = []
        if key not in self._calls:
            self._calls[key] = begun = _Call(call, len(self._items))
            self._items.append(begun)
            told += begun.opened()
        return told + self._calls[key].add(call)


def _text(text: str, logprobs: Sequence[Any] = ()) -> OutputText:
    return OutputText(type="output_text", text=text, annotations=[], logprobs=list(logprobs))
