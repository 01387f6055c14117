"""The store at several sizes, without an encoder, and against qdrant-client's local mode.

A search is the whole of `MemoryStore.recall` once the vectors of the query are there: keys, words,
sessions, times, fusion, and reading the records. Every size is measured in a separate process, so
that the memory figures are of this size alone.
"""

import resource
import tempfile
import time
import warnings
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from qdrant_client import QdrantClient, models

from benchmarks.measured import Measured
from benchmarks.memories import DIMENSION, Crowd, Memories, PreparedEncoder
from benchmarks.processes import anonymous_mb, disk_mb, in_own_process
from memory_store import MemoryStore, Query
from memory_store.embedding import Embedder
from memory_store.embedding.encoder import Matrix
from memory_store.engines import EdgeEngine
from memory_store.engines._engine import Point

QUICK = (Crowd(1000, 2), Crowd(10_000, 20))
_QUESTIONS = 200
_REPEATS = 5
_LOCAL = Crowd(2000, 4)
_LOCAL_QUESTIONS = 20


@dataclass(frozen=True, slots=True)
class Size:
    """A crowd, and the possible numbers of keys of a round."""

    crowd: Crowd
    keys: tuple[int, ...] = (3, 4, 5, 6)


@dataclass(frozen=True, slots=True)
class Figures:
    """The figures of one size: milliseconds, MB, and points written a second."""

    written: float
    first_p50: float
    first_p95: float
    """Percentiles of the first search for each question, when little is in memory."""
    p50: float
    p95: float
    """Percentiles of all later searches."""
    fastest_p50: float
    """The median of the fastest search for each question, which a busy machine disturbs least."""
    cpu_p50: float
    """The median, over questions, of the least processor time of a recall, of all threads."""
    anonymous: float
    peak: float
    disk: float
    reopened: float
    """Seconds to open the store again."""


async def measure(sizes: Sequence[Size] = tuple(map(Size, QUICK))) -> list[Measured]:
    """Searches at each size beside those at the first size, then the store beside local mode."""
    figures = [in_own_process(measured, size) for size in sizes]
    results = [
        Measured(
            f"search, {size.crowd}",
            "ms",
            found.p50,
            figures[0].p50,
            f"{sizes[0].crowd}",
            False,
            asdict(found),
        )
        for size, found in zip(sizes, figures, strict=True)
    ]
    return results + await beside_local_mode()


async def measured(size: Size, questions: int = _QUESTIONS) -> Figures:
    """Write all points, open the store again, and search for users drawn at random."""
    memories = Memories(keys=size.keys)
    queries, rows = memories.queries(size.crowd, questions)
    with tempfile.TemporaryDirectory() as folder:
        written = await write(Path(folder), memories, size.crowd)
        encoder = PreparedEncoder([query.text for query in queries], rows)
        store = MemoryStore(EdgeEngine(Path(folder)), Embedder(encoder))
        started = time.perf_counter()
        await store.open()
        reopened = time.perf_counter() - started
        first, _ = await searched(store, queries)
        runs = [await searched(store, queries) for _ in range(_REPEATS)]
        again = [taken for run in runs for taken in run[0]]
        fastest = np.min([run[0] for run in runs], axis=0)
        cpu = np.min([run[1] for run in runs], axis=0)
        anonymous = anonymous_mb()
        await store.close()
        disk = disk_mb(Path(folder))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    first_p50, first_p95 = np.percentile(first, [50, 95])
    p50, p95 = np.percentile(again, [50, 95])
    return Figures(
        written=written,
        first_p50=float(first_p50),
        first_p95=float(first_p95),
        p50=float(p50),
        p95=float(p95),
        fastest_p50=float(np.median(fastest)),
        cpu_p50=float(np.median(cpu)),
        anonymous=anonymous,
        peak=peak,
        disk=disk,
        reopened=reopened,
    )


async def write(folder: Path, memories: Memories, crowd: Crowd) -> float:
    """Write a crowd's points into a new store. Returns the rounds written a second, without the
    time of making the points."""
    engine = EdgeEngine(folder)
    await MemoryStore(
        engine, Embedder(PreparedEncoder([], np.empty((0, DIMENSION), np.float32)))
    ).open()
    seconds = 0.0
    for points in memories.points(crowd):
        started = time.perf_counter()
        await engine.upsert(points)
        seconds += time.perf_counter() - started
    await engine.close()
    return crowd.rounds / seconds


async def searched(store: MemoryStore, queries: Sequence[Query]) -> tuple[list[float], list[float]]:
    """Milliseconds of each search, and processor milliseconds of all threads.

    The processor's time is that of the whole recall, since it cannot be split.
    """
    taken, cpu = [], []
    for query in queries:
        started = time.process_time()
        taken.append((await store.recall(query)).timings["search_ms"])
        cpu.append((time.process_time() - started) * 1000)
    return taken, cpu


async def beside_local_mode(
    crowd: Crowd = _LOCAL, questions: int = _LOCAL_QUESTIONS
) -> list[Measured]:
    """Writing and searching beside local mode, which does less than the store: it holds one vector
    for each round and filters by user."""
    memories = Memories()
    queries, rows = memories.queries(crowd, questions)
    points = [point for batch in memories.points(crowd) for point in batch]
    with tempfile.TemporaryDirectory() as ours, tempfile.TemporaryDirectory() as theirs:
        engine = EdgeEngine(Path(ours))
        encoder = PreparedEncoder([query.text for query in queries], rows)
        store = MemoryStore(engine, Embedder(encoder))
        await store.open()
        started = time.perf_counter()
        await engine.upsert(points)
        written = len(points) / (time.perf_counter() - started)
        taken, _ = await searched(store, queries)
        await store.close()
        local_written, local_taken = _local_mode(Path(theirs), points, queries, rows)
    return [
        Measured(f"write, {crowd}", "rounds/s", written, local_written, "local mode", True),
        Measured(
            f"search, {crowd}",
            "ms",
            float(np.median(taken)),
            float(np.median(local_taken)),
            "local mode",
            False,
        ),
    ]


def _local_mode(
    folder: Path, points: Sequence[Point], queries: Sequence[Query], rows: Matrix
) -> tuple[float, list[float]]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Local mode warns that it is not meant for such use.
        client = QdrantClient(path=str(folder))
        config = models.VectorParams(size=DIMENSION, distance=models.Distance.DOT)
        client.create_collection("rounds", vectors_config=config)
        started = time.perf_counter()
        for at in range(0, len(points), 500):
            batch = [
                models.PointStruct(id=p.id, vector=p.keys[0].tolist(), payload=dict(p.payload))
                for p in points[at : at + 500]
            ]
            client.upsert("rounds", batch)
        written = len(points) / (time.perf_counter() - started)
        taken = []
        for query, row in zip(queries, rows, strict=True):
            mine = models.FieldCondition(
                key="user_id", match=models.MatchValue(value=query.user_id)
            )
            started = time.perf_counter()
            client.query_points(
                "rounds", row.tolist(), query_filter=models.Filter(must=[mine]), limit=10
            )
            taken.append((time.perf_counter() - started) * 1000)
        client.close()
    return written, taken
