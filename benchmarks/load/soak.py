"""Thousands of requests of every kind: does the process stay as small as it was?"""

import asyncio
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import httpx

from benchmarks.load.assistant import resident_mb, serving
from benchmarks.load.measure import QUICK, chat_request, scripted, settings_for
from benchmarks.measured import Measured
from memory_store import Query
from memory_store.embedding import PACKAGED

_Request = tuple[str, str, Mapping[str, Any] | None, int]
"""Method, path, body, and the status that it must be answered with."""
_Kinds = Sequence[Callable[[int], _Request]]


async def measure_soak(requests: int = 10_000, *, embedder: str = PACKAGED) -> list[Measured]:
    """Resident memory after each tenth of so many mixed requests, beside that after the first: of
    requests that tell something, which is kept, and then of as many that only ask."""
    with (
        tempfile.TemporaryDirectory() as folder,
        scripted(QUICK) as model,
        serving(Path(folder), **settings_for(model, embedder)) as (port, process_id),
    ):
        idle = resident_mb(process_id)
        async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=60) as client:
            return [
                _soaked(f"{requests:,} requests {what}", idle, sizes)
                for what, kinds in (("that tell", _TELLING), ("that ask", _ASKING))
                for sizes in [await _sizes(client, kinds, requests, process_id)]
            ]


async def _sizes(
    client: httpx.AsyncClient, kinds: _Kinds, requests: int, process_id: int
) -> dict[int, float]:
    """Megabytes after each tenth of the requests."""
    sizes = {}
    for tenth in range(10):
        until = (tenth + 1) * requests // 10
        await _mixed(client, kinds, range(tenth * requests // 10, until))
        sizes[until] = resident_mb(process_id)
    return sizes


def _soaked(what: str, idle: float, sizes: Mapping[int, float]) -> Measured:
    first, *_, last = sizes.values()
    by_tenth = {f"after_{number}": size for number, size in sizes.items()}
    details = {"idle": idle, **by_tenth}
    return Measured(
        f"memory after {what}", "MB", last, first, "after a tenth of them", False, details
    )


async def _mixed(client: httpx.AsyncClient, kinds: _Kinds, numbers: range) -> None:
    """Requests of every kind, eight at a time; each must succeed, or fail as it should."""
    left = iter(numbers)

    async def caller() -> None:
        for number in left:
            method, path, body, status = kinds[number % len(kinds)](number)
            reply = await client.request(method, path, json=body)
            if reply.status_code != status:
                raise RuntimeError(f"{method} {path}: {reply.status_code} {reply.text[:300]}")

    await asyncio.gather(*(caller() for _ in range(8)))


def _searches(number: int) -> _Request:
    body = {"user_id": _soaker(number), "query": f"What did I buy, number {number}?"}
    return "POST", "/v1/memories/search", body, 200


def _records(number: int) -> _Request:
    turns = [{"role": "user", "content": f"I bought lamp number {number} in March."}]
    path = f"/v1/sessions/s{number // 200}/messages"
    return "POST", path, {"user_id": _soaker(number), "messages": turns}, 200


def _lists(number: int) -> _Request:
    return "GET", f"/v1/memories?user_id={_soaker(number)}&limit=5", None, 200


def _looks_back(number: int) -> _Request:
    return "GET", f"/v1/sessions?user_id={_soaker(number)}", None, 200


def _fails(number: int) -> _Request:
    return "POST", "/v1/chat/completions", {"messages": []}, 400


def _chats(number: int) -> _Request:
    said = Query(_soaker(number), f"I sold map number {number}. What did I buy?")
    return "POST", "/v1/chat/completions", chat_request(said, f"c{number // 200}"), 200


def _only_asks(number: int) -> _Request:
    method, path, body, status = _chats(number)
    assert body is not None
    metadata = {**body["metadata"], "memory": "read_only"}
    return method, path, {**body, "metadata": metadata}, status


def _soaker(number: int) -> str:
    return f"user{number % 20}"


_TELLING: _Kinds = (_searches, _records, _lists, _looks_back, _fails, *[_chats] * 5)
_ASKING: _Kinds = (_searches, _lists, _looks_back, _fails, *[_only_asks] * 5)
