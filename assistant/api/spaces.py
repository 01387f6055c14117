"""The route of spaces: separate memories of one user. Others take `space` (docs/api.md)."""

from fastapi import APIRouter, Request

from assistant.api.dependencies import Store
from assistant.api.failures import READING, failures
from assistant.api.parameters import UserId
from assistant.api.replies.sessions import Space, SpaceList
from assistant.api.request_context import person_of
from assistant.api.route import JsonRoute
from memory_store import owner_of

router = APIRouter(prefix="/v1/spaces", tags=["sessions"], route_class=JsonRoute)


@router.get("", summary="List the spaces", responses=failures(*READING))
async def list_spaces(request: Request, store: Store, user_id: UserId = None) -> SpaceList:
    """Every space of a user in which something is kept, by name."""
    person = await person_of(request, user_id)
    counted = [
        Space(object="space", space=name, rounds=await store.count(owner_of(person, name)))
        for name in await store.spaces(person)
    ]
    return SpaceList(object="list", data=counted)
