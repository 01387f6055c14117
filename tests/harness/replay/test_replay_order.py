"""What the assistant hears of a history: order, times, and the proof that all of it arrived."""

import json
from pathlib import Path

import pytest
from benches import Bench
from histories import chat, history, instance, two_sessions, write_data

from harness.errors import RunMismatch, UsageError
from harness.records.run_dir import INGEST
from harness.replay.modes import Approach


def test_turns_arrive_one_by_one_in_date_order_with_their_own_times(
    bench: Bench, tmp_path: Path
) -> None:
    bench.data_file = two_sessions(tmp_path)
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


def test_a_session_arrives_whole_with_the_times_of_its_turns(bench: Bench, tmp_path: Path) -> None:
    bench.data_file = two_sessions(tmp_path)
    bench.approach = Approach(together="session")
    assert bench.replay() == 0
    bodies = [json.loads(sent.body) for sent in bench.assistant.sent("POST", "/messages")]
    heard = [[(m["content"], m["timestamp"]) for m in body["messages"]] for body in bodies]
    assert heard == [
        [
            ("E0", "2023-05-20T23:59:00Z"),
            ("E1", "2023-05-20T23:59:01Z"),
            ("E2", "2023-05-20T23:59:02Z"),
        ],
        [
            ("L0", "2023-05-21T08:00:00Z"),
            ("L1", "2023-05-21T08:00:01Z"),
            ("L2", "2023-05-21T08:00:02Z"),
        ],
    ]
    assert [body["close"] for body in bodies] == [True] * 2
    (line,) = bench.open().dir.by_history(INGEST).values()
    assert (line["sessions"], line["rounds"], line["turns"]) == (2, 4, 6)
    assert len(line["round_ms"]) == 4


def test_a_long_session_arrives_in_whole_rounds(bench: Bench, tmp_path: Path) -> None:
    said = [f"{side}{n}" for n in range(40) for side in ("U", "A")]
    sessions = history(
        (
            "long",
            "2023/05/20 (Sat) 10:00",
            [t for u, a in zip(said[::2], said[1::2], strict=True) for t in chat(u, a)],
        ),
        evidence=["long"],
    )
    bench.data_file = write_data(tmp_path / "long.json", [instance("q1") | sessions])
    bench.approach = Approach(together="session")
    assert bench.replay() == 0
    bodies = [json.loads(sent.body) for sent in bench.assistant.sent("POST", "/messages")]
    assert [len(body["messages"]) for body in bodies] == [64, 16]
    assert [m["content"] for body in bodies for m in body["messages"]] == said
    assert [body["close"] for body in bodies] == [False, True]


def test_a_run_goes_on_as_it_began(bench: Bench) -> None:
    bench.approach = Approach(together="session")
    bench.replay()
    bench.approach = Approach()
    with pytest.raises(RunMismatch, match="approach"):
        bench.replay()


def test_sessions_are_sent_whole_to_our_own_routes_only() -> None:
    with pytest.raises(UsageError, match="--mode native"):
        Approach("teacher", together="session")


def test_the_user_is_emptied_first_and_asked_last(bench: Bench, tmp_path: Path) -> None:
    bench.data_file = two_sessions(tmp_path)
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


def test_histories_are_forgotten_when_no_question_is_left(bench: Bench) -> None:
    bench.replay(forget="at the end", ask=False)
    assert bench.assistant.memory.users == {}
    assert json.loads((bench.out / "manifest.json").read_text())["forgotten"] is True
    bench.replay()  # the questions need them again
    assert len(bench.assistant.memory.users) == 3
    assert json.loads((bench.out / "manifest.json").read_text())["forgotten"] is False


def test_what_failed_keeps_the_histories_for_the_next_try(bench: Bench) -> None:
    bench.assistant.lost_rounds = 1
    assert bench.replay(forget="at the end", barrier_seconds=0) > 0
    kept = len(bench.assistant.memory.users)
    assert kept > 0
    bench.assistant.lost_rounds = 0
    assert bench.replay(forget="at the end") == 0
    assert bench.assistant.memory.users == {}


def test_forget_leaves_nothing_behind(bench: Bench) -> None:
    bench.replay(forget="at once")
    assert bench.assistant.memory.users == {}
