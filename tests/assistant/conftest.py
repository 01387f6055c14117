"""Fixtures of the assistant tests: a scripted model, and assistants that are served."""

from collections.abc import Iterator
from datetime import UTC, datetime

import httpx
import pytest
from in_process import Run, in_process
from pydantic import SecretStr
from scripted_model import ScriptedModel, scripted_model
from served import served

from assistant import Settings, create_app


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


NOW = datetime(2023, 6, 10, 9, tzinfo=UTC)


@pytest.fixture(scope="session")
def quoting_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """An assistant without a language model, whose clock stands still."""
    settings = Settings(embedder="hash", data_dir=tmp_path_factory.mktemp("quoting"))
    with served(create_app(settings, clock=lambda: NOW)) as url:
        yield url


@pytest.fixture(scope="session")
def answering_url(
    tmp_path_factory: pytest.TempPathFactory, _model_server: ScriptedModel
) -> Iterator[str]:
    """An assistant that answers with the scripted model."""
    settings = Settings(
        embedder="hash",
        data_dir=tmp_path_factory.mktemp("answering"),
        chat_model="openai/fake",
        chat_model_base_url=_model_server.url,
        chat_model_api_key=SecretStr("k"),
        chat_model_retries=0,
        chat_model_timeout=10.0,
        reading={"look_again": "off"},
    )
    with served(create_app(settings, clock=lambda: NOW)) as url:
        yield url


@pytest.fixture(scope="session")
def http(quoting_url: str) -> Iterator[httpx.Client]:
    """A client of the assistant without a language model."""
    with httpx.Client(base_url=quoting_url, timeout=60) as client:
        yield client


@pytest.fixture(scope="session")
def _answering(answering_url: str) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=answering_url, timeout=60) as client:
        yield client


@pytest.fixture
def answering(_answering: httpx.Client, model: ScriptedModel) -> httpx.Client:
    """A client of the assistant that answers with the scripted model."""
    return _answering


@pytest.fixture
def ann(request: pytest.FixtureRequest) -> str:
    """A user of this test only."""
    return f"ann of {request.node.name}"[:200]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """The `assistant` command in this process."""
    return in_process(monkeypatch, capsys)
