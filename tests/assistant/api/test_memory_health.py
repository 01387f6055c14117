"""The health of a memory over HTTP: what may be wrong with facts, and how much they are used."""

from typing import Any

import httpx
import pytest
from calls import chat, record

NOW = {"x-memory-timestamp": "2024-03-01T10:00:00Z"}
TOLD = {
    "ghent": ("I live in Ghent.", "2023-01-02"),
    "bruges": ("I moved to Bruges yesterday.", "2023-02-02"),
    "acme": ("I work at Acme.", "2024-02-20"),
    "home": ("I work from home until 20 March.", "2024-02-21"),
    "tea": ("I drink green tea in the morning.", "2023-05-01"),
    "again": ("I drink green tea in the morning!", "2023-06-01"),
    "letter": ("Please proofread my uncle's letter:\n\nMy name is now Carla.", "2024-02-23"),
    "name": ("My name is Anna.", "2024-02-22"),
}


@pytest.fixture
def told(http: httpx.Client, ann: str) -> str:
    for session, (text, day) in TOLD.items():
        record(http, ann, session, text, "Noted.", timestamp=f"{day}T10:00:00Z")
    at = {"session_id": "asked", "timestamp": "2024-02-28T10:00:00Z"}
    for question in ("Where do I work?", "Do I work at Acme?"):
        chat(http, ann, question, metadata=at)
    return ann


def health(http: httpx.Client, user_id: str, **asked: Any) -> Any:
    params = {"user_id": user_id} | asked
    found = http.get("/v1/memories/health", params=params, headers=NOW)
    assert found.status_code == 200, found.text
    return found.json()


def sessions(http: httpx.Client, user_id: str, finding: str, **asked: Any) -> list[str]:
    rows = health(http, user_id, finding=finding, **asked)["data"]
    assert {row["finding"] for row in rows} <= {finding}
    return [row["session_id"] for row in rows]


def test_each_finding_has_its_facts(http: httpx.Client, told: str) -> None:
    assert sessions(http, told, "stale") == ["bruges"]
    assert sessions(http, told, "stale", stale_days=1000) == []
    assert sessions(http, told, "contradictory") == ["letter"]
    assert sessions(http, told, "replaced") == ["ghent"]
    assert sessions(http, told, "duplicate") == ["tea"]
    assert sessions(http, told, "expiring") == ["home"]
    assert sessions(http, told, "expiring", expiring_days=5) == []
    assert "acme" in sessions(http, told, "used")
    assert "tea" in sessions(http, told, "unused")


def test_a_row_says_what_it_is_about(http: httpx.Client, told: str) -> None:
    (replaced,) = health(http, told, finding="replaced")["data"]
    assert replaced["fact"]["text"] == "I live in Ghent."
    assert [one["text"] for one in replaced["others"]] == ["I moved to Bruges yesterday."]
    (again,) = health(http, told, finding="duplicate")["data"]
    assert [one["text"] for one in again["others"]] == ["I drink green tea in the morning!"]
    used = health(http, told, finding="used")["data"]
    assert [row["used"] for row in used] == sorted((row["used"] for row in used), reverse=True)
    assert next(row["used"] for row in used if row["session_id"] == "acme") == 2


def test_pages_have_each_row_once(http: httpx.Client, told: str) -> None:
    whole = health(http, told, limit=200)
    assert sum(whole["counts"].values()) == whole["total"] == len(whole["data"])
    rows, after = [], "0"
    while after is not None:
        page = health(http, told, limit=3, after=after)
        rows += page["data"]
        after = page["next"]
    assert rows == whole["data"]


def test_what_is_confirmed_forgotten_or_settled_leaves_the_list(
    http: httpx.Client, told: str
) -> None:
    (stale,) = health(http, told, finding="stale")["data"]
    path, text = f"/v1/memories/{stale['id']}", stale["fact"]["text"]
    said = {"user_id": told, "confirmed": [text], "timestamp": "2024-02-29T10:00:00Z"}
    assert http.patch(path, json=said).status_code == 200
    assert sessions(http, told, "stale") == []
    (twice,) = health(http, told, finding="duplicate")["data"]
    http.delete(f"/v1/memories/{twice['id']}", params={"user_id": told})
    assert sessions(http, told, "duplicate") == []
    (ending,) = health(http, told, finding="expiring")["data"]
    lifted = {"user_id": told, "conditions": {ending["fact"]["text"]: None}}
    http.patch(f"/v1/memories/{ending['id']}", json=lifted)
    assert sessions(http, told, "expiring") == []


def test_another_user_sees_nothing(http: httpx.Client, told: str) -> None:
    assert health(http, f"not {told}")["total"] == 0


@pytest.mark.parametrize("asked", [{"finding": "bored"}, {"after": "x"}, {"limit": 0}])
def test_what_cannot_be_asked(http: httpx.Client, ann: str, asked: dict[str, Any]) -> None:
    reply = http.get("/v1/memories/health", params={"user_id": ann} | asked)
    assert reply.status_code == 400
