"""Places: read once, read again when written again, bounded by the users who asked last."""

import uuid
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest

from memory_store import EdgeEngine, Record, Round
from memory_store.points import to_point
from memory_store.recall.places import Place, Places

MAY = datetime(2023, 5, 20, tzinfo=UTC)


def said(user: str, index: int, text: str) -> Record:
    return Record(Round(user, f"s{index // 2}", index, MAY, text))


def number(record: Record) -> int:
    return uuid.UUID(record.id).int


async def write(engine: EdgeEngine, *records: Record) -> None:
    no_keys = np.empty((0, 4), np.float32)
    await engine.upsert([to_point(record, no_keys) for record in records])


@pytest.fixture
async def engine(tmp_path: Path) -> EdgeEngine:
    opened = EdgeEngine(tmp_path)
    await opened.open(4)
    return opened


async def test_places_of_rounds_and_none_of_what_is_not_there(engine: EdgeEngine) -> None:
    first, second = said("ann", 0, "Red bicycle."), said("ann", 2, "Blue garden fence.")
    await write(engine, first, second)
    places = await Places().of(engine, "ann", [number(first), number(second), 17])
    assert places == {number(first): Place("s0", 2, False), number(second): Place("s1", 3, False)}


async def test_another_users_round_has_no_place(engine: EdgeEngine) -> None:
    record = said("ann", 0, "Red bicycle.")
    await write(engine, record)
    assert await Places().of(engine, "bob", [number(record)]) == {}


async def test_what_was_written_again_is_read_again(engine: EdgeEngine) -> None:
    before, after = said("ann", 0, "Red bicycle."), said("ann", 0, "Red bicycle, blue fence.")
    places = Places()
    for record in (before, after):
        await write(engine, record)
        places.forget([record])
        words = (await places.of(engine, "ann", [number(record)]))[number(record)].words
        assert words == (2 if record is before else 4)


async def test_users_who_asked_long_ago_are_read_again(engine: EdgeEngine) -> None:
    records = {user: [said(user, n, "Red fence.") for n in range(3)] for user in ("ann", "bob")}
    await write(engine, *records["ann"], *records["bob"])
    places = Places(most_rounds=4)
    for user in ("ann", "bob", "ann"):
        ids = [number(record) for record in records[user]]
        assert set(await places.of(engine, user, ids)) == set(ids)


async def test_a_forgotten_user_has_no_places(engine: EdgeEngine) -> None:
    record = said("ann", 0, "Red bicycle.")
    await write(engine, record)
    places = Places()
    assert await places.of(engine, "ann", [number(record)])
    places.forget_user("ann")
    assert await places.of(engine, "ann", []) == {}
