"""Routes about the service itself: alive, ready, and what it runs."""

from importlib.metadata import version
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import PlainTextResponse, Response

from assistant.access.keys import KeyScope
from assistant.api.access import NEEDS_KEY
from assistant.api.description import failures, text_reply
from assistant.api.replies import json_response
from assistant.api.replies import service as replies
from assistant.api.request_context import caller_of
from assistant.api.route import Parts
from assistant.errors import ConfigError
from assistant.prompts.prompt_file import all_prompts
from assistant.services import Services
from memory_store import EnrichmentState, Round
from memory_store.errors import EmbeddingFailed, MemoryStoreError, StoreFull
from memory_store.scheduler import aside

router = APIRouter(tags=["service"])
_PROMETHEUS = "text/plain; version=0.0.4; charset=utf-8"
_METRICS = "# TYPE assistant_requests_running gauge\n"
_ROLES = ("chat_model", "extract_model", "query_model")


@router.get("/health", summary="Alive")
async def health() -> replies.Health:
    """The process is alive."""
    return replies.Health(status="ok")


_NOT_READY: dict[int | str, dict[str, Any]] = {
    503: {"model": replies.Readiness, "description": "Something cannot be used."}
}


@router.get("/ready", summary="Ready", response_model=replies.Readiness, responses=_NOT_READY)
async def ready(request: Request, parts: Parts) -> Response:
    """Requests can be answered; 503 with what is wrong otherwise.

    The store is asked, the embedder encodes, the disk of an embedded store has room, the keys can
    be read. How the last call of the chat model ended is told, but decides nothing: without it
    memory still works.
    """
    checks = {"store": "ok", "embedder": "ok", "disk": "ok", "model": parts.reader.name}
    if role := parts.usage.by_role.get("chat"):
        checks["model_last_call"] = role.last_call
    try:
        request.app.state.doorkeeper.keys()
        await parts.store.check()
    except (MemoryStoreError, ConfigError) as error:
        checks[_failing(error)] = str(error)
        not_ready = replies.Readiness(status="not ready", checks=checks)
        return json_response(not_ready, status=503)
    return json_response(replies.Readiness(status="ready", checks=checks))


def _failing(error: Exception) -> str:
    kinds = {EmbeddingFailed: "embedder", StoreFull: "disk", ConfigError: "keys"}
    return next((name for kind, name in kinds.items() if isinstance(error, kind)), "store")


@router.get(
    "/metrics",
    response_class=PlainTextResponse,
    dependencies=[NEEDS_KEY],
    summary="Metrics",
    responses=failures(401) | text_reply("Metrics", "text/plain", _METRICS),
)
async def read_metrics(request: Request, parts: Parts) -> Response:
    """What happened since the start, for Prometheus: here, or in all that share their metrics."""
    caller_of(request).checked_scope(KeyScope.ADMIN)
    return Response(parts.metrics.text(), media_type=_PROMETHEUS)


@router.get(
    "/v1/usage",
    dependencies=[NEEDS_KEY],
    summary="Usage of language models",
    responses=failures(401),
)
async def read_usage(request: Request, parts: Parts) -> replies.Usage:
    """Calls, tokens and cost of the language models since the start, by role; and what is expected
    of the extraction that waits."""
    caller_of(request).checked_scope(KeyScope.ADMIN)
    return replies.Usage.model_validate(
        {"object": "usage", "roles": parts.usage.body(), "waiting": await _waiting(parts)}
    )


def _by_session(round: Round) -> tuple[str, str, int]:
    return round.user_id, round.session_id, round.round_index


async def _waiting(parts: Services) -> replies.WaitingExtraction | None:
    if parts.enrichment is None:
        return None
    records = await parts.store.unenriched(EnrichmentState.PENDING)
    rounds = sorted((record.round for record in records), key=_by_session)
    costs = await aside(sum(one.size for one in rounds), parts.costs.of, [], rounds)
    told = costs._replace(rounds=len(rounds))
    return replies.WaitingExtraction.of(told, paused=parts.enrichment.is_paused)


@router.get(
    "/version",
    dependencies=[NEEDS_KEY],
    summary="What the server runs",
    responses=failures(401),
)
async def read_version(request: Request, parts: Parts) -> replies.Version:
    """What this server runs, secrets masked, and what the caller's key allows."""
    caller = caller_of(request)
    return replies.Version(
        version=version("aide-memoire"),
        store=dict(parts.store.description),
        embedder=replies.EmbedderDescription.of(parts.embedder.identity, path=parts.embedder.path),
        reader=parts.reader.name,
        design=replies.DesignDescription.of_server(parts),
        models={
            **{name: getattr(parts.settings, name).name or None for name in _ROLES},
            **{f"profile:{name}": how.name for name, how in parts.settings.profiles.items()},
        },
        prompts={prompt.name: prompt.hash for prompt in all_prompts()},
        # Settings are the operator's: they tell where things lie and who else the server talks to.
        settings=None if caller.user_id else parts.settings.public(),
        caller=replies.CallerDescription.of(
            caller, label=caller.label or None, scopes=sorted(caller.scopes)
        ),
    )
