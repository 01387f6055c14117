"""Who, which session, when and how: the first place that names it wins, on every route."""

from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import pytest
from calls import answer, assert_error, chat, sessions
from served import served

from assistant import Settings, create_app
from assistant.api.request_context import derived_session

HEADERS = {
    "x-memory-user": "header",
    "x-memory-session": "header",
    "x-memory-timestamp": "2020-01-01",
    "x-memory-mode": "off",
}


def trace(
    http: httpx.Client, body: dict[str, Any], headers: dict[str, str] | None = None
) -> dict[str, Any]:
    """What the server resolved; nothing is stored unless the body says so."""
    metadata = {"memory": "read_only", "memory_debug": "1"} | body.pop("metadata", {})
    sent = {"messages": [{"role": "user", "content": "hi"}], "metadata": metadata} | body
    reply = http.post("/v1/chat/completions", json=sent, headers=headers)
    assert reply.status_code == 200, reply.text
    memory: dict[str, Any] = reply.json()["memory"]
    return memory


@pytest.mark.parametrize(
    ("body", "headers", "user_id"),
    [
        ({"metadata": {"user_id": "a"}, "user": "b", "safety_identifier": "c"}, HEADERS, "a"),
        ({"metadata": {"user_id": None}, "user": "b", "safety_identifier": "c"}, HEADERS, "b"),
        ({"safety_identifier": "c"}, HEADERS, "c"),
        ({}, HEADERS, "header"),
        ({}, {}, "default"),
        ({"metadata": {"user_id": "Zoë 🦊"}}, {}, "Zoë 🦊"),
    ],
)
def test_who(
    http: httpx.Client, body: dict[str, Any], headers: dict[str, str], user_id: str
) -> None:
    assert trace(http, body, headers)["user_id"] == user_id


@pytest.mark.parametrize(
    ("metadata", "headers", "session_id"),
    [
        ({"session_id": "a"}, HEADERS, "a"),
        ({"session_id": None}, HEADERS, "header"),
        ({}, {}, derived_session("default", "", "hi")),
    ],
)
def test_where(
    http: httpx.Client, metadata: dict[str, Any], headers: dict[str, str], session_id: str
) -> None:
    headers = {name: value for name, value in headers.items() if "session" in name}
    assert trace(http, {"metadata": metadata}, headers)["session_id"] == session_id


@pytest.mark.parametrize(
    ("own", "metadata", "headers", "now"),
    [
        ("2023-05-20T02:21:00Z", "2022-01-01", HEADERS, "2023-05-20T02:21:00Z"),
        (None, "2023/05/20 (Sat) 02:21", HEADERS, "2023-05-20T02:21:00Z"),
        (None, "2023-05-20T02:21:00", {}, "2023-05-20T02:21:00Z"),
        (None, "2023-05-20T02:21:00-05:00", {}, "2023-05-20T07:21:00Z"),
        (None, None, HEADERS, "2020-01-01T00:00:00Z"),
        (None, None, {}, "2023-06-10T09:00:00Z"),
    ],
)
def test_when(
    http: httpx.Client, own: str | None, metadata: str | None, headers: dict[str, str], now: str
) -> None:
    message = {"role": "user", "content": "hi", "timestamp": own}
    body = {"messages": [message], "metadata": {"timestamp": metadata}}
    assert trace(http, body, headers)["now"] == now


@pytest.mark.parametrize(
    ("given", "model", "header", "mode"),
    [
        ("on", None, "off", "on"),
        ("read_only", None, None, "read_only"),
        ("write_only", "aide-memoire", None, "write_only"),
        ("off", None, "on", "off"),
        (None, None, "read_only", "read_only"),
        (None, None, None, "on"),
        ("on", "aide-memoire-nomem", None, "off"),
        (None, "aide-memoire-nomem", "write_only", "off"),
    ],
)
def test_how(
    http: httpx.Client,
    ann: str,
    given: str | None,
    model: str | None,
    header: str | None,
    mode: str,
) -> None:
    body = {"metadata": {"user_id": ann, "memory": given}, "model": model}
    assert trace(http, body, {"x-memory-mode": header} if header else {})["mode"] == mode
    stored = sessions(http, ann)
    assert bool(stored) is (mode in ("on", "write_only"))


def test_a_derived_session_is_of_this_opening_and_this_user() -> None:
    same = derived_session("ann", "Be brief.", "hi")
    assert derived_session("ann", "Be brief.", "hi") == same
    others = [("bob", "Be brief.", "hi"), ("ann", "", "hi"), ("ann", "Be brief.", "ho")]
    assert len({same, *(derived_session(*opening) for opening in others)}) == 4


def test_a_conversation_stays_in_the_session_of_its_opening(http: httpx.Client, ann: str) -> None:
    system = {"role": "system", "content": "Be brief."}
    first = chat(http, ann, "hi", earlier=[system])
    earlier = [
        system,
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": answer(first)},
    ]
    second = chat(http, ann, "and then?", earlier=earlier)
    assert first.headers["x-memory-session"] == second.headers["x-memory-session"]
    (stored,) = sessions(http, ann).values()
    assert [user for user, _ in stored] == ["hi", "and then?"]


@pytest.mark.parametrize("session_id", ["with space", "a/b", "ünï 🦊", "a?b#c", "%2F", "'\""])
def test_session_ids_with_odd_characters(http: httpx.Client, ann: str, session_id: str) -> None:
    reply = chat(http, ann, "I like tea.", metadata={"session_id": session_id})
    answer(reply)
    assert reply.headers["x-memory-session"].isascii()
    path = f"/v1/sessions/{quote(session_id, safe='')}"
    assert http.get(path, params={"user_id": ann}).json()["id"] == session_id
    deleted = http.delete(path, params={"user_id": ann})
    assert deleted.json()["rounds"] == 1


def test_a_user_can_be_required(tmp_path: Path) -> None:
    settings = Settings(embedder="hash", data_dir=tmp_path, require_user=True)
    with served(create_app(settings)) as url, httpx.Client(base_url=url) as client:
        body = {"messages": [{"role": "user", "content": "hi"}]}
        nobody = [
            client.post("/v1/chat/completions", json=body),
            client.post("/v1/sessions/s/messages", json=body),
            client.post("/v1/memories/search", json={"query": "x"}),
            client.get("/v1/sessions"),
            client.delete("/v1/memories/x"),
        ]
        for reply in nobody:
            assert_error(reply, 400, "invalid_request_error", "missing_user")
        assert client.get("/v1/sessions", headers={"x-memory-user": "ann"}).status_code == 200
