"""Two users, every route, every id: nobody sees, changes or forgets what is another's."""

import re
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from calls import chat, record, sessions


def altered(exported: str) -> str:
    """Records as of a version without checksums, of which one was changed by hand."""
    older = exported.replace('"version":3', '"version":2').replace("I will", "I shall")
    return re.sub(r',?"checksum":"[^"]*"', "", older)


SECRET = "My safe opens with 4711."
CHAT, SEARCH = "/v1/chat/completions", "/v1/memories/search"


class Two:
    """Ann, who told a secret, and Eve, who knows every id of hers."""

    def __init__(self, http: httpx.Client, ann: str) -> None:
        self.http = http
        self.ann, self.eve = ann, f"eve and {ann}"
        record(http, self.ann, "shared", SECRET, "I will remember.")
        self.before = sessions(http, self.ann)
        params = {"user_id": self.ann}
        self.memory_id = http.get("/v1/sessions/shared", params=params).json()["data"][0]["id"]

    def asks(self, text: str, **metadata: str) -> httpx.Response:
        return chat(self.http, self.eve, text, metadata=metadata)


ATTEMPTS: dict[str, Callable[[Two], httpx.Response]] = {
    "chat": lambda two: two.asks("Which number opens my safe?"),
    "chat in the session": lambda two: two.asks("My safe?", session_id="shared"),
    "chat again": lambda two: two.asks(SECRET, session_id="shared", question="1"),
    "search": lambda two: two.http.post(SEARCH, json={"user_id": two.eve, "query": SECRET}),
    "search sessions": lambda two: two.http.post(
        SEARCH, json={"user_id": two.eve, "query": SECRET, "unit": "session"}
    ),
    "list": lambda two: two.http.get("/v1/sessions", params={"user_id": two.eve}),
    "read": lambda two: two.http.get("/v1/sessions/shared", params={"user_id": two.eve}),
    "list memories": lambda two: two.http.get("/v1/memories", params={"user_id": two.eve}),
    "list by text": lambda two: two.http.get(
        "/v1/memories", params={"user_id": two.eve, "text": "safe"}
    ),
    "read the round": lambda two: two.http.get(
        f"/v1/memories/{two.memory_id}", params={"user_id": two.eve}
    ),
    "correct the round": lambda two: two.http.patch(
        f"/v1/memories/{two.memory_id}", json={"user_id": two.eve, "user_text": "It was mine."}
    ),
    "count the round": lambda two: two.http.delete(
        f"/v1/memories/{two.memory_id}", params={"user_id": two.eve, "dry_run": "true"}
    ),
    "bring in": lambda two: two.http.post(
        f"/v1/users/{two.eve}/import", content=two.http.get(f"/v1/users/{two.eve}/export").text
    ),
    "bring in the own record of another": lambda two: two.http.post(
        f"/v1/users/{two.eve}/import",
        content=altered(two.http.get(f"/v1/users/{two.ann}/export").text),
    ),
    "record": lambda two: record(two.http, two.eve, "shared", "And my safe?", "What safe?"),
    "forget the session": lambda two: two.http.delete(
        "/v1/sessions/shared", params={"user_id": two.eve}
    ),
    "forget the round": lambda two: two.http.delete(
        f"/v1/memories/{two.memory_id}", params={"user_id": two.eve}
    ),
    "forget everything": lambda two: two.http.delete(f"/v1/users/{two.eve}/memories"),
}


@pytest.mark.parametrize("attempt", ATTEMPTS.values(), ids=ATTEMPTS)
def test_another_user(
    http: httpx.Client, ann: str, attempt: Callable[[Two], httpx.Response]
) -> None:
    two = Two(http, ann)
    reply = attempt(two)
    assert reply.status_code in (200, 404)
    assert "4711" not in _said(reply.json())
    if reply.status_code == 200:
        assert two.memory_id not in reply.text
    assert sessions(http, two.ann) == two.before


def _said(body: dict[str, Any]) -> str:
    """A reply without the query it repeats."""
    return str({name: value for name, value in body.items() if name != "query"})
