"""Recorded turns over HTTP: rounds by role, once each, listed, read and forgotten."""

import json
import unicodedata

import httpx
import pytest
from calls import assert_error, chat, record, rounds, sessions


def test_open_makes_an_id_or_keeps_the_callers(http: httpx.Client, ann: str) -> None:
    made = http.post("/v1/sessions", json={"user_id": ann, "started_at": "2023-05-20"}).json()
    assert made["object"] == "session"
    assert made["started_at"] == "2023-05-20T00:00:00Z"
    assert made["id"].startswith("session-")
    given = http.post("/v1/sessions", json={"user_id": ann, "session_id": "mine"}).json()
    assert (given["id"], given["started_at"]) == ("mine", "2023-06-10T09:00:00Z")
    named = http.post("/v1/sessions", json={}, headers={"x-memory-session": "theirs"}).json()
    assert named["id"] == "theirs"
    assert sessions(http, ann) == {}


def test_what_recording_answers(http: httpx.Client, ann: str) -> None:
    reply = record(http, ann, "s", "hi", "hello", "bye", wait=False, close=True)
    body = reply.json()
    assert body == {
        "object": "session.messages",
        "session_id": "s",
        "user_id": ann,
        "space": None,
        "recorded": 3,
        "known": 0,
        "rounds": body["rounds"],
        "enrichment": None,
    }
    assert [one["round_index"] for one in body["rounds"]] == [0, 1]


@pytest.mark.parametrize(
    ("calls", "expected"),
    [
        ([["u:hi", "a:hello"]], [("hi", "hello")]),
        ([["u:hi"], ["a:hello"]], [("hi", "hello")]),
        ([["a:welcome", "u:hi"], ["a:hello"]], [("", "welcome"), ("hi", "hello")]),
        ([["u:one", "u:two"], ["a:three", "a:four"]], [("one", ""), ("two", "three\n\nfour")]),
        ([["u:", "a:"]], [("", "")]),
        ([[]], []),
    ],
)
def test_rounds_are_formed_by_role_across_calls(
    http: httpx.Client, ann: str, calls: list[list[str]], expected: list[tuple[str, str]]
) -> None:
    roles = {"u": "user", "a": "assistant"}
    for minute, said in enumerate(calls):
        messages = [{"role": roles[one[0]], "content": one[2:]} for one in said]
        at = f"2023-05-20T10:0{minute}:00Z"
        assert record(http, ann, "s", messages=messages, timestamp=at).status_code == 200
    assert rounds(http, ann, "s") == expected


@pytest.mark.parametrize("how", ["timestamp", "id", "common"])
def test_turns_sent_again_are_known(http: httpx.Client, ann: str, how: str) -> None:
    messages = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}]
    if how != "common":
        values = {"timestamp": "2023-05-20T10:00:00Z", "id": "m"}
        messages = [m | {how: f"{values[how]}"} for m in messages]
        messages[1][how] = messages[1][how] if how == "timestamp" else "m2"
    first, again = (record(http, ann, "s", messages=messages).json() for _ in range(2))
    assert (first["recorded"], first["known"]) == (2, 0)
    assert (again["recorded"], again["known"], again["rounds"]) == (0, 2, [])
    assert rounds(http, ann, "s") == [("hi", "hello")]


def test_an_untimed_turn_sent_again_is_known_as_the_last_one(http: httpx.Client, ann: str) -> None:
    for _ in range(2):
        record(http, ann, "s", "hi", timestamp=None)
    assert rounds(http, ann, "s") == [("hi", "")]


def untimed(http: httpx.Client, ann: str, *said: str, **headers: str) -> tuple[int, int]:
    """Record turns without a time; how many were recorded and known."""
    roles = ("user", "assistant")
    messages = [{"role": roles[i % 2], "content": text} for i, text in enumerate(said)]
    body = {"user_id": ann, "messages": messages}
    reply = http.post("/v1/sessions/s/messages", json=body, headers=headers).json()
    return reply["recorded"], reply["known"]


def test_an_untimed_list_sent_again_is_known_and_may_go_on(http: httpx.Client, ann: str) -> None:
    assert untimed(http, ann, "hi", "hello", "yes", "fine") == (4, 0)
    assert untimed(http, ann, "hi", "hello", "yes", "fine") == (0, 4)
    assert untimed(http, ann, "yes", "fine", "more", "done") == (2, 2)
    expected = [("hi", "hello"), ("yes", "fine"), ("more", "done")]
    assert rounds(http, ann, "s") == expected
    assert untimed(http, ann, "hi", "hello") == (2, 0)
    assert rounds(http, ann, "s") == [*expected, ("hi", "hello")]


def test_an_idempotency_key_tells_a_retry_from_the_same_words_again(
    http: httpx.Client, ann: str
) -> None:
    first, second = {"Idempotency-Key": "k1"}, {"Idempotency-Key": "k2"}
    assert untimed(http, ann, "more", "ok", **first) == (2, 0)
    assert untimed(http, ann, "more", "ok", **second) == (2, 0)
    assert untimed(http, ann, "more", "ok", **first) == (0, 2)
    assert rounds(http, ann, "s") == [("more", "ok")] * 2


def test_an_idempotency_key_must_not_be_endless(http: httpx.Client, ann: str) -> None:
    body = {"user_id": ann, "messages": [{"role": "user", "content": "hi"}]}
    headers = {"Idempotency-Key": "k" * 257}
    reply = http.post("/v1/sessions/s/messages", json=body, headers=headers)
    assert_error(reply, 400, "invalid_request_error", "invalid_value")


def test_times_of_turns_and_of_the_call(http: httpx.Client, ann: str) -> None:
    messages = [
        {"role": "user", "content": "own", "timestamp": "2023/05/19 (Fri) 08:00"},
        {"role": "user", "content": "common"},
    ]
    record(http, ann, "s", messages=messages, timestamp="2023-05-20T10:00:00Z")
    data = http.get("/v1/sessions/s", params={"user_id": ann}).json()["data"]
    dates = [value["session_date"] for value in data]
    assert dates == ["2023-05-19T08:00:00Z", "2023-05-20T10:00:01Z"]


def test_an_answer_without_a_time_is_of_the_time_of_its_question(
    http: httpx.Client, ann: str
) -> None:
    messages = [
        {"role": "user", "content": "hi", "timestamp": "2023-05-19T08:00:00Z"},
        {"role": "assistant", "content": "hello"},
        {"role": "user", "content": "bye"},
    ]
    for recorded, known in ((3, 0), (0, 3)):
        reply = record(http, ann, "s", messages=messages, timestamp=None).json()
        assert (reply["recorded"], reply["known"]) == (recorded, known)
    assert rounds(http, ann, "s") == [("hi", "hello"), ("bye", "")]
    data = http.get("/v1/sessions/s", params={"user_id": ann}).json()["data"]
    dates = [value["session_date"] for value in data]
    assert dates == ["2023-05-19T08:00:00Z", "2023-05-19T08:00:02Z"]


def test_a_session_counts_on_each_of_its_days(http: httpx.Client, ann: str) -> None:
    for day in ("2023-05-19T23:59:00Z", "2023-05-21T00:30:00+02:00", "2023-05-20T08:00:00Z"):
        record(http, ann, "long", f"It is {day}.", timestamp=day)
    (listed,) = http.get("/v1/sessions", params={"user_id": ann}).json()["data"]
    assert listed["days"] == [
        {"day": "2023-05-19", "rounds": 1},
        {"day": "2023-05-20", "rounds": 2},
    ]


def test_sessions_are_listed_oldest_first(http: httpx.Client, ann: str) -> None:
    record(http, ann, "later", "hi", "hello", timestamp="2023-05-21T10:00:00Z")
    record(http, ann, "earlier", "a", "b", "c", timestamp="2023-05-19T10:00:00Z")
    listed = http.get("/v1/sessions", params={"user_id": ann}).json()
    assert listed["object"] == "list"
    assert [one["id"] for one in listed["data"]] == ["earlier", "later"]
    assert listed["data"][0] == {
        "object": "session",
        "id": "earlier",
        "user_id": ann,
        "space": None,
        "started_at": "2023-05-19T10:00:00Z",
        "ended_at": "2023-05-19T10:00:02Z",
        "rounds": 2,
        "title": None,
        "opening": "a",
        "days": [{"day": "2023-05-19", "rounds": 2}],
        "labels": {},
        "enrichment": {"pending": 0, "done": 2, "failed": 0},
        "failures": [],
    }


def test_a_session_is_read_with_its_rounds(http: httpx.Client, ann: str) -> None:
    record(http, ann, "s", "I adopted a cat last week.", "Congratulations!", "bye")
    body = http.get("/v1/sessions/s", params={"user_id": ann}).json()
    assert (body["object"], body["id"], body["rounds"]) == ("session", "s", 2)
    first = body["data"][0]
    assert first["user_text"] == "I adopted a cat last week."
    assert first["facts"] == [
        {
            "text": "I adopted a cat last week.",
            "speaker": "user",
            "source": "rule",
            # The week before Monday 15 May 2023, in which it was said.
            "event_dates": [{"first": "2023-05-08", "last": "2023-05-14"}],
            "superseded_by": None,
            "supersedes": [],
            "in_doubt": False,
            "contradicts": [],
            "condition": None,
            "confirmed_at": None,
            "ask_on": None,
        }
    ]
    assert {"id", "session_id", "round_index", "session_date", "assistant_text"} <= set(first)


def test_a_forgotten_session_is_gone(http: httpx.Client, ann: str) -> None:
    record(http, ann, "s", "hi", "hello", "bye")
    record(http, ann, "other", "hi")
    deleted = http.delete("/v1/sessions/s", params={"user_id": ann}).json()
    expected = {"object": "session.deleted", "id": "s", "deleted": True, "rounds": 2}
    assert deleted.items() >= expected.items()
    again = http.delete("/v1/sessions/s", params={"user_id": ann})
    assert_error(again, 404, "not_found_error", "session_not_found")
    assert list(sessions(http, ann)) == ["other"]


def test_recorded_turns_and_chat_share_a_session(http: httpx.Client, ann: str) -> None:
    record(http, ann, "s", "I like tea.", "Noted.")
    chat(http, ann, "What do I like?", metadata={"session_id": "s"})
    assert [user for user, _ in rounds(http, ann, "s")] == ["I like tea.", "What do I like?"]


def test_a_speakers_name_is_known_however_its_accents_are_written(
    http: httpx.Client, ann: str
) -> None:
    """As files of some systems write them: the letter, and the accent after it."""
    names = [unicodedata.normalize("NFD", name) for name in ("José", "İpek")]
    said = [
        {"role": role, "content": "I keep bees.", "name": name}
        for role, name in zip(("user", "assistant"), names, strict=True)
    ]
    http.post("/v1/sessions/s/messages", json={"user_id": ann, "messages": said})
    lines = http.get(f"/v1/users/{ann}/export").text.splitlines()
    round = json.loads(lines[1])
    assert (round["user_name"], round["assistant_name"]) == ("José", "İpek")


def name(http: httpx.Client, user_id: str, session_id: str, title: str) -> httpx.Response:
    return http.patch(f"/v1/sessions/{session_id}", json={"user_id": user_id, "title": title})


def test_a_session_is_named_and_keeps_its_name(http: httpx.Client, ann: str) -> None:
    chat(http, ann, "I live in Ghent.", metadata={"session_id": "a/b"})
    named = name(http, ann, "a/b", "  My  town ").json()
    assert (named["object"], named["id"], named["title"]) == ("session", "a/b", "My town")
    # What is said after it, and what is said again, is of the session that has this name.
    chat(http, ann, "I live in Ghent.", metadata={"session_id": "a/b"})
    chat(http, ann, "My cat is Tom.", metadata={"session_id": "a/b"})
    exported = http.get(f"/v1/users/{ann}/export").text
    assert http.delete(f"/v1/users/{ann}/memories").json()["rounds"] == 2
    assert http.post(f"/v1/users/{ann}/import", content=exported).json()["imported"] == 2
    read = http.get("/v1/sessions/a/b", params={"user_id": ann}).json()
    assert (read["title"], read["rounds"], read["opening"]) == ("My town", 2, "I live in Ghent.")
    assert name(http, ann, "a/b", "").json()["title"] is None
    assert_error(name(http, ann, "a/b", "x" * 201), 400, "invalid_request_error", "invalid_value")
    assert_error(name(http, ann, "c", "x"), 404, "not_found_error", "session_not_found")


def test_a_session_recorded_whole_is_what_it_is_turn_by_turn(http: httpx.Client, ann: str) -> None:
    said = (
        "I live in Ghent and work as a baker.",
        "Noted.",
        "My sister visited me last Friday.",
        "How nice!",
        "I moved to Bruges yesterday.",
        "Good luck there.",
    )
    turns = [
        {
            "id": f"t{number}",
            "role": ("user", "assistant")[number % 2],
            "content": text,
            "timestamp": f"2023-05-20T10:00:0{number}Z",
        }
        for number, text in enumerate(said)
    ]
    kept = []
    for parts in ([[turn] for turn in turns], [turns]):
        for part in parts:
            body = {"user_id": ann, "messages": part}
            http.post("/v1/sessions/s/messages", json=body).raise_for_status()
        kept.append(http.get("/v1/sessions/s", params={"user_id": ann}).json())
        http.delete(f"/v1/users/{ann}/memories").raise_for_status()
    one_by_one, whole = kept
    assert len(whole["data"]) == 3
    assert whole == one_by_one
