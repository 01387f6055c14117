"""The store against qdrant-client's local mode holding the same vectors, without an encoder."""

import tempfile
import time
import warnings
from datetime import UTC, datetime, timedelta
from pathlib import Path

from qdrant_client import QdrantClient, models

from benchmarks.measured import Measured, median_ms
from benchmarks.texts import messages
from memory_store import EdgeEngine, Embedder, HashEncoder, MemoryStore, Query, Round, TextKind

_USERS, _ROUNDS = 20, 250
_QUESTION = "When did my sister paint the garden fence?"
_START = datetime(2024, 1, 1, tzinfo=UTC)


async def measure() -> list[Measured]:
    """Rounds written a second, and milliseconds for one user's search."""
    rounds = [
        Round(f"user-{number % _USERS}", f"s{number // 200}", number, _said(number), text, "Noted.")
        for number, text in enumerate(messages(_USERS * _ROUNDS))
    ]
    with tempfile.TemporaryDirectory() as ours, tempfile.TemporaryDirectory() as theirs:
        store = MemoryStore(EdgeEngine(Path(ours)), Embedder(HashEncoder()))
        await store.open()
        started = time.perf_counter()
        for at in range(0, len(rounds), 50):
            await store.remember(rounds[at : at + 50])
        written = len(rounds) / (time.perf_counter() - started)
        searched = await median_ms(lambda: store.recall(Query("user-3", _QUESTION)), 50)
        await store.close()
        local_written, local_searched = await _local_mode(Path(theirs), rounds)
    size = f"{len(rounds):,} rounds of {_USERS} users"
    return [
        Measured(f"write, {size}", "rounds/s", written, local_written, "local mode", True),
        Measured(f"search, {size}", "ms", searched, local_searched, "local mode", False),
    ]


def _said(number: int) -> datetime:
    return _START + timedelta(hours=number)


async def _local_mode(folder: Path, rounds: list[Round]) -> tuple[float, float]:
    """One dense vector a round and a user filter: less than the store does."""
    encoder = HashEncoder()
    size = encoder.identity.dimension
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it warns that it is not meant for this
        client = QdrantClient(path=str(folder))
        config = models.VectorParams(size=size, distance=models.Distance.DOT)
        client.create_collection("rounds", vectors_config=config)
        started = time.perf_counter()
        for at in range(0, len(rounds), 50):
            batch = rounds[at : at + 50]
            rows = encoder.encode([round.user_text for round in batch], TextKind.DOCUMENT)
            points = [
                models.PointStruct(id=r.id, vector=row.tolist(), payload={"user_id": r.user_id})
                for r, row in zip(batch, rows, strict=True)
            ]
            client.upsert("rounds", points)
        written = len(rounds) / (time.perf_counter() - started)
        query = encoder.encode([_QUESTION], TextKind.QUERY)[0].tolist()
        mine = models.FieldCondition(key="user_id", match=models.MatchValue(value="user-3"))

        async def search() -> object:
            only_mine = models.Filter(must=[mine])
            return client.query_points("rounds", query, query_filter=only_mine, limit=10)

        searched = await median_ms(search, 10)
        client.close()
    return written, searched
