"""Our store beside other memories: the same texts, the same weights, the same users, in turns.

Peers are installed into an environment of their own, made on first use under the cache folder.
Writing is measured with the encoder, searching without it. The peers hold one vector for a round;
the store holds three to six keys and the words, so it does more work for each round.
"""

import json
import subprocess
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from benchmarks.ingest import conversation, sent_by_users
from benchmarks.measured import Measured
from benchmarks.memories import Crowd, Memories, PreparedEncoder
from benchmarks.pairs import PairedTimes, WorkTime, in_turns
from benchmarks.processes import environment
from memory_store import MemoryStore, Query, Round
from memory_store.embedding import (
    PACKAGED,
    Embedder,
    Encoder,
    ModelEncoder,
    TextKind,
)
from memory_store.embedding.encoder import Matrix
from memory_store.engines import EdgeEngine
from memory_store.engines._engine import Point

PEERS_FOLDER = Path(__file__).parent / "peers"
_AT_ONCE = 8
_PASSES = 3
_ONLY_WRITES = ("mem0",)  # its store is local mode
Call = Callable[[str, int, int], WorkTime]


@dataclass(frozen=True, slots=True)
class Task:
    """The task of all memories: rounds with their texts, points to search among, and questions."""

    talk: Sequence[Round]
    points: Sequence[Point]
    queries: Sequence[Query]
    vectors: Matrix

    def write(self, file: Path) -> None:
        """Write the task to a file for a peer, with one vector of each point."""
        fields = ("user_id", "user_text", "assistant_text")
        talk = [{field: getattr(round, field) for field in fields} for round in self.talk]
        np.savez(
            file,
            rounds=np.array(json.dumps(talk)),
            users=np.array([point.payload["user_id"] for point in self.points]),
            vectors=np.array([point.keys[0] for point in self.points]),
            queries=self.vectors,
        )

    def row(self, number: int, size: int) -> int:
        """The row of a point among the first `size`; this point's user asks the question."""
        return number * size // len(self.queries)

    def query(self, number: int, size: int) -> Query:
        """The question as the user of its row asks it."""
        user = str(self.points[self.row(number, size)].payload["user_id"])
        return replace(self.queries[number], user_id=user)


def task(rounds: int, size: int, questions: int, texts: int = 2000) -> Task:
    """Make a task of `rounds` rounds to write, and `size` points of users with 500 rounds each."""
    memories, crowd = Memories(texts=texts), Crowd(size, max(1, size // 500))
    points = [point for batch in memories.points(crowd) for point in batch]
    return Task(conversation(rounds), points, *memories.queries(crowd, questions))


async def measure(
    rounds: int = 240,
    sizes: Sequence[int] = (2000, 10_000),
    questions: int = 20,
    names: Sequence[str] = ("local mode", "chromadb", "mem0"),
) -> list[Measured]:
    """Rounds written a second with the encoder, and a search at each size without."""
    given, results = task(rounds, max(sizes), questions), []
    encoder = packaged_encoder()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "task.npz"
        given.write(file)
        for name in names:
            searched = () if name in _ONLY_WRITES else sizes
            with running(name, file) as peer:
                results += await beside(name, peer, given, encoder, searched)
    return results


async def beside(
    name: str, peer: Call, given: Task, encoder: Encoder, sizes: Sequence[int]
) -> list[Measured]:
    """The figures of our store and of one peer."""
    results = [_measured("ingest", name, await written(given, encoder, peer), len(given.talk))]
    loaded = 0
    async with our_store(given.queries, given.vectors) as (store, engine):
        for size in sizes:
            await engine.upsert(given.points[loaded:size])
            peer("load", loaded, size)
            loaded = size
            pairs = await searched(given, store, peer, size)
            results.append(_measured(f"search@{size}", name, pairs, 1))
    return results


async def written(given: Task, encoder: Encoder, peer: Call, times: int = 1) -> PairedTimes:
    """Write all rounds, some at once, with our store and a peer; with `times` stores of ours, as if
    ours were slower by this factor."""
    talk = given.talk
    with tempfile.TemporaryDirectory() as folder:
        # Each has its own embedder, or the second would find the vectors of the first.
        stores = [
            MemoryStore(EdgeEngine(Path(folder) / str(number)), Embedder(encoder))
            for number in range(times)
        ]
        for store in stores:
            await store.open()

        async def ours(start: int) -> None:
            for store in stores:
                await sent_by_users(store, talk[start : start + _AT_ONCE])

        def theirs(start: int) -> WorkTime:
            return peer("write", start, min(start + _AT_ONCE, len(talk)))

        pairs = await in_turns(range(0, len(talk), _AT_ONCE), ours, theirs)
        for store in stores:
            await store.close()
    return pairs


async def searched(
    given: Task, store: MemoryStore, peer: Call, size: int, times: int = 1
) -> PairedTimes:
    """Ask each question of our store and of a peer that hold `size` points."""

    async def ours(number: int) -> None:
        await store.recall(given.query(number, size))

    def theirs(number: int) -> WorkTime:
        return peer("search", number, given.row(number, size))

    # Later passes count: the first search of a user loads what stays in memory.
    numbers = range(len(given.queries))
    return await in_turns(numbers, ours, theirs, passes=_PASSES, times=times)


@asynccontextmanager
async def our_store(
    queries: Sequence[Query], vectors: Matrix
) -> AsyncIterator[tuple[MemoryStore, EdgeEngine]]:
    """An empty store, whose encoder has the vectors of these questions, and its engine."""
    with tempfile.TemporaryDirectory() as folder:
        engine = EdgeEngine(Path(folder))
        encoder = PreparedEncoder([query.text for query in queries], vectors)
        store = MemoryStore(engine, Embedder(encoder))
        await store.open()
        yield store, engine
        await store.close()


@contextmanager
def running(name: str, file: Path) -> Iterator[Call]:
    """Run a peer in the peers' environment; yields a function that makes calls on the task."""
    python = environment(PEERS_FOLDER / "requirements.txt")
    command = [str(python), str(PEERS_FOLDER / "peer.py"), name, str(file)]
    with (
        tempfile.TemporaryFile("w+") as errors,
        subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True
        ) as process,
    ):
        asked, answered = process.stdin, process.stdout
        assert asked is not None
        assert answered is not None

        def call(what: str, first: int, second: int) -> WorkTime:
            print(json.dumps([what, first, second]), file=asked, flush=True)
            if line := answered.readline():
                return WorkTime(*json.loads(line))
            errors.seek(0)
            raise RuntimeError(f"{name} failed: {errors.read()[-2000:]}")

        yield call
        asked.close()


def packaged_encoder() -> ModelEncoder:
    """The encoder that comes with the product, ready."""
    encoder = ModelEncoder(PACKAGED)
    encoder.encode(["warm"], TextKind.DOCUMENT)
    return encoder


def _measured(what: str, name: str, pairs: PairedTimes, rounds: int) -> Measured:
    ours, theirs = (
        np.array([taken.clock for taken in side]) for side in (pairs.ours, pairs.baseline)
    )
    if what == "ingest":
        mine, other = rounds / ours.sum(), rounds / theirs.sum()
        return Measured(what, "rounds/s", mine, other, name, more_is_better=True)
    mine, other = 1000 * np.median(ours), 1000 * np.median(theirs)
    return Measured(what, "ms", float(mine), float(other), name, more_is_better=False)
