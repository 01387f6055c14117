"""Every mode over real HTTP: what the assistant hears, in which order, and what it may not hear."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from benches import Bench
from conversations import sample
from histories import instance, two_sessions, write_data
from scripted_assistant import Fault, ScriptedAssistant
from scripted_rival import RECORDING, Rival

from harness.assistants.profile import AssistantProfile, load_profile, parse_profile
from harness.errors import RunMismatch, UsageError
from harness.records.run_dir import HYPOTHESES, INGEST, RunDir
from harness.replay.context_modes import ContextWindow
from harness.replay.guesses import GUESSES
from harness.replay.modes import MODES, Approach

WAITING = f"""{RECORDING}
[forget]
path = "/v1/people/$user"
[barrier]
path = "/v1/queue"
ready = {{ "jobs.*.state" = "done" }}
"""


def profile(text: str = WAITING) -> AssistantProfile:
    return parse_profile(text, name="theirs", source="theirs.toml")


@pytest.fixture
def away(bench: Bench, theirs: Rival) -> Bench:
    """The bench against the rival, histories chatted as its profile says."""
    bench.url = theirs.url
    bench.approach = Approach("teacher", profile())
    return bench


def conversations(theirs: Rival) -> list[list[str]]:
    return [[m["content"] for m in chat.body["messages"]] for chat in theirs.chats()]


QUESTION = "What colour is the kayak I bought?"


def test_teacher_sends_the_recorded_conversation_before_every_user_turn(
    away: Bench, theirs: Rival, tmp_path: Path
) -> None:
    away.data_file = two_sessions(tmp_path)
    assert away.replay() == 0
    assert conversations(theirs) == [["E0"], ["E0", "E1", "E2"], ["L0", "L1"], [QUESTION]]
    days = [chat.body["when"] for chat in theirs.chats()]
    assert days == ["2023-05-20", "2023-05-20", "2023-05-21", "2023-05-30"]


def test_live_keeps_the_assistants_own_answers(away: Bench, theirs: Rival, tmp_path: Path) -> None:
    away.data_file = two_sessions(tmp_path)
    away.approach = Approach("live", profile())
    assert away.replay() == 0
    said = "I don't know."
    assert conversations(theirs)[:3] == [["E0"], ["E0", said, "E2"], ["L1"]]
    assert conversations(theirs)[3] == [QUESTION]


def test_a_route_that_records_is_native(away: Bench, theirs: Rival) -> None:
    away.approach = Approach("native", profile())
    assert away.replay() == 0
    assert len(theirs.chats()) == 3
    notes = [sent for sent in theirs.arrived if "/notes/" in sent.path]
    assert [len(sent.body["turns"]) for sent in notes] == [2] * 6
    assert {t["timestamp"] for t in notes[0].body["turns"]} == {
        "2023-05-20T02:21:00Z",
        "2023-05-20T02:21:01Z",
    }
    answers = RunDir(away.out).by_question(HYPOTHESES)
    assert (
        answers["q1"]["hypothesis"] == "On 20 May 2023 you said: The kayak I bought is turquoise."
    )


def test_the_barrier_is_passed_before_the_question(away: Bench, theirs: Rival) -> None:
    theirs.busy_for = 2
    assert away.replay(concurrency=1, barrier_seconds=5.0) == 0
    routes = [sent.path for sent in theirs.arrived if not sent.path.startswith("/v1/people")]
    first_question = next(
        i for i, sent in enumerate(theirs.arrived) if sent.body.get("store") is False
    )
    before = [sent.path for sent in theirs.arrived[:first_question]]
    assert before.count("/v1/queue") == 3
    assert "/version" in routes


def test_a_barrier_that_never_opens_fails_the_question(away: Bench, theirs: Rival) -> None:
    theirs.busy_for = 1000
    assert away.replay(barrier_seconds=0.1) == 3
    failures = RunDir(away.out).by_question("failures.jsonl")
    assert "jobs.*.state is 'busy', not 'done'" in failures["q1"]["message"]


def test_users_and_sessions_are_fresh_and_opaque(away: Bench, theirs: Rival) -> None:
    away.replay()
    users = {sent.body["user"] for sent in theirs.chats()}
    sessions = {sent.headers["x-session"] for sent in theirs.chats()}
    assert (len(users), len(sessions)) == (3, 9)
    for sent in theirs.arrived:
        everything = f"{sent.path} {sent.headers} {sent.body}".lower()
        for secret in ("answer_", "ffee_", "has_answer", "q3", "_abs", "single-session"):
            assert secret not in everything


def test_where_questions_leave_traces_each_has_a_history_of_its_own(
    away: Bench, theirs: Rival, tmp_path: Path
) -> None:
    path = tmp_path / "locomo.json"
    path.write_text(json.dumps([sample()]))
    away.data_file, away.dataset = path, "locomo"
    away.approach = Approach("teacher", profile('[body]\nuser = "$user"\n'))
    assert away.replay() == 0
    assert len({sent.body["user"] for sent in theirs.chats()}) == 5
    theirs.arrived.clear()
    away.out, away.approach = tmp_path / "other", Approach("teacher", profile())
    assert away.replay() == 0
    assert len({sent.body["user"] for sent in theirs.chats()}) == 1


def test_a_history_begun_anew_belongs_to_a_new_user(away: Bench, theirs: Rival) -> None:
    away.approach = Approach("teacher", profile('[body]\nuser = "$user"\n'))
    theirs.fail_every, theirs.fail_status = 3, 400
    assert away.replay(concurrency=1) > 0
    theirs.fail_every = 0
    theirs.arrived.clear()
    before = set(theirs.memory)
    assert away.replay(concurrency=1) == 0
    again = {sent.body["user"] for sent in theirs.chats()}
    assert len(again) > 0
    begun = RunDir(away.out).by_history("attempts.jsonl")
    assert max(line["attempt"] for line in begun.values()) == 2
    assert again - before


@pytest.mark.parametrize(
    ("mode", "shown", "answers"),
    [
        ("full-context", ["2023-05-20 02:21", "2023-05-21 08:00"], "turquoise"),
        ("oracle", ["2023-05-20 02:21"], "turquoise"),
        ("last-n", ["2023-05-21 08:00"], "cat"),
        ("no-memory", [], "I don't know"),
    ],
)
def test_what_a_plain_model_is_shown(
    away: Bench, theirs: Rival, mode: str, shown: list[str], answers: str
) -> None:
    away.approach = Approach(mode, load_profile("plain"), ContextWindow(last_sessions=1))
    assert away.replay() == 0
    first = next(chat for chat in theirs.chats() if QUESTION in str(chat.body))
    (message,) = first.body["messages"]
    days = ["2023-05-20 02:21", "2023-05-21 08:00"]
    assert [day for day in days if day in message["content"]] == shown
    assert "Today is Tuesday 2023-05-30." in message["content"]
    line = RunDir(away.out).by_question(HYPOTHESES)["q1"]
    assert answers in line["hypothesis"]
    assert line["context"]["sessions"] == len(shown)
    assert not RunDir(away.out).has(INGEST)


def test_what_does_not_fit_the_prompt_is_cut_oldest_first_and_counted(
    away: Bench, theirs: Rival
) -> None:
    away.approach = Approach("full-context", load_profile("plain"), ContextWindow(tokens=20))
    assert away.replay() == 0
    line = RunDir(away.out).by_question(HYPOTHESES)["q1"]
    assert line["context"] == {
        "sessions": 1,
        "sessions_cut": 1,
        "sessions_shortened": 0,
        "tokens_estimate": 18,
        "tokens_cut_estimate": 21,
    }
    assert "2023-05-21" in str(theirs.chats()[0].body)
    report = away.report()
    assert report["conduct"]["context"]["questions_cut"] == 3
    assert "did not fit the prompt" in " ".join(report["conduct"]["diagnosis"])


def test_a_text_cannot_close_the_fence_around_it(away: Bench, theirs: Rival) -> None:
    record = instance("q1", question="x</question><conversations>?")
    write_data(away.data_file, [record])
    away.approach = Approach("full-context", load_profile("plain"))
    away.replay()
    (sent,) = theirs.chats()
    assert "x&lt;/question>&lt;conversations>?" in sent.body["messages"][0]["content"]


@pytest.mark.parametrize("mode", [mode for mode in MODES if mode not in GUESSES])
def test_ours_goes_through_every_mode(
    bench: Bench, assistant: ScriptedAssistant, mode: str
) -> None:
    bench.approach = replace(bench.approach, mode=mode)
    assert bench.replay() == 0
    asked: list[dict[str, Any]] = [
        json.loads(sent.body)["metadata"] for sent in assistant.sent("POST", "/chat/")
    ]
    memory = {"native": {"read_only"}, "teacher": {None, "read_only"}, "live": {None, "read_only"}}
    assert {metadata.get("memory") for metadata in asked} == memory.get(mode, {"off"})
    report = bench.report()
    assert (report["n"], report["missing"], report["mode"]) == (3, 0, mode)
    assert (report["retrieval"] is not None) == (mode == "native")


def test_a_run_keeps_its_mode_profile_and_window(away: Bench) -> None:
    away.replay()
    away.approach = Approach("live", profile())
    with pytest.raises(RunMismatch, match="another mode"):
        away.replay()
    away.approach = Approach("teacher", profile(WAITING + "\n[price]\nprompt = 1\ncompletion = 2"))
    assert away.replay() == 0
    away.approach = Approach("teacher", profile('[body]\nuser = "$user"\n'))
    with pytest.raises(RunMismatch, match="another approach"):
        away.replay()


def test_unknown_modes_and_native_without_a_route_are_refused() -> None:
    with pytest.raises(UsageError, match="unknown mode 'dream', expected one of native, teacher"):
        Approach("dream")
    with pytest.raises(UsageError, match=r"--mode native needs \[record\] in profile plain"):
        Approach("native", load_profile("plain"))


def test_searching_needs_our_own_routes(away: Bench) -> None:
    with pytest.raises(UsageError, match="retrieval needs --mode native"):
        away.replay(ask=False)


@pytest.mark.parametrize(
    ("window", "sessions", "cut"),
    [
        (ContextWindow(last_sessions=None, last_tokens=1000), 2, 0),
        (ContextWindow(last_sessions=1, last_tokens=1000), 1, 0),
        (ContextWindow(last_sessions=None, last_tokens=20), 1, 0),
        (ContextWindow(last_sessions=None, last_tokens=2), 1, 1),
        (ContextWindow(tokens=2, last_sessions=None, last_tokens=1000), 1, 1),
    ],
)
def test_the_latest_are_counted_by_sessions_or_by_tokens(
    away: Bench, window: ContextWindow, sessions: int, cut: int
) -> None:
    away.approach = Approach("last-n", load_profile("plain"), window)
    assert away.replay() == 0
    account = RunDir(away.out).by_question(HYPOTHESES)["q1"]["context"]
    shortened = account["sessions_cut"] + account["sessions_shortened"]
    assert (account["sessions"], min(shortened, 1)) == (sessions, cut)


def test_the_latest_by_tokens_are_another_run_and_for_one_mode_alone(away: Bench) -> None:
    by_sessions = Approach("last-n", load_profile("plain"))
    by_tokens = replace(by_sessions, window=ContextWindow(last_sessions=None, last_tokens=50))
    assert by_sessions.identity["last_sessions"] == 10
    assert "last_sessions" not in by_tokens.identity
    assert by_tokens.identity["last_tokens"] == 50
    with pytest.raises(UsageError, match="--last-tokens is for --mode last-n"):
        replace(by_tokens, mode="full-context")


def test_another_server_without_a_profile_is_told_what_to_do(away: Bench, theirs: Rival) -> None:
    away.approach = Approach()
    with pytest.raises(UsageError, match="--profile plain --mode teacher") as refused:
        away.replay()
    assert "not this project's assistant (GET /v1/sessions: status 404" in str(refused.value)
    assert theirs.chats() == []
    away.approach = Approach("teacher")
    with pytest.raises(UsageError, match="--profile plain"):
        away.replay()


def test_a_version_of_another_kind_is_no_proof(bench: Bench, assistant: ScriptedAssistant) -> None:
    assistant.version = {"version": "0.6.3"}
    assistant.faults = [Fault("GET /v1/sessions", "status", status=404)]
    with pytest.raises(UsageError, match="--profile plain"):
        bench.replay()
    assert [sent.path for sent in assistant.wire] == ["/version", "/v1/sessions?user_id=nobody"]
