"""What a run may spend: tokens and money, counted, held back, and shared."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from benches import Bench, Finished
from histories import many
from scripted_rival import Rival

from harness.assistants.profile import load_profile
from harness.assistants.wire import WireAnswer
from harness.errors import BudgetSpent, UsageError
from harness.replay.modes import Approach
from harness.spending import Budget, Meter, Price, SpendingLimits, TokenUsage

Harness = Callable[..., Finished]
PLAIN = Approach("full-context", load_profile("plain"))


async def answering(prompt: int | None, completion: int | None, text: str = "x" * 40) -> WireAnswer:
    return WireAnswer(text, prompt, completion)


async def test_a_budget_counts_usage_and_estimates_what_is_not_told() -> None:
    meter = Meter()
    await meter.spend(400, lambda: answering(90, 12))
    await meter.spend(400, lambda: answering(None, None))
    assert meter.spent == TokenUsage(2, 1, 190, 22)


async def test_a_token_budget_is_hard_and_counts_earlier_commands() -> None:
    meter = Meter(before=TokenUsage(1, 0, 700, 100))
    Budget(SpendingLimits(tokens=1000), [meter])
    await meter.spend(400, lambda: answering(90, 10))
    with pytest.raises(BudgetSpent, match="1,001 tokens"):
        await meter.spend(404, lambda: answering(90, 10))


async def test_a_budget_holds_back_what_is_under_way() -> None:
    meter, go_on = Meter(), asyncio.Event()
    Budget(SpendingLimits(tokens=150), [meter])

    async def slowly() -> WireAnswer:
        await go_on.wait()
        return WireAnswer("", 100, 0)

    first = asyncio.create_task(meter.spend(400, slowly))
    await asyncio.sleep(0)
    with pytest.raises(BudgetSpent):
        await meter.spend(400, slowly)
    go_on.set()
    await first
    assert meter.spent.tokens == 100


async def test_a_cost_budget_needs_a_price() -> None:
    with pytest.raises(UsageError, match="--max-cost needs a price"):
        Budget(SpendingLimits(usd=1.0), [Meter()])
    meter = Meter(price=Price(1.0, 10.0))
    Budget(SpendingLimits(usd=0.001), [meter])
    await meter.spend(400, lambda: answering(100, 80))
    with pytest.raises(BudgetSpent, match=r"0\.0011 US dollars"):
        await meter.spend(800, lambda: answering(1, 1))


async def test_meters_share_a_budget_each_at_its_price() -> None:
    assistant, judge = Meter(price=Price(1.0, 1.0)), Meter("judge", Price(100.0, 0.0))
    Budget(SpendingLimits(usd=0.02), [assistant, judge])
    await judge.spend(400, lambda: answering(100, 50))
    await assistant.spend(400, lambda: answering(100, 50))
    with pytest.raises(BudgetSpent, match=r"0\.0202 US dollars"):
        await judge.spend(400, lambda: answering(100, 50))
    with pytest.raises(UsageError, match="price of the second judge: --judge-price, a second one"):
        Budget(SpendingLimits(usd=1.0), [assistant, Meter("second_judge")])


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
