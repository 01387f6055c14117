"""Routes of a user's surroundings: what counts where a request does not say it (docs/api.md)."""

from typing import Any

from fastapi import APIRouter, Request

from assistant.api.description import READING, WRITING, failures
from assistant.api.parameters import UserInPath
from assistant.api.replies.service import UserSurroundings
from assistant.api.request_context import checked_weekday, person_in_path
from assistant.api.requests.memories import GivenSurroundings
from assistant.api.route import JsonRoute, Parts
from assistant.dates import parse_zone
from assistant.surroundings import Surroundings

router = APIRouter(
    prefix="/v1/users/{user_id:path}/surroundings", tags=["memories"], route_class=JsonRoute
)


@router.get("", summary="Read a user's surroundings", responses=failures(*READING, 404))
async def read_surroundings(
    request: Request, parts: Parts, user_id: UserInPath
) -> UserSurroundings:
    """The time zone and the first day of the week that are kept of a user; null where none is."""
    person = await person_in_path(request, user_id)
    return _shown(person, await parts.surroundings.of(person))


@router.put("", summary="Keep a user's surroundings", responses=failures(*WRITING, 404, 413))
async def keep_surroundings(
    request: Request, parts: Parts, user_id: UserInPath, body: GivenSurroundings
) -> UserSurroundings:
    """Keep the time zone and the first day of the week of a user, for requests that name none; what
    is not given is not kept any more."""
    person = await person_in_path(request, user_id)
    given = checked_surroundings(body.timezone, body.week_begins)
    await parts.surroundings.keep(person, given)
    return _shown(person, given)


def checked_surroundings(timezone: Any, week_begins: Any) -> Surroundings:
    """Surroundings as a caller may choose them. Raises `InvalidRequest`."""
    if timezone is not None:
        parse_zone(timezone)
    if week_begins is not None:
        checked_weekday(week_begins)
    return Surroundings(timezone, week_begins)


def _shown(person: str, kept: Surroundings) -> UserSurroundings:
    return UserSurroundings(
        object="user.surroundings",
        user_id=person,
        timezone=kept.timezone,
        week_begins=kept.week_begins,
    )
