"""One chat reply in OpenAI's shape: whole, or as the chunks of a stream. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from assistant.api import bodies
from assistant.api.events import DONE, event
from assistant.chat import ChatCall, ChatDone
from assistant.dates import print_instant
from assistant.models.chat_model import TokenCounts
from assistant.models.token_counter import about_tokens


@dataclass(frozen=True, slots=True)
class ChatReply:
    """What every part of one reply has in common."""

    id: str
    created: int
    model: str
    call: ChatCall
    debug: bool
    with_usage: bool

    def whole(self, text: str, done: ChatDone) -> dict[str, Any]:
        """The reply in one object."""
        choice = {
            "index": 0,
            "message": {"role": "assistant", "content": text},
            "logprobs": None,
            "finish_reason": done.trace.finish_reason,
        }
        body = self._envelope("chat.completion", [choice])
        body["usage"] = self._usage(text, done)
        return body | self._memory(done)

    def opening(self) -> list[str]:
        """See `StreamedReply`. A chat begins with its first piece."""
        return []

    def piece(self, text: str, *, first: bool) -> list[str]:
        """A chunk with text; the first one names the role."""
        delta = ({"role": "assistant"} if first else {}) | {"content": text}
        return [event(self._chunk(delta, None))]

    def ending(self, text: str, done: ChatDone) -> list[str]:
        """The chunk with the finish reason, where asked for the one with the usage, and the end."""
        events = [event(self._chunk({}, done.trace.finish_reason) | self._memory(done))]
        if self.with_usage:
            usage = self._envelope("chat.completion.chunk", [])
            events.append(event(usage | {"usage": self._usage(text, done)}))
        return [*events, DONE]

    def failure(self, error: Mapping[str, Any]) -> str:
        """See `StreamedReply`."""
        return event({"error": error})

    def _chunk(self, delta: Mapping[str, Any], finish_reason: str | None) -> dict[str, Any]:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish_reason}
        return self._envelope("chat.completion.chunk", [choice])

    def _envelope(self, kind: str, choices: list[dict[str, Any]]) -> dict[str, Any]:
        return {
            "id": self.id,
            "object": kind,
            "created": self.created,
            "model": self.model,
            "choices": choices,
        }

    def _usage(self, text: str, done: ChatDone) -> dict[str, int]:
        counts = token_counts(self.call, text, done)
        return {
            "prompt_tokens": counts.prompt,
            "completion_tokens": counts.completion,
            "total_tokens": counts.prompt + counts.completion,
        }

    def _memory(self, done: ChatDone) -> dict[str, Any]:
        return {"memory": memory_body(self.call, done)} if self.debug else {}


def token_counts(call: ChatCall, text: str, done: ChatDone) -> TokenCounts:
    """The model's own counts; about four characters a token where no model was asked."""
    asked = [call.text, *(message.content for message in call.conversation)]
    return done.trace.tokens or TokenCounts(
        prompt=sum(map(about_tokens, asked)), completion=about_tokens(text)
    )


def memory_body(call: ChatCall, done: ChatDone) -> dict[str, Any]:
    """The trace, for those who ask for it."""
    recalled = done.recall.rounds if done.recall else ()
    return {
        "user_id": call.user_id,
        "session_id": call.session_id,
        "round_id": done.round.id if done.round else None,
        "mode": call.mode,
        "now": print_instant(call.asked_at),
        "understanding": _understanding(done),
        "time_range": bodies.time_range_body(done.recall.time_range if done.recall else None),
        "data": [bodies.recalled_body(found) for found in recalled],
        "read": list(done.trace.context),
        "dropped": list(done.trace.dropped),
        "trimmed": list(done.trace.trimmed),
        "context_tokens": done.trace.context_tokens,
        "notes": done.trace.notes,
        "timings": {name: round(ms, 3) for name, ms in done.timings.items()},
    }


def _understanding(done: ChatDone) -> dict[str, Any] | None:
    read = done.understanding
    return {"by": read.by, "queries": read.queries, "failure": read.failure} if read else None
