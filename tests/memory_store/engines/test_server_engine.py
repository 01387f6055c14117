"""The server engine where a server can fail: away, killed, locked, old, or not ours."""

import asyncio
import subprocess
import sys
import time
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest
from qdrant_binary import Qdrant, free_port

from memory_store import MemoryStore, Query, Round
from memory_store.embedding import Embedder, EncoderIdentity, HashEncoder
from memory_store.engines import ServerEngine
from memory_store.errors import StoreDenied, StoreMismatch, StoreUnavailable

MAY = datetime(2023, 5, 20, tzinfo=UTC)
CAT = Round("ann", "s1", 0, MAY, "I adopted a cat called Miso.")
server = pytest.mark.qdrant_server


class OtherEncoder(HashEncoder):
    """The same vectors under another name."""

    @property
    def identity(self) -> EncoderIdentity:
        return EncoderIdentity("other", HashEncoder().identity.dimension)


class LongEncoder(HashEncoder):
    """Vectors of another length, as far as it says."""

    @property
    def identity(self) -> EncoderIdentity:
        return EncoderIdentity("long", 300)


def a_store(
    qdrant: Qdrant, collection: str, encoder: HashEncoder | None = None, **options: Any
) -> MemoryStore:
    engine = ServerEngine(qdrant.url, grpc_port=qdrant.grpc_port, collection=collection, **options)
    return MemoryStore(engine, Embedder(encoder or HashEncoder()))


async def count(store: MemoryStore, user: str = "ann") -> int:
    await store.open()
    try:
        return await store.count(user)
    finally:
        await store.close()


@server
async def test_memory_outlives_the_process(qdrant: Qdrant, collection: str) -> None:
    store = a_store(qdrant, collection)
    await store.open()
    await store.remember([CAT])
    await store.close()
    await store.close()
    with pytest.raises(StoreUnavailable, match="closed"):
        await store.count("ann")
    assert await count(a_store(qdrant, collection)) == 1


@server
async def test_the_collection_is_made_for_many_users(qdrant: Qdrant, collection: str) -> None:
    store = a_store(qdrant, collection)
    await store.open()
    await store.close()
    made = httpx.get(f"{qdrant.url}/collections/{collection}").json()["result"]
    graphs = made["config"]["hnsw_config"]
    assert (graphs["m"], graphs["payload_m"]) == (0, 0)
    indexes = {name: index["params"] for name, index in made["payload_schema"].items()}
    wanted = {"user_id", "session_id", "session_date", "event_days"}
    wanted |= {"enrichment", "slots", "repeats", "conflicts"}
    wanted |= {"labels", "expires_at", "person", "pinned", "reach"}
    assert set(indexes) == wanted
    assert indexes["user_id"]["is_tenant"]
    assert indexes["session_date"]["is_principal"]


async def test_a_server_that_is_not_there_is_named_quickly() -> None:
    nobody = f"http://ann:hush@127.0.0.1:{free_port()}"
    store = MemoryStore(ServerEngine(nobody, grpc_port=free_port()), Embedder(HashEncoder()))
    started = time.monotonic()
    with pytest.raises(StoreUnavailable, match=nobody.rpartition("@")[2]) as failed:
        await store.open()
    assert time.monotonic() - started < 8
    assert "hush" not in str(failed.value)
    await store.close()


@pytest.mark.parametrize("url", ["", "127.0.0.1:6333", "ftp://127.0.0.1", "http://", "http://[x"])
def test_what_is_no_address_is_refused(url: str) -> None:
    with pytest.raises(StoreUnavailable, match="qdrant_url"):
        ServerEngine(url)


@server
async def test_a_wrong_key_is_told_apart(own_qdrant: Qdrant) -> None:
    own_qdrant.api_key = "right"
    own_qdrant.start()
    for key in ("wrong", None):
        with pytest.raises(StoreDenied, match="qdrant_api_key") as failed:
            await a_store(own_qdrant, "ours", api_key=key).open()
        assert "wrong" not in str(failed.value)
    assert await count(a_store(own_qdrant, "ours", api_key="right")) == 0


@server
async def test_another_embedder_is_refused_and_nothing_is_touched(
    qdrant: Qdrant, collection: str
) -> None:
    store = a_store(qdrant, collection)
    await store.open()
    await store.remember([CAT])
    await store.close()
    with pytest.raises(StoreMismatch, match="'hash' in the store, 'other' now"):
        await a_store(qdrant, collection, OtherEncoder()).open()
    with pytest.raises(StoreMismatch, match="dimension 256 in the store, 300 now"):
        await a_store(qdrant, collection, LongEncoder()).open()
    assert await count(a_store(qdrant, collection)) == 1


@server
async def test_a_collection_of_somebody_else_is_refused_untouched(
    qdrant: Qdrant, collection: str
) -> None:
    theirs = f"{qdrant.url}/collections/{collection}"
    shape = {"vectors": {"size": 256, "distance": "Cosine"}}
    assert httpx.put(theirs, json=shape).is_success
    before = httpx.get(theirs).json()["result"]
    with pytest.raises(StoreMismatch, match=collection):
        await a_store(qdrant, collection).open()
    assert httpx.get(theirs).json()["result"] == before


@server
async def test_many_stores_open_the_same_new_collection_at_once(
    qdrant: Qdrant, collection: str
) -> None:
    stores = [a_store(qdrant, collection) for _ in range(4)]
    await asyncio.gather(*(store.open() for store in stores))
    for number, store in enumerate(stores):
        await store.remember([Round("ann", f"s{number}", 0, MAY, "I own a cat.")])
    assert [await store.count("ann") for store in stores] == [4] * 4
    for store in stores:
        await store.close()


@server
async def test_of_two_embedders_that_start_at_once_one_is_refused(
    qdrant: Qdrant, collection: str
) -> None:
    stores = [a_store(qdrant, collection), a_store(qdrant, collection, OtherEncoder())]
    outcomes = await asyncio.gather(*(store.open() for store in stores), return_exceptions=True)
    assert sorted(map(type, outcomes), key=str) == sorted([type(None), StoreMismatch], key=str)
    for store in stores:
        await store.close()


OPENER = """
import asyncio, sys
from datetime import UTC, datetime
from memory_store import MemoryStore, Round
from memory_store.embedding import Embedder, HashEncoder
from memory_store.engines import ServerEngine

async def main(url, grpc_port, collection, session):
    engine = ServerEngine(url, grpc_port=int(grpc_port), collection=collection)
    store = MemoryStore(engine, Embedder(HashEncoder()))
    sys.stdin.readline()
    await store.open()
    await store.remember([Round("ann", session, 0, datetime(2023, 5, 20, tzinfo=UTC), "Tea.")])
    await store.close()

asyncio.run(main(*sys.argv[1:]))
"""


@server
async def test_two_processes_make_one_collection(qdrant: Qdrant, collection: str) -> None:
    place = (qdrant.url, str(qdrant.grpc_port), collection)
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", OPENER, *place, session], stdin=subprocess.PIPE, text=True
        )
        for session in ("s1", "s2")
    ]
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.close()
    assert [process.wait(60) for process in processes] == [0, 0]
    assert await count(a_store(qdrant, collection)) == 2


@server
async def test_a_short_absence_of_the_server_is_waited_out(own_qdrant: Qdrant) -> None:
    own_qdrant.start()
    store = a_store(own_qdrant, "ours", retries=8)
    await store.open()
    own_qdrant.kill()
    writing = asyncio.create_task(store.remember([CAT]))
    await asyncio.sleep(0.3)
    await asyncio.to_thread(own_qdrant.start)
    await writing
    assert await store.count("ann") == 1
    await store.close()


@server
async def test_of_several_addresses_one_that_answers_is_used(
    qdrant: Qdrant, collection: str
) -> None:
    nobody = f"http://127.0.0.9:{qdrant.port}"
    for urls in (f"{nobody},{qdrant.url}", f"{qdrant.url},{nobody}", f"{nobody}, {qdrant.url}"):
        engine = ServerEngine(urls, grpc_port=qdrant.grpc_port, collection=collection)
        store = MemoryStore(engine, Embedder(HashEncoder()))
        await store.open()
        await store.remember([Round("ann", "s", 0, MAY, "I own two cats.")])
        assert await store.count("ann") == 1
        await store.close()


@server
async def test_a_server_that_hangs_is_given_up(own_qdrant: Qdrant) -> None:
    own_qdrant.start()
    store = a_store(own_qdrant, "ours", retries=1, timeout=1)
    await store.open()
    own_qdrant.hang()
    started = time.monotonic()
    with pytest.raises(StoreUnavailable, match=own_qdrant.url):
        await store.remember([CAT])
    assert time.monotonic() - started < 6
    own_qdrant.go_on()
    await store.remember([CAT])
    assert await store.count("ann") == 1
    await store.close()


@server
async def test_a_killed_server_loses_nothing_it_acknowledged(own_qdrant: Qdrant) -> None:
    own_qdrant.start()
    store = a_store(own_qdrant, "ours", retries=0, timeout=5)
    await store.open()
    acknowledged: list[Round] = []
    refused: list[StoreUnavailable] = []

    async def write(rounds: int) -> None:
        wanted = len(acknowledged) + rounds
        while len(acknowledged) < wanted:
            number = len(acknowledged)
            round = Round("ann", f"s{number // 10}", number, MAY, f"I counted to {number}.")
            try:
                await store.remember([round])
            except StoreUnavailable as error:
                refused.append(error)
                await asyncio.sleep(0.02)
            else:
                acknowledged.append(round)

    for _ in range(3):
        writing = asyncio.create_task(write(80))
        await asyncio.sleep(0.1)
        await asyncio.to_thread(own_qdrant.kill)
        await asyncio.to_thread(own_qdrant.start)
        await writing
    assert refused
    await store.close()

    reader = a_store(own_qdrant, "ours")
    await reader.open()
    sessions = [await reader.session("ann", s.session_id) for s in await reader.sessions("ann")]
    kept = [record.round for records in sessions for record in records]
    assert sorted(kept, key=lambda round: round.round_index) == acknowledged
    for round in acknowledged[::10]:
        recall = await reader.recall(Query("ann", round.user_text))
        assert recall.rounds[0].record.round == round
    await reader.close()


@server
async def test_a_collection_that_is_gone_is_an_error_not_an_empty_memory(
    qdrant: Qdrant, collection: str
) -> None:
    store = a_store(qdrant, collection)
    await store.open()
    qdrant.forget(collection)
    with pytest.raises(StoreUnavailable, match="lost the memory"):
        await store.recall(Query("ann", "cat"))
    with pytest.raises(StoreUnavailable, match="lost the memory"):
        await store.remember([CAT])
    await store.close()


def test_the_client_is_loaded_only_where_a_server_is_used() -> None:
    program = "import memory_store, sys; print('qdrant_client' in sys.modules)"
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert ended.stdout.split() == ["False"]
