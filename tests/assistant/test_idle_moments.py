"""Quiet moments: after a while without requests, or when it was waited long enough."""

import asyncio
from collections.abc import Iterable

import pytest

from assistant import idle_moments
from assistant.idle_moments import Activity, QuietMoments

IDLE = Activity(begun=5, running=0)


@pytest.fixture(autouse=True)
def _shorter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(idle_moments, "_SECONDS_BETWEEN", 0.01)


async def _looks_until_quiet(looks: Iterable[Activity], longest: float) -> list[Activity]:
    """What was looked at until it was quiet; the last one is looked at again and again."""
    seen: list[Activity] = []
    left = iter(looks)

    def look() -> Activity:
        seen.append(next(left, seen[-1] if seen else IDLE))
        return seen[-1]

    await QuietMoments(look).next(until=asyncio.get_running_loop().time() + longest)
    return seen


async def test_it_is_quiet_when_nobody_has_been_served_for_a_while() -> None:
    busy, done = Activity(begun=6, running=1), Activity(begun=6, running=0)
    seen = await _looks_until_quiet([IDLE, IDLE, IDLE, busy, done], 60)
    assert seen == [IDLE, IDLE, IDLE, busy, *[done] * 10]


async def test_who_comes_and_goes_between_two_looks_is_noticed() -> None:
    seen = await _looks_until_quiet((Activity(n, 0) for n in range(30)), 60)
    assert len(seen) == 30 + 10


async def test_where_it_is_never_quiet_the_wait_ends() -> None:
    loop = asyncio.get_running_loop()
    began = loop.time()
    await _looks_until_quiet([Activity(3, 3)], 0.1)
    assert loop.time() - began >= 0.1
