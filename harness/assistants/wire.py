"""The part of the assistant's HTTP replies that the harness reads, checked before use.

Nothing is shared with the assistant's code on purpose: a renamed field must fail here, as it would
for any other client.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from harness.assistants.returned_sources import Returned
from harness.text import encodable


class WrongShape(ValueError):
    """A reply lacks a field or holds another type there; the text says which."""


@dataclass(frozen=True, slots=True)
class StoredSession:
    """What the assistant says it holds of one session."""

    session_id: str
    rounds: int
    pending: int
    failed: int


@dataclass(frozen=True, slots=True)
class RankedValue:
    """One search result. `characters` counts both speakers' text, what a reader would be given."""

    session_id: str
    round_index: int
    similarity: float
    characters: int


@dataclass(frozen=True, slots=True)
class FoundValues:
    """A ranking, best first. `index_ms` are the milliseconds in which the assistant made the index
    that it searched, None where it does not tell them.
    """

    values: list[RankedValue]
    index_ms: float | None


@dataclass(frozen=True, slots=True)
class Looking:
    """How often a model searched memory itself before it answered, the tokens of what that
    returned, and the milliseconds until it had looked enough.
    """

    calls: int
    tokens: int
    ms: float


@dataclass(frozen=True, slots=True)
class WireAnswer:
    """A hypothesis with what it cost; token counts are None where the server gave none, `returned`
    is None where nobody looked for sources, `looking` where the reply does not tell.
    """

    text: str
    prompt_tokens: int | None
    completion_tokens: int | None
    returned: Returned | None = None
    looking: Looking | None = None


def parse_object(reply: Any) -> dict[str, Any]:
    if not isinstance(reply, dict):
        raise WrongShape(f"expected a JSON object, found {type(reply).__name__}")
    return reply


def parse_recorded(reply: Any) -> list[int]:
    """The indices of the rounds that a call to the messages route touched."""
    return [_integer(item, "round_index") for item in _objects(reply, "rounds")]


def parse_sessions(reply: Any) -> list[StoredSession]:
    sessions = []
    for item in _objects(reply, "data"):
        enrichment = item.get("enrichment") or {}
        if not isinstance(enrichment, dict):
            raise WrongShape("enrichment: expected an object")
        sessions.append(
            StoredSession(
                session_id=_text(item, "id"),
                rounds=_integer(item, "rounds"),
                pending=_integer(enrichment, "pending") if "pending" in enrichment else 0,
                failed=_integer(enrichment, "failed") if "failed" in enrichment else 0,
            )
        )
    return sessions


def parse_ranking(reply: Any) -> FoundValues:
    values = [
        RankedValue(
            session_id=_text(item, "session_id"),
            round_index=_integer(item, "round_index"),
            similarity=float(_value(item, "similarity", int | float, "a number")),
            characters=len(item.get("user_text") or "") + len(item.get("assistant_text") or ""),
        )
        for item in _objects(reply, "data")
    ]
    timings = reply.get("timings")
    took = timings.get("index_ms") if isinstance(timings, dict) else None
    return FoundValues(values, took if isinstance(took, int | float) else None)


def parse_answer(reply: Any) -> WireAnswer:
    choices = _objects(reply, "choices")
    message = choices[0].get("message") if choices else None
    if not isinstance(message, dict):
        raise WrongShape("choices[0].message is missing")
    usage = reply.get("usage")
    usage = usage if isinstance(usage, dict) else {}
    return WireAnswer(
        text=encodable(_text(message, "content")),
        prompt_tokens=_count(usage.get("prompt_tokens")),
        completion_tokens=_count(usage.get("completion_tokens")),
        looking=_looking(reply.get("memory")),
    )


def _looking(trace: Any) -> Looking | None:
    """What the trace of a reply tells of searches; None where there is none, or an older one."""
    if not isinstance(trace, dict) or "looks" not in trace:
        return None
    looks = _objects(trace, "looks")
    timings = trace.get("timings")
    timings = timings if isinstance(timings, dict) else {}
    return Looking(
        calls=len(looks),
        tokens=sum(_count(look.get("tokens")) or 0 for look in looks),
        ms=float(timings.get("looking_ms") or 0.0),
    )


def _objects(reply: Any, field: str) -> list[dict[str, Any]]:
    items = parse_object(reply).get(field)
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        raise WrongShape(f"{field}: expected a list of objects")
    return items


def _text(item: Mapping[str, Any], field: str) -> str:
    return str(_value(item, field, str, "a string"))


def _integer(item: Mapping[str, Any], field: str) -> int:
    return int(_value(item, field, int, "an integer"))


def _value(item: Mapping[str, Any], field: str, kind: Any, said: str) -> Any:
    value = item.get(field)
    if not isinstance(value, kind) or isinstance(value, bool):
        raise WrongShape(f"{field}: expected {said}, found {type(value).__name__}")
    return value


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None
