"""A memory on a server indexed anew while assistants go on using it."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from memories import WideEncoder, a_store, held, made_up, remember
from qdrant_binary import Qdrant
from transfers import Make, moved_and_used, reindexed

from memory_store import MemoryStore
from memory_store.engines import EdgeOperator, ServerEngine, ServerOperator
from memory_store.errors import StoreNotEmpty, StoreUnavailable, StoreUnready
from memory_store.transfer import cancel_reindex

pytestmark = pytest.mark.qdrant_server


class Talk:
    """An assistant that is told something every moment, and tries again what was refused."""

    def __init__(self, store: MemoryStore) -> None:
        self._store = store
        self.acknowledged: list[str] = []
        self.refused: list[StoreUnavailable] = []

    async def go_on(self) -> None:
        for number in range(1000, 2000):
            said = made_up(1, seed=number)[0]
            said = replace(said, session_id="talk", round_index=number)
            try:
                await self._store.remember([said])
            except StoreUnavailable as error:
                self.refused.append(error)
                return
            self.acknowledged.append(said.id)
            await asyncio.sleep(0)


@pytest.fixture
async def busy(
    server_engine: ServerEngine, server_operator: Make, long_folder: Path
) -> AsyncIterator[MemoryStore]:
    """The store of an assistant that runs, with 150 rounds on the server."""
    await moved_and_used(EdgeOperator(long_folder), server_operator())
    store = a_store(server_engine)
    await store.open()
    yield store
    await store.close()


async def test_no_round_acknowledged_during_a_reindex_is_lost(
    busy: MemoryStore, server_operator: Make
) -> None:
    talk = Talk(busy)
    talking = asyncio.create_task(talk.go_on())
    done = await reindexed(server_operator(), keep_old=True)
    await talking
    assert talk.acknowledged
    (refusal,) = talk.refused
    assert "restart the assistant with the new settings" in str(refusal)
    assert done.rounds >= 150 + len(talk.acknowledged)
    new = a_store(server_operator(), WideEncoder())
    await new.open()
    assert {record.id for record in await new.session("user-0", "talk")} >= set(talk.acknowledged)
    await new.close()
    # The assistant of the old embedder still answers from the old index.
    assert len(await busy.sessions("user-0")) > 0


async def test_forgetting_during_a_reindex_holds_or_is_refused(
    busy: MemoryStore, server_operator: Make
) -> None:
    await busy.forget_session("user-1", "s1")
    await reindexed(server_operator(), keep_old=True)
    with pytest.raises(StoreUnready):
        await busy.forget_user("user-0")
    new = a_store(server_operator(), WideEncoder())
    await new.open()
    assert await new.session("user-1", "s1") == []
    assert await new.count("user-0") > 0
    await new.close()


async def test_a_reindex_that_dies_while_writing_pauses_says_how_to_go_on(
    busy: MemoryStore, server_operator: Make
) -> None:
    old = server_operator()
    identity = await old.open_existing()
    assert identity is not None
    await old.sign({**identity, "state": "closed", "place": "elsewhere"})
    await old.close()
    with pytest.raises(StoreUnready, match="assistant reindex --cancel"):
        await busy.remember(made_up(151)[150:])
    with pytest.raises(StoreUnready, match="assistant reindex --cancel"):
        await a_store(server_operator()).open()
    assert await cancel_reindex(server_operator())
    await busy.remember(made_up(151)[150:])
    assert (await reindexed(server_operator())).rounds == 151


async def test_a_failure_while_writing_pauses_lets_the_assistants_write_again(
    busy: MemoryStore, qdrant: Qdrant, collection: str
) -> None:
    class Fails(ServerOperator):
        def successor(self) -> ServerOperator:
            return FailsToFinish(index=f"{self._named}.2", **self._same)

    class FailsToFinish(ServerOperator):
        async def sign(self, identity: Any) -> None:
            if identity["state"] == "copied":
                raise StoreUnavailable("the server is full")
            await super().sign(identity)

    operator = Fails(qdrant.url, grpc_port=qdrant.grpc_port, collection=collection)
    with pytest.raises(StoreUnavailable, match="full"):
        await reindexed(operator)
    await busy.remember(made_up(151)[150:])
    qdrant.forget(f"{collection}.2")


async def test_the_old_collection_is_gone_in_the_end_and_readers_are_told(
    busy: MemoryStore, server_operator: Make, qdrant: Qdrant
) -> None:
    await reindexed(server_operator(), keep_old=True)
    await remember(server_operator(), [], WideEncoder())
    assert await busy.count("user-0") > 0
    assert not (await reindexed(server_operator())).was_needed
    with pytest.raises(StoreUnavailable, match="indexed anew, restart the assistant"):
        await busy.count("user-0")


async def test_a_collection_in_the_way_stays_as_it_is(
    busy: MemoryStore, qdrant: Qdrant, collection: str, server_operator: Make
) -> None:
    other = ServerOperator(qdrant.url, grpc_port=qdrant.grpc_port, collection=f"{collection}.2")
    await remember(other, made_up(2))
    with pytest.raises(StoreNotEmpty, match="already holds another memory"):
        await reindexed(server_operator())
    assert len(await held(other)) == 2 + 2  # a line before the rounds, and one after them
    await busy.remember(made_up(151)[150:])
