"""Routes of models: the profiles that a model menu offers."""

from typing import Annotated

from fastapi import APIRouter, Path, Request

from assistant.api.failures import failures
from assistant.api.replies.models import Profile, ProfileList
from assistant.api.request_context import services
from assistant.chat.chat import Chat
from assistant.errors import NotFound
from assistant.settings import WITH_MEMORY

router = APIRouter(prefix="/v1/models", tags=["models"])


@router.get("", summary="List the profiles")
async def list_profiles(request: Request) -> ProfileList:
    """The profiles of this server: what a request may name as its `model`."""
    names = services(request).chats
    return ProfileList(object="list", data=[Profile.named(name) for name in names])


@router.get("/{name}", summary="Read a profile", responses=failures(404))
async def read_profile(
    request: Request,
    name: Annotated[str, Path(description="The id of a profile.", examples=["aide-memoire"])],
) -> Profile:
    """One profile."""
    return Profile.named(checked_profile(request, name))


def checked_profile(request: Request, name: str | None) -> str:
    """The profile asked for, the one with memory by default. Raises `NotFound`."""
    if name is None:
        return WITH_MEMORY
    names = services(request).chats
    if name not in names:
        raise NotFound(
            f"there is no model {name[:80]!r}: use {' or '.join(names)}",
            code="model_not_found",
            param="model",
        )
    return name


def chat_of(request: Request, name: str | None) -> Chat:
    """The chat of the profile asked for. Raises `NotFound`."""
    return services(request).chats[checked_profile(request, name)]
