"""Memories of 30 and of 150 rounds, and places on a server."""

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
    return _memory(tmp_path_factory, 30)


@pytest.fixture(scope="session")
def _written_long(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return _memory(tmp_path_factory, 150)


def _memory(folders: pytest.TempPathFactory, rounds: int) -> Path:
    folder = folders.mktemp("written")
    asyncio.run(remember(EdgeEngine(folder / "dense"), made_up(rounds)))
    return copied(folder / "dense", folder / "memory")


@pytest.fixture
def folder(tmp_path: Path, _written: Path) -> Path:
    """A folder with a memory of 30 rounds."""
    return copied(_written, tmp_path / "memory")


@pytest.fixture
def long_folder(tmp_path: Path, _written_long: Path) -> Path:
    """A folder with a memory of 150 rounds, which a transfer reads in two pages."""
    return copied(_written_long, tmp_path / "long memory")


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
