"""A server that waits for its clients for fractions of a second, and can be asked by the byte."""

from collections.abc import Iterator

import pytest
from raw_http import Line, line
from served import served

from assistant import Settings, create_app
from assistant.access.limits import ClientPatience
from assistant.serving.bounded_connection import ConnectionConfig

HASTY = ClientPatience(
    head_seconds=0.4,
    head_bytes=8192,
    idle_seconds=1,
    body_seconds=0.4,
    body_bytes_per_second=50_000,
    silence_seconds=2,
    unread_seconds=0.3,
    reading_seconds=0.3,
)
CONNECTIONS = 600


@pytest.fixture(scope="session")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The base URL of that server, which has no keys."""
    settings = Settings(embedder="hash", data_dir=tmp_path_factory.mktemp("hasty"))
    app = create_app(settings, patience=HASTY)
    config = ConnectionConfig(
        app, connections=CONNECTIONS, patience=HASTY, timeout_graceful_shutdown=2
    )
    with served(app, config=config, send_buffer=16_384) as url:
        yield url


@pytest.fixture
def connection(url: str) -> Iterator[Line]:
    """A connection to it, on which nothing was said yet."""
    with line(url) as opened:
        yield opened
