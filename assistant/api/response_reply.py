"""One response in the shape of OpenAI's Responses API: whole, or as its named events. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from assistant.api.chat_reply import memory_body, token_counts
from assistant.api.events import event
from assistant.api.requests.chat import ResponseRequest
from assistant.chat import ChatCall, ChatDone


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

    def whole(self, text: str, done: ChatDone) -> dict[str, Any]:
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
        content = [_text_part(text)]
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
        return self._place() | {"part": _text_part(text)}

    def _item(self, status: str, content: list[Any]) -> dict[str, Any]:
        return {"output_index": 0, "item": self._message(status, content)}

    def _message(self, status: str, content: list[Any]) -> dict[str, Any]:
        return {
            "type": "message",
            "id": self.message_id,
            "status": status,
            "role": "assistant",
            "content": content,
        }

    def _finished(self, text: str, done: ChatDone) -> dict[str, Any]:
        status = "incomplete" if _is_cut(done) else "completed"
        counts = token_counts(self.call, text, done)
        body = self._response(status, [self._message("completed", [_text_part(text)])])
        body["incomplete_details"] = {"reason": "max_output_tokens"} if _is_cut(done) else None
        body["usage"] = {
            "input_tokens": counts.prompt,
            "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
            "output_tokens": counts.completion,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": counts.prompt + counts.completion,
        }
        return body | ({"memory": memory_body(self.call, done)} if self.call.debug else {})

    def _response(self, status: str, output: list[Any]) -> dict[str, Any]:
        asked = self.request
        return {
            "id": self.id,
            "object": "response",
            "created_at": self.created,
            "status": status,
            "error": None,
            "incomplete_details": None,
            "instructions": asked.instructions,
            "metadata": asked.metadata or {},
            "model": self.model,
            "output": output,
            "conversation": {"id": self.call.session_id},
            "previous_response_id": asked.previous_response_id,
            "parallel_tool_calls": False,
            "tool_choice": "none",
            "tools": [],
            "temperature": asked.temperature,
            "top_p": asked.top_p,
            "usage": None,
        }


def _text_part(text: str) -> dict[str, Any]:
    return {"type": "output_text", "text": text, "annotations": [], "logprobs": []}


def _is_cut(done: ChatDone) -> bool:
    return done.trace.finish_reason == "length"
