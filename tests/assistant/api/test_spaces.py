"""Spaces of one user over HTTP."""

from typing import Any

import httpx
import pytest
from calls import answer, assert_error, chat, record, rounds, sessions

CODER, WRITER = {"space": "agent:coder"}, {"space": "agent:writer"}


def spaces(http: httpx.Client, user: str) -> dict[str, int]:
    listed = http.get("/v1/spaces", params={"user_id": user}).json()["data"]
    return {one["space"]: one["rounds"] for one in listed}


def test_what_is_said_in_a_space_is_recalled_there_only(http: httpx.Client, ann: str) -> None:
    told = {"session_id": "s", **CODER}
    assert chat(http, ann, "My cat is called Miso.", metadata=told).status_code == 200
    asked = {"memory": "read_only", "session_id": "t"}
    question = "What is my cat called?"
    assert "Miso" in answer(chat(http, ann, question, metadata=asked | CODER))
    for elsewhere in ({}, WRITER):
        assert "Miso" not in answer(chat(http, ann, question, metadata=asked | elsewhere))
    assert (sessions(http, ann), spaces(http, ann)) == ({}, {"agent:coder": 1})


@pytest.mark.parametrize("place", ["body", "query", "header"])
def test_where_a_space_is_named(http: httpx.Client, ann: str, place: str) -> None:
    body: dict[str, Any] = {"user_id": ann, "messages": [{"role": "user", "content": "Hm, tea."}]}
    reply = http.post(
        "/v1/sessions/s/messages",
        json=body | (CODER if place == "body" else {}),
        params=CODER if place == "query" else {},
        headers={"X-Memory-Space": "agent:coder"} if place == "header" else {},
    )
    assert (reply.json()["user_id"], reply.json()["space"]) == (ann, "agent:coder")
    assert spaces(http, ann) == {"agent:coder": 1}
    listed = http.get("/v1/sessions", params={"user_id": ann} | CODER).json()["data"]
    assert [(one["id"], one["user_id"], one["space"]) for one in listed] == [
        ("s", ann, "agent:coder")
    ]


def test_the_same_session_in_two_spaces_is_two(http: httpx.Client, ann: str) -> None:
    record(http, ann, "s", "I like tea.")
    record(http, ann, "s", "I like milk.", **CODER)
    assert rounds(http, ann, "s") == [("I like tea.", "")]


def test_forgetting_a_user_forgets_all_spaces(http: httpx.Client, ann: str) -> None:
    record(http, ann, "s", "I like tea.")
    record(http, ann, "s", "I like milk.", **CODER)
    record(http, ann, "s", "I like wine.", **WRITER)
    path = f"/v1/users/{ann}/memories"
    one = http.delete(path, params=CODER).json()
    assert (one["deleted"], one["space"]) == (1, "agent:coder")
    assert http.delete(path, params={"dry_run": True}).json()["rounds"] == 2
    assert http.delete(path).json()["deleted"] == 2
    assert (sessions(http, ann), spaces(http, ann)) == ({}, {})


def test_a_space_is_exported_and_brought_into_another(http: httpx.Client, ann: str) -> None:
    record(http, ann, "s", "I like milk.", **CODER)
    lines = http.get(f"/v1/users/{ann}/export", params=CODER).text
    reply = http.post(f"/v1/users/{ann}/import", params=WRITER, content=lines).json()
    assert (reply["imported"], reply["space"]) == (1, "agent:writer")
    assert spaces(http, ann) == {"agent:coder": 1, "agent:writer": 1}


@pytest.mark.parametrize("space", ["coder", "Agent:x", ":x", "agent:", "", "agent:\x1fx"])
def test_what_names_no_space_is_refused(http: httpx.Client, ann: str, space: str) -> None:
    reply = record(http, ann, "s", "I like tea.", space=space)
    assert_error(reply, 400, "invalid_request_error", reply.json()["error"]["code"])
    assert sessions(http, ann) == {}
