"""Kills one node of a cluster while people search and tell, and starts it again."""

import asyncio
import itertools
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import httpx
import numpy as np

from benchmarks.large.measuring import Figures, LargeMemory, search, started
from benchmarks.texts import messages, replies

_CLIENTS = 2
_STAGE_S = 20.0
_WHOLE_S = 300.0
_WRITER = "writer"


@dataclass(frozen=True, slots=True)
class _Call:
    """When a request ended, the milliseconds it took, and whether it succeeded."""

    at: float
    ms: float
    is_done: bool


async def node_lost(memory: LargeMemory) -> Figures:
    """Measure searches and recordings before a node is killed, while it is away, while it catches
    up, and afterwards. `lost` counts acknowledged rounds that are missing in the end.
    """
    lost_node = memory.nodes[-1]
    with started(memory) as (port, _, _):
        searches: list[_Call] = []
        written: list[_Call] = []
        over = asyncio.Event()
        url = f"http://127.0.0.1:{port}"
        questions = itertools.cycle(memory.questions(400))
        said = itertools.cycle(zip(messages(400), replies(400), strict=True))
        told_in: list[str] = []

        def asked() -> tuple[str, Mapping[str, Any]]:
            return search(next(questions))

        def told() -> tuple[str, Mapping[str, Any]]:
            told_in.append(f"s{len(told_in)}")
            return f"/v1/sessions/{told_in[-1]}/messages", _round(*next(said))

        async with asyncio.TaskGroup() as group:
            for _ in range(_CLIENTS):
                group.create_task(_go_on(url, asked, searches, over))
            group.create_task(_go_on(url, told, written, over))
            await asyncio.sleep(_STAGE_S)
            killed = time.perf_counter()
            await asyncio.to_thread(lost_node.kill)
            await asyncio.sleep(_STAGE_S)
            back = time.perf_counter()
            await asyncio.to_thread(lost_node.start)
            await _until_whole(memory)
            whole = time.perf_counter()
            await asyncio.sleep(_STAGE_S)
            over.set()
        figures: Figures = {"whole_after_s": whole - back}
        for name, begin, end in (
            ("before", 0.0, killed),
            ("away", killed, back),
            ("returning", back, whole),
            ("after", whole, float("inf")),
        ):
            for what, calls in (("search", searches), ("record", written)):
                figures |= _of_stage(f"{what}_{name}", calls, begin, end)
        each = zip(told_in, written, strict=True)
        acknowledged = {session for session, one in each if one.is_done}
        async with httpx.AsyncClient(base_url=url, timeout=60) as client:
            reply = await client.get("/v1/sessions", params={"user_id": _WRITER})
        kept = {session["id"] for session in reply.raise_for_status().json()["data"]}
        return figures | {"acknowledged": len(acknowledged), "lost": len(acknowledged - kept)}


def _round(text: str, reply: str) -> dict[str, Any]:
    said = [{"role": "user", "content": text}, {"role": "assistant", "content": reply}]
    return {"user_id": _WRITER, "messages": said}


async def _go_on(
    url: str,
    request: Callable[[], tuple[str, Mapping[str, Any]]],
    calls: list[_Call],
    over: asyncio.Event,
) -> None:
    """Send one request after the other. One that fails is counted and not sent again."""
    async with httpx.AsyncClient(base_url=url, timeout=120) as client:
        while not over.is_set():
            path, body = request()
            began = time.perf_counter()
            try:
                is_done = (await client.post(path, json=body)).is_success
            except httpx.TransportError:
                is_done = False
            ended = time.perf_counter()
            calls.append(_Call(ended, 1000 * (ended - began), is_done))


def _of_stage(name: str, calls: list[_Call], begin: float, end: float) -> Figures:
    of_stage = [call for call in calls if begin <= call.at < end]
    done = [call.ms for call in of_stage if call.is_done]
    figures: Figures = {f"{name}_done": len(done), f"{name}_failed": len(of_stage) - len(done)}
    if done:
        figures |= {f"{name}_p{p}": float(np.percentile(done, p)) for p in (50, 95, 100)}
    return figures


async def _until_whole(memory: LargeMemory) -> None:
    """Wait until every replica of every shard is in use again."""
    node = memory.nodes[0]
    deadline = time.perf_counter() + _WHOLE_S
    async with httpx.AsyncClient(base_url=node.url, timeout=60) as client:
        names = (await client.get("/collections")).json()["result"]["collections"]
        while time.perf_counter() < deadline:
            spread = [
                (await client.get(f"/collections/{one['name']}/cluster")).json()["result"]
                for one in names
            ]
            shards = [
                shard for one in spread for shard in one["local_shards"] + one["remote_shards"]
            ]
            if all(shard["state"] == "Active" for shard in shards):
                return
            await asyncio.sleep(0.2)
    raise TimeoutError("the killed node did not catch up")
