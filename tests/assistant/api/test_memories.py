"""Search and forgetting over HTTP."""

import httpx
import pytest
from calls import assert_error, record, sessions

SEARCH = "/v1/memories/search"
VALUE = set(
    """object id session_id round_index session_date similarity user_text assistant_text said_by
    answer_withdrawn tools facts enrichment corrected_at labels expires_at pinned reach signals
    reasons near""".split()
)


@pytest.fixture
def told(http: httpx.Client, ann: str) -> str:
    """A user with three sessions on three days."""
    for day, text in (
        ("19", "I ran in Ghent."),
        ("20", "I ran in Bruges."),
        ("21", "My cat is Tom."),
    ):
        record(http, ann, f"s{day}", text, "Good!", timestamp=f"2023-05-{day}T23:00:00Z")
    return ann


def found(http: httpx.Client, user_id: str, query: str, **more: object) -> list[str]:
    reply = http.post(SEARCH, json={"user_id": user_id, "query": query} | more)
    assert reply.status_code == 200, reply.text
    return [value["session_id"] for value in reply.json()["data"]]


def test_what_a_search_answers(http: httpx.Client, told: str) -> None:
    asked = {"user_id": told, "query": "Where did I run in Ghent?", "now": "2023/06/01 (Thu) 10:00"}
    body = http.post(SEARCH, json=asked).json()
    assert (body["object"], body["query"]) == ("list", asked["query"])
    assert (body["now"], body["time_range"], body["unit"]) == (
        "2023-06-01T10:00:00Z",
        None,
        "round",
    )
    assert set(body["timings"]) == {"embed_ms", "search_ms", "total_ms"}
    best = body["data"][0]
    assert set(best) == VALUE
    assert best["session_id"] == "s19"
    similarities = [value["similarity"] for value in body["data"]]
    assert similarities == sorted(similarities, reverse=True)


def test_a_time_in_the_query_is_understood_and_lifts_without_cutting(
    http: httpx.Client, told: str
) -> None:
    asked = {"user_id": told, "query": "Where did I run yesterday?", "now": "2023-05-21T09:00:00Z"}
    body = http.post(SEARCH, json=asked).json()
    assert body["time_range"] == {
        "first": "2023-05-20",
        "last": "2023-05-20",
        "precision": "day",
        "text": "yesterday",
    }
    said_then = {value["session_id"]: value["signals"]["said_then"] for value in body["data"]}
    assert said_then == {"s19": 0.0, "s20": 1.0, "s21": 0.0}
    assert body["data"][0]["session_id"] == "s20"


@pytest.mark.parametrize("unit", ["round", "session"])
def test_every_value_says_why_it_ranks_where_it_does(
    http: httpx.Client, told: str, unit: str
) -> None:
    asked = {"user_id": told, "query": "Was Bruges yesterday?", "now": "2023-05-21T09:00:00Z"}
    data = http.post(SEARCH, json=asked | {"unit": unit}).json()["data"]
    for value in data:
        parts = [reason["contribution"] for reason in value["reasons"]]
        assert sum(parts) == pytest.approx(value["similarity"], abs=1e-5)
        assert {r["signal"]: r["value"] for r in value["reasons"]} == value["signals"]
    because = {reason["signal"]: reason["because"] for reason in data[0]["reasons"]}
    assert because["dense"] == ["I ran in Bruges."]
    assert because["said_then"] == ["yesterday"]


def test_sessions_instead_of_rounds(http: httpx.Client, told: str) -> None:
    record(http, told, "s19", "My cat ran too.", timestamp="2023-05-19T23:10:00Z")
    asked = {"user_id": told, "query": "ran in Ghent", "unit": "session"}
    body = http.post(SEARCH, json=asked).json()
    assert body["unit"] == "session"
    ids = [value["session_id"] for value in body["data"]]
    assert ids[0] == "s19"
    assert len(ids) == len(set(ids))
    rounds = body["data"][0]["rounds"]
    assert {one["round_index"] for one in rounds} == {0, 1}
    assert rounds[0]["id"] == body["data"][0]["id"]


@pytest.mark.parametrize(
    ("cut", "expected"),
    [
        ({}, {"s19", "s20", "s21"}),
        ({"from": "2023-05-20"}, {"s20", "s21"}),
        ({"to": "2023-05-20"}, {"s19", "s20"}),
        ({"from": "2023-05-20", "to": "2023-05-20"}, {"s20"}),
        ({"as_of": "2023-05-20T01:00:00Z"}, {"s19", "s20"}),
        ({"as_of": "2023/05/19 (Fri) 10:00"}, {"s19"}),
        ({"to": "2023-05-21", "as_of": "2023-05-19"}, {"s19"}),
        ({"to": "2023-05-19", "as_of": "2023-05-21"}, {"s19"}),
        ({"from": "0001-01-01", "to": "9998-12-31"}, {"s19", "s20", "s21"}),
        ({"to": "2001-01-01"}, set()),
        ({"from": None, "to": None, "as_of": None}, {"s19", "s20", "s21"}),
    ],
)
def test_days_cut_inclusively(
    http: httpx.Client, told: str, cut: dict[str, str], expected: set[str]
) -> None:
    assert set(found(http, told, "ran", **cut)) == expected


def test_top_k(http: httpx.Client, told: str) -> None:
    assert len(found(http, told, "ran", top_k=1)) == 1
    assert len(found(http, told, "ran", top_k=2, unit="session")) == 2


def test_a_search_stores_nothing(http: httpx.Client, ann: str) -> None:
    assert found(http, ann, "anything") == []
    assert sessions(http, ann) == {}


def test_a_very_long_query(http: httpx.Client, told: str) -> None:
    assert "s19" in found(http, told, "Ghent " * 5_000)


def test_one_round_is_forgotten(http: httpx.Client, told: str) -> None:
    data = http.get("/v1/sessions/s19", params={"user_id": told}).json()["data"]
    path = f"/v1/memories/{data[0]['id']}"
    assert http.delete(path, params={"user_id": told}).json() == {
        "object": "memory.deleted",
        "id": data[0]["id"],
        "deleted": True,
        "dry_run": False,
        "rounds": 1,
        "facts": 1,
        "sessions": 1,
        "answers": 0,
    }
    again = http.delete(path, params={"user_id": told})
    assert_error(again, 404, "not_found_error", "memory_not_found")
    assert set(found(http, told, "ran in Ghent")) == {"s20", "s21"}


def test_everything_of_a_user_is_counted_and_forgotten(http: httpx.Client, told: str) -> None:
    path = f"/v1/users/{told}/memories"
    counted = http.delete(path, params={"dry_run": "true"}).json()
    assert (counted["deleted"], counted["dry_run"], counted["rounds"]) == (0, True, 3)
    assert len(sessions(http, told)) == 3
    forgotten = http.delete(path).json()
    assert forgotten == {
        "object": "user.memories.deleted",
        "space": None,
        "user_id": told,
        "deleted": 3,
        "dry_run": False,
        "rounds": 3,
        "facts": 2,
        "sessions": 3,
        "answers": 0,
    }
    assert sessions(http, told) == {}
    assert http.delete(path).json()["deleted"] == 0


def test_a_user_whose_id_holds_a_slash_can_be_forgotten(http: httpx.Client, ann: str) -> None:
    user_id = f"team/{ann}"
    record(http, user_id, "s", "hi")
    assert http.delete(f"/v1/users/{user_id}/memories").json()["deleted"] == 1


def test_a_search_says_what_is_near(http: httpx.Client, told: str) -> None:
    asked = {"user_id": told, "query": "the name of my cat", "now": "2023-06-01T10:00:00Z"}
    data = http.post(SEARCH, json=asked).json()["data"]
    assert [value["user_text"] for value in data if value["near"]] == ["My cat is Tom."]
    assert len(data) == 3
    of_then = http.post(SEARCH, json=asked | {"query": "what did I do on 21 May"}).json()["data"]
    assert [value["session_id"] for value in of_then if value["near"]] == ["s21"]
