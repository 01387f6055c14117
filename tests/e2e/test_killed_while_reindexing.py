"""`kill -9` at random moments while the memory is indexed anew and everybody goes on: what was
acknowledged is there, once, and what was forgotten stays forgotten."""

import os
import random
import threading
import time
from pathlib import Path
from signal import SIGKILL
from typing import Any

import httpx
import pytest
from commands import Server

from memory_store.transfer import ending, header

KILLS = [2, pytest.param(int(os.environ.get("KILLS", "20")), marks=pytest.mark.slow)]
TOLD = 400
WAIT_SECONDS = 60.0


class Client:
    """Tells one thing after the other and forgets every third again; what is not acknowledged is
    done again."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self.kept: list[str] = []
        self.forgotten: list[str] = []
        self.over = threading.Event()
        self.thread = threading.Thread(target=self._go_on)

    def _go_on(self) -> None:
        with httpx.Client(timeout=10) as http:
            number = 0
            while not self.over.is_set():
                session, said = f"flock-{number}", f"I saw the bird with ring {number}r."
                messages = [
                    {"role": "user", "content": said},
                    {"role": "assistant", "content": "Noted."},
                ]
                path, body = f"/v1/sessions/{session}", {"user_id": "ann", "messages": messages}
                self._until_done(http, "POST", f"{path}/messages", json=body)
                if number % 3 == 0:
                    self._until_done(http, "DELETE", path, params={"user_id": "ann"})
                    self.forgotten.append(said)
                else:
                    self.kept.append(said)
                number += 1

    def _until_done(self, http: httpx.Client, method: str, path: str, **content: Any) -> None:
        while True:
            try:
                reply = http.request(method, f"{self._server.url}{path}", **content)
                # Gone already: the answer to the first try was lost.
                if reply.status_code == 200 or (method, reply.status_code) == ("DELETE", 404):
                    return
            except httpx.HTTPError:
                pass
            time.sleep(0.05)


def reindexing(server: Server, method: str = "GET") -> dict[str, Any]:
    params = {"again": True} if method == "POST" else {}
    reply = httpx.request(method, f"{server.url}/v1/reindex", params=params, timeout=30)
    said: dict[str, Any] = reply.json()
    return said


def done(server: Server) -> dict[str, Any]:
    deadline = time.monotonic() + 2 * WAIT_SECONDS
    while (said := reindexing(server))["status"] == "running":
        assert time.monotonic() < deadline, said
        time.sleep(0.2)
    return said


@pytest.mark.parametrize("kills", KILLS)
def test_no_round_is_lost_and_none_comes_back(server: Server, kills: int, tmp_path: Path) -> None:
    moments = random.Random(kills)
    texts = [{"role": "user", "content": f"I counted {n} pears."} for n in range(TOLD)]
    turns = [turn for one in texts for turn in (one, {"role": "assistant", "content": "Noted."})]
    body = {"user_id": "bob", "messages": turns}
    url = f"{server.url}/v1/sessions/pears/messages"
    assert httpx.post(url, json=body, timeout=WAIT_SECONDS).status_code == 200
    client = Client(server)
    client.thread.start()
    try:
        for _ in range(kills):
            reindexing(server, "POST")
            time.sleep(moments.uniform(0, 3))
            assert server.end(SIGKILL) == -SIGKILL
            server.start()
    finally:
        client.over.set()
        client.thread.join()
    # It goes on by itself where it was in the middle.
    assert done(server)["status"] in ("done", "none")
    reindexing(server, "POST")
    assert done(server)["status"] == "done"
    backup = httpx.get(f"{server.url}/v1/backup", timeout=WAIT_SECONDS).text
    lines = backup.splitlines()
    assert (lines[0], lines[-1]) == (header(), ending(len(lines) - 2))
    assert len(lines) - 2 == len(client.kept) + TOLD
    assert client.kept
    for said in client.kept:
        assert backup.count(said) >= 1
    for said in client.forgotten:
        assert said not in backup
    assert [path.name for path in server.data_dir.glob("edge*")] == ["edge"]
    assert server.end() == 0
