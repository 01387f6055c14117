"""Asking an assistant: by our own routes, or by a chat in any profile."""

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, NamedTuple
from urllib.parse import quote

from harness.assistants.endpoint import Endpoint
from harness.assistants.profile import AssistantProfile, Extra, ForgetRoute
from harness.assistants.returned_sources import read_sources, values_at
from harness.assistants.template import Occasion, filled, filled_path, merged
from harness.assistants.transport import Transport, read
from harness.assistants.wire import (
    FoundValues,
    StoredSession,
    WireAnswer,
    parse_answer,
    parse_object,
    parse_ranking,
    parse_recorded,
    parse_sessions,
)
from harness.errors import AssistantError, IngestMismatch, UsageError
from harness.records.schema import AssistantRecord
from harness.spending import Meter

# How long a server may take to appear at first contact, when nothing is at stake yet.
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
        return await self._transport.request(
            "GET", f"/v1/sessions?user_id={quote(user_id)}", parse_sessions
        )

    async def search(
        self, user_id: str, query: str, *, now: str, unit: str, top_k: int
    ) -> FoundValues:
        body = {"user_id": user_id, "query": query, "now": now, "unit": unit, "top_k": top_k}
        return await self._transport.request("POST", "/v1/memories/search", parse_ranking, body)

    async def ask(
        self,
        user_id: str,
        session_id: str,
        question: str,
        *,
        now: str,
        as_of: str | None = None,
        explained: bool = False,
    ) -> WireAnswer:
        """Ask a question without leaving a trace of it in memory; `as_of` is the day after which
        nothing counts, `explained` asks how the answer came about as well.
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
                **({"memory_debug": "1"} if explained else {}),
                **({"as_of": as_of} if as_of else {}),
            },
        }
        return await self._transport.request("POST", "/v1/chat/completions", parse_answer, body)

    async def forget_session(self, user_id: str, session_id: str) -> None:
        route = f"/v1/sessions/{quote(session_id)}?user_id={quote(user_id)}"
        await self._transport.request("DELETE", route, parse_object)

    async def forget_user(self, user_id: str) -> None:
        """Delete everything of a user; nothing to delete is fine."""
        route = f"/v1/users/{quote(user_id)}/memories"
        await self._transport.request("DELETE", route, parse_object)


async def identify(
    endpoint: Endpoint, *, is_ours: bool = True, needs_memory: bool = True
) -> AssistantRecord:
    """First contact: return what the assistant says it is. Any trouble here is raised soon, and a
    server without our routes is refused if `is_ours` and `needs_memory` require them.
    """
    patience = min(endpoint.retry.reconnect_seconds, _FIRST_CONTACT_SECONDS)
    hasty = replace(endpoint, retry=replace(endpoint.retry, reconnect_seconds=patience, attempts=2))
    async with Transport(hasty) as transport:
        client = AssistantClient(transport)
        try:
            version = await client.version()
            if is_ours and needs_memory and "settings" not in (version or {}):
                await client.sessions(_NOBODY)  # /version alone proves nothing
        except AssistantError as error:
            if is_ours and (error.status or 0) >= 500:
                raise
            if is_ours and needs_memory:
                message = _STRANGER.format(url=endpoint.public_url, found=error)
                raise UsageError(message) from error
            version = None  # somebody else's server may answer this route as it likes
    return AssistantRecord(url=endpoint.public_url, model=endpoint.model, version=version)


Kind = Literal["teacher", "live", "question", "control"]
_FIRST_POLL = 0.05
_LONGEST_POLL = 2.0


class Message(NamedTuple):
    """One message of a conversation; `prefix` is put before it as the profile says."""

    role: Literal["user", "assistant"]
    content: str
    prefix: str = ""


class ChatClient:
    """Chats, records, forgets and waits. Every method may raise the errors of `harness.errors`."""

    def __init__(self, transport: Transport, profile: AssistantProfile, meter: Meter) -> None:
        self._transport = transport
        self._profile = profile
        self._meter = meter

    def message(self, role: Literal["user", "assistant"], text: str, when: Occasion) -> Message:
        prefix = filled(self._profile.extra.prefix, when) if role == "user" else ""
        return Message(role, text, prefix)

    async def chat(self, kind: Kind, messages: Sequence[Message], when: Occasion) -> WireAnswer:
        extras = (self._profile.extra, self._profile.kinds.get(kind, Extra()))
        sent = [{"role": m.role, "content": m.prefix + m.content} for m in messages]
        system = next((e.system for e in reversed(extras) if e.system), "")
        if system:
            sent.insert(0, {"role": "system", "content": filled(system, when)})
        fixed = {"model": self._transport.endpoint.model, "messages": sent, "stream": False}
        body = merged(fixed, *(filled(extra.body, when) for extra in extras))
        headers = {k: v for extra in extras for k, v in filled(extra.headers, when).items()}

        async def call() -> WireAnswer:
            path = filled_path(self._profile.path, when)
            response = await self._transport.exchange("POST", path, body, headers=headers)
            answer = read(response, f"POST {path}", parse_answer)
            if kind != "question" or self._profile.sources is None:
                return answer
            found = read_sources(self._profile.sources, response.json(), response.headers)
            return replace(answer, returned=found)

        return await self._meter.spend(sum(len(item["content"]) for item in sent), call)

    async def record(self, when: Occasion) -> None:
        """Have the occasion's turns remembered, without an answer."""
        record = self._profile.record
        if record is None:
            raise UsageError(f"profile {self._profile.name} has no [record]")
        body = filled(record.body, when)
        headers = filled(self._profile.extra.headers, when)
        path = filled_path(record.path, when)
        await self._transport.exchange(record.method, path, body, headers=headers)

    async def forget(self, when: Occasion) -> None:
        """Delete the user's memories where the profile says how."""
        route = self._profile.forget
        if isinstance(route, ForgetRoute):
            headers = filled(self._profile.extra.headers, when)
            await self._transport.exchange(
                route.method, filled_path(route.path, when), headers=headers
            )

    async def wait_until_ready(self, when: Occasion, *, limit_seconds: float) -> None:
        """Pass the profile's barrier; `IngestMismatch` if it does not open in time."""
        barrier = self._profile.barrier
        await asyncio.sleep(barrier.wait_seconds)
        if not barrier.path:
            return
        deadline = time.monotonic() + limit_seconds
        headers = filled(self._profile.extra.headers, when)
        path, pause = filled_path(barrier.path, when), _FIRST_POLL
        while True:
            reply = await self._transport.request("GET", path, parse_object, headers=headers)
            waiting = unready(reply, barrier.ready)
            if waiting is None:
                return
            if time.monotonic() + pause > deadline:
                raise IngestMismatch(
                    f"not ready after {limit_seconds:g} s: {waiting}", route=f"GET {barrier.path}"
                )
            await asyncio.sleep(pause)
            pause = min(pause * 2, _LONGEST_POLL)


def unready(reply: Any, ready: Mapping[str, Any]) -> str | None:
    """Describe a value of a reply that is not yet as the barrier wants it; None if all are."""
    for path, expected in ready.items():
        for value in values_at(reply, path):
            if value != expected:
                return f"{path} is {value!r}, not {expected!r}"
    return None
