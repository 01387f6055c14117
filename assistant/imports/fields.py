"""Fields of other people's JSON: read, or refused with the reason in words."""

import hashlib
import math
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from assistant.characters import whole_characters

# Later seconds would be in the year 5138: what is larger counts milliseconds.
_MOST_SECONDS = 10**11
_ZONE = re.compile(r"\s*(?:(?:UTC|GMT)$|(?:UTC|GMT)?(?=[+-]\d))", re.IGNORECASE)
_SHOWN = 60


def mapping(value: Any) -> Mapping[str, Any]:
    """The value as an object; an empty one where it is something else."""
    return value if isinstance(value, Mapping) else {}


def objects(value: Any) -> Iterator[Mapping[str, Any]]:
    """The objects of a list; none where it is no list."""
    if isinstance(value, list):
        yield from (one for one in value if isinstance(one, Mapping))


def text_of(item: Mapping[str, Any], *names: str) -> str:
    """The first of these fields that is text and not blank; empty where none is."""
    for name in names:
        value = item.get(name)
        if isinstance(value, str) and value.strip():
            return whole_characters(value)
    return ""


def parts_text(content: Any, kinds: tuple[str, ...] = ("text",)) -> str:
    """Content as clients of language models write it: text, or a list of parts of which those of
    these kinds have some."""
    if isinstance(content, str):
        return whole_characters(content)
    found = [
        text_of(mapping(part.get("text")) or part, "text", "value")
        for part in objects(content)
        if part.get("type", "text") in kinds
    ]
    return "\n".join(filter(None, found))


def moment(value: Any) -> datetime | None:
    """When something was: seconds or milliseconds since 1970, or ISO 8601, without a zone in UTC.
    None where nothing is given. Raises `ValueError`."""
    if value is None or value == "":
        return None
    try:
        if isinstance(value, str) and len(value) <= _SHOWN:
            at = datetime.fromisoformat(_with_zone(value.strip()))
            return (at if at.tzinfo else at.replace(tzinfo=UTC)).astimezone(UTC)
        if isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value):
            seconds = value / 1000 if abs(value) > _MOST_SECONDS else value
            return datetime.fromtimestamp(seconds, UTC)
    except (ValueError, OverflowError, OSError):
        pass
    raise ValueError(f"the date {str(value)[:_SHOWN]!r} cannot be read")


def _with_zone(text: str) -> str:
    """ISO 8601 where the zone is apart from the time, or named UTC."""
    found = _ZONE.search(text)
    if found is None:
        return text
    rest = text[found.end() :]
    # A sign within the date is no zone.
    if not rest:
        return f"{text[: found.start()]}+00:00"
    return f"{text[: found.start()]}{rest}" if ":" in text[: found.start()] else text


def first_moment(item: Mapping[str, Any], *names: str) -> datetime | None:
    """The first of these dates that is given. Raises `ValueError`."""
    return next((at for name in names if (at := moment(item.get(name)))), None)


def digest(*texts: str) -> str:
    """Names what has no id of its own."""
    return hashlib.sha256("\x1f".join(texts).encode()).hexdigest()[:20]


def keys_of(item: Any) -> str:
    """What an item has, to be recognised by."""
    if not isinstance(item, Mapping):
        return f"it is no object but {type(item).__name__}"
    return "it has " + (", ".join(sorted(str(key)[:_SHOWN] for key in item)[:8]) or "no fields")
