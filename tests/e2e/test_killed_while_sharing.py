"""Membership of a shared space over kills without warning: what was acknowledged holds, and what
was broken off can be done http."""

import threading
from collections.abc import Iterator
from pathlib import Path
from signal import SIGKILL

import httpx
import pytest
from calls import record
from commands import Server

SAID = 40


def _members(http: httpx.Client, space: str) -> dict[str, str]:
    reply = http.get(f"/v1/spaces/{space}", params={"user_id": "ann"})
    assert reply.status_code == 200, reply.text
    return {one["user_id"]: one["role"] for one in reply.json()["members"]}


def _admit(http: httpx.Client, space: str, person: str, role: str) -> None:
    body = {"user_id": "ann", "role": role}
    assert http.put(f"/v1/spaces/{space}/members/{person}", json=body).status_code == 200


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    server = Server(tmp_path / "data")
    server.start()
    yield server
    server.end(SIGKILL)


@pytest.fixture
def http(server: Server) -> Iterator[httpx.Client]:
    # The server is another process after each kill.
    anew = httpx.Limits(max_keepalive_connections=0)
    with httpx.Client(base_url=server.url, timeout=60, limits=anew) as client:
        yield client


def _killed(server: Server) -> None:
    server.end(SIGKILL)
    server.start()


def test_what_was_acknowledged_of_membership_holds(server: Server, http: httpx.Client) -> None:
    space = http.post("/v1/spaces", json={"user_id": "ann", "name": "Ours"}).json()["space"]
    _killed(server)
    assert _members(http, space) == {"ann": "owner"}
    _admit(http, space, "ben", "member")
    _killed(server)
    _admit(http, space, "ben", "reader")
    _killed(server)
    assert _members(http, space) == {"ann": "owner", "ben": "reader"}
    gone = http.delete(f"/v1/spaces/{space}/members/ben", params={"user_id": "ann"})
    assert gone.status_code == 200
    _killed(server)
    assert _members(http, space) == {"ann": "owner"}
    assert http.get("/v1/memories", params={"user_id": "ben", "space": space}).status_code == 404


@pytest.mark.parametrize("seconds", [0.002, 0.02, 0.06, 0.12])
def test_a_member_who_takes_their_words_along_can_go_on_after_a_kill(
    server: Server, http: httpx.Client, seconds: float
) -> None:
    """Wherever it is cut, the space stays whole and readable, and doing it again ends it."""
    space = http.post("/v1/spaces", json={"user_id": "ann", "name": "Ours"}).json()["space"]
    _admit(http, space, "ben", "member")
    record(http, "ann", "hers", "I like tea.", space=space)
    for place in range(SAID):
        record(http, "ben", f"his {place}", f"My box {place} holds nails.", space=space)
    path, asked = f"/v1/spaces/{space}/members/ben", {"user_id": "ben", "forget": "true"}

    def part() -> None:
        try:
            http.delete(path, params=asked)
        except httpx.HTTPError:
            return

    parting = threading.Thread(target=part)
    parting.start()
    parting.join(seconds)
    _killed(server)
    parting.join()
    assert http.delete(path, params=asked).status_code in (200, 404)
    assert _members(http, space) == {"ann": "owner"}
    left = http.get("/v1/memories", params={"user_id": "ann", "space": space}).json()["data"]
    assert [one["user_text"] for one in left] == ["I like tea."]
