"""Routes of models: the profiles that a model menu offers."""

from typing import Annotated

from fastapi import APIRouter, Path

from assistant.api.failures import failures
from assistant.api.replies.models import Profile, ProfileList
from assistant.errors import NotFound

WITH_MEMORY = "aide-memoire"
WITHOUT_MEMORY = "aide-memoire-nomem"

router = APIRouter(prefix="/v1/models", tags=["models"])


@router.get("", summary="List the profiles")
async def list_profiles() -> ProfileList:
    """The profiles of this server."""
    profiles = [Profile.named(name) for name in (WITH_MEMORY, WITHOUT_MEMORY)]
    return ProfileList(object="list", data=profiles)


@router.get("/{name}", summary="Read a profile", responses=failures(404))
async def read_profile(
    name: Annotated[str, Path(description="The id of a profile.", examples=["aide-memoire"])],
) -> Profile:
    """One profile."""
    return Profile.named(checked_profile(name))


def checked_profile(name: str | None) -> str:
    """The profile asked for, the one with memory by default. Raises `NotFound`."""
    if name is None:
        return WITH_MEMORY
    if name not in (WITH_MEMORY, WITHOUT_MEMORY):
        raise NotFound(
            f"there is no model {name[:80]!r}: use {WITH_MEMORY} or {WITHOUT_MEMORY}",
            code="model_not_found",
            param="model",
        )
    return name
