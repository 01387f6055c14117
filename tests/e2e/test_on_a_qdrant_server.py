"""The assistant with its memory on a Qdrant server: shared, restarted, gone and back."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from signal import SIGKILL

import httpx
import pytest
from commands import Server
from qdrant_binary import Qdrant

pytestmark = pytest.mark.qdrant_server


def say(server: Server, text: str, session: str) -> httpx.Response:
    body = {
        "messages": [{"role": "user", "content": text}],
        "metadata": {"user_id": "ann", "session_id": session},
    }
    return httpx.post(f"{server.url}/v1/chat/completions", json=body, timeout=60)


def answer(server: Server, text: str) -> str:
    return str(say(server, text, "later").json()["choices"][0]["message"]["content"])


@pytest.fixture
def settings(own_qdrant: Qdrant) -> dict[str, str]:
    own_qdrant.api_key = "secret"
    own_qdrant.start()
    return {
        "ASSISTANT_QDRANT_URL": own_qdrant.url,
        "ASSISTANT_QDRANT_API_KEY": own_qdrant.api_key,
        "ASSISTANT_QDRANT__GRPC_PORT": str(own_qdrant.grpc_port),
        "ASSISTANT_QDRANT__RETRIES": "1",
    }


@contextmanager
def serving(folder: Path, settings: dict[str, str]) -> Iterator[Server]:
    server = Server(folder)
    server.start(**settings)
    yield server
    if server.running:
        server.end()


@pytest.fixture
def one(tmp_path: Path, settings: dict[str, str]) -> Iterator[Server]:
    with serving(tmp_path / "one", settings) as server:
        yield server


@pytest.fixture
def two(tmp_path: Path, settings: dict[str, str]) -> Iterator[Server]:
    with serving(tmp_path / "two", settings) as server:
        yield server


def test_two_assistants_share_one_memory(
    one: Server, two: Server, settings: dict[str, str], own_qdrant: Qdrant
) -> None:
    assert f"memory in Qdrant at {own_qdrant.url}" in one.first_line
    assert "secret" not in one.first_line
    assert say(one, "I adopted a cat called Miso.", "first").status_code == 200
    assert "Miso" in answer(two, "What is my cat called?")
    one.end(SIGKILL)
    one.start(**settings)
    assert "Miso" in answer(one, "What is my cat called?")
    assert not list(one.data_dir.glob("*"))


def test_a_server_that_goes_away_is_an_error_until_it_is_back(
    one: Server, own_qdrant: Qdrant
) -> None:
    assert say(one, "I adopted a cat called Miso.", "first").status_code == 200
    own_qdrant.kill()
    refused = say(one, "I sold my piano.", "second")
    assert refused.status_code == 503
    assert refused.json()["error"]["code"] == "store_unavailable"
    ready = httpx.get(f"{one.url}/ready", timeout=60)
    assert ready.status_code == 503
    assert own_qdrant.url in ready.json()["checks"]["store"]
    assert own_qdrant.api_key not in ready.text
    own_qdrant.start()
    # With one retry a call may come before the channel tries to connect again.
    deadline = time.monotonic() + 20
    while httpx.get(f"{one.url}/ready", timeout=60).status_code != 200:
        assert time.monotonic() < deadline
        time.sleep(0.1)
    assert "Miso" in answer(one, "What is my cat called?")
