"""At the door of every request: who calls, by the API key; without keys, only this machine."""

import logging
from urllib.parse import urlsplit

from fastapi import Security
from fastapi.security import HTTPBearer
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from assistant.access.caller import ANYBODY, Caller
from assistant.access.doorkeeper import Doorkeeper, is_loopback
from assistant.api.errors import error_response
from assistant.errors import AssistantError, ConfigError, Forbidden

_log = logging.getLogger(__name__)

# What tells nothing about anybody: the page (which asks for the key), the probes, the API itself.
_OPEN_PATHS = ("/", "/health", "/ready", "/openapi.json")
_OPEN_FOLDER = "/web/"

# Says so in the OpenAPI document; it is `Access` that looks at the key.
NEEDS_KEY = Security(HTTPBearer(auto_error=False, description="An API key of this server."))


class Access:
    """Lets a request in with the caller it is from, or answers 401 or 403 itself."""

    def __init__(self, app: ASGIApp, doorkeeper: Doorkeeper, allowed_origins: list[str]) -> None:
        self._app = app
        self._doorkeeper = doorkeeper
        self._allowed_origins = allowed_origins

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        try:
            scope.setdefault("state", {})["caller"] = self._caller(
                scope["path"], Headers(scope=scope)
            )
        except AssistantError as error:
            if isinstance(error, ConfigError):
                _log.error("nobody can be let in: %s", str(error))
            await error_response(error)(scope, receive, send)
            return
        await self._app(scope, receive, send)

    def _caller(self, path: str, headers: Headers) -> Caller:
        if not self._doorkeeper.needs_key:
            self._check_from_here(headers)
        elif path in _OPEN_PATHS or path.startswith(_OPEN_FOLDER):
            return ANYBODY
        return self._doorkeeper.caller(_token(headers))

    def _check_from_here(self, headers: Headers) -> None:
        """Without keys only this machine may ask, and no web page but our own: a page from
        elsewhere can send requests to loopback, and call it by a name of its own."""
        host = headers.get("host", "")
        if not is_loopback(_name(host)):
            raise Forbidden(
                "without API keys this server answers to 127.0.0.1 and localhost only: "
                "make a key with 'assistant keys create'",
                code="host_not_allowed",
            )
        origin = headers.get("origin")
        if origin is None or origin in self._allowed_origins:
            return
        if urlsplit(origin).netloc != host:
            raise Forbidden(
                "this server takes no requests from other web pages: name the origin in the "
                "setting allowed_origins",
                code="origin_not_allowed",
            )


def _token(headers: Headers) -> str | None:
    scheme, _, token = headers.get("authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else None


def _name(host: str) -> str:
    """The name in a Host header, without its port."""
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""
