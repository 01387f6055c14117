"""Runs that are slow, limited, dear or failing: what they do, where they stop, what they say."""

import asyncio
import json
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from typing import Any

import pytest
from benches import Bench, Finished
from histories import instance, write_data
from scripted_assistant import Fault, ScriptedAssistant
from scripted_rival import Rival

from harness.assistants.pace import Pace, Window
from harness.assistants.profile import load_profile
from harness.assistants.retry import RetryPolicy
from harness.assistants.wire import Answer
from harness.errors import BudgetSpent, TooManyErrors, UsageError
from harness.replay.limits import ENOUGH, ErrorRate
from harness.replay.modes.choice import Approach
from harness.replay.modes.context import ContextWindow
from harness.runs.budget import Budget, Limits, Purse
from harness.runs.forecast import forecast
from harness.runs.run_dir import FAILURES, HYPOTHESES, RunDir
from harness.runs.spending import Price, Spending

Harness = Callable[..., Finished]
PLAIN = Approach("full-context", load_profile("plain"))


def many(path: Path, count: int = 12) -> Path:
    return write_data(path, [instance(f"q{n}") for n in range(count)])


# How many requests at a time


def test_a_window_halves_once_for_requests_under_way_together_and_grows_again() -> None:
    window = Window(8)
    sent_at = window.cuts
    window.overloaded(sent_at)
    window.overloaded(sent_at)
    assert (window.limit, window.cuts) == (4, 1)
    for _ in range(3):
        window.overloaded(window.cuts)
    assert window.limit == 1
    grown = []
    for _ in range(40):
        window.succeeded()
        grown.append(window.limit)
    assert grown[0] == 2
    assert grown[-1] == 8
    assert grown == sorted(grown)


def test_a_window_needs_room() -> None:
    with pytest.raises(ValueError, match="room for one"):
        Window(0)


async def test_a_pace_lets_no_more_through_than_its_window() -> None:
    pace, under_way, most = Pace(3), 0, 0

    async def work() -> None:
        nonlocal under_way, most
        async with pace.turn():
            under_way += 1
            most = max(most, under_way)
            await asyncio.sleep(0.001)
            under_way -= 1

    await asyncio.gather(*(work() for _ in range(12)))
    assert most == 3
    pace.overloaded(0)
    most = 0
    await asyncio.gather(*(work() for _ in range(12)))
    assert (most, pace.narrowest) == (1, 1)


def test_an_assistant_that_limits_its_rate_gets_fewer_at_a_time(
    bench: Bench, theirs: Rival, tmp_path: Path
) -> None:
    bench.url, bench.approach, bench.data_file = theirs.url, PLAIN, many(tmp_path / "many.json")
    theirs.fail_every, theirs.fail_status = 5, 429
    theirs.fail_headers = {"Retry-After": "0.05"}
    assert bench.replay(concurrency=6) == 0
    report = bench.report()
    assert (report["n"], report["missing"], report["failed"]) == (12, 0, 0)
    invocation = json.loads((bench.out / "manifest.json").read_text())["invocations"][0]
    assert invocation["narrowest_pace"] < 6
    assert "limits its rate: 3 of 15 requests" in " ".join(report["conduct"]["diagnosis"])


@pytest.mark.parametrize(
    ("header", "low", "high"),
    [
        (None, 0, 0),
        ("7", 7, 7),
        ("-3", 0, 0),
        ("600", 60, 60),
        ("soon", 0, 0),
    ],
)
def test_retry_after_in_seconds(header: str | None, low: float, high: float) -> None:
    assert low <= RetryPolicy().asked_for(header) <= high


@pytest.mark.parametrize(("ahead", "low", "high"), [(30, 1, 30), (-86_400, 0, 0)])
def test_retry_after_as_a_date(ahead: int, low: float, high: float) -> None:
    header = format_datetime(datetime.now(UTC) + timedelta(seconds=ahead), usegmt=True)
    assert low <= RetryPolicy().asked_for(header) <= high


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


# Budgets


async def answering(prompt: int | None, completion: int | None, text: str = "x" * 40) -> Answer:
    return Answer(text, prompt, completion)


async def test_a_budget_counts_usage_and_estimates_what_is_not_told() -> None:
    purse = Purse()
    await purse.spend(400, lambda: answering(90, 12))
    await purse.spend(400, lambda: answering(None, None))
    assert purse.spent == Spending(2, 1, 190, 22)


async def test_a_token_budget_is_hard_and_counts_earlier_commands() -> None:
    purse = Purse(before=Spending(1, 0, 700, 100))
    Budget(Limits(tokens=1000), [purse])
    await purse.spend(400, lambda: answering(90, 10))
    with pytest.raises(BudgetSpent, match="1,001 tokens"):
        await purse.spend(404, lambda: answering(90, 10))


async def test_a_budget_holds_back_what_is_under_way() -> None:
    purse, go_on = Purse(), asyncio.Event()
    Budget(Limits(tokens=150), [purse])

    async def slowly() -> Answer:
        await go_on.wait()
        return Answer("", 100, 0)

    first = asyncio.create_task(purse.spend(400, slowly))
    await asyncio.sleep(0)
    with pytest.raises(BudgetSpent):
        await purse.spend(400, slowly)
    go_on.set()
    await first
    assert purse.spent.tokens == 100


async def test_a_cost_budget_needs_a_price() -> None:
    with pytest.raises(UsageError, match="--max-cost needs a price"):
        Budget(Limits(usd=1.0), [Purse()])
    purse = Purse(price=Price(1.0, 10.0))
    Budget(Limits(usd=0.001), [purse])
    await purse.spend(400, lambda: answering(100, 80))
    with pytest.raises(BudgetSpent, match=r"0\.0011 US dollars"):
        await purse.spend(800, lambda: answering(1, 1))


async def test_purses_share_a_budget_each_at_its_price() -> None:
    assistant, judge = Purse(price=Price(1.0, 1.0)), Purse("judge", Price(100.0, 0.0))
    Budget(Limits(usd=0.02), [assistant, judge])
    await judge.spend(400, lambda: answering(100, 50))
    await assistant.spend(400, lambda: answering(100, 50))
    with pytest.raises(BudgetSpent, match=r"0\.0202 US dollars"):
        await judge.spend(400, lambda: answering(100, 50))
    with pytest.raises(UsageError, match="price of the second judge: --judge-price, a second one"):
        Budget(Limits(usd=1.0), [assistant, Purse("second_judge")])


def test_a_spent_budget_stops_a_run_that_a_larger_one_continues(
    harness: Harness, theirs: Rival, tmp_path: Path
) -> None:
    data = many(tmp_path / "many.json")
    command = (
        *("run", "--dataset", "longmemeval", "--file", data, "--out", tmp_path / "run"),
        *("--assistant", theirs.url, "--profile", "plain", "--mode", "no-memory"),
        *("--price", "1/2", "--concurrency", 1),
    )
    ended = harness(*command, "--max-tokens", 150)
    assert (ended.code, "--max-tokens 150: the next call" in ended.err) == (2, True)
    asked = len(theirs.chats())
    assert 0 < asked < 12
    assert harness(*command, "--max-tokens", 100_000).code == 0
    assert len(theirs.chats()) == 12
    report = json.loads((tmp_path / "run" / "report.json").read_text())
    assert report["conduct"]["spent"]["calls"] == 12
    assert report["cost"]["assistant_usd"] == pytest.approx(12 * (10 * 1 + 5 * 2) / 1e6)


def test_usage_that_is_not_told_is_said_to_be_estimated(bench: Bench, theirs: Rival) -> None:
    theirs.tells_usage = False
    bench.url, bench.approach = theirs.url, PLAIN
    bench.replay()
    said = bench.report()["conduct"]["diagnosis"]
    assert "tells no usage: tokens of 3 of 3 calls are estimated" in said


@pytest.mark.parametrize("price", ["5", "a/b", "1/-1", "1/2/3"])
def test_prices_that_are_none(harness: Harness, tmp_path: Path, price: str) -> None:
    ended = harness(
        *("run", "--dataset", "sample", "--assistant", "http://127.0.0.1:9"),
        *("--out", tmp_path / "x", "--price", price),
    )
    assert (ended.code, "--price" in ended.err) == (2, True)


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
