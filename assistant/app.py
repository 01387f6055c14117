"""The application: services opened at start, routes, middleware, errors."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext
from importlib.metadata import version
from types import ModuleType
from typing import Any

from fastapi import FastAPI
from starlette.middleware.cors import CORSMiddleware

from assistant.access.doorkeeper import Doorkeeper
from assistant.access.keys import SHARED_KEYS, SharedKeys
from assistant.access.limits import ClientPatience, RequestLimits, SharedBudgets
from assistant.api import (
    access,
    browsers,
    chat,
    description,
    errors,
    importing,
    leaderboard,
    memories,
    memory_list,
    models,
    receipts,
    remote_mcp,
    responses,
    service,
    sessions,
    spaces,
    surroundings,
    upkeep,
)
from assistant.api.access import NEEDS_KEY, Access
from assistant.api.browsers import SafeHeaders
from assistant.api.description import failures
from assistant.api.middleware import Draining, Observed, Shutdown, WholeBody
from assistant.api.remote_mcp import JsonRpcErrors
from assistant.clock import Clock, wall_clock
from assistant.services import Services, open_services
from assistant.settings import Settings
from assistant.worker_messages import Notices

# Routes that need a key on a server that has keys, and routes that are open to everybody.
_KEYED: tuple[ModuleType, ...] = (
    chat,
    responses,
    models,
    sessions,
    spaces,
    memories,
    memory_list,
    receipts,
    importing,
    surroundings,
    upkeep,
    remote_mcp,
)
_OPEN: tuple[ModuleType, ...] = (service, access, browsers, leaderboard)
# Every method and header of the API; keys travel in a header, so no cookies are needed.
_CORS: dict[str, Any] = {
    "allow_methods": ["GET", "POST", "PUT", "PATCH", "DELETE"],
    "allow_headers": ["*"],
    "expose_headers": ["X-Request-Id", "X-Memory-Session", "Retry-After", "WWW-Authenticate"],
}


def create_app(
    settings: Settings,
    *,
    services: Services | None = None,
    clock: Clock | None = None,
    patience: ClientPatience = ClientPatience(),
) -> FastAPI:
    """Return the assistant as an ASGI application.

    It opens its services at start unless they are handed over, in which case the caller closes
    them. `clock` tells the time for requests that give none.
    """

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with nullcontext(services) if services else open_services(settings) as opened:
            app.state.services = opened
            if opened.notices:
                await _share(app, settings, opened.notices)
            opened.reindexing.go_on()
            yield

    app = FastAPI(
        title="Aide-mémoire",
        version=version("aide-memoire"),
        lifespan=lifespan,
        # Without keys any route may refuse a request from elsewhere.
        responses=errors.DESCRIBED | failures(403),
        # A path with an extra slash is not found: it is not redirected to another route.
        redirect_slashes=False,
        # The framework's spans would hold paths and queries, and with them what users say. The
        # project makes its own spans in `observing/tracing.py`.
        telemetry={"tracing": False, "metrics": False, "logs": False, "auto_configure": False},
        # FastAPI's own pages load their scripts from elsewhere.
        docs_url=None,
        redoc_url=None,
    )
    app.state.clock = clock or wall_clock
    app.state.limits = RequestLimits(settings.limits)
    app.state.shutdown = Shutdown()
    app.state.doorkeeper = Doorkeeper(settings)
    _add_routes(app)
    errors.install(app)
    _add_middleware(app, settings, patience)
    return app


async def _share(app: FastAPI, settings: Settings, notices: Notices) -> None:
    """Share request limits and keys with all assistants on the Qdrant server."""
    limits: RequestLimits = app.state.limits
    limits.budgets = SharedBudgets(notices.documents, lambda: wall_clock().timestamp())
    if settings.shares_keys:
        door: Doorkeeper = app.state.doorkeeper
        keys = SharedKeys(notices.documents)

        async def changed() -> None:
            door.shared = await keys.keys()

        notices.watch(SHARED_KEYS, changed)
    await notices.start()


def _add_routes(app: FastAPI) -> None:
    for module in _KEYED:
        app.include_router(module.router, dependencies=[NEEDS_KEY], responses=failures(401))
    for module in _OPEN:
        app.include_router(module.router)
    browsers.mount_files(app)
    modules = [*_KEYED, *_OPEN]
    description.install(app, [route for module in modules for route in module.router.routes])


def _add_middleware(app: FastAPI, settings: Settings, patience: ClientPatience) -> None:
    """Add the middleware, the innermost first."""
    app.add_middleware(WholeBody, limit=settings.max_body_bytes, patience=patience)
    app.add_middleware(
        Access,
        doorkeeper=app.state.doorkeeper,
        limits=app.state.limits,
        settings=settings,
    )
    if settings.allowed_origins:
        app.add_middleware(CORSMiddleware, allow_origins=settings.allowed_origins, **_CORS)
    app.add_middleware(Draining)
    app.add_middleware(Observed)
    app.add_middleware(JsonRpcErrors)
    app.add_middleware(SafeHeaders)
