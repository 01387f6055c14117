"""Instants on the wire: read what clients send, print what prompts show. Always with a zone."""

import re
from datetime import UTC, date, datetime

from assistant.errors import InvalidRequest

# LongMemEval's own format: 2023/05/20 (Sat) 02:21. The weekday is decoration and is not checked.
_BENCHMARK = re.compile(
    r"(\d{4})/(\d{1,2})/(\d{1,2})\s*(?:\(\w+\)\s*)?(\d{1,2}):(\d{2})(?::(\d{2}))?"
)


def parse_instant(text: str, *, param: str = "timestamp") -> datetime:
    """An instant from RFC 3339 or LongMemEval's format; without a zone it is UTC.

    Raises `InvalidRequest` with code `invalid_timestamp`.
    """
    trimmed = text.strip()
    try:
        if match := _BENCHMARK.fullmatch(trimmed):
            return datetime(*(int(part or 0) for part in match.groups()), tzinfo=UTC)  # type: ignore[misc, arg-type]
        parsed = datetime.fromisoformat(trimmed)
    except ValueError as error:
        raise _unreadable(text, param) from error
    if len(trimmed) < len("2023-05-20"):
        raise _unreadable(text, param)
    return (parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)).astimezone(UTC)


def parse_day(text: str, *, param: str) -> date:
    """A day from `2023-05-20` or from any instant. Raises `InvalidRequest`."""
    return parse_instant(text, param=param).date()


def print_instant(instant: datetime) -> str:
    """RFC 3339 in UTC: `2023-05-20T02:21:00Z`."""
    return instant.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def print_day(instant: datetime) -> str:
    """A day with its weekday, as prompts and quotes show it: `2023-05-20 (Sat)`."""
    return instant.astimezone(UTC).strftime("%Y-%m-%d (%a)")


def _unreadable(text: str, param: str) -> InvalidRequest:
    return InvalidRequest(
        f"cannot read {text[:60]!r} as a time: send RFC 3339, such as 2023-05-20T02:21:00Z",
        code="invalid_timestamp",
        param=param,
    )
