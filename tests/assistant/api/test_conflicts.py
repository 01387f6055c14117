"""Statements that may be another's, over HTTP: listed, claimed, left, never answered as theirs."""

from typing import Any

import httpx
import pytest
from calls import answer, assert_error, chat, record

LETTER = "Please proofread my uncle's letter:\n\nMy name is now Carla."
CARLA = "My name is now Carla."


@pytest.fixture
def told(http: httpx.Client, ann: str) -> str:
    """The id of the round in which Ann has a letter read."""
    record(http, ann, "home", "My name is Anna.", timestamp="2023-03-02T09:00:00Z")
    record(http, ann, "letter", LETTER, "Fine.", timestamp="2023-05-02T09:00:00Z")
    (one,) = http.get("/v1/sessions/letter", params={"user_id": ann}).json()["data"]
    return str(one["id"])


def conflicts(http: httpx.Client, user: str, **asked: int) -> dict[str, Any]:
    found = http.get("/v1/memories/conflicts", params={"user_id": user, **asked})
    assert found.status_code == 200
    return dict(found.json())


def asked(http: httpx.Client, user: str, question: str) -> str:
    return answer(chat(http, user, question, metadata={"memory": "read_only"}))


def says(http: httpx.Client, user: str, id: str, speaker: str, fact: str = CARLA) -> httpx.Response:
    body = {"user_id": user, "speakers": {fact: speaker}, "timestamp": "2023-06-01T09:00:00Z"}
    return http.patch(f"/v1/memories/{id}", json=body)


def test_a_conflict_is_listed_with_both_statements(http: httpx.Client, ann: str, told: str) -> None:
    found = conflicts(http, ann)
    assert found["total"] == 1
    (one,) = found["data"]
    assert (one["id"], one["fact"], one["speaker"]) == (told, CARLA, "quoted")
    assert one["said_at"] == "2023-05-02T09:00:00Z"
    (held,) = one["contradicts"]
    assert (held["text"], held["said_at"]) == ("My name is Anna.", "2023-03-02T09:00:00Z")


def test_the_fact_says_that_it_is_quoted_wherever_it_is_shown(
    http: httpx.Client, ann: str, told: str
) -> None:
    search = {"user_id": ann, "query": "What is my name?"}
    shown = [
        http.get(f"/v1/memories/{told}", params={"user_id": ann}).json(),
        http.get("/v1/sessions/letter", params={"user_id": ann}).json()["data"][0],
        http.get("/v1/memories", params={"user_id": ann}).json()["data"][0],
        *(
            one
            for one in http.post("/v1/memories/search", json=search).json()["data"]
            if one["id"] == told
        ),
    ]
    assert len(shown) == 4
    for one in shown:
        fact = next(fact for fact in one["facts"] if fact["text"] == CARLA)
        assert (fact["speaker"], fact["in_doubt"]) == ("quoted", True)
        assert [other["text"] for other in fact["contradicts"]] == ["My name is Anna."]
    export = http.get(f"/v1/users/{ann}/export").text
    assert '"speaker":"quoted"' in export


def test_quoted_text_is_not_answered_as_if_the_user_had_said_it(
    http: httpx.Client, ann: str, told: str
) -> None:
    said = asked(http, ann, "What is my name?")
    first, *more = [line for line in said.splitlines() if line.startswith("- ")]
    assert "you said: “My name is Anna.”" in first
    assert not any("you said: “My name is now Carla.”" in line for line in more)
    about = asked(http, ann, "What do you know about me?")
    assert "Anna" in about
    assert "Carla" not in about


@pytest.mark.parametrize(("speaker", "replaced"), [("user", True), ("quoted", False)])
def test_a_conflict_is_decided(
    http: httpx.Client, ann: str, told: str, speaker: str, replaced: bool
) -> None:
    reply = says(http, ann, told, speaker)
    assert reply.status_code == 200
    fact = next(fact for fact in reply.json()["facts"] if fact["text"] == CARLA)
    assert (fact["speaker"], fact["source"]) == (speaker, "user")
    assert conflicts(http, ann)["total"] == 0
    (home,) = http.get("/v1/sessions/home", params={"user_id": ann}).json()["data"]
    assert (home["facts"][0]["superseded_by"] is not None) is replaced
    lines = asked(http, ann, "What is my name?").splitlines()
    assert any("you said" in line and "Carla" in line for line in lines) is replaced


def test_so_many_at_most(http: httpx.Client, ann: str, told: str) -> None:
    record(http, ann, "more", "Fix grammar please\nMy name is now Zoe.")
    found = conflicts(http, ann, limit=1)
    assert (found["total"], len(found["data"])) == (2, 1)


def test_what_cannot_be_said(http: httpx.Client, ann: str, told: str) -> None:
    unknown = says(http, ann, told, "user", fact="I am nobody's.")
    assert_error(unknown, 400, "invalid_request_error", "invalid_value")
    assert_error(says(http, ann, told, "assistant"), 400, "invalid_request_error", "invalid_value")
    missing = says(http, ann, "0d0e3b52-8f0e-5f0c-9a55-3f1c5d0f4e11", "user")
    assert_error(missing, 404, "not_found_error", "memory_not_found")
