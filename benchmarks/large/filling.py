"""A memory of made-up rounds that the packaged encoder's assistant opens, filled where it stopped.

The vectors are made up, too, so that a million rounds take minutes instead of days. To an exact
search all vectors are alike: it reads each key of the user who asks.
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
"""Different rounds that are said again and again: few, so that a chat soon has seen them all, as
one has whose memory was told to it."""


async def fill(
    engine: EdgeEngine | ServerEngine, crowd: Crowd, progress: Path, keys: tuple[int, ...]
) -> dict[str, float]:
    """Write what is missing of a crowd; `progress` says how many rounds are there, and the seconds
    that they took, without those in which they were made up."""
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
