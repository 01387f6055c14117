"""Stores that speak the Add/Search convention of public memory leaderboards.

`POST /add` keeps the messages of one request: they are durable and searchable when it returns, and
a repeated request is known by its id. `POST /search` gives texts of a user, best first.
`GET /health` needs no key.
"""

import time
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import httpx

from harness.assistants.endpoint import Endpoint
from harness.assistants.transport import Transport, read
from harness.assistants.wire import WrongShape, parse_object
from harness.errors import AssistantError, UsageError

BoardMessage = dict[str, str | int]


class FoundText(NamedTuple):
    """One result: its text, and when it was said as the store writes it, "" where it does not."""

    content: str
    created_at: str = ""


class SearchResults(NamedTuple):
    """The results of a search, best first, with the reply that they came in."""

    texts: list[FoundText]
    reply: httpx.Response
    ms: float


class AddSearchClient:
    """The three routes. Every method may raise the errors of `harness.errors`."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def add(
        self, request_id: str, user_id: str, session_id: str, messages: Sequence[BoardMessage]
    ) -> None:
        """Have the store keep these messages; a request that is sent again has the same id."""
        named = {"request_id": request_id, "user_id": user_id, "session_id": session_id}
        body = {**named, "messages": list(messages)}
        await self._transport.request("POST", "/add", _succeeded, body)

    async def search(self, user_id: str, query: str, top_k: int) -> SearchResults:
        body = {"query": query, "user_id": user_id, "top_k": top_k}
        started = time.perf_counter()
        reply = await self._transport.exchange("POST", "/search", body)
        ms = round((time.perf_counter() - started) * 1000, 2)
        return SearchResults(read(reply, "POST /search", _texts), reply, ms)


async def require_store(endpoint: Endpoint) -> None:
    """Raise `UsageError` unless such a store answers there."""
    async with Transport(endpoint) as transport:
        try:
            await transport.exchange("GET", "/health")
        except AssistantError as error:
            raise UsageError(
                f"no store of the Add/Search convention at {endpoint.public_url}: {error}"
            ) from error


def _succeeded(reply: Any) -> Mapping[str, Any]:
    if parse_object(reply).get("success") is not True:
        raise WrongShape("success: expected true")
    return parse_object(reply)


def _texts(reply: Any) -> list[FoundText]:
    found = parse_object(reply).get("data")
    if not isinstance(found, list):
        raise WrongShape("data: expected a list")
    return [_text(one) for one in found]


def _text(result: Any) -> FoundText:
    content = parse_object(result).get("content")
    if not isinstance(content, str):
        raise WrongShape("data.content: expected a string")
    created_at = result.get("created_at")
    return FoundText(content, created_at if isinstance(created_at, str) else "")
