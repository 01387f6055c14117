"""The assistant with its memory on a Qdrant server: shared, restarted, gone and back."""

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from signal import SIGKILL

import httpx
import pytest
from commands import Server, ended
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
    # A call may come before the channel tries to connect again.
    deadline = time.monotonic() + 20
    while httpx.get(f"{one.url}/ready", timeout=60).status_code != 200:
        assert time.monotonic() < deadline
        time.sleep(0.1)
    assert "Miso" in answer(one, "What is my cat called?")


def seconds_until(server: Server, status: int, token: str = "") -> float:
    """How long it takes until a request with this key, or none, is answered so."""
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    started = time.monotonic()
    while httpx.get(f"{server.url}/v1/sessions", headers=headers).status_code != status:
        assert time.monotonic() < started + 20
        time.sleep(0.05)
    return time.monotonic() - started


@pytest.mark.slow
def test_a_key_made_in_one_place_holds_in_all(
    one: Server, two: Server, settings: dict[str, str], own_qdrant: Qdrant, tmp_path: Path
) -> None:
    elsewhere = ("--data-dir", tmp_path / "elsewhere")
    made = json.loads(
        ended("keys", "create", "a", "--user", "ann", "--json", *elsewhere, **settings).stdout
    )
    assert max(seconds_until(server, 401) for server in (one, two)) < 5
    assert max(seconds_until(server, 200, made["key"]) for server in (one, two)) < 5
    listed = ended("keys", "list", *elsewhere, **settings).stdout
    assert listed.startswith(made["id"])
    checked = ended("check", *elsewhere, **settings)
    assert "(with API keys)" in checked.stdout
    assert checked.returncode == 0, checked.stdout
    # What assistants share is no part of a memory that is moved.
    file = tmp_path / "backup"
    assert ended("backup", file, *elsewhere, **settings).returncode == 0
    other = settings | {"ASSISTANT_QDRANT__COLLECTION": "other"}
    assert ended("restore", file, *elsewhere, **other).returncode == 0
    assert ended("keys", "list", *elsewhere, **other).stdout == ""
    gone = ended("keys", "revoke", made["id"], *elsewhere, **settings)
    assert gone.returncode == 0, gone.stderr
    assert max(seconds_until(server, 401, made["key"]) for server in (one, two)) < 5
    # A server that needed a key needs one until it ends; a new one opens at once.
    two.end()
    two.start(**settings)
    assert seconds_until(two, 200) < 5
    assert seconds_until(one, 401) < 1


def test_forgetting_tells_the_other_and_says_nothing(
    one: Server, two: Server, own_qdrant: Qdrant, settings: dict[str, str]
) -> None:
    for session in ("first", "second"):
        assert say(two, "I adopted a cat called Miso.", session).status_code == 200
    assert httpx.delete(f"{one.url}/v1/users/ann/memories").json()["deleted"] == 2
    again = say(two, "I adopted a cat called Miso.", "first")
    assert again.status_code == 200
    found = httpx.get(f"{two.url}/v1/sessions", params={"user_id": "ann"}).json()["data"]
    assert [(s["id"], s["rounds"]) for s in found] == [("first", 1)]
    kept = httpx.post(
        f"{own_qdrant.url}/collections/aide_memoire.shared/points/scroll",
        json={"limit": 100, "with_payload": True},
        headers={"api-key": own_qdrant.api_key},
    ).text
    assert "erased" not in kept
    assert "ann" not in kept
    assert "Miso" not in kept
