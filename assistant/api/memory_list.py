"""Routes that read memories: a page of them by date, or one."""

import base64
import json
from collections import Counter
from datetime import datetime
from typing import Annotated, Literal

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response

from assistant.api.description import READING, failures
from assistant.api.memories import unknown
from assistant.api.parameters import AsOf, From, LabelledAs, MemoryId, To, UserId, where_of
from assistant.api.replies import long_response
from assistant.api.replies.memories import (
    BRUGES_ID,
    Conflict,
    Conflicts,
    HealthRow,
    Memory,
    MemoryHealth,
    MemoryPage,
    ToldFact,
    ToldMemory,
)
from assistant.api.request_context import (
    checked_id,
    days_of,
    limits_of,
    memory_of,
    time_of,
    user_of,
    zone_of,
)
from assistant.api.route import JsonRoute
from assistant.dates import optional_day
from assistant.errors import InvalidRequest
from memory_store import Checkup, Finding, Listing, Place, in_zone

_MOST = 200
router = APIRouter(prefix="/v1/memories", tags=["memories"], route_class=JsonRoute)


@router.get("", summary="List memories", response_model=MemoryPage, responses=failures(*READING))
async def list_memories(
    request: Request,
    user_id: UserId = None,
    from_: From = None,
    to: To = None,
    as_of: AsOf = None,
    session_id: Annotated[
        str | None, Query(description="Of this session only.", examples=["spring"])
    ] = None,
    text: Annotated[
        str, Query(description="On either side, whatever its case.", examples=["bruges"])
    ] = "",
    id: Annotated[
        list[str] | None,
        Query(max_length=_MOST, description="These only.", examples=[[BRUGES_ID]]),
    ] = None,
    questions: Annotated[
        bool, Query(description="Those, too, in which the user only asks.")
    ] = True,
    where: LabelledAs = None,
    pinned: Annotated[bool, Query(description="Only those that are pinned.")] = False,
    order: Annotated[
        Literal["newest", "oldest"], Query(description="Which come first.")
    ] = "newest",
    limit: Annotated[int, Query(ge=1, le=_MOST, description="How many on a page.")] = 50,
    after: Annotated[str | None, Query(description="The `next` of the page before.")] = None,
) -> Response:
    """The rounds of a user by date, page by page: said on these days, in this session, labelled
    like this, with this text. With `as_of` nothing that was said later counts."""
    limits_of(request).check_query(text)
    owner = await user_of(request, user_id)
    zone = zone_of(request)
    days = days_of({"from": from_, "to": to, "as_of": as_of}, zone)
    listing = Listing(
        owner,
        days=days,
        session_id=None if session_id is None else checked_id(session_id, "session_id"),
        as_of=optional_day(as_of, param="as_of", zone=zone),
        today=in_zone(time_of(request).at, zone).date(),
        text=text.strip(),
        ids=None if id is None else tuple(id),
        questions=questions,
        newest_first=order == "newest",
        limit=limit,
        after=None if after is None else _read_place(after),
        where=where_of(where),
        pinned=pinned,
    )
    page = await memory_of(request).listed(listing)
    following = _print_place(page.next) if page.next else None
    shown = MemoryPage(object="list", total=page.total, next=following, data=[])
    return await long_response(shown, map(Memory.of, page.records))


@router.get(
    "/conflicts",
    summary="List conflicts",
    response_model=Conflicts,
    responses=failures(*READING),
)
async def list_conflicts(
    request: Request,
    user_id: UserId = None,
    limit: Annotated[int, Query(ge=1, le=_MOST, description="How many at most.")] = 50,
) -> Response:
    """Statements that would replace what the user said of themselves, and may be another's: quoted,
    pasted, or in a message that asks for work on a text. The newest first. `PATCH` with `speakers`
    says who said them."""
    found = await memory_of(request).conflicts(await user_of(request, user_id))
    listed = Conflicts(object="list", total=len(found), data=[])
    return await long_response(listed, map(Conflict.of, found[:limit]))


@router.get(
    "/health",
    summary="Check the health of a memory",
    response_model=MemoryHealth,
    responses=failures(*READING),
)
async def check_health(
    request: Request,
    user_id: UserId = None,
    finding: Annotated[
        Finding | None, Query(description="This only.", examples=[Finding.REPLACED])
    ] = None,
    stale_days: Annotated[
        int, Query(ge=0, le=100_000, description="After how many days a state is stale.")
    ] = 180,
    expiring_days: Annotated[
        int, Query(ge=0, le=100_000, description="How many days before its end it is expiring.")
    ] = 30,
    limit: Annotated[int, Query(ge=1, le=_MOST, description="How many on a page.")] = 50,
    after: Annotated[
        str | None, Query(pattern=r"^\d{1,9}$", description="The `next` of the page before.")
    ] = None,
) -> Response:
    """What may be wrong with the facts of a user, and how much they are used: stale, contradictory,
    replaced, duplicate, expiring, unused, used. `PATCH` puts a fact right."""
    owner = await user_of(request, user_id)
    checkup = Checkup(time_of(request).at.date(), stale_days, expiring_days)
    every = await memory_of(request).health(owner, checkup)
    counts = Counter(one.finding for one in every)
    wanted = [one for one in every if finding in (None, one.finding)]
    first = int(after or 0)
    last = first + limit
    head = MemoryHealth(
        object="list",
        counts={one: counts[one] for one in Finding},
        total=len(wanted),
        next=str(last) if last < len(wanted) else None,
        data=[],
    )
    return await long_response(head, map(HealthRow.of, wanted[first:last]))


@router.get(
    "/{memory_id}",
    summary="Read a memory",
    response_model=ToldMemory,
    responses=failures(*READING, 404),
)
async def read_memory(
    request: Request, memory_id: MemoryId, user_id: UserId = None, as_of: AsOf = None
) -> Response:
    """One round, each of its facts with the history of what it says, as known on a day."""
    owner = await user_of(request, user_id)
    zone = zone_of(request)
    day = optional_day(as_of, param="as_of", zone=zone)
    today = in_zone(time_of(request).at, zone).date()
    told = await memory_of(request).told(owner, memory_id, day, today, zone)
    if told is None:
        raise unknown(memory_id)
    head = ToldMemory.of(told.record, facts=[])
    return await long_response(head, ToldFact.all_of(told))


def _print_place(place: Place) -> str:
    """A place as text that a client need not understand."""
    said, session_id, round_index = place
    text = json.dumps([said.isoformat(), session_id, round_index])
    return base64.urlsafe_b64encode(text.encode()).decode()


def _read_place(given: str) -> Place:
    try:
        said, session_id, round_index = json.loads(base64.urlsafe_b64decode(given.encode()))
        at = datetime.fromisoformat(said)
        if at.tzinfo is None or type(session_id) is not str or type(round_index) is not int:
            raise ValueError("not a place")
    except (ValueError, TypeError, RecursionError) as error:
        raise InvalidRequest(
            "'after' must be the 'next' value of an earlier page", param="after"
        ) from error
    return at, session_id, round_index
