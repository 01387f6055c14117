"""Memories read by date over HTTP: pages, days, text, one by id."""

from typing import Any

import httpx
import pytest
from calls import assert_error, chat, record

LIST = "/v1/memories"
DAYS = {
    "s19": "I ran in Ghent.",
    "s20": "I ran in Brügge.",
    "s21": "My cat is Tom.",
    "s22": "Hm.",
    "s23": "Tom ran.",
}


@pytest.fixture
def told(http: httpx.Client, ann: str) -> str:
    """A user with five sessions on five days."""
    for session_id, text in DAYS.items():
        at = f"2023-05-{session_id[1:]}T23:00:00Z"
        record(http, ann, session_id, text, "GOOD!", timestamp=at)
    return ann


def page(http: httpx.Client, user_id: str, **params: Any) -> dict[str, Any]:
    reply = http.get(LIST, params={"user_id": user_id} | params)
    assert reply.status_code == 200, reply.text
    body: dict[str, Any] = reply.json()
    return body


def ids(body: dict[str, Any]) -> list[str]:
    return [value["session_id"] for value in body["data"]]


def test_what_a_page_holds(http: httpx.Client, told: str) -> None:
    body = page(http, told, limit=2)
    assert (body["object"], body["total"]) == ("list", 5)
    assert body["next"]
    newest = body["data"][0]
    assert (newest["object"], newest["user_text"]) == ("memory", "Tom ran.")
    assert newest["session_date"] == "2023-05-23T23:00:00Z"
    assert "similarity" not in newest


@pytest.mark.parametrize("order", ["newest", "oldest"])
@pytest.mark.parametrize("limit", [1, 2, 5, 200])
def test_pages_follow_each_other_to_the_end(
    http: httpx.Client, told: str, order: str, limit: int
) -> None:
    seen, after = [], None
    while True:
        more = {"after": after} if after else {}
        body = page(http, told, order=order, limit=limit, **more)
        assert body["total"] == 5
        seen += ids(body)
        after = body["next"]
        if after is None:
            break
    assert seen == (list(DAYS) if order == "oldest" else list(DAYS)[::-1])


def test_rounds_of_one_moment_are_listed_once_each(http: httpx.Client, ann: str) -> None:
    record(http, ann, "s", *[f"round {n // 2}" for n in range(12)])
    record(http, ann, "t", "another")
    first = page(http, ann, limit=4)
    rest = page(http, ann, limit=200, after=first["next"])
    found = [value["id"] for value in first["data"] + rest["data"]]
    assert len(found) == len(set(found)) == 7


def test_a_page_goes_on_behind_a_round_that_was_forgotten(http: httpx.Client, told: str) -> None:
    first = page(http, told, limit=2)
    http.delete(f"{LIST}/{first['data'][-1]['id']}", params={"user_id": told})
    assert ids(page(http, told, after=first["next"])) == ["s21", "s20", "s19"]


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ({"from": "2023-05-21"}, ["s23", "s22", "s21"]),
        ({"to": "2023-05-20"}, ["s20", "s19"]),
        ({"from": "2023-05-20", "to": "2023-05-20T01:00:00Z"}, ["s20"]),
        ({"text": "RAN"}, ["s23", "s20", "s19"]),
        ({"text": "brÜgge"}, ["s20"]),
        ({"text": "good"}, ["s23", "s22", "s21", "s20", "s19"]),
        ({"text": "tom", "to": "2023-05-22"}, ["s21"]),
        ({"text": "  "}, ["s23", "s22", "s21", "s20", "s19"]),
        ({"text": "nowhere"}, []),
        ({"from": "2024-01-01"}, []),
    ],
)
def test_days_and_text(
    http: httpx.Client, told: str, asked: dict[str, str], expected: list[str]
) -> None:
    body = page(http, told, **asked)
    assert (ids(body), body["total"], body["next"]) == (expected, len(expected), None)


@pytest.mark.parametrize(
    ("asked", "code"),
    [
        ({"limit": 0}, "invalid_value"),
        ({"limit": 201}, "invalid_value"),
        ({"order": "best"}, "invalid_value"),
        ({"from": "yesterday"}, "invalid_timestamp"),
        ({"from": "2023-05-21", "to": "2023-05-20"}, "invalid_value"),
        ({"after": "x"}, "invalid_value"),
        ({"after": "WzEsIDIsIDNd"}, "invalid_value"),
        ({"after": "WyIyMDIzLTA1LTIwIiwgInMiLCAwXQ=="}, "invalid_value"),
        ({"user_id": " "}, "invalid_value"),
    ],
)
def test_what_cannot_be_understood(
    http: httpx.Client, told: str, asked: dict[str, Any], code: str
) -> None:
    reply = http.get(LIST, params={"user_id": told} | asked)
    assert_error(reply, 400, "invalid_request_error", code)


def test_one_memory(http: httpx.Client, told: str) -> None:
    listed = page(http, told)["data"][0]
    path = f"{LIST}/{listed['id']}"
    read = http.get(path, params={"user_id": told}).json()
    for fact in read["facts"]:
        assert [step["text"] for step in fact.pop("history")] == [fact["text"]]
    assert read == listed
    for other in (path, f"{LIST}/nothing"):
        reply = http.get(other, params={"user_id": "somebody else"})
        assert_error(reply, 404, "not_found_error", "memory_not_found")


def test_a_session_says_how_it_begins(http: httpx.Client, ann: str) -> None:
    record(http, ann, "s", "words\n " * 50, "Yes?", "And then?")
    listed = http.get("/v1/sessions", params={"user_id": ann}).json()["data"]
    read = http.get("/v1/sessions/s", params={"user_id": ann}).json()
    assert listed[0]["opening"] == read["opening"] == ("words " * 13 + "…")


def test_without_questions(http: httpx.Client, ann: str) -> None:
    record(http, ann, "s1", "My cat is Tom.", "Noted.")
    record(http, ann, "s2", "What is my cat called?", "Tom.")
    assert ids(page(http, ann, questions=False)) == ["s1"]
    assert sorted(ids(page(http, ann))) == ["s1", "s2"]
    for given, expected in ((False, ["s1"]), (True, ["s1", "s2"])):
        send = {"user_id": ann, "query": "cat", "questions": given}
        found = http.post("/v1/memories/search", json=send).json()
        assert sorted(ids(found)) == expected


def test_a_withdrawn_answer_says_so(http: httpx.Client, ann: str) -> None:
    chat(http, ann, "My safe opens with 4711.", metadata={"session_id": "told"})
    chat(http, ann, "What does my safe open with?", metadata={"session_id": "asked"})
    (asked,) = page(http, ann, session_id="asked")["data"]
    assert "4711" in asked["assistant_text"]
    assert asked["answer_withdrawn"] is False
    http.delete("/v1/sessions/told", params={"user_id": ann}).raise_for_status()
    (asked,) = page(http, ann, session_id="asked")["data"]
    assert (asked["assistant_text"], asked["answer_withdrawn"]) == ("", True)


def test_named_ones(http: httpx.Client, told: str) -> None:
    named = [one["id"] for one in page(http, told)["data"] if one["session_id"] in ("s20", "s22")]
    assert ids(page(http, told, id=[*named, "nobody", named[0]])) == ["s22", "s20"]
    assert page(http, told, id="nobody")["total"] == 0
