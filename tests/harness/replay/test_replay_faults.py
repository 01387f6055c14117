"""Assistants that fail, lie, hang or die: what the run does, and what it says."""

import json
import re
from dataclasses import replace

import pytest
from benches import QUICK, Bench
from scripted_assistant import Fault

from harness.assistants.endpoint import Endpoint
from harness.errors import AssistantRefused, AssistantUnreachable, UsageError
from harness.records.run_dir import FAILURES, HYPOTHESES

ASK = "POST /v1/chat"


def failures(bench: Bench) -> list[dict[str, object]]:
    return bench.open().dir.records(FAILURES)


def test_one_failing_question_is_recorded_and_the_others_go_on(bench: Bench) -> None:
    bench.assistant.faults = [Fault(ASK, "status", times=QUICK.attempts)]
    assert bench.replay(concurrency=1) == 1
    (failure,) = failures(bench)
    assert failure["question_id"] == "q1"
    assert failure["error"] == "AssistantError"
    assert failure["status"] == 500
    assert failure["message"] == "POST /v1/chat/completions: status 500: scripted failure"
    report = bench.report()
    assert (report["failed"], report["missing"]) == (1, 1)
    assert report["accuracy"]["overall"]["n"] == 3


def test_failures_are_counted_even_if_every_question_failed(bench: Bench) -> None:
    bench.assistant.faults = [Fault(ASK, "status", times=99)]
    assert bench.replay() == 3
    report = bench.report()
    assert (report["failed"], report["missing"]) == (3, 3)
    assert report["retrieval"]["session"]["recall_all@5"]["n"] == 2


def test_a_failure_that_later_succeeds_leaves_the_report(bench: Bench) -> None:
    bench.assistant.faults = [Fault(ASK, "status", times=QUICK.attempts)]
    bench.replay()
    assert bench.replay() == 0
    report = bench.report()
    assert (report["failed"], report["missing"]) == (0, 0)


@pytest.mark.parametrize("status", [500, 503, 429])
def test_passing_trouble_is_repeated(bench: Bench, status: int) -> None:
    bench.assistant.faults = [
        Fault("POST .*messages", "status", times=2, status=status),
        Fault(ASK, "status", times=2, status=status),
    ]
    assert bench.replay() == 0
    assert failures(bench) == []


def test_retry_after_is_honoured(bench: Bench) -> None:
    headers = {"Retry-After": "0.3"}
    bench.assistant.faults = [Fault(ASK, "status", status=429, headers=headers)]
    bench.replay(concurrency=1)
    first = bench.open().dir.records(HYPOTHESES)[0]
    assert first["answer_ms"] >= 300


def test_a_request_that_is_refused_is_not_repeated(bench: Bench) -> None:
    bench.assistant.faults = [Fault(ASK, "status", times=1, status=400)]
    assert bench.replay(concurrency=1) == 1
    assert len(bench.assistant.sent("POST", "chat")) == 3


def test_refused_credentials_stop_the_run(bench: Bench) -> None:
    bench.assistant.faults = [Fault("POST .*messages", "status", times=9, status=401)]
    with pytest.raises(AssistantRefused, match=r"refuses access \(401\): scripted failure"):
        bench.replay()


@pytest.mark.parametrize(
    ("route", "text", "complaint"),
    [
        (ASK, "<html>hello</html>", "not JSON: '<html>hello</html>'"),
        (ASK, "", "not JSON: an empty body"),
        (ASK, '{"choices": []}', "choices\\[0\\].message is missing"),
        (ASK, '{"choices": [{"message": {"content": null}}]}', "content: expected a string"),
        ("POST .*search", '{"data": {}}', "data: expected a list"),
        ("POST .*search", '{"data": [{"session_id": "s"}]}', "round_index: expected an integer"),
        ("GET /v1/sessions", "[1]", "expected a JSON object, found list"),
        ("POST .*messages", '{"rounds": [{"round_index": 7}]}', "round 0 was put into round"),
        (
            "POST .*search",
            '{"data": [{"session_id": "other", "round_index": 0, "similarity": 1}]}',
            "session 'other', which this user never had",
        ),
    ],
)
def test_garbage_is_named_with_its_route(
    bench: Bench, route: str, text: str, complaint: str
) -> None:
    bench.assistant.faults = [Fault(route, "text", text=text)]
    assert bench.replay(concurrency=1) == 1
    (failure,) = failures(bench)
    assert failure["error"] == "BadReply"
    assert "/v1/" in str(failure["route"])
    assert re.search(complaint, str(failure["message"]))


def test_a_hanging_answer_fails_its_question_in_time(bench: Bench) -> None:
    bench.timeout = 0.15
    bench.assistant.faults = [Fault(ASK, "hang", times=QUICK.attempts, seconds=0.6)]
    assert bench.replay(concurrency=1) == 1
    (failure,) = failures(bench)
    assert failure["error"] == "AssistantTimeout"
    assert "no answer within 0.15 s, tried 3 times" in str(failure["message"])


def test_a_server_that_hangs_entirely_stops_the_run(bench: Bench) -> None:
    bench.timeout = 0.15
    bench.assistant.faults = [
        Fault(ASK, "hang", times=99, seconds=0.6),
        Fault("GET /health", "hang", times=99, seconds=0.6),
    ]
    with pytest.raises(
        AssistantUnreachable, match=r"no longer answers.*run the same command again"
    ):
        bench.replay(concurrency=1)


def test_a_lost_round_is_a_recorded_failure(bench: Bench) -> None:
    bench.assistant.lost_rounds = 1
    assert bench.replay() == 3
    failure = failures(bench)[0]
    assert failure["error"] == "IngestMismatch"
    assert "2 rounds sent, 1 stored; 1 sessions differ" in str(failure["message"])
    assert bench.report()["missing"] == 3


def test_a_run_survives_a_server_that_dies_and_returns(bench: Bench) -> None:
    bench.assistant.faults = [Fault("POST .*messages", "die", after=3)]
    assert bench.replay(concurrency=1) == 0
    rounds = [len(r) for s in bench.assistant.memory.users.values() for r in s.values()]
    assert rounds == [1] * 6
    assert failures(bench) == []


def test_a_run_stops_when_the_server_stays_away_and_continues_later(bench: Bench) -> None:
    bench.retry = replace(QUICK, reconnect_seconds=0.3)
    bench.assistant.restart_after = None
    bench.assistant.faults = [Fault("POST .*messages", "die", after=6)]
    with pytest.raises(AssistantUnreachable, match="run the same command again to continue"):
        bench.replay(concurrency=1)
    done = bench.open().dir.records(HYPOTHESES)
    assert [line["question_id"] for line in done] == ["q1"]
    bench.assistant.start()
    assert bench.replay() == 0
    kept = bench.open().dir.records(HYPOTHESES)
    assert kept[0] == done[0]
    assert len(kept) == 3


def test_nobody_there_at_the_start(bench: Bench) -> None:
    bench.assistant.stop()
    bench.retry = replace(QUICK, reconnect_seconds=0.1)
    with pytest.raises(AssistantUnreachable, match="no connection to the assistant at http"):
        bench.replay()


def test_something_else_is_listening_there(bench: Bench) -> None:
    bench.assistant.faults = [Fault("GET /version", "text", text="<html>")]
    with pytest.raises(UsageError, match="GET /version: the reply is not JSON"):
        bench.replay()


def test_a_server_without_a_version_is_accepted(bench: Bench) -> None:
    bench.assistant.faults = [Fault("GET /version", "status", status=404)]
    assert bench.replay() == 0
    assert json.loads((bench.out / "manifest.json").read_text())["assistant"]["version"] is None


def test_an_address_that_is_none() -> None:
    with pytest.raises(UsageError, match="not an http"):
        Endpoint("localhost:8080")


def test_credentials_stay_out_of_the_public_url() -> None:
    endpoint = Endpoint("http://ann:secret@127.0.0.1:8080/base", api_key="k-123")
    assert endpoint.public_url == "http://127.0.0.1:8080/base"
    assert "k-123" not in repr(endpoint)
