"""The first check of every request: who calls, by the API key. On a server without keys only this
machine may call, and no web page of others.

`/mcp` is a protected resource of OAuth 2.1, by metadata only (RFC 9728). It is still opened by an
API key of this server: the token that an authorization server or a gateway gives out must be such a
key, or be exchanged for one.
"""

import logging
from urllib.parse import urlsplit

from fastapi import APIRouter, Request, Security
from fastapi.security import HTTPBearer
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from assistant.access.doorkeeper import (
    ANYBODY,
    Caller,
    Doorkeeper,
    Host,
    origin_host,
    requested_host,
)
from assistant.access.limits import RequestLimits
from assistant.api.browsers import is_for_a_frame, is_of_another_page
from assistant.api.description import failures
from assistant.api.errors import error_response
from assistant.api.middleware import HttpMiddleware
from assistant.api.replies.mcp import ProtectedResource
from assistant.api.request_context import services
from assistant.errors import (
    AssistantError,
    ConfigError,
    Forbidden,
    InvalidRequest,
    NotFound,
    Unauthenticated,
)
from assistant.settings import Settings
from assistant.settings.groups import OauthSettings
from memory_store.errors import MemoryStoreError
from memory_store.scheduler import current_job

_log = logging.getLogger(__name__)

MCP = "/mcp"
METADATA = "/.well-known/oauth-protected-resource"
# These routes need no key, because they tell nothing about anybody: the page (which asks for the
# key), the probes, the description of the API, and where to get access.
_OPEN_PATHS = (
    *("/", "/health", "/leaderboard/health", "/ready", "/openapi.json"),
    *(METADATA, f"{METADATA}{MCP}"),
)
_OPEN_FOLDER = "/web/"

router = APIRouter(tags=["mcp"])

# Only for the OpenAPI document: it is `Access` that looks at the key.
NEEDS_KEY = Security(HTTPBearer(auto_error=False, description="An API key of this server."))


class Access(HttpMiddleware):
    """Finds the caller of a request and passes it on, or refuses it, before any of its body is
    read."""

    def __init__(
        self, app: ASGIApp, doorkeeper: Doorkeeper, limits: RequestLimits, settings: Settings
    ) -> None:
        super().__init__(app)
        self._doorkeeper = doorkeeper
        self._limits = limits
        self._allowed_origins = settings.allowed_origins
        self._oauth = settings.oauth

    async def around(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            caller = self._caller(scope, Headers(scope=scope))
            if caller.user_id is not None:
                # Long work takes turns between users.
                current_job().owner = caller.user_id
                await self._limits.count_request(caller, caller.user_id)
        except (AssistantError, MemoryStoreError) as error:
            if isinstance(error, ConfigError):
                _log.error("cannot read API keys, refusing all requests: %s", str(error))
            reply = error_response(error)
            if isinstance(error, Unauthenticated):
                reply.headers["WWW-Authenticate"] = challenge(self._oauth, scope)
            await reply(scope, receive, send)
            return
        scope.setdefault("state", {})["caller"] = caller
        await self._app(scope, receive, send)

    def _caller(self, scope: Scope, headers: Headers) -> Caller:
        if is_for_a_frame(headers):
            raise _of_another_page()
        host, origins = requested_host(scope["headers"]), headers.getlist("origin")
        if not self._doorkeeper.needs_key:
            self._check_from_here(host, origins)
            self._check_page(scope, headers, self._named(origins))
            return ANYBODY
        _check_well_formed(scope, host, headers)
        if scope["path"] in _OPEN_PATHS or scope["path"].startswith(_OPEN_FOLDER):
            named = self._named(origins) or bool(origins and "*" in self._allowed_origins)
            self._check_page(scope, headers, named)
            return ANYBODY
        # Pages need no check here: no web page has a key by itself, so one that sends a key was
        # given it.
        return self._doorkeeper.caller(_token(headers))

    def _check_from_here(self, host: Host | None, origins: list[str]) -> None:
        """Without keys only this machine may ask, and no web page but our own: a page from
        elsewhere can send requests to loopback, and call it by a name of its own."""
        if host is None or not host.is_loopback:
            raise Forbidden(
                "without API keys this server answers to 127.0.0.1 and localhost only: "
                "make a key with 'assistant keys create'",
                code="host_not_allowed",
            )
        is_ours = [origin_host(origin) for origin in origins] == [host]
        if origins and not is_ours and not self._named(origins):
            raise _of_another_page()

    def _check_page(self, scope: Scope, headers: Headers, named: bool) -> None:
        if is_of_another_page(scope, headers) and not named:
            raise _of_another_page()

    def _named(self, origins: list[str]) -> bool:
        return len(origins) == 1 and origins[0] in self._allowed_origins


def _check_well_formed(scope: Scope, host: Host | None, headers: Headers) -> None:
    """Raise `InvalidRequest` where a request does not name exactly one host. A server with keys may
    go by any name. HTTP/1.0 knows no Host header."""
    if host is None and ("host" in headers or scope["http_version"] != "1.0"):
        raise InvalidRequest(
            "the Host header must name exactly one host", code="invalid_host", param="Host"
        )


def _of_another_page() -> Forbidden:
    return Forbidden(
        "this server takes no requests from other web pages: name the origin in the "
        "setting allowed_origins",
        code="origin_not_allowed",
    )


def _token(headers: Headers) -> str | None:
    scheme, _, token = headers.get("authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else None


@router.get(METADATA, summary="OAuth metadata", responses=failures(404))
@router.get(f"{METADATA}{MCP}", summary="OAuth metadata of /mcp", responses=failures(404))
async def describe_resource(request: Request) -> ProtectedResource:
    """Where OAuth clients get access to `/mcp` (RFC 9728), if the server says so."""
    oauth = services(request).settings.oauth
    url = _resource(oauth, request.scope)
    if not oauth.authorization_servers or url is None:
        raise NotFound(
            "this server names no authorization server (oauth.authorization_servers): send one of "
            "its API keys as 'Authorization: Bearer …'",
            code="no_authorization_server",
        )
    return ProtectedResource(
        resource=url,
        resource_name="Aide-mémoire",
        authorization_servers=list(oauth.authorization_servers),
        bearer_methods_supported=["header"],
    )


def challenge(oauth: OauthSettings, scope: Scope) -> str:
    """The `WWW-Authenticate` header for a caller without a key; for `/mcp` it also says where to
    get access."""
    url = _resource(oauth, scope)
    if scope["path"] != MCP or not oauth.authorization_servers or url is None:
        return "Bearer"
    parts = urlsplit(url)
    return f'Bearer resource_metadata="{parts.scheme}://{parts.netloc}{METADATA}{parts.path}"'


def _resource(oauth: OauthSettings, scope: Scope) -> str | None:
    """The URL of `/mcp` as clients call it; None where a request does not name its host."""
    if oauth.resource:
        return oauth.resource
    if requested_host(scope["headers"]) is None:
        return None
    host = dict(scope["headers"])[b"host"].decode("latin-1")
    return f"{scope['scheme']}://{host}{MCP}"
