"""The wire: what requests and replies look like. Unknown fields are accepted and ignored."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, WithJsonSchema

from assistant.dates import print_instant
from assistant.errors import InvalidRequest
from memory_store import (
    Days,
    Fact,
    FactLink,
    Forgotten,
    Reason,
    Recalled,
    RecalledSession,
    Record,
    SessionSummary,
    Step,
    TimeRange,
    Told,
)

# Anything passes here, so that `dates` can refuse it with a code and a message of its own.
Time = Annotated[
    Any, WithJsonSchema({"anyOf": [{"type": "string", "format": "date-time"}, {"type": "null"}]})
]


class Request(BaseModel):
    """Base of request bodies."""

    model_config = ConfigDict(
        extra="ignore", strict=True, allow_inf_nan=False, populate_by_name=True
    )


class ChatMessage(Request):
    """One message of a chat request."""

    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    content: str | list[dict[str, Any]] | None = None
    name: str | None = None
    timestamp: Time = None

    @property
    def text(self) -> str:
        """The text of the message, whatever form it was sent in."""
        return content_text(self.content)


class StreamOptions(Request):
    """Options of a streamed reply."""

    include_usage: bool = False


Words = Annotated[str, Field(min_length=1)]
"""A text of at least one character."""
Tokens = Annotated[int, Field(ge=1)]
"""How many tokens a reply may take at most."""


class Sampling(Request):
    """How a language model is asked to write: OpenAI's options, passed on to it as they are."""

    temperature: float | None = None
    top_p: float | None = None
    seed: int | None = None
    frequency_penalty: float | None = None
    presence_penalty: float | None = None
    reasoning_effort: str | None = None
    stop: Words | Annotated[list[Words], Field(max_length=4)] | None = None
    max_completion_tokens: Tokens | None = None
    max_tokens: Tokens | None = None

    def options(self) -> dict[str, Any]:
        """Those that were given; of two limits the one with the newer name."""
        given = {
            name: value
            for name in Sampling.model_fields
            if (value := getattr(self, name)) is not None
        }
        if "max_completion_tokens" in given:
            given.pop("max_tokens", None)
        return given


class ChatRequest(Sampling):
    """`POST /v1/chat/completions`."""

    model: str | None = None
    messages: list[ChatMessage]
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    metadata: dict[str, Any] | None = None
    user: str | None = None
    safety_identifier: str | None = None


class Conversation(Request):
    """A conversation by its id."""

    id: str


class ResponseItem(Request):
    """One item of a response's input. What is no message (calls of tools, reasoning) is ignored."""

    type: str | None = None
    role: Literal["system", "developer", "user", "assistant"] | None = None
    content: str | list[dict[str, Any]] | None = None
    timestamp: Time = None

    @property
    def is_message(self) -> bool:
        """Whether somebody said something in it."""
        return self.role is not None and self.type in (None, "message")

    def message(self) -> ChatMessage:
        """The item as a message of a chat."""
        role = self.role or "user"
        return ChatMessage(role=role, content=self.content, timestamp=self.timestamp)


class Reasoning(Request):
    """How hard a language model is asked to think."""

    effort: str | None = None


class ResponseRequest(Request):
    """`POST /v1/responses`."""

    model: str | None = None
    input: str | list[ResponseItem]
    instructions: str | None = None
    conversation: str | Conversation | None = None
    previous_response_id: str | None = None
    stream: bool | None = None
    metadata: dict[str, Any] | None = None
    user: str | None = None
    safety_identifier: str | None = None
    temperature: float | None = None
    top_p: float | None = None
    max_output_tokens: Tokens | None = None
    reasoning: Reasoning | None = None


class EmbeddingRequest(Request):
    """`POST /v1/embeddings`."""

    input: str | Annotated[list[str], Field(min_length=1, max_length=2048)]
    model: str | None = None
    encoding_format: Literal["float", "base64"] = "float"
    dimensions: int | None = None
    user: str | None = None


class NewSession(Request):
    """`POST /v1/sessions`."""

    user_id: str | None = None
    session_id: str | None = None
    started_at: Time = None


class RecordedMessage(Request):
    """One turn that already happened."""

    role: Literal["user", "assistant"]
    content: str | list[dict[str, Any]]
    timestamp: Time = None
    name: str | None = None
    id: str | None = Field(default=None, min_length=1, max_length=256)


class RecordedMessages(Request):
    """`POST /v1/sessions/{session_id}/messages`."""

    user_id: str | None = None
    messages: list[RecordedMessage]
    timestamp: Time = None
    wait: bool | None = None
    close: bool = False


class GivenDays(Request):
    """Days that a fact talks about, both inclusive; an open end is null."""

    first: Time = None
    last: Time = None


class StatedFact(Request):
    """A fact in the user's words."""

    text: str = Field(min_length=1)
    event_dates: list[GivenDays] | None = None


class CorrectedMemory(Request):
    """`PATCH /v1/memories/{id}`."""

    user_id: str | None = None
    user_text: str | None = None
    assistant_text: str | None = None
    facts: list[str | StatedFact] | None = None
    timestamp: Time = None


class SearchRequest(Request):
    """`POST /v1/memories/search`."""

    query: str = Field(min_length=1)
    user_id: str | None = None
    now: Time = None
    from_: Time = Field(default=None, alias="from")
    to: Time = None
    as_of: Time = None
    top_k: int = Field(default=10, ge=1, le=200)
    unit: Literal["round", "session"] = "round"


def content_text(content: str | list[dict[str, Any]] | None) -> str:
    """The text in a message's content; parts that are not text are refused."""
    if content is None or isinstance(content, str):
        return content or ""
    texts = []
    for part in content:
        text = part.get("text")
        if part.get("type") not in ("text", "input_text", "output_text") or not isinstance(
            text, str
        ):
            raise InvalidRequest(
                f"content parts must be text, got type {str(part.get('type'))[:40]!r}",
                param="messages",
            )
        texts.append(text)
    return "\n".join(texts)


def value_body(record: Record) -> dict[str, Any]:
    """A stored round as a value, without a similarity."""
    round = record.round
    return {
        "object": "memory",
        "id": record.id,
        "session_id": round.session_id,
        "round_index": round.round_index,
        "session_date": print_instant(round.session_date),
        "user_text": round.user_text,
        "assistant_text": round.assistant_text,
        "facts": [_fact_body(fact) for fact in record.facts],
        "enrichment": _enrichment_body(record),
        "corrected_at": print_instant(round.corrected_at) if round.corrected_at else None,
    }


def told_body(told: Told) -> dict[str, Any]:
    """A stored round as a value, each fact with its history."""
    value = value_body(told.record)
    for fact, history in zip(value["facts"], told.histories, strict=True):
        fact["history"] = [_step_body(step) for step in history]
    return value


def _step_body(step: Step) -> dict[str, Any]:
    return {
        "id": step.said.round_id,
        "text": step.said.text,
        "said_at": print_instant(step.said.said_at),
        "source": step.said.by,
        "until": _link_body(step.until) if step.until else None,
    }


def forgotten_body(forgotten: Forgotten, *, dry_run: bool) -> dict[str, Any]:
    """How much went, or would go."""
    return {
        "dry_run": dry_run,
        "rounds": forgotten.rounds,
        "facts": forgotten.facts,
        "sessions": forgotten.sessions,
        "answers": forgotten.answers,
    }


def _fact_body(fact: Fact) -> dict[str, Any]:
    newer = fact.superseded_by
    return {
        "text": fact.text,
        "speaker": fact.speaker,
        "source": fact.source,
        "event_dates": [_days_body(days) for days in fact.event_dates],
        "superseded_by": _link_body(newer) if newer else None,
        "supersedes": [_link_body(older) for older in fact.supersedes],
    }


def _link_body(link: FactLink) -> dict[str, str]:
    return {
        "id": link.round_id,
        "text": link.text,
        "said_at": print_instant(link.said_at),
        "by": link.by,
    }


def _enrichment_body(record: Record) -> dict[str, Any]:
    return {
        "state": record.enrichment,
        "attempts": record.attempts,
        "extractor": record.extractor or None,
        "failure": record.failure or None,
    }


def _days_body(days: Days) -> dict[str, str | None]:
    return {
        "first": days.first.isoformat() if days.first else None,
        "last": days.last.isoformat() if days.last else None,
    }


def time_range_body(found: TimeRange | None) -> dict[str, str | None] | None:
    """The days a question asks about, and the words that say so."""
    if found is None:
        return None
    return _days_body(found.days) | {"precision": found.precision, "text": found.text}


def recalled_body(found: Recalled) -> dict[str, Any]:
    """A value that was found."""
    signals = {name: round(value, 6) for name, value in found.signals.items()}
    return value_body(found.record) | {
        "similarity": round(found.similarity, 6),
        "signals": signals,
        "reasons": [_reason_body(reason) for reason in found.reasons],
    }


def _reason_body(reason: Reason) -> dict[str, Any]:
    return {
        "signal": reason.signal,
        "value": round(reason.value, 6),
        "weight": reason.weight,
        "contribution": round(reason.contribution, 6),
        "because": list(reason.because),
    }


def recalled_session_body(found: RecalledSession) -> dict[str, Any]:
    """A session that was found: its best round's fields, and all its rounds that were found."""
    rounds = [
        {
            "id": one.record.id,
            "round_index": one.record.round.round_index,
            "similarity": round(one.similarity, 6),
        }
        for one in found.rounds
    ]
    return recalled_body(found.rounds[0]) | {"rounds": rounds}


def session_body(user_id: str, summary: SessionSummary) -> dict[str, Any]:
    """A session without its rounds."""
    return {
        "object": "session",
        "id": summary.session_id,
        "user_id": user_id,
        "started_at": print_instant(summary.started_at),
        "ended_at": print_instant(summary.ended_at),
        "rounds": summary.rounds,
        "opening": summary.opening,
        "days": [{"day": day.isoformat(), "rounds": n} for day, n in summary.days.items()],
        "enrichment": enrichment_counts(summary),
        "failures": [
            {
                "id": one.round_id,
                "round_index": one.round_index,
                "state": one.state,
                "attempts": one.attempts,
                "reason": one.failure,
            }
            for one in summary.failures
        ],
    }


def enrichment_counts(summary: SessionSummary) -> dict[str, int]:
    """How many rounds of a session are how far."""
    return {state.value: count for state, count in summary.enrichment.items()}


def list_body(data: list[dict[str, Any]], **more: Any) -> Mapping[str, Any]:
    """A list in OpenAI's shape."""
    return {"object": "list", **more, "data": data}
