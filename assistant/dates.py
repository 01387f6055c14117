"""Read the times that clients send, and print the times that prompts show. Every time has a zone:
the user's, or UTC where nobody named one."""

import re
from calendar import monthrange
from datetime import UTC, date, datetime, timedelta, tzinfo
from typing import Any
from zoneinfo import ZoneInfo

from dateutil.zoneinfo import get_zonefile_instance

from assistant.errors import InvalidRequest
from memory_store import Days, in_zone
from memory_store.errors import InvalidRecord

# LongMemEval's own format: 2023/05/20 (Sat) 02:21. The weekday is decoration and is not checked.
_BENCHMARK = re.compile(
    r"(\d{4})/(\d{1,2})/(\d{1,2})\s*(?:\(\w+\)\s*)?(\d{1,2}):(\d{2})(?::(\d{2}))?"
)
# RFC 3339, where the time, its seconds and its zone may be missing.
_RFC_3339 = re.compile(
    r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?", re.I
)
_ZONE = re.compile(r"[A-Za-z][A-Za-z0-9_+-]*(/[A-Za-z0-9_+-]+){0,2}")
# A range of days needs the day after its end, and `datetime` has no day after the year 9999.
_LAST_YEAR = 9998
_LIFETIME = timedelta(days=36525)


def parse_zone(name: Any, *, param: str = "timezone") -> tzinfo:
    """A time zone by its name in the IANA's list. Raises `InvalidRequest`."""
    if name == "UTC":
        return UTC
    zone = _zone(name) if isinstance(name, str) and _ZONE.fullmatch(name) else None
    if zone is None:
        raise InvalidRequest(
            f"{param} must be the name of a time zone such as Pacific/Auckland, got "
            f"{str(name)[:60]!r}",
            code="invalid_timezone",
            param=param,
        )
    return zone


def _zone(name: str) -> tzinfo | None:
    try:
        return ZoneInfo(name)
    except (LookupError, ValueError, OSError):
        # Some systems lack the older names that browsers use, such as Asia/Calcutta; some systems
        # have no time zones at all.
        zone: tzinfo | None = get_zonefile_instance().get(name)
        return zone


def parse_instant(text: Any, *, param: str = "timestamp", zone: tzinfo = UTC) -> datetime:
    """Read a time in RFC 3339 or LongMemEval's format, and return it in `zone`. A time that names
    no zone is taken to be in `zone`.

    Raises `InvalidRequest` with code `invalid_timestamp`, also for a value that is not text.
    """
    if not isinstance(text, str):
        raise _unreadable(text, param)
    trimmed = text.strip()
    try:
        parsed = in_zone(_parsed(trimmed, zone), zone)
    except (ValueError, OverflowError) as error:
        raise _unreadable(text, param) from error
    if parsed.year > _LAST_YEAR:
        raise _unreadable(text, param)
    return parsed


def _parsed(text: str, zone: tzinfo) -> datetime:
    if match := _BENCHMARK.fullmatch(text):
        year, month, day, hour, minute, second = (int(part or 0) for part in match.groups())
        return datetime(year, month, day, hour, minute, second, tzinfo=zone)
    if not _RFC_3339.fullmatch(text):
        raise ValueError("not a supported time format")
    parsed = datetime.fromisoformat(text.upper())
    return parsed if parsed.tzinfo else parsed.replace(tzinfo=zone)


def parse_day(text: Any, *, param: str, zone: tzinfo = UTC) -> date:
    """The day in a text such as `2023-05-20`, or the day of a time in `zone`. Raises
    `InvalidRequest`."""
    return parse_instant(text, param=param, zone=zone).date()


def optional_day(given: Any, *, param: str, zone: tzinfo = UTC) -> date | None:
    """The day by `parse_day`, or None where none was given."""
    return None if given is None else parse_day(given, param=param, zone=zone)


def parse_days(text: str, *, near: datetime) -> Days:
    """Days as a language model writes them: `2023-05-19`, `2023-05`, `2023`, or two joined by `/`.

    Raises `ValueError` for anything else, and for days more than a lifetime from `near`.
    """
    first, _, last = text.strip().partition("/")
    try:
        days = Days(_named_days(first)[0], _named_days(last or first)[1])
    except (ValueError, InvalidRecord) as error:
        raise ValueError(f"{text[:40]!r} is not a day or a range of days: {error}") from error
    for day in (days.first, days.last):
        if day is not None and abs(day - near.date()) > _LIFETIME:
            raise ValueError(f"{text[:40]!r} is too far from today")
    return days


def _named_days(text: str) -> tuple[date, date]:
    """The first and the last day of a day, a month or a year."""
    parts = [int(part) for part in text.split("-")]
    if len(parts) == 1:
        return date(parts[0], 1, 1), date(parts[0], 12, 31)
    if len(parts) == 2:
        year, month = parts
        return date(year, month, 1), date(year, month, monthrange(year, month)[1])
    day = date.fromisoformat(text)
    return day, day


def print_instant(instant: datetime) -> str:
    """The instant in RFC 3339, in its own zone: `2023-05-20T02:21:00Z`."""
    return instant.isoformat(timespec="seconds").replace("+00:00", "Z")


def print_day(instant: datetime) -> str:
    """A day with its weekday, as prompts and quotes show it: `2023-05-20 (Sat)`."""
    return instant.strftime("%Y-%m-%d (%a)")


def _unreadable(text: Any, param: str) -> InvalidRequest:
    return InvalidRequest(
        f"cannot read {str(text)[:60]!r} as a time: send a day (2023-05-20), RFC 3339 "
        "(2023-05-20T02:21:00Z, 2023-05-20T04:21+02:00; without a zone it is yours) or "
        "2023/05/20 (Sat) 02:21",
        code="invalid_timestamp",
        param=param,
    )
