"""One model for all tests here, and an assistant for each of its roles."""

from collections.abc import Iterator

import httpx
import pytest
from commands import Server
from real_model import RealModel, installed, real_model

from memory_store.embedding import PACKAGED

SECONDS = 300.0
# With a schema to fill, the model often writes without end.
_PATIENCE = {"ASSISTANT_EXTRACT_MODEL_TIMEOUT": "20", "ASSISTANT_ENRICHMENT__ATTEMPTS": "1"}
# A prompt is read at some hundred tokens a second, on a busy machine at a tenth of that.
_FEW_WORDS = {"ASSISTANT_CHAT_MODEL_TIMEOUT": "300", "ASSISTANT_RECALL__CONTEXT_TOKENS": "800"}
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
    """Answers by the model; each test has users of its own."""
    server = Server(tmp_path_factory.mktemp("assistant") / "data")
    server.start(**_NEEDED, **_FEW_WORDS, **model.settings("chat"))
    yield server
    server.end()


@pytest.fixture(scope="session")
def looking(model: RealModel, tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    """A client of an assistant that offers the model tools of memory, and asks it for notes."""
    server = Server(tmp_path_factory.mktemp("looking") / "data")
    asked = {"ASSISTANT_READING__LOOK_AGAIN": "on", "ASSISTANT_READING__MODE": "chain-of-note"}
    server.start(**_NEEDED, **_FEW_WORDS, **asked, **model.settings("chat"))
    with httpx.Client(base_url=server.url, timeout=SECONDS) as client:
        yield client
    server.end()


@pytest.fixture(scope="session")
def extracting(model: RealModel, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Extracts facts by the model."""
    server = Server(tmp_path_factory.mktemp("extracting") / "data")
    server.start(**_NEEDED, **_PATIENCE, **model.settings("extract"))
    yield server
    server.end()


@pytest.fixture(scope="session")
def understanding(
    model: RealModel, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[httpx.Client]:
    """A client of an assistant that reads questions by the model and answers with quotes."""
    server = Server(tmp_path_factory.mktemp("understanding") / "data")
    server.start(ASSISTANT_QUERY_MODEL_TIMEOUT="60", **_NEEDED, **model.settings("query"))
    with httpx.Client(base_url=server.url, timeout=SECONDS) as client:
        yield client
    server.end()


@pytest.fixture
def http(assistant: Server) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=assistant.url, timeout=SECONDS) as client:
        yield client
