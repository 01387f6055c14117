"""An OpenAI-compatible assistant, spoken to as its profile says."""

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, NamedTuple

from harness.assistants.profile import Extra, ForgetRoute, Profile
from harness.assistants.returned_sources import read_sources, values_at
from harness.assistants.template import Occasion, filled, filled_path, merged
from harness.assistants.transport import Transport, read
from harness.assistants.wire import WireAnswer, parse_answer, parse_object
from harness.errors import IngestMismatch, UsageError
from harness.spending import Meter

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

    def __init__(self, transport: Transport, profile: Profile, meter: Meter) -> None:
        self._transport = transport
        self._profile = profile
        self._meter = meter

    def message(self, role: Literal["user", "assistant"], text: str, when: Occasion) -> Message:
        """A message said on this occasion: a user's carries the profile's prefix."""
        prefix = filled(self._profile.extra.prefix, when) if role == "user" else ""
        return Message(role, text, prefix)

    async def chat(self, kind: Kind, messages: Sequence[Message], when: Occasion) -> WireAnswer:
        """The answer to the last message of a conversation."""
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
    """What in a reply is not yet as the barrier wants it, or None."""
    for path, expected in ready.items():
        for value in values_at(reply, path):
            if value != expected:
                return f"{path} is {value!r}, not {expected!r}"
    return None
