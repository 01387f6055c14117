"""Who asks, in which session and when: all routes look in the same order of places (docs/api.md).

The clock is read here, and only when the caller gave no time.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from typing import Any

from fastapi import Request

from assistant.access.doorkeeper import Caller
from assistant.access.limits import RequestLimits
from assistant.api import front_ends
from assistant.api.parameters import reach_of
from assistant.characters import wrong_with_id
from assistant.chat.call import MemoryMode
from assistant.chat.members import Member, MemberRole, check_begun_by, member_of
from assistant.clock import Clock
from assistant.dates import parse_day, parse_instant, parse_zone
from assistant.errors import Forbidden, InvalidRequest, NotFound
from assistant.services import MCP_CLIENTS, Services, reach_of_mcp
from assistant.surroundings import NOWHERE, Surroundings
from memory_store import Days, MemoryReader, Reach, in_zone, names_shared, owner_of
from memory_store.scheduler import current_job

_RETRY_COUNT = "x-stainless-retry-count"


@dataclass(frozen=True, slots=True)
class Instant:
    """A time, whether the caller gave it (or the clock did), and the zone whose clocks tell it."""

    at: datetime
    given: bool
    zone: tzinfo = UTC


def services(request: Request) -> Services:
    found: Services = request.app.state.services
    return found


def caller_of(request: Request) -> Caller:
    found: Caller = request.state.caller
    return found


def limits_of(request: Request) -> RequestLimits:
    found: RequestLimits = request.app.state.limits
    return found


def reach_of_reader(request: Request) -> Reach:
    """The closest reach of memories that the caller wants to see: that of all memories, unless
    `X-Memory-Reach` says less. For `mcp` it is as far as the settings trust clients of MCP."""
    named = front_ends.header_text(request.headers, "x-memory-reach")
    if named == MCP_CLIENTS:
        return reach_of_mcp(services(request).settings)
    return Reach.NEVER_IN_ANSWERS if named is None else reach_of(named)


def memory_of(request: Request) -> MemoryReader:
    """What the caller may see of the memory."""
    return services(request).store.seen_up_to(reach_of_reader(request))


async def user_of(
    request: Request, *given: Any, space: Any = None, role: MemberRole | None = None
) -> str:
    """The owner of the memory that a request is about: the user by `person_of`; or their space, or
    a space that they share, where one is named in the body or metadata, in the query or in the
    header. Raises as `person_of` and `memory_named`."""
    person = await person_of(request, *given)
    return await memory_named(request, person, space_of(request, space), role)


async def memory_named(
    request: Request, person: str, space: str | None, role: MemberRole | None = None
) -> str:
    """The owner of this person's memory, or of their space of this name. In a shared space they
    must be a member in this role: by default a reader for GET, and an owner for all else. Raises
    `NotFound` for a person who is no member, `Forbidden` for a lesser role, and `InvalidRecord` for
    a name that no space can have."""
    request.state.member = None
    if space is None or not names_shared(space):
        return owner_of(person, space)
    member = await member_of(services(request).store, space, person)
    needed = role or (MemberRole.READER if request.method == "GET" else MemberRole.OWNER)
    if not member.role.includes(needed):
        raise Forbidden(
            f"this needs the role {needed} in this space, and this user is its {member.role}",
            code="role_required",
            param="space",
        )
    request.state.member = member
    return member.owner


def member_in(request: Request) -> Member | None:
    """The member of a shared space who sent a request; None for any other memory."""
    found: Member | None = request.state.member
    return found


def speaker_in(request: Request) -> str | None:
    """The user who says something in a shared space; None where the memory is one person's."""
    member = member_in(request)
    return member.user_id if member else None


async def check_said(
    request: Request,
    *,
    session_id: str | None = None,
    memory_id: str | None = None,
    by_owners: bool = True,
) -> None:
    """Raise `Forbidden` where another member of a shared space said the memory, or any round of the
    session. With `by_owners` the owners of the space may go on all the same."""
    member, store = member_in(request), services(request).store
    if member is None or (by_owners and member.role is MemberRole.OWNER):
        return
    found = await store.session(member.owner, session_id) if session_id else []
    one = await store.round(member.owner, memory_id) if memory_id else None
    check_begun_by(member.user_id, [r.round for r in (*found, one) if r])


async def check_still_member(request: Request) -> None:
    """Raise `NotFound` where the member who sent a request has left the shared space since."""
    if member := member_in(request):
        await member_of(services(request).store, member.space, member.user_id)


def space_of(request: Request, given: Any = None) -> str | None:
    in_header = front_ends.header_text(request.headers, "x-memory-space")
    for candidate in (given, request.query_params.get("space"), in_header):
        if candidate is not None:
            return checked_id(candidate, "space")
    return None


async def person_of(request: Request, *given: Any) -> str:
    """The user of the caller's key, whoever is named: clients fill in names of their own. With a
    key for any user, the first user named: in the body or query, then in the header, then by the
    front end, then the single default user. The request is counted for this user; one with a key
    for a single user was counted before, by `Access`. Raises `TooManyRequests`."""
    caller = caller_of(request)
    user_id = caller.user_id
    if user_id is None:
        user_id = _user_named(request, given)
        await limits_of(request).count_request(caller, user_id)
        # Long work takes turns between users.
        current_job().owner = user_id
    request.state.surroundings = await services(request).surroundings.of(user_id)
    return user_id


async def user_in_path(request: Request, user_id: str) -> str:
    """The owner of the whole memory that a path names, or of a space of it. A key for another user
    is refused. Raises as `person_in_path` and `memory_named`."""
    return await memory_named(request, await person_in_path(request, user_id), space_of(request))


async def person_in_path(request: Request, user_id: str) -> str:
    """The user that a path names. Raises `NotFound` where a key is for another user, and as
    `person_of`."""
    if await person_of(request, user_id) != user_id:
        raise NotFound(
            "this API key does not allow access to the user in the path",
            code="user_not_found",
            param="user_id",
        )
    return user_id


def _user_named(request: Request, given: Sequence[Any]) -> str:
    in_header = front_ends.header_text(request.headers, "x-memory-user")
    by_front_end = front_ends.named(request.headers, front_ends.USER_HEADERS)
    for candidate in (*given, in_header, by_front_end):
        if candidate is not None:
            return checked_id(candidate, "user_id")
    if services(request).settings.require_user:
        raise InvalidRequest(
            "user_id is required on this server", code="missing_user", param="user_id"
        )
    return "default"


def session_of(request: Request, given: Any) -> str | None:
    """The session named in the body, the header or by the front end, if any."""
    in_header = front_ends.header_text(request.headers, "x-memory-session")
    by_front_end = front_ends.named(request.headers, front_ends.SESSION_HEADERS)
    for candidate in (given, in_header, by_front_end):
        if candidate is not None:
            return checked_id(candidate, "session_id")
    return None


def zone_of(request: Request, given: Any = None, *, param: str = "timezone") -> tzinfo:
    """The time zone named: in the body or metadata, in the query, in the header; else the one that
    is kept of the user (call `user_of` before), else UTC. Raises `InvalidRequest`."""
    in_header = front_ends.header_text(request.headers, "x-memory-timezone")
    kept = _surroundings(request).timezone
    for candidate in (given, request.query_params.get("timezone"), in_header, kept):
        if candidate is not None:
            return parse_zone(candidate, param=param)
    return UTC


def _surroundings(request: Request) -> Surroundings:
    found: Surroundings = getattr(request.state, "surroundings", NOWHERE)
    return found


_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")


def week_begins(request: Request, given: Any = None) -> int:
    """The weekday on which weeks begin: in the body or metadata, in the header, kept of the user;
    else Monday, which is 0. Raises `InvalidRequest`."""
    in_header = front_ends.header_text(request.headers, "x-memory-week-begins")
    for candidate in (given, in_header, _surroundings(request).week_begins):
        if candidate is not None:
            return checked_weekday(candidate)
    return 0


def checked_weekday(given: Any) -> int:
    """The place of a weekday in a week that begins on Monday. Raises `InvalidRequest`."""
    if given not in _WEEKDAYS:
        raise InvalidRequest(
            f"week_begins must be a weekday such as sunday, got {str(given)[:60]!r}",
            param="week_begins",
        )
    return _WEEKDAYS.index(given)


def time_of(
    request: Request, *given: Any, zone: tzinfo | None = None, param: str = "timestamp"
) -> Instant:
    """The first time given: in the body, then in the header, else the clock's. It is in `zone`, by
    default that of `zone_of`. Raises `Forbidden` where the caller may not set the time."""
    clock: Clock = request.app.state.clock
    zone = zone_of(request) if zone is None else zone
    for candidate in (*given, front_ends.header_text(request.headers, "x-memory-timestamp")):
        if candidate is not None:
            at = parse_instant(candidate, param=param, zone=zone)
            caller_of(request).checked_time(at, clock(), param)
            return Instant(at, given=True, zone=zone)
    return Instant(in_zone(clock(), zone), given=False, zone=zone)


def days_of(given: Mapping[str, Any], zone: tzinfo) -> Days:
    """The days of a zone that memory is limited to: from `from` to `to`, or to `as_of` where that
    is earlier."""
    days = {
        name: parse_day(given[name], param=name, zone=zone)
        for name in ("from", "to", "as_of")
        if given.get(name) is not None
    }
    ends = [days[name] for name in ("to", "as_of") if name in days]
    return Days(days.get("from"), min(ends, default=None), zone)


def mode_of(request: Request, metadata: Mapping[str, Any], *, is_task: bool) -> MemoryMode:
    """The memory mode asked for. When none was, `on`; `off` for what a front end asks for itself,
    such as a title."""
    given = metadata.get("memory")
    if given is None:
        given = front_ends.header_text(request.headers, "x-memory-mode")
    if given is None:
        return MemoryMode.OFF if is_task else MemoryMode.ON
    try:
        return MemoryMode(given)
    except ValueError:
        modes = ", ".join(MemoryMode)
        raise InvalidRequest(
            f"memory must be one of {modes}, got {str(given)[:60]!r}", param="metadata.memory"
        ) from None


def mode_in_space(request: Request, mode: MemoryMode) -> MemoryMode:
    """The memory mode of a chat. A reader of a shared space stores nothing in it, so `on` becomes
    `read_only`. Raises `Forbidden` where a reader asks for another mode that stores."""
    member = member_in(request)
    if member is None or member.role.includes(MemberRole.MEMBER) or not mode.stores:
        return mode
    if mode is MemoryMode.ON:
        return MemoryMode.READ_ONLY
    raise Forbidden("a reader says nothing in this space", code="role_required", param="space")


def turn_id_of(request: Request, position: int = 0) -> str | None:
    """An id for a turn of this request: the same `Idempotency-Key` gives the same id. None without
    one."""
    key = request.headers.get("idempotency-key", "").strip()
    return None if not key else f"key:{checked_id(key, 'Idempotency-Key')}:{position}"


def retried(request: Request) -> bool:
    """Whether an OpenAI client says that it has sent this request before."""
    return request.headers.get(_RETRY_COUNT, "0") != "0"


def counts_retries(request: Request) -> bool:
    """Whether the client says of each request if it has sent it before."""
    return _RETRY_COUNT in request.headers


def derived_session(user_id: str, system_text: str, first_user_text: str) -> str:
    """The session of a client that names none: the same opening gives the same session."""
    opening = "\x00".join((user_id, system_text, first_user_text))
    return f"chat-{hashlib.sha256(opening.encode()).hexdigest()[:24]}"


def checked_id(value: Any, param: str) -> str:
    """An id as a caller may choose it. Raises `InvalidRequest`."""
    text = value if isinstance(value, str) else ""
    if wrong := wrong_with_id(text):
        raise InvalidRequest(f"{param} {wrong}", param=param)
    return text
