"""Beside other memories: the same texts, the same weights, the same users, in one run.

Peers are installed into an environment of their own, made on first use under the cache folder.
Writing is measured with the encoder, searching without: the peers hold one vector a round, the
store three to six keys and the words, so it does more work for each.
"""

import json
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from benchmarks.ingest import conversation, key_texts, through_the_store
from benchmarks.measured import Measured
from benchmarks.memories import Crowd, Memories, PreparedEncoder
from benchmarks.processes import environment
from benchmarks.store import searched
from memory_store import MemoryStore, Round
from memory_store.embedding import (
    PACKAGED,
    Embedder,
    ModelEncoder,
    TextKind,
)
from memory_store.engines import EdgeEngine

PEERS_FOLDER = Path(__file__).parent / "peers"


async def measure(
    rounds: int = 240,
    sizes: Sequence[int] = (2000, 10_000),
    questions: int = 20,
    names: Sequence[str] = ("local mode", "chromadb", "mem0"),
) -> list[Measured]:
    """Rounds written a second with the encoder, and a search at each size without."""
    talk = conversation(rounds)
    encoder = ModelEncoder(PACKAGED)
    encoder.encode(["warm"], TextKind.DOCUMENT)
    keys = await through_the_store(talk, encoder)
    ours = {"ingest": keys * len(talk) / len(key_texts(talk))}
    for size in sizes:
        ours[f"search@{size}"] = await _searched(size, questions)
    with tempfile.TemporaryDirectory() as folder:
        task = Path(folder) / "task.npz"
        write_task(task, talk, sizes, questions)
        peers = {name: in_environment(name, task) for name in names}
    return [
        Measured(
            what,
            "rounds/s" if what == "ingest" else "ms",
            ours[what],
            figure,
            name,
            more_is_better=what == "ingest",
        )
        for name, figures in peers.items()
        for what, figure in figures.items()
    ]


async def _searched(size: int, questions: int) -> float:
    """Median milliseconds of a whole recall, 500 rounds a user."""
    crowd, memories = Crowd(size, max(1, size // 500)), Memories()
    queries, rows = memories.queries(crowd, questions)
    encoder = PreparedEncoder([query.text for query in queries], rows)
    with tempfile.TemporaryDirectory() as folder:
        engine = EdgeEngine(Path(folder))
        store = MemoryStore(engine, Embedder(encoder))
        await store.open()
        for points in memories.points(crowd):
            await engine.upsert(points)
        await searched(store, queries)
        taken, _ = await searched(store, queries)
        await store.close()
    return float(np.median(taken))


def write_task(file: Path, rounds: Sequence[Round], sizes: Sequence[int], questions: int) -> None:
    largest = max(sizes)
    crowd, memories = Crowd(largest, max(1, largest // 500)), Memories(texts=1)
    points = [point for batch in memories.points(crowd) for point in batch]
    _, queries = memories.queries(crowd, questions)
    fields = ("user_id", "user_text", "assistant_text")
    talk = [{field: getattr(round, field) for field in fields} for round in rounds]
    np.savez(
        file,
        rounds=np.array(json.dumps(talk)),
        users=np.array([point.payload["user_id"] for point in points]),
        vectors=np.array([point.keys[0] for point in points]),
        sizes=np.array(sizes),
        queries=queries,
    )


def in_environment(name: str, task: Path) -> dict[str, float]:
    """Run one peer in the peers' environment; what it measured."""
    python = environment(PEERS_FOLDER / "requirements.txt")
    command = [str(python), str(PEERS_FOLDER / "peer.py"), name, str(task)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{name} failed: {done.stderr[-2000:]}")
    figures: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return figures
