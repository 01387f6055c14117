"""The route of the Model Context Protocol: the memory as tools, over Streamable HTTP.

The SDK reads and answers the messages (`assistant/mcp`). A tool sends requests to the other routes
of this server, from the same caller and with the same headers: so the user, the limits and the
checks are those of the API.
"""

import asyncio
import json
from collections.abc import Mapping
from importlib import import_module
from typing import Any
from urllib.parse import quote, unquote, urlencode

from fastapi import APIRouter, Request
from fastapi.responses import Response
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from assistant.api.access import MCP
from assistant.api.errors import error_body
from assistant.api.middleware import HttpMiddleware, replayed
from assistant.api.parameters import UserId
from assistant.api.replies.mcp import ANSWERED, McpAnswer
from assistant.api.request_context import session_of, time_of
from assistant.api.requests.chat import McpMessage
from assistant.api.route import JsonRoute
from assistant.errors import CallRefused, ExtraMissing
from assistant.services import MCP_CLIENTS
from memory_store.scheduler import aside

router = APIRouter(tags=["mcp"], route_class=JsonRoute)
# The framework's notes about the route that a request came by.
_OF_THE_ROUTE = ("path_params", "endpoint", "route")
# JSON-RPC's own numbers, and the first of those that are for servers to choose.
_CODES = {"invalid_json": -32700, "invalid_value": -32600}
_REFUSED = -32000


@router.post(
    MCP,
    summary="Model Context Protocol",
    response_model=McpAnswer,
    responses=ANSWERED,
)
async def serve_mcp(request: Request, message: McpMessage, user_id: UserId = None) -> Response:
    """One JSON-RPC message of an MCP client, over Streamable HTTP without sessions. `tools/list`
    describes the tools."""
    # The SDK reads the message again; `user_id` is read where a tool asks for something.
    endpoint = await _endpoint(request)
    body = json.dumps(await request.json()).encode()
    return await _answered(endpoint, request.scope, body, request.receive)


class CallerRoutes:
    """The memory of the caller of a request, by the routes of the same server."""

    def __init__(self, request: Request) -> None:
        self._request = request
        named = request.query_params
        self._mine = {
            name: named[name] for name in ("user_id", "space", "timezone") if name in named
        }

    async def session_id(self) -> str:
        """The session that the headers name, else one for each day."""
        named = session_of(self._request, None)
        return named or f"mcp-{time_of(self._request).at.date()}"

    async def call(
        self,
        method: str,
        path: str,
        *,
        params: Mapping[str, Any] | None = None,
        body: Mapping[str, Any] | None = None,
        receipt: bool = False,
    ) -> dict[str, Any]:
        """The JSON object that a route answers. Raises `CallRefused`."""
        scope = self._scope(method, path, {**(params or {}), **self._mine})
        if receipt:
            MutableHeaders(scope=scope)["X-Memory-Receipt"] = "1"
        sent = b"" if body is None else json.dumps({**body, **self._mine}).encode()
        try:
            reply = await _answered(self._request.app.router, scope, sent, self._request.receive)
            status, text = reply.status_code, bytes(reply.body)
            answer = await aside(len(text), json.loads, text)
        except Exception as error:
            # An unforeseen error is logged here, and the message tells nothing of it.
            status, answer = error_body(error)
        if status != 200:
            raise CallRefused(answer["error"]["message"], code=answer["error"]["code"])
        return dict(answer)

    def _scope(self, method: str, path: str, params: Mapping[str, Any]) -> Scope:
        came = self._request.scope
        scope = {name: value for name, value in came.items() if name not in _OF_THE_ROUTE}
        scope |= {
            "method": method,
            "path": unquote(path),
            "raw_path": quote(path, safe="/%").encode(),
            "query_string": urlencode(params).encode(),
            "headers": list(came["headers"]),
        }
        headers = MutableHeaders(scope=scope)
        del headers["Content-Length"]
        headers["X-Memory-Reach"] = MCP_CLIENTS
        return scope


class JsonRpcErrors(HttpMiddleware):
    """Puts every refusal of the route into JSON-RPC's shape: clients show their users no other.
    `data` holds type, param and code of the error, as of other routes."""

    async def around(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["path"] != MCP:
            await self._app(scope, receive, send)
            return
        refusal: Message | None = None
        body = b""

        async def put(message: Message) -> None:
            nonlocal refusal, body
            if message["type"] == "http.response.start" and _is_refusal(message):
                refusal = message
            elif refusal is None:
                await send(message)
            else:
                body += message.get("body", b"")
                if not message.get("more_body"):
                    told = _in_json_rpc(body)
                    MutableHeaders(scope=refusal)["Content-Length"] = str(len(told))
                    await send(refusal)
                    await send({"type": "http.response.body", "body": told})

        await self._app(scope, receive, put)


def _is_refusal(start: Message) -> bool:
    is_json = Headers(raw=start["headers"]).get("content-type") == "application/json"
    return is_json and start["status"] >= 400


def _in_json_rpc(body: bytes) -> bytes:
    """A refusal in JSON-RPC's shape, which a refusal by the SDK has already."""
    told = json.loads(body)
    if "jsonrpc" in told:
        return body
    data = told["error"]
    code, message = _CODES.get(data["code"], _REFUSED), data.pop("message")
    refusal = {"code": code, "message": message, "data": data}
    told = {"jsonrpc": "2.0", "id": None, "error": refusal}
    return json.dumps(told, ensure_ascii=False).encode()


async def _endpoint(request: Request) -> ASGIApp:
    """The protocol's side, imported at the first message: few servers are asked for it, and it is
    large. Raises `ExtraMissing`."""
    state = request.app.state
    if getattr(state, "mcp", None) is None:
        try:
            # The import runs beside the event loop, so that others are answered meanwhile.
            module = await asyncio.to_thread(import_module, "assistant.mcp.tools")
        except ModuleNotFoundError as error:
            if (error.name or "").split(".")[0] != "mcp":
                raise
            raise ExtraMissing(
                f"{MCP} needs an extra that is not installed here: pip install "
                "'aide-memoire[mcp]', or '.[mcp]' in the project's folder"
            ) from error
        state.mcp = module.StreamableHttp(CallerRoutes)
    endpoint: ASGIApp = state.mcp
    return endpoint


async def _answered(app: ASGIApp, scope: Scope, body: bytes, receive: Receive) -> Response:
    status, headers, parts = 500, [], []

    async def kept(message: Message) -> None:
        nonlocal status, headers
        if message["type"] == "http.response.start":
            status, headers = message["status"], message["headers"]
        else:
            parts.append(message.get("body", b""))

    await app(scope, replayed(body, receive), kept)
    reply = Response(b"".join(parts), status)
    reply.raw_headers = list(headers)
    return reply
