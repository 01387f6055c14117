"""A memory of 150 rounds, and places on a server."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from counting import CountingEngine
from memories import copied, made_up, remember
from qdrant_binary import Qdrant
from transfers import Make

from memory_store.engines import EdgeEngine, ServerOperator


@pytest.fixture(scope="session")
def _written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("written")
    asyncio.run(remember(EdgeEngine(folder), made_up(150)))
    return folder


@pytest.fixture
def folder(tmp_path: Path, _written: Path) -> Path:
    """A folder with a memory of 150 rounds."""
    return copied(_written, tmp_path / "memory")


@pytest.fixture
async def engine(tmp_path: Path) -> AsyncIterator[CountingEngine]:
    """An empty memory whose keys have four dimensions."""
    opened = CountingEngine(tmp_path)
    await opened.open(4)
    yield opened
    await opened.close()


@pytest.fixture
def server_operator(qdrant: Qdrant, collection: str) -> Iterator[Make]:
    """Makes operators of one empty place on the server."""
    place = {"grpc_port": qdrant.grpc_port, "collection": collection}
    yield lambda: ServerOperator(qdrant.url, **place)
    for number in (2, 3):  # its successors
        qdrant.forget(f"{collection}.{number}")
