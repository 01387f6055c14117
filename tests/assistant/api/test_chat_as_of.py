"""A question as of an earlier day: what was said later does not count, and nothing is stored."""

import httpx
import pytest
from calls import answer, assert_error, chat, record, sessions


@pytest.fixture
def moved(http: httpx.Client, ann: str) -> str:
    record(http, ann, "s1", "I live in Ghent.", "Nice.", timestamp="2023-03-02T10:00:00Z")
    record(http, ann, "s2", "I live in Oslo now.", "Oh!", timestamp="2023-06-01T10:00:00Z")
    return ann


def test_what_was_said_later_does_not_count(http: httpx.Client, moved: str) -> None:
    asked = {"as_of": "2023-05-20", "memory_debug": "1"}
    reply = chat(http, moved, "Where do I live?", metadata=asked)
    assert "Ghent" in answer(reply)
    assert "Oslo" not in answer(reply)
    memory = reply.json()["memory"]
    assert (memory["mode"], memory["round_id"]) == ("read_only", None)
    assert memory["now"] == "2023-05-20T23:59:59Z"
    assert [value["session_id"] for value in memory["data"]] == ["s1"]
    assert set(sessions(http, moved)) == {"s1", "s2"}


def test_a_time_that_is_given_stays(http: httpx.Client, moved: str) -> None:
    asked = {"as_of": "2023-06-01", "timestamp": "2023-06-05T08:00:00Z", "memory_debug": "1"}
    reply = chat(http, moved, "Where do I live?", metadata=asked)
    assert "Oslo" in answer(reply)
    assert reply.json()["memory"]["now"] == "2023-06-05T08:00:00Z"


def test_no_day_to_come_is_asked_of(http: httpx.Client, moved: str) -> None:
    reply = chat(http, moved, "Where?", metadata={"as_of": "2099-01-01", "memory_debug": "1"})
    assert reply.json()["memory"]["now"] == "2023-06-10T09:00:00Z"


def test_a_day_that_is_none(http: httpx.Client, moved: str) -> None:
    reply = chat(http, moved, "Where do I live?", metadata={"as_of": "then"})
    assert_error(reply, 400, "invalid_request_error", "invalid_timestamp")
