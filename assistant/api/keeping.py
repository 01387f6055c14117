"""How a round is to be kept, as callers say it: labels, filters by them, and when it expires."""

import json
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from assistant.dates import parse_instant
from assistant.errors import InvalidRequest
from memory_store import Labels, Where, checked_labels, where

# As far as a day can lie ahead, and a little less.
_LONGEST = timedelta(days=365_000)


def labels_of(given: Any) -> Labels | None:
    """The labels given: an object, or its JSON text. Raises `InvalidRecord`, `InvalidRequest`."""
    return None if given is None else checked_labels(_object(given, "labels"))


def where_of(given: Any) -> Where:
    """The filter given: an object, or its JSON text; none where nothing is given. Raises
    `InvalidRecord`, `InvalidRequest`."""
    return () if given is None else where(_object(given, "where"))


def expiry_of(given: Mapping[str, Any], said_at: datetime) -> datetime | None:
    """When what was said may be forgotten: at `expires_at`, or `expires_in` seconds after it was
    said. Raises `InvalidRequest`."""
    at, seconds = given.get("expires_at"), given.get("expires_in")
    if at is not None:
        return parse_instant(at, param="expires_at")
    if seconds is None:
        return None
    try:
        lasting = timedelta(seconds=float(seconds))
        if not timedelta(0) < lasting <= _LONGEST:
            raise ValueError("out of range")
        return said_at + lasting
    except (ValueError, TypeError, OverflowError) as error:
        raise InvalidRequest(
            "expires_in must be a number of seconds above 0", param="expires_in"
        ) from error


def _object(given: Any, param: str) -> Any:
    """What OpenAI's clients can send as text only, as what it stands for."""
    if not isinstance(given, str):
        return given
    try:
        return json.loads(given)
    except (ValueError, RecursionError) as error:
        example = '{"topic": "home"}'
        raise InvalidRequest(
            f"{param} must be a JSON object such as {example}", param=param
        ) from error
