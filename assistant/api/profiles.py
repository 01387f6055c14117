"""Routes of models: the profiles that a model menu offers."""

from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import APIRouter, Path

from assistant.api import bodies
from assistant.api.description import described
from assistant.api.examples import chat as examples
from assistant.api.schemas.chat import Profile, ProfileList
from assistant.errors import NotFound

WITH_MEMORY = "aide-memoire"
WITHOUT_MEMORY = "aide-memoire-nomem"
# OpenAI's list wants a moment of creation; profiles have none, so it is always the same.
_CREATED = 1_700_000_000

router = APIRouter(prefix="/v1/models", tags=["models"])


@router.get("", **described("List the profiles", ProfileList, examples.PROFILES))
async def list_profiles() -> Mapping[str, Any]:
    """The profiles of this server."""
    return bodies.list_body([_profile(name) for name in (WITH_MEMORY, WITHOUT_MEMORY)])


@router.get("/{name}", **described("Read a profile", Profile, examples.PROFILE, may_fail=(404,)))
async def read_profile(
    name: Annotated[str, Path(description="The id of a profile.", examples=["aide-memoire"])],
) -> Mapping[str, Any]:
    """One profile."""
    return _profile(checked_profile(name))


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


def _profile(name: str) -> dict[str, Any]:
    return {"id": name, "object": "model", "created": _CREATED, "owned_by": "aide-memoire"}
