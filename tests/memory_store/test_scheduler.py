"""Who goes first when several jobs have long work: who has had least of a little, then user by
user."""

import asyncio
import threading
import time
from collections.abc import Sequence

import pytest

from memory_store.scheduler import (
    SLICE,
    Job,
    aside,
    in_slices,
    new_job,
    pause,
)

LITTLE, MUCH = 0.0, 1.0
LONG_TEXT = 5000


class Line:
    """Jobs that stand in line at once; tells in which order they had their turns."""

    def __init__(self) -> None:
        self.order: list[str] = []

    async def stand(self, jobs: Sequence[tuple[str, str, float]], *, turns: int = 1) -> list[str]:
        """The names in the order of their turns; a job is its name, its owner and what it used."""
        await asyncio.gather(*(self._job(*job, turns) for job in jobs))
        return self.order

    async def _job(self, name: str, owner: str, used: float, turns: int) -> None:
        with new_job(owner) as job:
            job.used = used
            for _ in range(turns):
                job.owed = SLICE
                await pause()
                self.order.append(name)


async def test_who_asks_for_little_goes_first() -> None:
    jobs = [("export", "ann", MUCH), ("question", "bob", LITTLE), ("import", "cid", MUCH)]
    assert (await Line().stand(jobs))[0] == "question"


async def test_of_those_who_ask_for_little_the_one_that_had_least() -> None:
    jobs = [("third", "ann", 0.1), ("first", "bob", 0.01), ("second", "cid", 0.05)]
    assert await Line().stand(jobs) == ["first", "second", "third"]


async def test_the_newest_does_not_keep_the_older_ones_waiting() -> None:
    """New questions that never end: the one before them comes to its turn."""
    order: list[str] = []

    async def ask(name: str) -> None:
        with new_job() as job:
            for _ in range(4):
                job.charge(SLICE)
                await pause()
            order.append(name)

    first = asyncio.create_task(ask("first"))
    await asyncio.sleep(0)
    others = []
    for number in range(60):
        others.append(asyncio.create_task(ask(f"{number}")))
        await asyncio.sleep(0)
    await asyncio.gather(first, *others)
    assert order.index("first") < 10


async def test_long_work_takes_turns_between_users_not_jobs() -> None:
    jobs = [*((f"a{n}", "ann", MUCH) for n in range(6)), ("b", "bob", MUCH)]
    order = await Line().stand(jobs, turns=3)
    assert order.index("b") < 3
    assert [name for name in order[:6]].count("b") == 3


async def test_long_work_goes_on_however_many_ask_for_little() -> None:
    jobs = [("long", "ann", MUCH), *((f"short{n}", "bob", LITTLE) for n in range(50))]
    assert (await Line().stand(jobs)).index("long") == 8


async def test_who_is_nearly_done_goes_on_however_many_ask_for_less() -> None:
    order: list[str] = []

    async def ask(name: str, used: float, turns: int) -> None:
        with new_job() as job:
            job.used = used
            for _ in range(turns):
                job.owed = SLICE
                await pause()
            order.append(name)

    medium = asyncio.create_task(ask("medium", 0.15, 3))
    others = []
    for number in range(100):
        others.append(asyncio.create_task(ask(f"{number}", LITTLE, 2)))
        await asyncio.sleep(0)
    await asyncio.gather(medium, *others)
    assert order.index("medium") < 60


async def test_what_takes_long_is_cut_into_slices() -> None:
    told = 0

    async def others() -> None:
        nonlocal told
        while True:
            await asyncio.sleep(0)
            told += 1

    other = asyncio.create_task(others())
    with new_job():
        done = [number async for number in in_slices(range(20)) if not _busy(SLICE / 2)]
    other.cancel()
    assert done == list(range(20))
    assert told >= 8


async def test_little_is_done_at_once_and_counted() -> None:
    with new_job() as job:
        assert await aside(10, threading.get_ident) == threading.get_ident()
        await aside(10, _busy, SLICE * 2)
        assert job.used >= SLICE * 2
        assert job.owed == 0.0  # it had its turn


async def test_a_long_text_is_read_beside_the_loop() -> None:
    with new_job() as job:
        assert await aside(LONG_TEXT, threading.get_ident) != threading.get_ident()
        await aside(LONG_TEXT, _busy, SLICE)
        assert job.used >= SLICE


async def test_a_failure_beside_the_loop_lets_the_next_one_in() -> None:
    with pytest.raises(ZeroDivisionError):
        await aside(LONG_TEXT, lambda: 1 / 0)
    assert await aside(LONG_TEXT, lambda: 1) == 1


async def test_who_leaves_while_waiting_keeps_nobody_out() -> None:
    gate = threading.Event()
    first = asyncio.create_task(aside(LONG_TEXT, gate.wait, 5))
    await asyncio.sleep(0)
    leaving = asyncio.create_task(aside(LONG_TEXT, lambda: "left"))
    last = asyncio.create_task(aside(LONG_TEXT, lambda: "last"))
    await asyncio.sleep(0)
    leaving.cancel()
    gate.set()
    assert await first
    assert await last == "last"


def test_a_job_is_short_until_it_has_used_some_time() -> None:
    job = Job()
    assert job.is_short
    job.charge(1.0)
    assert not job.is_short


def _busy(seconds: float) -> bool:
    """Compute for a while."""
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        pass
    return False
