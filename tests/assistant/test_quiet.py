"""Quiet moments: after a while without requests, or when it was waited long enough."""

import asyncio

import pytest

from assistant import quiet
from assistant.quiet import QuietMoments


@pytest.fixture(autouse=True)
def _shorter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quiet, "_SECONDS_BETWEEN", 0.01)


async def test_it_is_quiet_when_nobody_has_been_served_for_a_while() -> None:
    running = iter([0, 0, 1, 0, 1])
    asked: list[int] = []

    def look() -> int:
        asked.append(next(running, 0))
        return asked[-1]

    await QuietMoments(look).next(within=60)
    assert asked == [0, 0, 1, 0, 1, *[0] * 10]


async def test_where_it_is_never_quiet_the_wait_ends() -> None:
    loop = asyncio.get_running_loop()
    began = loop.time()
    await QuietMoments(lambda: 3).next(within=0.1)
    assert loop.time() - began >= 0.1
