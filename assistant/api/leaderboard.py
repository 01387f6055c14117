"""The Add/Search routes by which public leaderboards of memory call an entrant, where the setting
`leaderboard` serves them.

An `add` is durable and can be searched when it returns. The turns of a request are known by its id,
so a request that is sent again, or twice at once, is recorded once. The user is found as on every
other route.
"""

from fastapi import APIRouter, Depends, Request
from fastapi.responses import Response

from assistant.api import request_context as context
from assistant.api.access import NEEDS_KEY
from assistant.api.description import READING, WRITING, failures
from assistant.api.replies import long_response
from assistant.api.replies.leaderboard import Added, Found, FoundText
from assistant.api.replies.service import Health
from assistant.api.requests.leaderboard import AddRequest, BoardMessage, BoardSearch
from assistant.api.route import JsonRoute, Parts
from assistant.chat.members import MemberRole
from assistant.chat.retriever import Read, known_until
from assistant.chat.turns import Role, Turn
from assistant.errors import NotFound
from memory_store import Days, Query, whose

# The most that a search of the memory ranks.
_MOST_FOUND = 200


async def _is_served(parts: Parts) -> None:
    if not parts.settings.leaderboard:
        raise NotFound(
            "this server does not serve the routes of leaderboards (setting leaderboard)",
            code="leaderboard_off",
        )


router = APIRouter(
    prefix="/leaderboard",
    tags=["leaderboard"],
    route_class=JsonRoute,
    dependencies=[Depends(_is_served)],
)


@router.get("/health", summary="Alive, for leaderboards", responses=failures(404))
async def health() -> Health:
    """The process is alive, and serves these routes."""
    return Health(status="ok")


@router.post(
    "/add",
    summary="Add messages, as leaderboards do",
    dependencies=[NEEDS_KEY],
    responses=failures(401, *WRITING, 404, 413),
)
async def add(request: Request, parts: Parts, body: AddRequest) -> Added:
    """Record the messages of one request, once."""
    user_id = await context.user_of(request, body.user_id, space=body.space, role=MemberRole.MEMBER)
    session_id = context.checked_id(body.session_id, "session_id")
    request_id = context.checked_id(body.request_id, "request_id")
    context.limits_of(request).check_messages([message.content for message in body.messages])
    turns = [
        _turn(request, message, f"add:{request_id}:{place}")
        for place, message in enumerate(body.messages)
    ]
    await parts.recorder.record(user_id, session_id, turns, person=context.speaker_in(request))
    return Added(
        success=True,
        request_id=request_id,
        user_id=whose(user_id).user_id,
        session_id=session_id,
    )


def _turn(request: Request, message: BoardMessage, name: str) -> Turn:
    said = context.time_of(request, message.moment, param="messages.timestamp")
    return Turn(Role(message.role), message.content, said.at, timed=said.given, caller_id=name)


@router.post(
    "/search",
    summary="Search, as leaderboards do",
    dependencies=[NEEDS_KEY],
    response_model=Found,
    responses=failures(401, *READING, 404, 413),
)
async def search(request: Request, parts: Parts, body: BoardSearch) -> Response:
    """Rounds of a user with their dates, the best first."""
    user_id = await context.user_of(request, body.user_id, space=body.space, role=MemberRole.READER)
    context.limits_of(request).check_query(body.query)
    now = context.time_of(request)
    days = known_until(Days(zone=now.zone), now.at, timed=now.given)
    most = min(body.top_k, _MOST_FOUND)
    query = Query(user_id, body.query, most, days, asked_on=now.at.date())
    retrieved = await parts.retriever.retrieve(query, Read.MODEL)
    found = retrieved.recall.rounds[:most]
    return await long_response(Found(data=[]), map(FoundText.of_found, found))
