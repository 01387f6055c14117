"""The Add/Search routes of leaderboards, called by a client that knows their description alone."""

import asyncio
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from calls import assert_error, rounds, sessions
from served import served

from assistant import Settings, create_app
from assistant.access.keys import KeyFile, KeyScope, new_key

SAID_AT = 1_684_576_800_000  # 2023-05-20 10:00 UTC
WRITERS = 12
MEMORIES = 72


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("board")
    with served(create_app(Settings(embedder="hash", data_dir=folder, leaderboard=True))) as url:
        yield f"{url}/leaderboard"


def added(number: int, user: str = "ann", **changed: Any) -> dict[str, Any]:
    """A request of two messages, as a board sends it."""
    said = f"My locker number {number} has the code {number * 7919 + 100_003}."
    messages = [
        {"role": "user", "content": said, "timestamp": SAID_AT + 1000 * number},
        {"role": "assistant", "content": "Noted.", "timestamp": SAID_AT + 1000 * number + 500},
    ]
    named = {"request_id": f"add-{number}", "user_id": user, "session_id": f"s{number % 5}"}
    return {**named, "messages": messages} | changed


def search(http: httpx.Client, query: str, user: str = "ann", top_k: int = 10) -> list[Any]:
    asked = {"user_id": user, "query": query, "top_k": top_k}
    reply = http.post("/search", json=asked)
    assert reply.status_code == 200, reply.text
    found: list[Any] = reply.json()["data"]
    return found


def test_what_was_added_is_found_with_its_date(url: str) -> None:
    with httpx.Client(base_url=url) as http:
        assert http.get("/health").json() == {"status": "ok"}
        sent = added(1, "bea")
        reply = http.post("/add", json=sent)
        named = {name: sent[name] for name in ("request_id", "user_id", "session_id")}
        assert reply.json() == {"success": True, **named}
        (found,) = search(http, "What is the code of my locker?", "bea")
    assert found["content"].splitlines() == [
        "[2023-05-20 10:00]",
        "user: My locker number 1 has the code 107922.",
        "assistant: Noted.",
    ]
    assert found["created_at"] == "2023-05-20T10:00:01Z"
    assert found["score"] > 0


def test_nobody_finds_what_another_user_added(url: str) -> None:
    with httpx.Client(base_url=url) as http:
        http.post("/add", json=added(2, "cleo")).raise_for_status()
        assert search(http, "What is the code of my locker?", "dora") == []


async def _write_twice(url: str, requests: list[dict[str, Any]], writers: int) -> list[int]:
    """Every request sent twice, by so many writers at once, in no order."""
    room = asyncio.Semaphore(writers)

    async def write(http: httpx.AsyncClient, body: dict[str, Any]) -> int:
        async with room:
            return (await http.post("/add", json=body)).status_code

    limits = httpx.Limits(max_connections=writers)
    async with httpx.AsyncClient(base_url=url, limits=limits, timeout=60) as http:
        return await asyncio.gather(*(write(http, one) for one in requests for _ in range(2)))


def test_many_writers_who_send_everything_twice_lose_and_double_nothing(url: str) -> None:
    requests = [added(number, f"writer-{number % 6}") for number in range(MEMORIES)]
    statuses = asyncio.run(_write_twice(url, requests, WRITERS))
    assert Counter(statuses) == {200: 2 * MEMORIES}
    kept = Counter[tuple[str, str, str, str]]()
    with httpx.Client(base_url=url.removesuffix("/leaderboard"), timeout=60) as http:
        for user in {request["user_id"] for request in requests}:
            for session, said in sessions(http, user).items():
                kept.update((user, session, *both) for both in said)
    assert kept == Counter(
        (one["user_id"], one["session_id"], *(message["content"] for message in one["messages"]))
        for one in requests
    )


def test_a_request_sent_again_says_what_it_said_first(url: str) -> None:
    with httpx.Client(base_url=url) as http:
        first = added(3, "eve")
        other = first | {"messages": [first["messages"][0] | {"content": "Something else."}]}
        for sent in (first, other, first):
            assert http.post("/add", json=sent).json()["success"] is True
    with httpx.Client(base_url=url.removesuffix("/leaderboard")) as http:
        said = first["messages"][0]["content"]
        assert rounds(http, "eve", first["session_id"]) == [(said, "Noted.")]


@pytest.mark.parametrize(
    "wrong",
    [
        {"request_id": ""},
        {"messages": []},
        {"messages": [{"role": "system", "content": "Be kind."}]},
        {"messages": [{"role": "user", "content": "Hello.", "timestamp": -1}]},
        {"messages": [{"role": "user", "content": "Hello.", "timestamp": 10**18}]},
        {"session_id": ".."},
    ],
)
def test_a_request_of_another_shape_is_refused_and_keeps_nothing(
    url: str, wrong: dict[str, Any]
) -> None:
    with httpx.Client(base_url=url) as http:
        reply = http.post("/add", json=added(4, "fay", **wrong))
        assert_error(reply, 400, "invalid_request_error", "invalid_value")
        assert search(http, "Hello", "fay") == []


def test_without_the_setting_there_are_no_such_routes(http: httpx.Client) -> None:
    calls = [("POST", "add", added(5)), ("POST", "search", {"query": "x"}), ("GET", "health", None)]
    for method, name, body in calls:
        reply = http.request(method, f"/leaderboard/{name}", json=body)
        assert_error(reply, 404, "not_found_error", "leaderboard_off")
    assert sessions(http, "ann") == {}


def test_keys_decide_whose_memory_it_is(tmp_path: Path) -> None:
    tokens = {}
    for user, scopes in (("gil", (KeyScope.SET_TIME,)), (None, tuple(KeyScope))):
        made = new_key("a key", user, scopes, created_at="now")
        KeyFile(tmp_path / "keys.json").add(made.key)
        tokens[user] = {"Authorization": f"Bearer {made.token}"}
    settings = Settings(embedder="hash", data_dir=tmp_path, leaderboard=True)
    with served(create_app(settings)) as url, httpx.Client(base_url=url) as http:
        assert http.get("/leaderboard/health").status_code == 200
        for name, body in (("add", added(6, "hal")), ("search", {"query": "x"})):
            refused = http.post(f"/leaderboard/{name}", json=body)
            assert_error(refused, 401, "authentication_error", "invalid_api_key")
        reply = http.post("/leaderboard/add", json=added(6, "hal"), headers=tokens["gil"])
        assert reply.json()["user_id"] == "gil"
        asked = {"query": "locker", "user_id": "hal"}
        found = http.post("/leaderboard/search", json=asked, headers=tokens[None])
        assert found.json() == {"data": []}
