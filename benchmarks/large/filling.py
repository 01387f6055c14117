"""Fills a memory with made-up rounds, and goes on after an interruption. An assistant with the
packaged encoder can open the memory.

The vectors are made up, too, so that a million rounds take minutes instead of days. This does not
change the time of an exact search, which reads every key of the user who asks.
"""

import json
import time
from pathlib import Path

from benchmarks.memories import Crowd, Memories
from benchmarks.processes import anonymous_mb, disk_mb
from memory_store import MemoryStore
from memory_store.embedding import PACKAGED, Embedder, ModelEncoder
from memory_store.engines import EdgeEngine, ServerEngine

_BATCH = 2000
TEXTS = 500
"""The number of distinct rounds, which repeat. They are few, so that the vectors that a chat needs
are soon cached, as in an assistant that was told its memory."""


async def fill(
    engine: EdgeEngine | ServerEngine, crowd: Crowd, progress: Path, keys: tuple[int, ...]
) -> dict[str, float]:
    """Write the missing rounds of a crowd. `progress` keeps how many rounds are written and the
    seconds of writing, without the time of making them up."""
    store = MemoryStore(engine, Embedder(ModelEncoder(PACKAGED)))
    await store.open()
    done = {"rounds": 0, "seconds": 0.0, "slowest": 0.0}
    if progress.exists():
        done |= json.loads(progress.read_text())
    for number, points in enumerate(Memories(keys=keys, texts=TEXTS).points(crowd, batch=_BATCH)):
        if number * _BATCH < done["rounds"]:
            continue
        started = time.perf_counter()
        await engine.upsert(points)
        took = time.perf_counter() - started
        done["rounds"] = number * _BATCH + len(points)
        done["seconds"] += took
        done["slowest"] = max(done["slowest"], took)
        progress.write_text(json.dumps(done))
        if done["rounds"] % 50_000 == 0:
            print(f"{done['rounds']:,} rounds, {took:.1f} s for the last {_BATCH:,}", flush=True)
    filled = {"written_a_second": done["rounds"] / done["seconds"], "anonymous_mb": anonymous_mb()}
    started = time.perf_counter()
    await store.close()
    filled["close_s"] = time.perf_counter() - started
    if isinstance(engine, EdgeEngine):
        filled["disk_mb"] = disk_mb(engine.directory)
    return filled
