"""What callers say in the same way on several routes: parameters of paths and queries as they are
documented, labels, filters by them, and when something expires."""

import json
from collections.abc import Mapping
from datetime import datetime, timedelta, tzinfo
from typing import Annotated, Any

from fastapi import Path, Query

from assistant.dates import parse_instant
from assistant.errors import InvalidRequest
from memory_store import Labels, Reach, Where, checked_labels, where

_WHOSE = "Whose memory; a key for one user decides by itself."
_DAY = "a day, `YYYY-MM-DD`"

UserId = Annotated[str | None, Query(description=_WHOSE, examples=["ann"])]
UserInPath = Annotated[str, Path(description="Whose memory.", examples=["ann"])]
SessionId = Annotated[str, Path(description="The id of a session.", examples=["spring"])]
MemoryId = Annotated[
    str,
    Path(
        description="The id of a round, as lists and searches give it.",
        examples=["9e30fe08-285a-5010-9f14-df2aebb7e3ff"],
    ),
]
DryRun = Annotated[bool, Query(description="Only count what would go.", examples=[True])]
AsOf = Annotated[
    str | None,
    Query(description=f"As known on {_DAY}: nothing said later counts.", examples=["2023-06-01"]),
]
From = Annotated[
    str | None,
    Query(alias="from", description=f"Said on or after {_DAY}.", examples=["2023-05-01"]),
]
LabelledAs = Annotated[
    str | None,
    Query(description="Labelled like this: a JSON object of names and values, or lists of values."),
]
To = Annotated[str | None, Query(description=f"Said until {_DAY}.", examples=["2023-05-31"])]


# The longest `expires_in`: hardly any day can be farther ahead.
_LONGEST = timedelta(days=365_000)


def labels_of(given: Any) -> Labels | None:
    """The labels given: an object, or its JSON text. Raises `InvalidRecord`, `InvalidRequest`."""
    return None if given is None else checked_labels(_object(given, "labels"))


def where_of(given: Any) -> Where:
    """The filter given: an object, or its JSON text; none where nothing is given. Raises
    `InvalidRecord`, `InvalidRequest`."""
    return () if given is None else where(_object(given, "where"))


def expiry_of(given: Mapping[str, Any], said_at: datetime, zone: tzinfo) -> datetime | None:
    """When what was said may be forgotten: at `expires_at`, by the clocks of the zone unless it
    names another, or `expires_in` seconds after it was said. Raises `InvalidRequest`."""
    at, seconds = given.get("expires_at"), given.get("expires_in")
    if at is not None:
        return parse_instant(at, param="expires_at", zone=zone)
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


def reach_of(given: Any) -> Reach:
    """Where what was said may go at most. Raises `InvalidRequest`."""
    try:
        return Reach(given or Reach.ANYWHERE)
    except ValueError:
        raise InvalidRequest(
            f"reach must be one of {', '.join(Reach)}, got {str(given)[:60]!r}", param="reach"
        ) from None


def _object(given: Any, param: str) -> Any:
    """The object that a JSON text stands for: OpenAI's clients can send metadata as text only."""
    if not isinstance(given, str):
        return given
    try:
        return json.loads(given)
    except (ValueError, RecursionError) as error:
        example = '{"topic": "home"}'
        raise InvalidRequest(
            f"{param} must be a JSON object such as {example}", param=param
        ) from error
