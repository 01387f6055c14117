"""Three nodes, every shard on two of them: one node dies, nothing acknowledged does."""

import asyncio
import time
from datetime import UTC, datetime

import httpx
import pytest
from qdrant_binary import Qdrant

from memory_store import MemoryStore, Query, Round
from memory_store.embedding import Embedder, HashEncoder
from memory_store.engines import ServerEngine
from memory_store.errors import StoreUnavailable

pytestmark = [pytest.mark.qdrant_server, pytest.mark.slow]

MAY = datetime(2023, 5, 20, tzinfo=UTC)
WHOLE_SECONDS = 60.0


def a_store(node: Qdrant) -> MemoryStore:
    engine = ServerEngine(node.url, grpc_port=node.grpc_port, shards=3, replication=2)
    return MemoryStore(engine, Embedder(HashEncoder()))


class Talk:
    """One user writes and reads without pause; remembers what was acknowledged."""

    def __init__(self, store: MemoryStore) -> None:
        self.store = store
        self.acknowledged: list[Round] = []
        self.missed: list[Round] = []
        self.over = asyncio.Event()

    async def go_on(self) -> None:
        while not self.over.is_set():
            number = len(self.acknowledged)
            round = Round("ann", f"s{number // 10}", number, MAY, f"I counted to {number}.")
            try:
                await self.store.remember([round])
                self.acknowledged.append(round)
                if await self.store.round("ann", round.id) is None:
                    self.missed.append(round)
            except StoreUnavailable:
                await asyncio.sleep(0.05)

    async def more(self, rounds: int) -> None:
        wanted = len(self.acknowledged) + rounds
        while len(self.acknowledged) < wanted:
            await asyncio.sleep(0.02)


async def kept(node: Qdrant) -> list[Round]:
    """What a store that talks to this node has of the user."""
    store = a_store(node)
    await store.open()
    found = [
        record.round
        for s in await store.sessions("ann")
        for record in await store.session("ann", s.session_id)
    ]
    await store.close()
    return sorted(found, key=lambda round: round.round_index)


async def until_whole(node: Qdrant) -> None:
    """Wait until every replica of every shard is in use again."""
    deadline = time.monotonic() + WHOLE_SECONDS
    async with httpx.AsyncClient() as client:
        while time.monotonic() < deadline:
            reply = await client.get(f"{node.url}/collections/aide_memoire/cluster")
            spread = reply.json()["result"]
            replicas = spread["local_shards"] + spread["remote_shards"]
            if len(replicas) == 6 and all(shard["state"] == "Active" for shard in replicas):
                return
            await asyncio.sleep(0.2)
    raise TimeoutError("the killed node did not catch up")


async def test_a_node_dies_during_writes_and_reads_and_nothing_is_lost(nodes: list[Qdrant]) -> None:
    store = a_store(nodes[0])
    await store.open()
    talk = Talk(store)
    talking = asyncio.create_task(talk.go_on())
    await talk.more(100)
    await asyncio.to_thread(nodes[2].kill)
    await talk.more(100)
    assert {r.id for r in talk.acknowledged} <= {r.id for r in await kept(nodes[1])}
    await asyncio.to_thread(nodes[2].start)
    await until_whole(nodes[0])
    await talk.more(100)
    # Now the other one, so that what was written meanwhile must have reached the first.
    await asyncio.to_thread(nodes[1].kill)
    await talk.more(50)
    talk.over.set()
    await talking
    assert talk.missed == []
    assert await store.count("ann") == len(talk.acknowledged)
    last = talk.acknowledged[-1]
    assert (await store.recall(Query("ann", last.user_text))).rounds[0].record.round == last
    assert await kept(nodes[0]) == talk.acknowledged
    assert await kept(nodes[2]) == talk.acknowledged
    await store.close()
