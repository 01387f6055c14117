"""A person's time zone: what "today" is to them, what they are told, and which days a day is."""

from datetime import date
from typing import Any

import httpx
import pytest
from calls import answer, assert_error, chat, record
from scripted_model import ScriptedModel

AUCKLAND, LOS_ANGELES = "Pacific/Auckland", "America/Los_Angeles"
# 21 May, 8 in the morning in Auckland, and 20 May, 1 in the afternoon in Los Angeles.
AT_ONCE = "2023-05-20T20:00:00Z"


def said(http: httpx.Client, user_id: str, **given: Any) -> list[dict[str, Any]]:
    """What is kept of a user."""
    reply = http.get("/v1/memories", params={"user_id": user_id, **given})
    assert reply.status_code == 200, reply.text
    data: list[dict[str, Any]] = reply.json()["data"]
    return data


def tell(http: httpx.Client, user_id: str, text: str, **metadata: str) -> dict[str, Any]:
    """Tell something; the round as it is kept."""
    answer(chat(http, user_id, text, metadata=metadata))
    return said(http, user_id)[0]


def day_of(memory: dict[str, Any]) -> str:
    """The one day that the facts of a round talk about."""
    ((days,),) = (fact["event_dates"] for fact in memory["facts"])
    assert days["first"] == days["last"]
    return str(days["first"])


@pytest.mark.parametrize(
    ("zone", "tomorrow", "said_at"),
    [
        (None, "2023-05-21", "2023-05-20T20:00:00Z"),
        ("UTC", "2023-05-21", "2023-05-20T20:00:00Z"),
        (AUCKLAND, "2023-05-22", "2023-05-21T08:00:00+12:00"),
        (LOS_ANGELES, "2023-05-21", "2023-05-20T13:00:00-07:00"),
    ],
)
def test_tomorrow_is_that_of_who_says_it(
    http: httpx.Client, ann: str, zone: str | None, tomorrow: str, said_at: str
) -> None:
    metadata = {"timestamp": AT_ONCE} | ({"timezone": zone} if zone else {})
    memory = tell(http, ann, "I see the dentist tomorrow at 9:00.", **metadata)
    assert (day_of(memory), memory["session_date"]) == (tomorrow, said_at)


def test_the_day_is_said_back_in_the_zone(http: httpx.Client, ann: str) -> None:
    then = {"timestamp": AT_ONCE, "timezone": AUCKLAND}
    tell(http, ann, "I planted the beech hedge this morning.", **then)
    later = {"timestamp": "2023-05-25T02:00:00Z", "timezone": AUCKLAND}
    asked = chat(http, ann, "When did I plant the beech hedge?", metadata=later)
    assert "On 2023-05-21 (Sun)" in answer(asked)


def test_the_time_tells_quotes_of_one_day_apart(http: httpx.Client, ann: str) -> None:
    for place, at in enumerate(("2023-05-20T20:00:00Z", "2023-05-20T23:15:00Z")):
        text = ("I watered the lemon tree.", "I watered the lemon tree again.")[place]
        record(http, ann, f"s{place}", text, timestamp=at, timezone=AUCKLAND)
    question = "When did I water the lemon tree?"
    quoted = answer(chat(http, ann, question, metadata={"timezone": AUCKLAND}))
    assert "On 2023-05-21 (Sun) at 08:00 you said" in quoted
    assert "On 2023-05-21 (Sun) at 11:15 you said" in quoted


def test_yesterday_is_that_of_who_asks(http: httpx.Client, ann: str) -> None:
    # 20 May, 11 in the evening in Los Angeles: in UTC it is the next day already.
    tell(http, ann, "I repaired the kayak.", timestamp="2023-05-21T06:00:00Z", timezone=LOS_ANGELES)
    tell(http, ann, "I sold the canoe.", timestamp="2023-05-21T19:00:00Z", timezone=LOS_ANGELES)
    now = {"timestamp": "2023-05-21T20:00:00Z", "timezone": LOS_ANGELES}
    asked = chat(http, ann, "What did I do yesterday?", metadata=now | {"memory": "read_only"})
    assert "kayak" in answer(asked)
    assert "canoe" not in answer(asked)
    in_utc = chat(
        http,
        ann,
        "What did I do yesterday?",
        metadata={"timestamp": "2023-05-22T20:00:00Z", "memory": "read_only"},
    )
    assert "kayak" in answer(in_utc)
    assert "canoe" in answer(in_utc)


def test_what_was_said_before_a_zone_was_known(http: httpx.Client, ann: str) -> None:
    record(http, ann, "s", "I repaired the kayak.", timestamp="2023-05-21T06:00:00Z")
    now = {"timestamp": "2023-05-21T20:00:00Z", "timezone": LOS_ANGELES}
    asked = answer(chat(http, ann, "What did I do yesterday?", metadata=now))
    assert "On 2023-05-20 (Sat) you said: “I repaired the kayak.”" in asked


@pytest.mark.parametrize(("zone", "day"), [(AUCKLAND, "2023-05-21"), (LOS_ANGELES, "2023-05-20")])
@pytest.mark.parametrize("place", ["query", "header"])
def test_days_of_lists_are_those_of_the_zone(
    http: httpx.Client, ann: str, zone: str, day: str, place: str
) -> None:
    record(http, ann, "boat", "I painted the boat.", timestamp=AT_ONCE)
    given: dict[str, Any] = {"params": {"user_id": ann}, "headers": {}}
    if place == "query":
        given["params"]["timezone"] = zone
    else:
        given["headers"]["X-Memory-Timezone"] = zone
    (session,) = http.get("/v1/sessions", **given).json()["data"]
    assert session["days"] == [{"day": day, "rounds": 1}]
    for ends, found in (
        ({"from": day, "to": day}, 1),
        ({"to": str(date.fromisoformat(day).replace(day=19))}, 0),
    ):
        params = given["params"] | ends
        listed = http.get("/v1/memories", params=params, headers=given["headers"]).json()
        assert listed["total"] == found


def test_a_search_tells_today_by_the_zone(http: httpx.Client, ann: str) -> None:
    record(http, ann, "s", "I cleaned the gutters.", timestamp="2023-05-20T10:00:00Z")
    body = {"user_id": ann, "query": "What did I do today?", "now": AT_ONCE}
    here = http.post("/v1/memories/search", json=body).json()
    there = http.post("/v1/memories/search", json=body | {"timezone": AUCKLAND}).json()
    assert here["time_range"]["first"] == "2023-05-20"
    assert there["time_range"]["first"] == "2023-05-21"
    assert there["now"] == "2023-05-21T08:00:00+12:00"


def test_recorded_turns_without_a_zone_are_read_in_the_zone(http: httpx.Client, ann: str) -> None:
    record(http, ann, "s", "I won.", timestamp="2023-05-20T09:30", timezone=AUCKLAND)
    (memory,) = said(http, ann)
    assert memory["session_date"] == "2023-05-20T09:30:00+12:00"


# Clocks in Auckland go back on 2 April 2023 at 3:00, so that 2:30 comes twice.
@pytest.mark.parametrize(
    ("at", "clock"),
    [
        ("2023-04-01T13:30:00Z", "2023-04-02T02:30:00+13:00"),
        ("2023-04-01T14:30:00Z", "2023-04-02T02:30:00+12:00"),
    ],
)
def test_an_hour_that_comes_twice(http: httpx.Client, ann: str, at: str, clock: str) -> None:
    assert tell(http, ann, "I woke up.", timestamp=at, timezone=AUCKLAND)["session_date"] == clock


def test_the_order_within_an_hour_that_comes_twice(http: httpx.Client, ann: str) -> None:
    for at, text in (("13:50", "I woke up."), ("14:10", "I fed the cat.")):
        record(http, ann, at, text, timestamp=f"2023-04-01T{at}:00Z", timezone=AUCKLAND)
    assert [one["user_text"] for one in said(http, ann)] == ["I fed the cat.", "I woke up."]


def test_a_day_of_23_hours_ends_at_its_midnight(http: httpx.Client, ann: str) -> None:
    # 24 September 2023 in Auckland: from 12:00 UTC the day before to 11:00 UTC.
    for at in ("2023-09-23T12:00:00Z", "2023-09-24T10:59:00Z", "2023-09-24T11:00:00Z"):
        record(http, ann, at[:16].replace(":", "-"), "I slept.", timestamp=at)
    ends = {"from": "2023-09-24", "to": "2023-09-24", "timezone": AUCKLAND}
    assert len(said(http, ann, **ends)) == 2


def test_as_of_a_day_of_the_zone(http: httpx.Client, ann: str) -> None:
    record(http, ann, "a", "I live in Ghent.", timestamp="2023-03-02T10:00:00Z")
    # 21 May in Auckland.
    record(http, ann, "b", "I live in Oslo now.", timestamp=AT_ONCE)
    asked = {"as_of": "2023-05-20", "memory_debug": "1"}
    here = chat(http, ann, "Where do I live?", metadata=asked)
    there = chat(http, ann, "Where do I live?", metadata=asked | {"timezone": AUCKLAND})
    assert "Oslo" in answer(here)
    assert "Ghent" in answer(there)
    assert "Oslo" not in answer(there)
    assert there.json()["memory"]["now"] == "2023-05-20T23:59:59+12:00"


def test_a_prompt_tells_the_day_and_the_time_of_the_zone(
    answering: httpx.Client, model: ScriptedModel, ann: str
) -> None:
    for place, at in enumerate(("2023-05-20T20:00:00Z", "2023-05-20T23:00:00Z")):
        zone = {"timezone": AUCKLAND} if place else {}
        record(answering, ann, f"s{place}", "I ate porridge.", timestamp=at, **zone)
    model.on("chain_of_note").reply("Answer: porridge.")
    now = {"timestamp": "2023-05-25T13:00:00Z", "timezone": AUCKLAND}
    answer(chat(answering, ann, "What did I eat?", metadata=now))
    (prompt,) = (sent.system for sent in model.requests("chain_of_note"))
    assert "2023-05-26 (Fri)" in prompt
    assert "2023-05-21 (Sun) 08:00" in prompt
    assert "2023-05-21 (Sun) 11:00" in prompt


def test_a_turn_sent_again_from_another_zone_is_known(http: httpx.Client, ann: str) -> None:
    record(http, ann, "s", "I live in Ghent.", timestamp=AT_ONCE, timezone=AUCKLAND)
    again = record(http, ann, "s", "I live in Ghent.", timestamp=AT_ONCE, timezone=LOS_ANGELES)
    assert (again.json()["recorded"], again.json()["known"]) == (0, 1)


def test_the_zone_of_a_round_is_exported_and_brought_in(http: httpx.Client, ann: str) -> None:
    tell(http, ann, "I fly to Rome tomorrow.", timestamp=AT_ONCE, timezone=AUCKLAND)
    lines = http.get(f"/v1/users/{ann}/export").text
    other = f"{ann}, again"
    http.post(f"/v1/users/{other}/import", content=lines.encode())
    (memory,) = said(http, other)
    assert memory["session_date"] == "2023-05-21T08:00:00+12:00"
    assert day_of(memory) == "2023-05-22"


@pytest.mark.parametrize("zone", ["Mars/Olympus", "../../etc/passwd", "", "America", "x" * 300])
def test_a_zone_that_is_none(http: httpx.Client, ann: str, zone: str) -> None:
    reply = chat(http, ann, "Hello.", metadata={"timezone": zone})
    error = assert_error(reply, 400, "invalid_request_error", "invalid_timezone")
    assert error["param"] == "metadata.timezone"


# 21 May 2023 is a Sunday: the last day of a week that begins on Monday, the first of one that
# begins on Sunday.
@pytest.mark.parametrize(
    ("begins", "question", "first", "last"),
    [
        (None, "What did I do this week?", "2023-05-15", "2023-05-21"),
        ("monday", "What did I do this week?", "2023-05-15", "2023-05-21"),
        ("sunday", "What did I do this week?", "2023-05-21", "2023-05-27"),
        ("sunday", "What did I do last week?", "2023-05-14", "2023-05-20"),
        ("saturday", "What did I do last week?", "2023-05-13", "2023-05-19"),
        ("sunday", "What did I do in May 2023?", "2023-05-01", "2023-05-31"),
    ],
)
@pytest.mark.parametrize("route", ["search", "chat"])
def test_weeks_begin_where_the_user_says(
    http: httpx.Client,
    ann: str,
    begins: str | None,
    question: str,
    first: str,
    last: str,
    route: str,
) -> None:
    record(http, ann, "s", "I mended the net.", timestamp="2023-05-18T10:00:00Z")
    at = "2023-05-21T10:00:00Z"
    given = {"week_begins": begins} if begins else {}
    if route == "search":
        body = {"user_id": ann, "query": question, "now": at, **given}
        found = http.post("/v1/memories/search", json=body).json()["time_range"]
    else:
        metadata = {"timestamp": at, "memory_debug": "1", "memory": "read_only", **given}
        found = chat(http, ann, question, metadata=metadata).json()["memory"]["time_range"]
    assert (found["first"], found["last"]) == (first, last)


def test_a_weekday_that_is_none(http: httpx.Client, ann: str) -> None:
    reply = chat(http, ann, "Hello.", metadata={"week_begins": "someday"})
    assert_error(reply, 400, "invalid_request_error", "invalid_value")
