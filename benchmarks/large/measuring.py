"""Measures how long a large memory takes to answer, restart, back up, and forget.

Everything goes over HTTP to an assistant in a process of its own.
"""

import asyncio
import os
import signal
import subprocess
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import numpy as np

from benchmarks.load.assistant import SERVE, processor_seconds, resident_mb, serving
from benchmarks.memories import ASKED_ON, Crowd, Memories
from benchmarks.nodes import QdrantNode
from memory_store import Query

Figures = dict[str, float]
CLIENTS = (1, 8, 64)
_REQUESTS = {1: 200, 8: 400, 64: 640}
_WARMING = 400
_ASKED = 2 * sum(_REQUESTS.values())
_TIMEOUT = 3600.0
_PROBED_EVERY = 0.25


@dataclass(frozen=True, slots=True)
class LargeMemory:
    """A filled memory: its folder and its crowd. If the rounds lie on a server, also its `nodes`,
    and the `settings` with which an assistant finds them."""

    folder: Path
    crowd: Crowd
    settings: Mapping[str, str] = field(default_factory=dict)
    nodes: Sequence[QdrantNode] = ()

    def questions(self, count: int) -> list[Query]:
        """Questions of users of the crowd, each about one of the user's topics."""
        return Memories(seed=1).queries(self.crowd, count)[0]


@contextmanager
def started(memory: LargeMemory) -> Iterator[tuple[int, int, float]]:
    """Port and process id of an assistant on the memory, and the seconds until it was ready."""
    began = time.perf_counter()
    with serving(memory.folder, **memory.settings) as (port, process_id):
        httpx.get(f"http://127.0.0.1:{port}/ready", timeout=_TIMEOUT).raise_for_status()
        yield port, process_id, time.perf_counter() - began


async def asked(memory: LargeMemory) -> Figures:
    """Searches and chats without a language model, of one client and of many at once."""
    figures: Figures = {}
    with started(memory) as (port, process_id, ready):
        figures |= {"ready_s": ready, "idle_mb": resident_mb(process_id)}
        warming, questions = memory.questions(_WARMING), memory.questions(_ASKED)
        await _at_once(port, [_chat(query) for query in warming], 8)
        for clients in CLIENTS:
            for what, sent in (("search", search), ("chat", _chat)):
                some, questions = questions[: _REQUESTS[clients]], questions[_REQUESTS[clients] :]
                used = _used(memory, process_id)
                began = time.perf_counter()
                taken = await _at_once(port, [sent(query) for query in some], clients)
                name = f"{what}_{clients}"
                figures |= {f"{name}_p{p}": float(np.percentile(taken, p)) for p in (50, 95, 99)}
                figures[f"{name}_a_second"] = len(taken) / (time.perf_counter() - began)
                figures[f"{name}_cpu"] = 1000 * (_used(memory, process_id) - used) / len(taken)
        figures["asked_mb"] = resident_mb(process_id)
        if memory.nodes:
            figures["engine_mb"] = sum(node.resident() for node in memory.nodes)
    return figures


async def restarted(memory: LargeMemory) -> Figures:
    """Seconds to end, to be ready after that, and to be ready after a kill."""
    with started(memory) as (_, process_id, _ready):
        began = time.perf_counter()
        os.kill(process_id, signal.SIGTERM)
        _wait_for_end(process_id)
        ended = time.perf_counter() - began
    with started(memory) as (_, process_id, ready):
        os.kill(process_id, signal.SIGKILL)
        _wait_for_end(process_id)
    with started(memory) as (_, _, after_kill):
        return {"end_s": ended, "ready_s": ready, "ready_after_kill_s": after_kill}


async def forgotten(memory: LargeMemory) -> Figures:
    """Seconds to forget the user with most rounds, and how long others' searches take meanwhile."""
    crowd = memory.crowd
    biggest = max(range(crowd.users), key=crowd.rounds_of)
    path = f"/v1/users/{crowd.prefix}{biggest}/memories"

    async def forget(client: httpx.AsyncClient) -> None:
        (await client.delete(path)).raise_for_status()

    return {"rounds": crowd.rounds_of(biggest)} | await _while_others_search(memory, forget)


async def scrubbed(memory: LargeMemory) -> Figures:
    """Seconds to write the files anew, and how long others' searches take meanwhile."""

    async def scrub(client: httpx.AsyncClient) -> None:
        (await client.post("/v1/scrub")).raise_for_status()

    return await _while_others_search(memory, scrub)


async def backed_up(memory: LargeMemory) -> Figures:
    """Seconds to write a backup of all users, and its size."""
    file = memory.folder / "backup.jsonl"
    command = [*SERVE[:-3], "backup", str(file), *_place(memory)]
    began = time.perf_counter()
    subprocess.run(command, check=True, env=_environment(memory), stdout=subprocess.DEVNULL)
    figures = {"seconds": time.perf_counter() - began, "mb": file.stat().st_size / 1e6}
    file.unlink()
    return figures


async def _while_others_search(
    memory: LargeMemory, doing: Callable[[httpx.AsyncClient], Awaitable[None]]
) -> Figures:
    with started(memory) as (port, process_id, _):
        url = f"http://127.0.0.1:{port}"
        async with httpx.AsyncClient(base_url=url, timeout=_TIMEOUT) as client:
            done = asyncio.Event()
            probing = asyncio.create_task(_probe(client, memory, done))
            await asyncio.sleep(3)
            began = time.perf_counter()
            await doing(client)
            took = time.perf_counter() - began
            done.set()
            waits = await probing
        return {
            "seconds": took,
            "others_p50": float(np.median(waits)),
            "others_longest": max(waits),
            "mb": resident_mb(process_id),
        }


async def _probe(
    client: httpx.AsyncClient, memory: LargeMemory, done: asyncio.Event
) -> list[float]:
    """Milliseconds of searches, at most one every quarter of a second, until `done` is set."""
    waits: list[float] = []
    small = [query for query in memory.questions(2000) if _is_small(memory.crowd, query)]
    while not done.is_set():
        path, body = search(small[len(waits) % len(small)])
        began = time.perf_counter()
        (await client.post(path, json=body)).raise_for_status()
        waits.append(1000 * (time.perf_counter() - began))
        await asyncio.sleep(_PROBED_EVERY)
    return waits


def _is_small(crowd: Crowd, query: Query) -> bool:
    return crowd.rounds_of(int(query.user_id.removeprefix(crowd.prefix))) < 2000


def search(query: Query) -> tuple[str, dict[str, Any]]:
    """The route and the body of a search."""
    day = f"{ASKED_ON}T00:00:00Z"
    return "/v1/memories/search", {"user_id": query.user_id, "query": query.text, "now": day}


def _chat(query: Query) -> tuple[str, dict[str, Any]]:
    told = {"user_id": query.user_id, "timestamp": str(ASKED_ON), "memory": "read_only"}
    said = [{"role": "user", "content": query.text}]
    return "/v1/chat/completions", {"model": "aide-memoire", "messages": said, "metadata": told}


async def _at_once(
    port: int, requests: Sequence[tuple[str, Mapping[str, Any]]], clients: int
) -> list[float]:
    """Milliseconds of each request, sent by `clients` clients at once. Raises if one fails."""
    left = iter(requests)
    taken: list[float] = []
    url = f"http://127.0.0.1:{port}"

    async def client() -> None:
        async with httpx.AsyncClient(base_url=url, timeout=_TIMEOUT) as http:
            for path, body in left:
                began = time.perf_counter()
                (await http.post(path, json=body)).raise_for_status()
                taken.append(1000 * (time.perf_counter() - began))

    await asyncio.gather(*(client() for _ in range(clients)))
    return taken


def _used(memory: LargeMemory, process_id: int) -> float:
    nodes = (node.process_id for node in memory.nodes)
    return sum(map(processor_seconds, nodes), processor_seconds(process_id))


def _wait_for_end(process_id: int) -> None:
    """Wait until a process has no memory any more: it has ended then, even if nobody reaped it."""
    while resident_mb(process_id):
        time.sleep(0.02)


def _environment(memory: LargeMemory) -> dict[str, str]:
    return os.environ | {f"ASSISTANT_{k.upper()}": v for k, v in memory.settings.items()}


def _place(memory: LargeMemory) -> list[str]:
    return [] if memory.nodes else ["--data-dir", str(memory.folder)]
