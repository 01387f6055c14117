"""Fixtures of the assistant tests: a store in a temporary folder, a scripted model, a server."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from scripted_model import ScriptedModel, scripted_model

from memory_store import EdgeEngine, Embedder, HashEncoder, MemoryStore


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[MemoryStore]:
    """An empty store."""
    opened = MemoryStore(EdgeEngine(tmp_path / "memory"), Embedder(HashEncoder()))
    await opened.open()
    yield opened
    await opened.close()


@pytest.fixture(scope="session")
def _model_server() -> Iterator[ScriptedModel]:
    with scripted_model() as model:
        yield model


@pytest.fixture
def model(_model_server: ScriptedModel) -> Iterator[ScriptedModel]:
    """A scripted model, fresh for every test; the test fails unless its script was followed."""
    _model_server.reset()
    yield _model_server
    _model_server.check()
