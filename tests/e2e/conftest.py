"""Both commands as processes of their own."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from commands import Running, Server


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    assistant = Server(tmp_path / "data")
    assistant.start()
    yield assistant
    if assistant.running:
        assistant.end()


@pytest.fixture(scope="session")
def shared_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """For tests that only talk to it, each as users of its own."""
    assistant = Server(tmp_path_factory.mktemp("shared") / "data")
    assistant.start()
    yield assistant
    assistant.end()


@pytest.fixture
def harness() -> Callable[..., Running]:
    """Start the `harness` command with these arguments."""
    return lambda *arguments: Running(("harness", *arguments))
