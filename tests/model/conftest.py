"""One model for all tests here, and one assistant that uses it for every role."""

from collections.abc import Iterator

import httpx
import pytest
from commands import Server
from real_model import RealModel, installed, real_model

from memory_store import PACKAGED

SECONDS = 300.0
_NEEDED = {"ASSISTANT_EMBEDDER": PACKAGED, "ASSISTANT_ENRICHMENT__IDLE_SECONDS": "3600"}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "tests/model/" in str(item.path):
            item.add_marker(pytest.mark.model)


@pytest.fixture(scope="session")
def model() -> Iterator[RealModel]:
    if not installed():
        pytest.skip("needs the packages of a real language model: make test_model")
    with real_model() as running:
        yield running


@pytest.fixture(scope="session")
def assistant(model: RealModel, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Answers and reads questions by the model; each test has users of its own."""
    server = Server(tmp_path_factory.mktemp("assistant") / "data")
    server.start(**_NEEDED, **model.settings("chat", "query"))
    yield server
    server.end()


@pytest.fixture(scope="session")
def extracting(model: RealModel, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Extracts facts by the model."""
    server = Server(tmp_path_factory.mktemp("extracting") / "data")
    server.start(**_NEEDED, **model.settings("extract"))
    yield server
    server.end()


@pytest.fixture
def http(assistant: Server) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=assistant.url, timeout=SECONDS) as client:
        yield client
