"""The cost of the store on a Qdrant server, and of several workers of an assistant on it.

Milliseconds and requests a second depend on other work on the machine; processor time hardly does.
"""

import re
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import numpy as np

from benchmarks.load.assistant import SERVE, printing, processor_seconds, resident_mb
from benchmarks.measured import Measured
from benchmarks.memories import DIMENSION, Memories, PreparedEncoder
from benchmarks.nodes import QdrantNode, one_node
from benchmarks.processes import disk_mb
from benchmarks.store import Size, searched
from benchmarks.texts import messages, questions, replies
from memory_store import MemoryStore
from memory_store.embedding import Embedder

_QUESTIONS = 100
_CLIENTS = 8
_SECONDS = 15.0
_WORKERS = (1, 2, 3)


async def measure(sizes: Sequence[Size]) -> list[Measured]:
    """Searches at each size beside those at the first size; then several workers beside one."""
    results: list[Measured] = []
    for size in sizes:
        with one_node() as server:
            results.append(await _at_size(server, size, results))
    with one_node() as server:
        counted = [_with_workers(server, workers) for workers in _WORKERS]
    for doing in ("record", "search"):
        results += [
            Measured(
                f"{doing}, {workers} worker{'s' * (workers > 1)}",
                "requests/s",
                figures[doing]["a_second"],
                counted[0][doing]["a_second"],
                "one worker",
                True,
                figures[doing],
            )
            for workers, figures in zip(_WORKERS, counted, strict=True)
        ]
    return results


async def _written(server: QdrantNode, size: Size) -> float:
    """Write a crowd's points. Returns the rounds written a second, without the time of making the
    points."""
    engine = server.engine()
    empty = PreparedEncoder([], np.empty((0, DIMENSION), np.float32))
    await MemoryStore(engine, Embedder(empty)).open()
    seconds = 0.0
    for points in Memories(keys=size.keys).points(size.crowd, batch=500):
        started = time.perf_counter()
        await engine.upsert(points)
        seconds += time.perf_counter() - started
    await engine.close()
    return size.crowd.rounds / seconds


async def _at_size(server: QdrantNode, size: Size, before: Sequence[Measured]) -> Measured:
    empty = server.resident()
    written = await _written(server, size)
    queries, rows = Memories(keys=size.keys).queries(size.crowd, _QUESTIONS)
    store = MemoryStore(
        server.engine(), Embedder(PreparedEncoder([query.text for query in queries], rows))
    )
    await store.open()
    first, _ = await searched(store, queries)
    used = processor_seconds(server.process_id)
    again, cpu = await searched(store, queries)
    used = processor_seconds(server.process_id) - used
    await store.close()
    p50, p95 = np.percentile(again, [50, 95])
    details = {
        "first_p50": float(np.median(first)),
        "p95": float(p95),
        "cpu_p50": float(np.median(cpu)),
        "server_cpu": used * 1000 / len(queries),
        "written": written,
        "server_empty": empty,
        "server_resident": server.resident(),
        "disk": disk_mb(server.folder),
    }
    first_p50 = before[0].ours if before else float(p50)
    beside = before[0].what if before else f"search on a server, {size.crowd}"
    return Measured(
        f"search on a server, {size.crowd}", "ms", float(p50), first_p50, beside, False, details
    )


def _with_workers(server: QdrantNode, workers: int) -> dict[str, dict[str, float]]:
    """Measure recordings, then searches, of several clients at once with this many workers."""
    settings = {
        "ASSISTANT_QDRANT_URL": f"http://127.0.0.1:{server.port}",
        "ASSISTANT_QDRANT__GRPC_PORT": str(server.grpc_port),
        "ASSISTANT_QDRANT__COLLECTION": f"workers_{workers}",
        "ASSISTANT_EMBEDDER_THREADS": "1",
    }
    texts = messages(20_000, seed=workers)
    answers, asked = replies(500), questions(5_000)

    def record(http: httpx.Client, number: int) -> httpx.Response:
        said = [
            {"role": "user", "content": texts[number % len(texts)]},
            {"role": "assistant", "content": answers[number % len(answers)]},
        ]
        body = {"user_id": f"user{number % _CLIENTS}", "messages": said}
        return http.post(f"/v1/sessions/s{number // 80}/messages", json=body)

    def search(http: httpx.Client, number: int) -> httpx.Response:
        body = {"user_id": f"user{number % _CLIENTS}", "query": asked[number % len(asked)]}
        return http.post("/v1/memories/search", json=body)

    with tempfile.TemporaryDirectory() as folder:
        command = [*SERVE, "--data-dir", folder, "--workers", str(workers)]
        with printing(command, settings) as (line, process_id):
            found = re.search(r"http://[\d.:]+", line)
            if found is None:
                raise RuntimeError(f"the assistant did not start: {line!r}")
            process_ids = [process_id, *_children(process_id)]
            resident = sum(map(resident_mb, process_ids))
            recorded = _loaded(found[0], record, process_ids, server)
            return {
                "record": recorded | {"resident_at_start": resident},
                "search": _loaded(found[0], search, process_ids, server),
            }


def _children(process_id: int) -> list[int]:
    tasks = Path(f"/proc/{process_id}/task").glob("*/children")
    return [int(child) for task in tasks for child in task.read_text().split()]


def _loaded(
    url: str,
    ask: Callable[[httpx.Client, int], httpx.Response],
    process_ids: Sequence[int],
    server: QdrantNode,
) -> dict[str, float]:
    """The rate and times of requests of several clients at once for `_SECONDS` seconds, and the
    processor time of each request."""
    taken: list[float] = []
    end = time.perf_counter() + _SECONDS

    def client(first: int) -> None:
        number = first
        while time.perf_counter() < end:
            # Each request has a connection of its own, so that any worker may take it.
            with httpx.Client(base_url=url, timeout=60) as http:
                started = time.perf_counter()
                ask(http, number).raise_for_status()
                taken.append(time.perf_counter() - started)
            number += _CLIENTS

    used, of_server = sum(map(processor_seconds, process_ids)), processor_seconds(server.process_id)
    started = time.perf_counter()
    with ThreadPoolExecutor(_CLIENTS) as threads:
        list(threads.map(client, range(_CLIENTS)))
    seconds = time.perf_counter() - started
    used = sum(map(processor_seconds, process_ids)) - used
    of_server = processor_seconds(server.process_id) - of_server
    p50, p95 = np.percentile(taken, [50, 95])
    return {
        "a_second": len(taken) / seconds,
        "p50": float(p50) * 1000,
        "p95": float(p95) * 1000,
        "cpu": used * 1000 / len(taken),
        "server_cpu": of_server * 1000 / len(taken),
    }
