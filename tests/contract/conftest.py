"""An engine of each kind, and stores on it."""

import asyncio
from collections.abc import AsyncIterator, Callable

import pytest
from local_documents import LocalDocuments

from memory_store import Documents, MemoryStore, engines
from memory_store.embedding import Embedder, HashEncoder
from memory_store.engines import EdgeEngine, Engine


@pytest.fixture(params=["edge", pytest.param("server", marks=pytest.mark.qdrant_server)])
def engine(request: pytest.FixtureRequest) -> Engine:
    """Embedded, it is one for all tests, and open."""
    found: Engine = request.getfixturevalue(
        "_engine" if request.param == "edge" else "server_engine"
    )
    return found


@pytest.fixture
async def store(engine: Engine) -> AsyncIterator[MemoryStore]:
    embedder = Embedder(HashEncoder())
    opened = MemoryStore(engine, embedder)
    if isinstance(engine, EdgeEngine):
        yield opened
        for user in await opened.users():
            await opened.forget_user(user)
        await embedder.close()
        return
    await opened.open()
    yield opened
    await opened.close()


@pytest.fixture
async def second_store(
    store: MemoryStore, engine: Engine, request: pytest.FixtureRequest
) -> AsyncIterator[MemoryStore]:
    """What another process has of the same memory; embedded, only this process can have it."""
    if isinstance(engine, EdgeEngine):
        yield store
        return
    make: Callable[[], Engine] = request.getfixturevalue("another_server_engine")
    opened = MemoryStore(make(), Embedder(HashEncoder()))
    await opened.open()
    yield opened
    await opened.close()


@pytest.fixture
async def documents(
    engine: Engine, request: pytest.FixtureRequest
) -> AsyncIterator[tuple[Documents, Documents]]:
    """The same documents as two processes have them; beside an embedded memory there is one."""
    if isinstance(engine, EdgeEngine):
        local = LocalDocuments()
        yield local, local
        return
    qdrant, name = (request.getfixturevalue(fixture) for fixture in ("qdrant", "collection"))
    made = [
        engines.ServerDocuments(qdrant.url, grpc_port=qdrant.grpc_port, collection=name)
        for _ in range(2)
    ]
    await asyncio.gather(*(one.open() for one in made))
    yield made[0], made[1]
    for one in made:
        await one.close()
    qdrant.forget(f"{name}.shared")
