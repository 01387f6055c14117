"""The kept number of a user's rounds is what counting one by one gives, whatever is written."""

import random
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest

from memory_store import Record, Round
from memory_store._points import to_point
from memory_store._types import Days
from memory_store.engines import EdgeEngine
from memory_store.engines._edge.engine import Tally
from memory_store.engines._engine import Point, UserScope

MAY = datetime(2023, 5, 20, tzinfo=UTC)
USERS = ("ann", "bob", "eve")


def said(user: str, index: int, text: str = "Red bicycle.") -> Point:
    record = Record(Round(user, f"s{index // 2}", index, MAY, text))
    return to_point(record, np.empty((0, 4), np.float32))


@pytest.fixture
async def engine(tmp_path: Path) -> AsyncIterator[EdgeEngine]:
    opened = EdgeEngine(tmp_path)
    await opened.open(4)
    yield opened
    await opened.close()


async def counted(engine: EdgeEngine, user: str) -> int:
    """One by one: the range of days keeps the tally out."""
    return await engine.count(UserScope(user, days=Days(MAY.date(), MAY.date())))


@pytest.mark.parametrize("seed", range(5))
async def test_kept_numbers_are_counted_ones(engine: EdgeEngine, seed: int) -> None:
    chance = random.Random(seed)
    for step in range(40):
        users = chance.choices(USERS, k=3)
        points = [said(user, chance.randrange(12), f"Red bicycle {step}.") for user in users]
        turns = {point.id: tuple(point.payload["turn_ids"]) for point in points}
        match chance.randrange(6):
            case 0 | 1:
                await engine.upsert(points)
            case 2:
                await engine.upsert(points, over=dict(list(turns.items())[:1]))
            case 3:
                await engine.upsert(points, over={points[0].id: ("another turn",)})
            case 4:
                await engine.delete(UserScope(users[0], session_id=f"s{chance.randrange(6)}"))
            case 5:
                await engine.set_payload(UserScope(users[0]), {"session_title": f"{step}"})
        for user in USERS:
            assert await engine.count(UserScope(user)) == await counted(engine, user)


def test_a_user_is_counted_once() -> None:
    asked: list[UserScope] = []

    def count(scope: UserScope) -> int:
        asked.append(scope)
        return len(scope.ids or "seven")

    tally = Tally(count, most_users=1)
    assert [tally.of("ann"), tally.of("ann"), tally.of("bob"), tally.of("ann")] == [5, 5, 5, 5]
    assert asked == [UserScope("ann"), UserScope("bob"), UserScope("ann")]


def test_after_a_failed_write_the_user_is_counted_anew() -> None:
    totals = iter((7, 1, 5))
    tally = Tally(lambda _: next(totals))
    tally.of("ann")
    with pytest.raises(OSError, match="full"), tally.following([said("ann", 0)]):
        raise OSError("full")
    assert tally.of("ann") == 5


async def test_numbers_outlive_a_scrub_and_a_restart(tmp_path: Path) -> None:
    engine = EdgeEngine(tmp_path)
    for more in (3, 5):
        await engine.open(4)
        await engine.write_identity({"dimension": 4})
        await engine.upsert([said("ann", n) for n in range(more)])
        assert await engine.count(UserScope("ann")) == more
        await engine.delete(UserScope("ann", ids=(said("ann", 0).id,)))
        await engine.scrub()
        assert await engine.count(UserScope("ann")) == more - 1
        await engine.close()
