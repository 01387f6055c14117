"""Bad input on every route: status, type, code, and a message that says what to do."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from calls import assert_error, chat, record, rounds
from fastapi import FastAPI
from served import served
from starlette.exceptions import HTTPException

from assistant import Settings, create_app
from assistant.api.errors import install
from assistant.services import open_services
from memory_store import MemoryStore, Query, Recall
from memory_store.errors import StoreUnavailable

INVALID, GONE = "invalid_request_error", "not_found_error"
HI = {"messages": [{"role": "user", "content": "hi"}]}
SAID = {"messages": [{"role": "user", "content": "hi", "timestamp": "2023-05-20"}]}
CHAT, SEARCH = "/v1/chat/completions", "/v1/memories/search"
RESPONSES = "/v1/responses"
SESSIONS, MESSAGES = "/v1/sessions", "/v1/sessions/s/messages"


def said(**changed: Any) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": "hi"} | changed]}


POSTS: list[tuple[str, dict[str, Any], str, str | None]] = [
    (CHAT, {}, "invalid_value", "messages"),
    (CHAT, {"messages": "hi"}, "invalid_value", "messages"),
    (CHAT, {"messages": []}, "empty_messages", "messages"),
    (CHAT, said(content=""), "empty_messages", "messages"),
    (CHAT, said(content=" \n"), "empty_messages", "messages"),
    (CHAT, said(content="\u200b\x00\ufeff"), "empty_messages", "messages"),
    (CHAT, said(content=None), "empty_messages", "messages"),
    (CHAT, said(content=[]), "empty_messages", "messages"),
    (CHAT, said(content=5), "invalid_value", "messages.0.content"),
    (CHAT, said(content={"text": 5}), "invalid_value", "messages.0.content"),
    (CHAT, said(content=[{"type": "image_url"}]), "needs_model", "image_url"),
    (CHAT, said(content=[{"kind": "text"}]), "invalid_value", "messages"),
    (CHAT, said(content=[{"type": "text", "text": 5}]), "invalid_value", "messages"),
    (CHAT, said(role="assistant"), "invalid_value", "messages"),
    (CHAT, said(role="robot"), "invalid_value", "messages.0.role"),
    (CHAT, HI | {"stream": "yes"}, "invalid_value", "stream"),
    (CHAT, HI | {"temperature": "hot"}, "invalid_value", "temperature"),
    (CHAT, HI | {"metadata": "ann"}, "invalid_value", "metadata"),
    (CHAT, HI | {"metadata": {"user_id": 5}}, "invalid_value", "user_id"),
    (CHAT, HI | {"metadata": {"user_id": ""}}, "invalid_value", "user_id"),
    (CHAT, HI | {"metadata": {"user_id": "a\nb"}}, "invalid_value", "user_id"),
    (CHAT, HI | {"metadata": {"user_id": "a\x00"}}, "invalid_value", "user_id"),
    (CHAT, HI | {"metadata": {"user_id": "x" * 257}}, "invalid_value", "user_id"),
    (CHAT, HI | {"metadata": {"user_id": "\ufffd"}}, "invalid_value", "user_id"),
    (CHAT, HI | {"metadata": {"user_id": "."}}, "invalid_value", "user_id"),
    (CHAT, HI | {"metadata": {"session_id": ".."}}, "invalid_value", "session_id"),
    (CHAT, said(name="x" * 257), "invalid_value", "messages.0.name"),
    (CHAT, HI | {"metadata": {"session_id": " "}}, "invalid_value", "session_id"),
    (CHAT, HI | {"metadata": {"session_id": "a\rb"}}, "invalid_value", "session_id"),
    (CHAT, HI | {"metadata": {"memory": "sometimes"}}, "invalid_value", "metadata.memory"),
    (CHAT, HI | {"metadata": {"memory": ["on"]}}, "invalid_value", "metadata.memory"),
    (CHAT, HI | {"metadata": {"timestamp": "soon"}}, "invalid_timestamp", "timestamp"),
    (CHAT, HI | {"metadata": {"timestamp": ""}}, "invalid_timestamp", "timestamp"),
    (CHAT, HI | {"metadata": {"timestamp": 1684549260}}, "invalid_timestamp", "timestamp"),
    (CHAT, said(timestamp="2023-02-30"), "invalid_timestamp", "timestamp"),
    (CHAT, said(timestamp=5), "invalid_timestamp", "timestamp"),
    (SESSIONS, {"user_id": 5}, "invalid_value", "user_id"),
    (SESSIONS, {"session_id": ""}, "invalid_value", "session_id"),
    (SESSIONS, {"started_at": "then"}, "invalid_timestamp", "started_at"),
    (RESPONSES, {"input": []}, "empty_messages", "input"),
    (RESPONSES, {"input": " "}, "empty_messages", "input"),
    (RESPONSES, {"input": [{"role": "assistant", "content": "hi"}]}, "invalid_value", "input"),
    (MESSAGES, {}, "invalid_value", "messages"),
    (MESSAGES, said(role="system"), "invalid_value", "messages.0.role"),
    (MESSAGES, said(content=None), "invalid_value", None),
    (MESSAGES, said(id=""), "invalid_value", "messages.0.id"),
    (MESSAGES, said(id="a\nb"), "invalid_value", "messages.id"),
    (MESSAGES, said(timestamp="2023-05-20T25:00:00Z"), "invalid_timestamp", "timestamp"),
    (MESSAGES, SAID | {"timestamp": "  "}, "invalid_timestamp", "timestamp"),
    (MESSAGES, SAID | {"wait": "yes"}, "invalid_value", "wait"),
    (SEARCH, {}, "invalid_value", "query"),
    (SEARCH, {"query": ""}, "invalid_value", "query"),
    (SEARCH, {"query": "   "}, "invalid_value", None),
    (SEARCH, {"query": "q", "top_k": 0}, "invalid_value", "top_k"),
    (SEARCH, {"query": "q", "top_k": 201}, "invalid_value", "top_k"),
    (SEARCH, {"query": "q", "unit": "word"}, "invalid_value", "unit"),
    (SEARCH, {"query": "q", "now": "now"}, "invalid_timestamp", "now"),
    (SEARCH, {"query": "q", "from": ""}, "invalid_timestamp", "from"),
    (SEARCH, {"query": "q", "to": 20230520}, "invalid_timestamp", "to"),
    (SEARCH, {"query": "q", "as_of": "9999-12-31"}, "invalid_timestamp", "as_of"),
    (SEARCH, {"query": "q", "from": "2023-05-21", "to": "2023-05-20"}, "invalid_value", None),
]


@pytest.mark.parametrize(("path", "body", "code", "param"), POSTS, ids=repr)
def test_a_bad_body(
    http: httpx.Client, path: str, body: dict[str, Any], code: str, param: str | None
) -> None:
    error = assert_error(http.post(path, json=body), 400, INVALID, code)
    if param is not None:
        assert error["param"] == param


@pytest.mark.parametrize(
    ("path", "body", "param", "says"),
    [
        (CHAT, HI | {"stop": ["a"] * 5}, "stop", "at most 4 items"),
        (CHAT, said(content=5), "messages.0.content", "string"),
        (CHAT, said(content=[{"type": "text"}]), "messages", "a text without its text"),
        ("/v1/embeddings", {"input": []}, "input", "at least 1 item"),
        ("/v1/embeddings", {"input": ["a", 1]}, "input.1", "valid string"),
    ],
)
def test_of_a_field_of_several_types_the_mistake_in_the_one_that_was_meant_is_told(
    http: httpx.Client, path: str, body: dict[str, Any], param: str, says: str
) -> None:
    error = assert_error(http.post(path, json=body), 400, INVALID, "invalid_value")
    assert error["param"] == param
    assert says in error["message"]


@pytest.mark.parametrize("path", [CHAT, SESSIONS, MESSAGES, SEARCH])
@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b'{"messages": [', "invalid_json"),
        (b"\xff\xfe", "invalid_json"),
        (b"[" * 100_000, "invalid_json"),
        (b'{"messages": ' + b"9" * 5_000 + b"}", "invalid_json"),
        (b"", "invalid_value"),
        (b"[]", "invalid_value"),
        (b"5", "invalid_value"),
    ],
)
def test_a_body_that_is_no_json_object(
    http: httpx.Client, path: str, body: bytes, code: str
) -> None:
    assert_error(http.post(path, content=body), 400, INVALID, code)


@pytest.mark.parametrize(
    ("method", "path", "status", "kind", "code"),
    [
        ("GET", "/v1/models/gpt-4", 404, GONE, "model_not_found"),
        ("GET", "/v1/sessions/nowhere", 404, GONE, "session_not_found"),
        ("GET", "/v1/sessions/with/a/slash", 404, GONE, "session_not_found"),
        ("DELETE", "/v1/sessions/nowhere", 404, GONE, "session_not_found"),
        ("DELETE", "/v1/memories/no-such-id", 404, GONE, "memory_not_found"),
        ("DELETE", f"/v1/memories/{'0' * 36}", 404, GONE, "memory_not_found"),
        ("DELETE", "/v1/users/ann/memories?dry_run=maybe", 400, INVALID, "invalid_value"),
        ("DELETE", "/v1/users/%20/memories", 400, INVALID, "invalid_value"),
        ("GET", "/v1/sessions?user_id=%00", 400, INVALID, "invalid_value"),
        ("GET", "/v1/nothing", 404, GONE, "route_not_found"),
        ("GET", "/nothing", 404, GONE, "route_not_found"),
        ("GET", CHAT, 405, INVALID, "method_not_allowed"),
        ("PUT", "/v1/models", 405, INVALID, "method_not_allowed"),
        ("POST", "/health", 405, INVALID, "method_not_allowed"),
    ],
)
def test_a_bad_address(
    http: httpx.Client, method: str, path: str, status: int, kind: str, code: str
) -> None:
    assert_error(http.request(method, path), status, kind, code)


def test_an_unknown_model(http: httpx.Client) -> None:
    error = assert_error(
        http.post(CHAT, json=HI | {"model": "gpt-4"}), 404, GONE, "model_not_found"
    )
    assert error["param"] == "model"
    assert "aide-memoire" in error["message"]


@pytest.mark.parametrize("announced", [True, False])
def test_a_body_of_nine_megabytes(http: httpx.Client, ann: str, announced: bool) -> None:
    big = b'{"messages": [{"role": "user", "content": "' + b"x" * 9_000_000 + b'"}]}'
    content = big if announced else iter([big[:8_000_000], big[8_000_000:]])
    error = assert_error(
        http.post(CHAT, content=content, headers={"x-memory-user": ann}),
        413,
        INVALID,
        "request_too_large",
    )
    assert "8388608" in error["message"]
    assert http.get("/health").status_code == 200


def test_a_wrong_turn_leaves_the_others_of_its_call_unrecorded(
    http: httpx.Client, ann: str
) -> None:
    messages = [
        {"role": "user", "content": "kept?"},
        {"role": "user", "content": "x", "timestamp": "?"},
    ]
    reply = record(http, ann, "s", messages=messages)
    assert_error(reply, 400, INVALID, "invalid_timestamp")
    assert rounds(http, ann, "s") == []


def test_an_error_keeps_the_callers_request_id(http: httpx.Client) -> None:
    assert http.get("/v1/x", headers={"x-request-id": "mine"}).headers["x-request-id"] == "mine"


class _BrokenStore(MemoryStore):
    """Fails to recall in the way it is told."""

    failure: Exception = RuntimeError("password is hunter2")

    async def recall(self, query: Query) -> Recall:
        raise self.failure


@pytest.fixture
def broken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[httpx.Client]:
    monkeypatch.setattr("assistant.services.memory.MemoryStore", _BrokenStore)
    settings = Settings(embedder="hash", data_dir=tmp_path)
    with served(create_app(settings)) as url, httpx.Client(base_url=url) as client:
        yield client


@pytest.mark.parametrize("stream", [True, False])
def test_an_unforeseen_failure_reveals_nothing(broken: httpx.Client, stream: bool) -> None:
    error = assert_error(
        chat(broken, "ann", "Where do I live?", stream=stream),
        500,
        "server_error",
        "internal_error",
    )
    assert "hunter2" not in error["message"]
    assert broken.get("/health").status_code == 200


def test_a_store_that_fails_is_unavailable(
    broken: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_BrokenStore, "failure", StoreUnavailable("the disk is gone"))
    reply = broken.post(SEARCH, json={"query": "x"})
    error = assert_error(reply, 503, "server_error", "store_unavailable")
    assert error["message"] == "the disk is gone"


def test_a_closed_store_is_not_ready(tmp_path: Path) -> None:
    async def check() -> httpx.Response:
        settings = Settings(embedder="hash", data_dir=tmp_path)
        async with open_services(settings) as services:
            pass
        app = create_app(settings, services=services)
        app.state.services = services
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
            return await client.get("/ready")

    reply = asyncio.run(check())
    assert reply.status_code == 503
    assert reply.json()["checks"]["store"] == "the store is closed"


def test_a_method_that_is_not_possible_names_those_that_are(http: httpx.Client) -> None:
    reply = http.patch("/v1/sessions")
    assert_error(reply, 405, "invalid_request_error", "method_not_allowed")
    assert reply.headers["allow"] == "GET, POST, HEAD"


def test_only_a_bad_request_is_said_to_have_a_bad_body() -> None:
    app = FastAPI()
    install(app)

    @app.get("/{status}")
    async def refuse(status: int) -> None:
        raise HTTPException(status)

    async def ask(status: int) -> httpx.Response:
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
            return await client.get(f"/{status}")

    for status, kind, code in (
        (400, INVALID, "invalid_json"),
        (401, INVALID, "http_error"),
        (503, "server_error", "http_error"),
    ):
        reply = asyncio.run(ask(status))
        error = reply.json()["error"]
        assert (reply.status_code, error["type"], error["code"]) == (status, kind, code)
        assert ("JSON" in error["message"]) is (status == 400)


def test_a_refused_response_names_its_input(http: httpx.Client) -> None:
    error = assert_error(http.post(RESPONSES, json={"input": []}), 400, INVALID, "empty_messages")
    assert error["message"].startswith("input is empty")


def test_a_slash_too_many_is_no_other_route(http: httpx.Client) -> None:
    assert_error(http.get("/v1/models/"), 404, "not_found_error", "route_not_found")
    assert_error(http.get("/health/"), 404, "not_found_error", "route_not_found")
