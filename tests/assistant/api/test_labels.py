"""Labels and expiry over HTTP: given with what is said, filtered by, and carried out."""

import json
from typing import Any

import httpx
import pytest
from calls import assert_error, chat, record

TIME = "2023-05-20T10:00:00Z"


def memories(http: httpx.Client, user: str, **params: Any) -> list[dict[str, Any]]:
    reply = http.get("/v1/memories", params={"user_id": user, "order": "oldest"} | params)
    assert reply.status_code == 200, reply.text
    found: list[dict[str, Any]] = reply.json()["data"]
    return found


@pytest.fixture
def told(http: httpx.Client, ann: str) -> str:
    record(http, ann, "home", "My cat is Tom.", "Nice.", labels={"topic": "home", "stars": 5})
    record(http, ann, "work", "My boss is Eva.", "I see.", labels={"topic": "work"})
    record(http, ann, "plain", "My bike is red.", "Fine.")
    return ann


def test_a_recorded_round_shows_its_labels(http: httpx.Client, told: str) -> None:
    home, _, plain = sorted(memories(http, told), key=lambda one: one["session_id"] == "plain")
    assert home["labels"] == {"topic": "home", "stars": 5}
    assert (plain["labels"], plain["expires_at"]) == ({}, None)


@pytest.mark.parametrize(
    ("where", "found"),
    [
        ({"topic": "home"}, {"home"}),
        ({"topic": ["home", "work"]}, {"home", "work"}),
        ({"topic": "work", "stars": 5}, set()),
        ({}, {"home", "work", "plain"}),
    ],
)
def test_lists_and_searches_are_filtered(
    http: httpx.Client, told: str, where: dict[str, Any], found: set[str]
) -> None:
    text = json.dumps(where)
    assert {one["session_id"] for one in memories(http, told, where=text)} == found
    listed = http.get("/v1/sessions", params={"user_id": told, "where": text}).json()["data"]
    assert {one["id"] for one in listed} == found
    body = {"user_id": told, "query": "Who is my boss, cat or bike?", "where": where}
    hits = http.post("/v1/memories/search", json=body).json()["data"]
    assert {one["session_id"] for one in hits} == found


def test_a_chat_labels_what_it_keeps_and_recalls_by_label(http: httpx.Client, told: str) -> None:
    said = {"session_id": "live", "timestamp": TIME, "labels": '{"topic": "garden"}'}
    said["expires_in"] = "3600"
    assert chat(http, told, "My roses are yellow.", metadata=said).status_code == 200
    more = {"session_id": "live", "timestamp": "2023-05-20T10:05:00Z"}
    chat(http, told, "My tulips are black.", metadata=more)
    first, second = [one for one in memories(http, told) if one["session_id"] == "live"]
    assert (first["labels"], first["expires_at"]) == ({"topic": "garden"}, "2023-05-20T11:00:00Z")
    # What follows in a session is labelled as what came before; it does not expire with it.
    assert (second["labels"], second["expires_at"]) == ({"topic": "garden"}, None)
    asked = {"memory": "read_only", "memory_debug": "1", "where": {"topic": "work"}}
    reply = chat(http, told, "Who is Tom?", metadata=asked).json()
    assert {one["session_id"] for one in reply["memory"]["data"]} == {"work"}


def test_a_session_is_labelled_anew(http: httpx.Client, told: str) -> None:
    path, user = "/v1/sessions/home", {"user_id": told}
    reply = http.patch(path, json=user | {"labels": {"topic": "pets"}})
    assert (reply.json()["labels"], reply.json()["title"]) == ({"topic": "pets"}, None)
    named = http.patch(path, json=user | {"title": "Tom"}).json()
    assert (named["labels"], named["title"]) == ({"topic": "pets"}, "Tom")
    assert_error(http.patch(path, json=user), 400, "invalid_request_error", "invalid_value")
    record(http, told, "home", "My dog is Rex.", timestamp="2023-05-21T10:00:00Z")
    assert [one["labels"] for one in memories(http, told, session_id="home")] == [
        {"topic": "pets"}
    ] * 2


@pytest.mark.parametrize(
    "wrong",
    [
        {"labels": {"topic": ["home"]}},
        {"labels": {"no name": 1}},
        {"labels": {f"n{i}": i for i in range(17)}},
        {"expires_at": "soon"},
        {"expires_in": 1e18},
        {"expires_in": 0},
    ],
)
def test_what_cannot_be_kept_like_this_is_refused(
    http: httpx.Client, ann: str, wrong: dict[str, Any]
) -> None:
    assert record(http, ann, "s", "My cat is Tom.", **wrong).status_code == 400
    assert memories(http, ann) == []


@pytest.mark.parametrize("where", ["topic=home", "[]", "{", '{"topic": []}', "[" * 9999])
def test_what_is_no_filter_is_refused(http: httpx.Client, ann: str, where: str) -> None:
    reply = http.get("/v1/memories", params={"user_id": ann, "where": where})
    assert reply.status_code == 400, reply.text


def retention(http: httpx.Client, user: str, **body: Any) -> dict[str, Any]:
    reply = http.post("/v1/retention", json={"user_id": user} | body)
    assert reply.status_code == 200, reply.text
    told: dict[str, Any] = reply.json()
    return told


def test_what_has_expired_goes_when_it_is_asked_for(http: httpx.Client, told: str) -> None:
    record(http, told, "short", "My code is 77.", expires_at="2023-06-01T00:00:00Z")
    assert retention(http, told, now="2023-05-31T23:59:59Z")["rounds"] == 0
    june = "2023-06-01T00:00:00Z"
    counted = retention(http, told, now=june, dry_run=True)
    assert (counted["rounds"], counted["sessions"], counted["users"]) == (1, 1, 1)
    assert len(memories(http, told)) == 4
    assert retention(http, told, now=june) == counted | {"dry_run": False}
    assert retention(http, told)["rounds"] == 0
    assert len(memories(http, told)) == 3


def test_what_is_older_goes_by_rule(http: httpx.Client, told: str) -> None:
    record(http, told, "later", "My car is old.", timestamp="2023-05-22T00:00:00Z")
    day = {"now": "2023-05-22T12:00:00Z"}
    assert retention(http, told, older_than_days=2, **day)["rounds"] == 0
    home = retention(http, told, older_than_days=1, where={"topic": "home"}, **day)
    assert home["rounds"] == 1
    assert retention(http, told, older_than_days=1, **day)["rounds"] == 2
    assert [one["session_id"] for one in memories(http, told)] == ["later"]


def test_an_admin_asks_for_everybody(http: httpx.Client, told: str) -> None:
    other = f"{told} and another"
    record(http, other, "s", "My code is 77.", expires_in=1)
    record(http, told, "short", "My code is 78.", expires_in=1)
    gone = http.post("/v1/retention", json={"all_users": True, "now": "2023-06-01"}).json()
    # Of whoever else is on this server, too.
    assert gone["rounds"] >= gone["users"] >= 2
    assert len(memories(http, told)) == 3
    assert memories(http, other) == []
