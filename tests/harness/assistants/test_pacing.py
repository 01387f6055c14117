"""How many requests at a time an assistant gets, and when it is asked again."""

import asyncio
import json
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path

import pytest
from benches import Bench
from histories import many
from scripted_rival import Rival

from harness.assistants.endpoint import RetryPolicy
from harness.assistants.profile import load_profile
from harness.assistants.transport import Pace, Window
from harness.replay.modes import Approach

PLAIN = Approach("full-context", load_profile("plain"))


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
