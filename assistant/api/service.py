"""Routes about the service itself: alive, ready, and what it runs."""

from collections.abc import Mapping
from importlib.metadata import version
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse

from assistant.access.keys import Scope
from assistant.api.call import caller_of, services
from assistant.prompts.prompt_file import all_prompts
from memory_store import EmbeddingFailed, MemoryStoreError

router = APIRouter(tags=["service"])
_ROLES = ("chat_model", "extract_model", "query_model")


@router.get("/health")
async def health() -> Mapping[str, str]:
    """The process is alive."""
    return {"status": "ok"}


@router.get("/ready")
async def ready(request: Request) -> JSONResponse:
    """Store and embedder can be used; 503 with the failing one named otherwise."""
    checks = {"store": "ok", "embedder": "ok", "model": services(request).reader.name}
    try:
        await services(request).store.check()
    except MemoryStoreError as error:
        checks["embedder" if isinstance(error, EmbeddingFailed) else "store"] = str(error)
        return JSONResponse({"status": "not ready", "checks": checks}, 503)
    return JSONResponse({"status": "ready", "checks": checks})


@router.get("/v1/usage")
async def read_usage(request: Request) -> Mapping[str, Any]:
    """Calls, tokens and cost of the language models since the start, by role."""
    caller_of(request).checked_scope(Scope.ADMIN)
    return {"object": "usage", "roles": services(request).usage.body()}


@router.get("/version")
async def read_version(request: Request) -> Mapping[str, Any]:
    """What this server runs, secrets masked, and what the caller's key allows."""
    parts, caller = services(request), caller_of(request)
    return {
        "version": version("aide-memoire"),
        "store": dict(parts.store.description),
        "embedder": {
            "name": parts.embedder.identity.name,
            "dimension": parts.embedder.identity.dimension,
            "path": parts.embedder.path,
        },
        "reader": parts.reader.name,
        "models": {name: getattr(parts.settings, name) or None for name in _ROLES},
        "prompts": {prompt.name: prompt.hash for prompt in all_prompts()},
        # Of a server, and not of a user: where things lie and who else it talks to.
        "settings": None if caller.user_id else parts.settings.public(),
        "caller": {
            "label": caller.label or None,
            "user_id": caller.user_id,
            "scopes": sorted(caller.scopes),
        },
    }
