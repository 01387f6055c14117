"""What the assistant hears of a history: order, times, and the proof that all of it arrived."""

import json
from pathlib import Path

from benches import Bench
from histories import chat, history, instance, turn, write_data


def data(tmp_path: Path) -> Path:
    sessions = history(
        ("late", "2023/05/21 (Sun) 08:00", [turn("assistant", "L0"), *chat("L1", "L2")]),
        ("early", "2023/05/20 (Sat) 23:59", [*chat("E0", "E1"), turn("user", "E2")]),
        evidence=["early"],
    )
    return write_data(tmp_path / "order.json", [instance("q1") | sessions])


def test_turns_arrive_one_by_one_in_date_order_with_their_own_times(
    bench: Bench, tmp_path: Path
) -> None:
    bench.data_file = data(tmp_path)
    bench.replay()
    bodies = [json.loads(sent.body) for sent in bench.assistant.sent("POST", "/messages")]
    assert [len(body["messages"]) for body in bodies] == [1] * 6
    heard = [(m["content"], m["timestamp"]) for body in bodies for m in body["messages"]]
    assert heard == [
        ("E0", "2023-05-20T23:59:00Z"),
        ("E1", "2023-05-20T23:59:01Z"),
        ("E2", "2023-05-20T23:59:02Z"),
        ("L0", "2023-05-21T08:00:00Z"),
        ("L1", "2023-05-21T08:00:01Z"),
        ("L2", "2023-05-21T08:00:02Z"),
    ]
    assert [body["close"] for body in bodies] == [False, False, True] * 2


def test_the_user_is_emptied_first_and_asked_last(bench: Bench, tmp_path: Path) -> None:
    bench.data_file = data(tmp_path)
    bench.replay()
    routes = [f"{sent.method} {sent.path.split('?')[0]}" for sent in bench.assistant.wire]
    assert routes[0] == "GET /version"
    assert routes[1].startswith("DELETE /v1/users/")
    assert routes[-4:] == [
        "GET /v1/sessions",
        "POST /v1/memories/search",
        "POST /v1/memories/search",
        "POST /v1/chat/completions",
    ]


def test_search_asks_for_rounds_and_sessions_at_the_question_date(bench: Bench) -> None:
    bench.replay()
    bodies = [json.loads(sent.body) for sent in bench.assistant.sent("POST", "/search")]
    assert {(b["unit"], b["top_k"], b["now"]) for b in bodies} == {
        ("round", 50, "2023-05-30T10:00:00Z"),
        ("session", 50, "2023-05-30T10:00:00Z"),
    }


def test_memories_are_kept_unless_forgetting_was_asked_for(bench: Bench) -> None:
    bench.replay()
    assert len(bench.assistant.memory.users) == 3


def test_forget_leaves_nothing_behind(bench: Bench) -> None:
    bench.replay(forget=True)
    assert bench.assistant.memory.users == {}
