"""Budgets that several workers share: together they get what one alone would, and no more."""

import asyncio

import pytest

from assistant.access.limits import OwnBudgets, SharedBudgets, Who
from memory_store import Documents

ANN: Who = ("key-1", "ann")
BOB: Who = ("key-1", "bob")
NAME = "requests:key-1:ann"
"""Of the document that Ann's budget is in."""


class Seconds:
    """A clock that goes on when it is told to."""

    def __init__(self) -> None:
        self.now = 1_700_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def seconds() -> Seconds:
    return Seconds()


@pytest.fixture
def workers(documents: tuple[Documents, Documents], seconds: Seconds) -> list[SharedBudgets]:
    """Three of them, on two connections."""
    return [SharedBudgets(documents[number % 2], seconds) for number in range(3)]


async def granted(
    workers: list[SharedBudgets], requests: int, per_minute: int, who: Who = ANN
) -> int:
    """How many of so many requests at once are let in, which go to the workers in turn."""
    waits = await asyncio.gather(
        *(workers[n % len(workers)].take(who, per_minute) for n in range(requests))
    )
    return waits.count(0.0)


async def test_together_they_get_a_minutes_worth(
    workers: list[SharedBudgets], seconds: Seconds
) -> None:
    assert await granted(workers, 12, 9) == 9
    assert await granted(workers, 3, 9) == 0
    assert await granted(workers, 12, 9, BOB) == 9
    seconds.now += 20
    assert await granted(workers, 12, 9) == 3
    seconds.now += 1000
    assert await granted(workers, 12, 9) == 9


async def test_waiting_as_long_as_told_is_enough(
    workers: list[SharedBudgets], seconds: Seconds
) -> None:
    assert await granted(workers, 6, 5) == 5
    for number in range(10):
        wait = await workers[number % 3].take(ANN, 5)
        assert 0 < wait <= 12
        seconds.now += wait + 1e-3
        assert await workers[number % 3].take(ANN, 5) == 0


@pytest.mark.parametrize("per_minute", [60, 600, 1200])
async def test_never_more_than_one_alone_would_get(
    workers: list[SharedBudgets], seconds: Seconds, per_minute: int
) -> None:
    """At any moment, however the requests come: a burst, nothing for long, a burst again."""
    alone = OwnBudgets(seconds)
    got = most = 0
    for pause, asked in [(0, 1), (300, 40), (0.5, 40), (1.9, 40), (0.1, 30), (30, 60), (3, 60)]:
        seconds.now += pause
        got += await granted(workers, asked, per_minute)
        most += sum([await alone.take(ANN, per_minute) == 0 for _ in range(asked)])
        assert got <= most
    # What they hold and do not use is little.
    assert got >= most * 0.9


async def test_what_is_held_too_long_is_worth_nothing(
    workers: list[SharedBudgets], documents: tuple[Documents, Documents], seconds: Seconds
) -> None:
    async def taken_anew(requests: int) -> bool:
        before = await documents[0].read(NAME)
        assert await granted(workers[:1], requests, 1200) == requests
        return (await documents[0].read(NAME)).version != before.version

    assert await taken_anew(1)  # ten, of which nine are held
    seconds.now += 2.5
    assert await taken_anew(1)
    assert not await taken_anew(9)
    assert await taken_anew(1)


async def test_who_is_refused_asks_the_server_no_more_meanwhile(
    workers: list[SharedBudgets], documents: tuple[Documents, Documents], seconds: Seconds
) -> None:
    assert await granted(workers[:1], 2, 1) == 1
    there = await documents[0].read(NAME)
    # Nobody but this worker would know that there is more again.
    await documents[0].write(NAME, {"left": 1.0, "since": seconds.now}, there)
    assert await workers[0].take(ANN, 1) > 0
    assert await workers[1].take(ANN, 1) == 0


async def test_a_clock_that_is_behind_gives_nothing_twice(
    documents: tuple[Documents, Documents], seconds: Seconds
) -> None:
    late = Seconds()
    late.now -= 30
    ahead, behind = (SharedBudgets(documents[0], clock) for clock in (seconds, late))
    assert await granted([ahead], 5, 4) == 4
    assert await granted([behind], 5, 4) == 0
    seconds.now += 15
    assert await granted([ahead, behind], 6, 4) == 1
