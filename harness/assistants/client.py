"""Our own memory routes and the chat route as calls with typed results."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import quote

from harness.assistants.endpoint import Endpoint
from harness.assistants.transport import Transport
from harness.assistants.wire import (
    RankedValue,
    StoredSession,
    WireAnswer,
    parse_answer,
    parse_object,
    parse_ranking,
    parse_recorded,
    parse_sessions,
)
from harness.errors import AssistantError, UsageError
from harness.records.manifest import AssistantIdentity

# How long a server may take to appear at the start, where nothing is at stake yet.
_FIRST_CONTACT_SECONDS = 3.0
_NOBODY = "nobody"
_STRANGER = (
    "the server at {url} is not this project's assistant ({found}). Any other "
    "OpenAI-compatible one is told histories by chat: --profile plain --mode teacher, or a profile "
    "of its own (docs/evaluate-your-assistant.md)"
)


class AssistantClient:
    """The routes of docs/api.md. Every method may raise the errors of `harness.errors`."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def version(self) -> dict[str, Any] | None:
        """What the server says it runs, or None where it has no such route."""
        try:
            return await self._transport.request("GET", "/version", parse_object)
        except AssistantError as error:
            if error.status == 404:
                return None
            raise

    async def open_session(self, user_id: str, session_id: str, started_at: str) -> None:
        """Announce a session that may stay without turns."""
        body = {"user_id": user_id, "session_id": session_id, "started_at": started_at}
        await self._transport.request("POST", "/v1/sessions", parse_object, body)

    async def record(
        self, user_id: str, session_id: str, messages: Sequence[dict[str, str]], *, close: bool
    ) -> list[int]:
        """Record turns; returns the indices of the rounds they fell into.

        `close` tells that the session ends here, so that end-of-session work is finished on return.
        """
        body = {"user_id": user_id, "messages": list(messages), "wait": close, "close": close}
        return await self._transport.request(
            "POST", f"/v1/sessions/{quote(session_id)}/messages", parse_recorded, body
        )

    async def sessions(self, user_id: str) -> list[StoredSession]:
        """Everything this user has in memory, by session."""
        return await self._transport.request(
            "GET", f"/v1/sessions?user_id={quote(user_id)}", parse_sessions
        )

    async def search(
        self, user_id: str, query: str, *, now: str, unit: str, top_k: int
    ) -> list[RankedValue]:
        """Rank this user's rounds or sessions for a query."""
        body = {"user_id": user_id, "query": query, "now": now, "unit": unit, "top_k": top_k}
        return await self._transport.request("POST", "/v1/memories/search", parse_ranking, body)

    async def ask(
        self, user_id: str, session_id: str, question: str, *, now: str, as_of: str | None = None
    ) -> WireAnswer:
        """Ask a question without leaving a trace of it in memory; `as_of` is the day after which
        nothing counts.
        """
        body = {
            "model": self._transport.endpoint.model,
            "messages": [{"role": "user", "content": question}],
            "stream": False,
            "metadata": {
                "user_id": user_id,
                "session_id": session_id,
                "timestamp": now,
                "memory": "read_only",
                **({"as_of": as_of} if as_of else {}),
            },
        }
        return await self._transport.request("POST", "/v1/chat/completions", parse_answer, body)

    async def forget_session(self, user_id: str, session_id: str) -> None:
        """Delete one session of a user."""
        route = f"/v1/sessions/{quote(session_id)}?user_id={quote(user_id)}"
        await self._transport.request("DELETE", route, parse_object)

    async def forget_user(self, user_id: str) -> None:
        """Delete everything of a user; nothing to delete is fine."""
        route = f"/v1/users/{quote(user_id)}/memories"
        await self._transport.request("DELETE", route, parse_object)


async def identify(
    endpoint: Endpoint, *, is_ours: bool = True, needs_memory: bool = True
) -> AssistantIdentity:
    """First contact: what the assistant says it is. Any trouble here is raised at once, and a
    server without our routes refused where one of ours is to remember.
    """
    patience = min(endpoint.retry.reconnect_seconds, _FIRST_CONTACT_SECONDS)
    hasty = replace(endpoint, retry=replace(endpoint.retry, reconnect_seconds=patience, attempts=2))
    async with Transport(hasty) as transport:
        client = AssistantClient(transport)
        try:
            version = await client.version()
            if is_ours and needs_memory and "settings" not in (version or {}):
                await client.sessions(_NOBODY)  # others have a route of that name, too
        except AssistantError as error:
            if is_ours and (error.status or 0) >= 500:
                raise
            if is_ours and needs_memory:
                message = _STRANGER.format(url=endpoint.public_url, found=error)
                raise UsageError(message) from error
            version = None  # somebody else's server may answer this route as it likes
    return AssistantIdentity(url=endpoint.public_url, model=endpoint.model, version=version)
