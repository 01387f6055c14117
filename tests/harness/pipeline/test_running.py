"""Runs that are slow or failing: what they do, where they stop, what they say, and dry runs."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from benches import Bench, Finished
from histories import many
from scripted_assistant import Fault, ScriptedAssistant
from scripted_rival import Rival

from harness.assistants.profile import load_profile
from harness.errors import TooManyErrors
from harness.pipeline.dry_run import forecast
from harness.pipeline.replay import ENOUGH, ErrorRate
from harness.records.run_dir import FAILURES, HYPOTHESES, RunDir
from harness.replay.context_modes import ContextWindow
from harness.replay.modes import Approach

Harness = Callable[..., Finished]
PLAIN = Approach("full-context", load_profile("plain"))


# Assistants in trouble


def test_one_call_in_ten_fails_and_nothing_is_miscounted(
    bench: Bench, theirs: Rival, tmp_path: Path
) -> None:
    bench.url, bench.data_file = theirs.url, many(tmp_path / "many.json")
    bench.approach = Approach("teacher", load_profile("plain"))
    theirs.fail_every = 10
    assert bench.replay() == 0
    report = bench.report()
    assert (report["n"], report["missing"], report["failed"]) == (12, 0, 0)
    requests = report["conduct"]["requests"]
    # The first contact is not counted, every other request is.
    assert requests["sent"] == len(theirs.arrived) - 1
    assert requests["server_errors"] == len(theirs.arrived) // 10
    assert f"fails: {requests['server_errors']} of {requests['sent']} requests (" in str(
        report["conduct"]["diagnosis"]
    )


def test_one_question_in_ten_fails_for_good_and_counts_as_missing(
    bench: Bench, theirs: Rival, tmp_path: Path
) -> None:
    bench.url, bench.approach, bench.data_file = theirs.url, PLAIN, many(tmp_path / "many.json", 20)
    theirs.fail_every, theirs.fail_status = 10, 400
    assert bench.replay(concurrency=1) == 2
    report = bench.report()
    assert (report["n"], report["missing"], report["failed"]) == (20, 2, 2)
    assert report["accuracy"]["overall"]["value"] == pytest.approx(18 / 20)


def test_a_slow_assistant_is_called_slow(bench: Bench, theirs: Rival) -> None:
    bench.url, bench.approach, bench.timeout = theirs.url, PLAIN, 0.15
    theirs.delay = 0.6
    assert bench.replay() == 3
    report = bench.report()
    assert report["missing"] == 3
    assert "slow: 9 of 9 requests (100.0 %) not answered in time" in report["conduct"]["diagnosis"]


def test_only_failed_questions_are_tried_again(bench: Bench, theirs: Rival, tmp_path: Path) -> None:
    bench.url, bench.approach, bench.data_file = theirs.url, PLAIN, many(tmp_path / "many.json")
    theirs.fail_every, theirs.fail_status = 5, 400
    assert bench.replay(concurrency=1) == 2
    lines = RunDir(bench.out)
    kept = [line for line in lines.records(HYPOTHESES) if line["question_id"] != "q0"]
    lines.replace_lines(HYPOTHESES, kept)
    theirs.fail_every = 0
    assert bench.replay(retry_errors=True) == 0
    assert set(lines.by_question(HYPOTHESES)) == {f"q{n}" for n in range(1, 12)}
    assert bench.replay() == 0
    assert len(lines.by_question(HYPOTHESES)) == 12


def test_too_many_errors_stop_the_run_and_say_why(
    bench: Bench, theirs: Rival, tmp_path: Path
) -> None:
    bench.url, bench.approach = theirs.url, PLAIN
    bench.data_file = many(tmp_path / "many.json", 30)
    theirs.fail_every, theirs.fail_status = 2, 400
    with pytest.raises(TooManyErrors, match=r"stopped: 5 of 10 questions failed.*status 400"):
        bench.replay(concurrency=1, max_error_rate=0.3)
    assert len(RunDir(bench.out).records(FAILURES)) == 5
    theirs.fail_every = 0
    assert bench.replay(max_error_rate=0.3) == 0


def test_an_error_rate_waits_for_enough_questions() -> None:
    rate = ErrorRate(0.0)
    for _ in range(ENOUGH - 1):
        rate.ended("trouble")
    with pytest.raises(TooManyErrors, match="10 of 10"):
        rate.ended("trouble")
    unlimited = ErrorRate(None)
    for _ in range(3 * ENOUGH):
        unlimited.ended("trouble")


# Dry runs


@pytest.mark.parametrize(
    ("mode", "counts"),
    [
        ("native", {"sessions": 6, "rounds": 6, "recorded_turns": 12, "chat_calls": 3}),
        ("teacher", {"sessions": 6, "rounds": 6, "recorded_turns": 0, "chat_calls": 9}),
        ("oracle", {"sessions": 0, "rounds": 0, "recorded_turns": 0, "chat_calls": 3}),
    ],
)
def test_a_dry_run_counts_and_sends_nothing(
    bench: Bench, harness: Harness, mode: str, counts: dict[str, int]
) -> None:
    approach = replace(bench.approach, mode=mode, window=ContextWindow(tokens=10))
    dataset = bench.open().dataset
    made = forecast(dataset.histories({"q1", "q2", "q3_abs"}), approach)
    assert {name: getattr(made, name) for name in counts} == counts
    assert made.by_type == {"single-session-user": 2, "temporal-reasoning": 1}
    assert made.questions_cut == (3 if mode == "oracle" else 0)
    ended = harness(
        *("run", "--dataset", "longmemeval", "--file", bench.data_file, "--mode", mode),
        *("--assistant", "http://127.0.0.1:9", "--out", bench.out / "dry", "--dry-run"),
        *("--price", "1000000/0"),
    )
    assert ended.code == 0
    assert "Nothing was sent." in ended.out
    assert not (bench.out / "dry").exists()


def test_a_dry_run_counts_what_the_run_then_sends(
    bench: Bench, theirs: Rival, assistant: ScriptedAssistant
) -> None:
    bench.url, bench.approach = theirs.url, Approach("teacher", load_profile("plain"))
    ids = {"q1", "q2", "q3_abs"}
    made = forecast(bench.open().dataset.histories(ids), bench.approach)
    bench.replay()
    assert made.chat_calls == len(theirs.chats())


def test_the_accuracy_so_far_is_shown(
    harness: Harness, assistant: ScriptedAssistant, data_file: Path, tmp_path: Path
) -> None:
    assistant.faults = [Fault("POST .*chat", "status", status=400)]
    ended = harness(
        *("run", "--dataset", "longmemeval", "--file", data_file, "--no-probe"),
        *("--assistant", assistant.url, "--out", tmp_path / "run", "--concurrency", 1),
    )
    assert "q1 FAILED" in ended.err
    lines: list[Any] = [line for line in ended.err.splitlines() if " ok " in line]
    assert all("% right)" in line for line in lines)
