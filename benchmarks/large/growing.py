"""One user whose memory grows from nothing, searched while it is written to.

Only the store runs, in one process. Rounds are written a session at a time, as fast as possible.
"""

import asyncio
import time
from itertools import pairwise

import numpy as np

from benchmarks.large.filling import TEXTS
from benchmarks.large.measuring import Figures
from benchmarks.memories import Crowd, Memories, PreparedEncoder
from memory_store import MemoryStore
from memory_store.embedding import Embedder
from memory_store.engines import EdgeEngine, ServerEngine

_SESSION = 20
_EVERY_S = 0.25
_QUESTIONS = 300
_STEPS = (0, 1_000, 5_000, 10_000, 20_000, 50_000, 100_000, 200_000, 300_000, 400_000, 500_000)


async def grown(
    engine: EdgeEngine | ServerEngine, rounds: int, keys: tuple[int, ...]
) -> dict[str, Figures]:
    """Milliseconds of the searches made while the memory grew to each size."""
    crowd = Crowd(rounds, 1, "growing")
    queries, rows = Memories(seed=1).queries(crowd, _QUESTIONS)
    encoder = PreparedEncoder([query.text for query in queries], rows)
    store = MemoryStore(engine, Embedder(encoder))
    await store.open()
    written = 0
    taken: list[tuple[int, float, float]] = []

    async def write() -> None:
        nonlocal written
        batches = Memories(keys=keys, texts=TEXTS).points(crowd, batch=_SESSION)
        while points := await asyncio.to_thread(next, batches, None):
            await engine.upsert(points)
            written += len(points)

    writing = asyncio.create_task(write())
    while not writing.done():
        query = queries[len(taken) % len(queries)]
        before, began = written, time.perf_counter()
        await store.recall(query)
        taken.append((before, began, 1000 * (time.perf_counter() - began)))
        await asyncio.sleep(_EVERY_S)
    await writing
    await store.close()
    return {
        f"{low:,} to {high:,}": _of_step(taken, low, high)
        for low, high in pairwise(_STEPS)
        if low < rounds
    }


def _of_step(taken: list[tuple[int, float, float]], low: int, high: int) -> Figures:
    """The times of the searches that began at these numbers of rounds, and rounds a second."""
    of_step = [one for one in taken if low <= one[0] < high]
    if len(of_step) < 2:
        return {"searches": float(len(of_step))}
    times = [ms for _, _, ms in of_step]
    (first, began, _), (last, ended, _) = of_step[0], of_step[-1]
    percentiles = {f"p{p}": float(np.percentile(times, p)) for p in (50, 95, 100)}
    return {
        "searches": float(len(times)),
        **percentiles,
        "written_a_second": (last - first) / (ended - began),
    }
