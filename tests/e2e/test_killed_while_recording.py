"""`kill -9` at random moments of an ingest over HTTP: every acknowledged round is there, once.

KILLS=500 kills as often in the slow runs; twenty times by default.
"""

import os
import random
import threading
import time
from collections.abc import Callable
from pathlib import Path
from signal import SIGKILL
from typing import Any

import httpx
import pytest
from commands import Server
from qdrant_binary import Qdrant

SESSIONS = 4
WAIT_SECONDS = 60.0


def messages(session: int, number: int) -> list[dict[str, Any]]:
    """An exchange with nothing that names it: only the words tell that it is sent again."""
    return [
        {"role": "user", "content": f"I saw the bird with ring {session}r{number}."},
        {"role": "assistant", "content": "Noted."},
    ]


class Client:
    """Records exchange after exchange of one session; what is not acknowledged is sent again."""

    def __init__(self, server: Server, session: int) -> None:
        self.server = server
        self.session = session
        self.timed = session % 2 == 0
        self.acknowledged = 0
        self.sent_again = 0
        self.over = threading.Event()
        self.thread = threading.Thread(target=self._go_on)

    def _go_on(self) -> None:
        path = f"/v1/sessions/flock-{self.session}/messages"
        with httpx.Client(timeout=10) as http:
            while not self.over.is_set():
                number = self.acknowledged
                body: dict[str, Any] = {
                    "user_id": "ann",
                    "messages": messages(self.session, number),
                }
                if self.timed:
                    at = f"2023-05-20T{number // 3600:02}:{number // 60 % 60:02}:{number % 60:02}Z"
                    body["timestamp"] = at
                try:
                    reply = http.post(f"{self.server.url}{path}", json=body)
                    answered = reply.status_code == 200
                except httpx.HTTPError:
                    answered = False
                if answered:
                    self.acknowledged += 1
                else:
                    self.sent_again += 1
                    time.sleep(0.05)


def recorded(server: Server, session: int) -> list[str]:
    reply = httpx.get(
        f"{server.url}/v1/sessions/flock-{session}", params={"user_id": "ann"}, timeout=30
    )
    return [value["user_text"] for value in reply.json()["data"]]


def found(server: Server, query: str) -> list[str]:
    # Among ten: of thousands of texts a few are alike to the encoder for tests.
    body = {"user_id": "ann", "query": query, "top_k": 10}
    reply = httpx.post(f"{server.url}/v1/memories/search", json=body, timeout=30)
    return [value["user_text"] for value in reply.json()["data"]]


def killed_while_recording(server: Server, kill: Callable[[], None], kills: int) -> dict[str, int]:
    """Kill at seeded random moments; then every acknowledged exchange is there, once, in order.

    Half of the sessions say when their messages were said, the others leave that to the server.
    """
    moments = random.Random(kills)
    clients = [Client(server, session) for session in range(SESSIONS)]
    for client in clients:
        client.thread.start()
    try:
        for _ in range(kills):
            before = sum(client.acknowledged for client in clients)
            deadline = time.monotonic() + WAIT_SECONDS
            while sum(client.acknowledged for client in clients) < before + SESSIONS:
                assert time.monotonic() < deadline, "nothing is recorded any more"
                time.sleep(0.005)
            time.sleep(moments.uniform(0, 0.3))
            kill()
    finally:
        for client in clients:
            client.over.set()
        for client in clients:
            client.thread.join()
    for client in clients:
        expected = [messages(client.session, n)[0]["content"] for n in range(client.acknowledged)]
        kept = recorded(server, client.session)
        # The one exchange that was under way at the end may be there too.
        assert kept[: len(expected)] == expected
        assert len(kept) <= len(expected) + 1
        assert len(set(kept)) == len(kept)
        for text in moments.sample(expected, min(10, len(expected))):
            assert text in found(server, text)
    return {
        "kills": kills,
        "acknowledged": sum(client.acknowledged for client in clients),
        "sent again": sum(client.sent_again for client in clients),
    }


KILLS = [2, pytest.param(int(os.environ.get("KILLS", "20")), marks=pytest.mark.slow)]


@pytest.mark.parametrize("kills", KILLS)
def test_the_assistant_with_its_embedded_store(server: Server, kills: int) -> None:
    def kill() -> None:
        assert server.end(SIGKILL) == -SIGKILL
        server.start()

    print(killed_while_recording(server, kill, kills))


@pytest.fixture
def on_qdrant(tmp_path: Path, own_qdrant: Qdrant) -> Server:
    own_qdrant.start()
    assistant = Server(tmp_path / "unused")
    assistant.start(
        ASSISTANT_QDRANT_URL=own_qdrant.url,
        ASSISTANT_QDRANT__GRPC_PORT=str(own_qdrant.grpc_port),
    )
    return assistant


@pytest.mark.qdrant_server
@pytest.mark.parametrize("kills", KILLS)
def test_the_qdrant_server(on_qdrant: Server, own_qdrant: Qdrant, kills: int) -> None:
    def kill() -> None:
        own_qdrant.kill()
        own_qdrant.start()

    try:
        print(killed_while_recording(on_qdrant, kill, kills))
    finally:
        on_qdrant.end()
