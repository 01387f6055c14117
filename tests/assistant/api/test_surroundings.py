"""What is kept of where a user lives: their time zone, and the day on which their weeks begin."""

import json
from typing import Any

import httpx
import pytest
from calls import assert_error, chat, record

AUCKLAND = "Pacific/Auckland"
# In Auckland it is the 21st, a Sunday.
AT_ONCE = "2023-05-20T20:00:00Z"
KEPT = {"timezone": AUCKLAND, "week_begins": "sunday"}
NONE = {"timezone": None, "week_begins": None}


@pytest.fixture
def bob(ann: str) -> str:
    """Another user."""
    return f"{ann}, another one"


def keep(http: httpx.Client, user_id: str, **given: Any) -> httpx.Response:
    return http.put(f"/v1/users/{user_id}/surroundings", json=given)


def kept(http: httpx.Client, user_id: str) -> dict[str, Any]:
    reply = http.get(f"/v1/users/{user_id}/surroundings")
    assert reply.status_code == 200, reply.text
    told: dict[str, Any] = reply.json()
    assert (told.pop("object"), told.pop("user_id")) == ("user.surroundings", user_id)
    return told


def this_week(http: httpx.Client, user_id: str, **given: Any) -> tuple[str, str]:
    body = {"user_id": user_id, "query": "What did I do this week?", "now": AT_ONCE, **given}
    found = http.post("/v1/memories/search", json=body).json()["time_range"]
    return found["first"], found["last"]


def test_what_is_kept_counts_where_a_request_does_not_say_it(http: httpx.Client, ann: str) -> None:
    assert kept(http, ann) == NONE
    assert this_week(http, ann) == ("2023-05-15", "2023-05-21")
    assert keep(http, ann, **KEPT).status_code == 200
    assert kept(http, ann) == KEPT
    assert this_week(http, ann) == ("2023-05-21", "2023-05-27")
    assert this_week(http, ann, timezone="UTC") == ("2023-05-14", "2023-05-20")
    assert this_week(http, ann, week_begins="monday") == ("2023-05-15", "2023-05-21")
    # So it does in a chat, in a space, and in lists.
    said = {"timestamp": AT_ONCE, "space": "agent:coder"}
    chat(http, ann, "I mended the net today.", metadata=said)
    where = {"user_id": ann, "space": "agent:coder"}
    (memory,) = http.get("/v1/memories", params=where | {"from": "2023-05-21"}).json()["data"]
    assert memory["session_date"] == "2023-05-21T08:00:00+12:00"


def test_it_is_nobody_elses_and_no_memory(http: httpx.Client, ann: str, bob: str) -> None:
    keep(http, ann, **KEPT)
    assert kept(http, bob) == NONE
    assert this_week(http, bob) == ("2023-05-15", "2023-05-21")
    assert http.get("/v1/memories", params={"user_id": ann}).json()["total"] == 0
    assert http.get("/v1/sessions", params={"user_id": ann}).json()["data"] == []
    assert http.get("/v1/spaces", params={"user_id": ann}).json()["data"] == []
    sneaking = http.get("/v1/memories", params={"user_id": ann, "space": "surroundings"})
    assert sneaking.status_code == 400


def test_it_is_changed_and_taken_back(http: httpx.Client, ann: str) -> None:
    keep(http, ann, **KEPT)
    keep(http, ann, week_begins="saturday")
    assert kept(http, ann) == {"timezone": None, "week_begins": "saturday"}
    keep(http, ann)
    assert kept(http, ann) == NONE


def test_it_is_forgotten_with_the_user(http: httpx.Client, ann: str) -> None:
    record(http, ann, "s", "I mended the net.", timestamp=AT_ONCE)
    keep(http, ann, **KEPT)
    everything = f"/v1/users/{ann}/memories"
    assert http.delete(everything, params={"dry_run": True}).json()["rounds"] == 1
    assert http.delete(everything, params={"space": "agent:coder"}).status_code == 200
    assert kept(http, ann) == KEPT
    assert http.delete(everything).json()["rounds"] == 1
    assert kept(http, ann) == NONE


def test_no_rule_takes_it_away(http: httpx.Client, ann: str) -> None:
    old = {"older_than_days": 0, "now": "2100-01-01T00:00:00Z"}
    of_all = old | {"all_users": True, "dry_run": True}
    before = http.post("/v1/retention", json=of_all).json()
    keep(http, ann, **KEPT)
    after = http.post("/v1/retention", json=of_all).json()
    assert (after["rounds"], after["users"]) == (before["rounds"], before["users"])
    http.post("/v1/retention", json=old | {"user_id": ann})
    assert kept(http, ann) == KEPT


def test_it_moves_with_an_export(http: httpx.Client, ann: str, bob: str) -> None:
    record(http, ann, "s", "I mended the net.", timestamp=AT_ONCE)
    without = http.get(f"/v1/users/{ann}/export").text
    assert "surroundings" not in without
    keep(http, ann, **KEPT)
    lines = http.get(f"/v1/users/{ann}/export").text
    assert json.loads(lines.split("\n")[0])["surroundings"] == KEPT
    assert lines.split("\n")[1:] == without.split("\n")[1:]
    coming = f"/v1/users/{bob}/import"
    http.post(coming, content=lines.encode(), params={"dry_run": True})
    assert kept(http, bob) == NONE
    assert http.post(coming, content=lines.encode()).json()["imported"] == 1
    assert kept(http, bob) == KEPT
    # What is there already stays.
    keep(http, bob, timezone="Europe/Madrid")
    http.post(coming, content=lines.encode(), params={"format": "auto"})
    assert kept(http, bob) == {"timezone": "Europe/Madrid", "week_begins": None}
    wrong = lines.replace(AUCKLAND, "Mars/Olympus")
    assert_error(
        http.post(coming, content=wrong.encode()), 400, "invalid_request_error", "invalid_timezone"
    )


def test_it_is_in_a_backup(http: httpx.Client, ann: str) -> None:
    keep(http, ann, **KEPT)
    assert AUCKLAND in http.get("/v1/backup").text


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({"timezone": "Mars/Olympus"}, "invalid_timezone"),
        ({"timezone": ""}, "invalid_timezone"),
        ({"timezone": 3}, "invalid_value"),
        ({"week_begins": "someday"}, "invalid_value"),
    ],
)
def test_what_is_none(http: httpx.Client, ann: str, given: dict[str, Any], code: str) -> None:
    assert_error(keep(http, ann, **given), 400, "invalid_request_error", code)
    assert kept(http, ann) == NONE


def test_in_a_shared_space_they_are_those_of_who_asks(http: httpx.Client, ann: str) -> None:
    space = http.post("/v1/spaces", json={"user_id": ann, "name": "Ours"}).json()["space"]
    body = {"user_id": ann, "role": "reader"}
    http.put(f"/v1/spaces/{space}/members/of {ann}", json=body)
    where = {"X-Memory-Space": space}
    for person, timezone in ((ann, "Asia/Tokyo"), (f"of {ann}", "Europe/Lisbon")):
        path = f"/v1/users/{person}/surroundings"
        assert http.put(path, json={"timezone": timezone}, headers=where).status_code == 200
        told = [http.get(path, headers=given).json() for given in (where, {})]
        assert [(one["user_id"], one["timezone"]) for one in told] == [(person, timezone)] * 2
    http.delete(f"/v1/spaces/{space}", params={"user_id": ann})
