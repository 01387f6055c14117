"""Outlines of rounds: read once, read again when written again, bounded by who asked last."""

import uuid
from datetime import UTC, datetime

from counting import CountingEngine, write

from memory_store import Record, Round
from memory_store.engines import EdgeEngine
from memory_store.engines._engine import UserScope
from memory_store.recall._remembered import RoundOutline, RoundOutlines

MAY = datetime(2023, 5, 20, tzinfo=UTC)


def said(user: str, index: int, text: str) -> Record:
    return Record(Round(user, f"s{index // 2}", index, MAY, text))


def number(record: Record) -> int:
    return uuid.UUID(record.id).int


async def test_places_of_rounds_and_none_of_what_is_not_there(engine: EdgeEngine) -> None:
    first, second = said("ann", 0, "Red bicycle."), said("ann", 2, "Blue garden fence.")
    await write(engine, first, second)
    places = await RoundOutlines(engine).of("ann", [17, number(second), number(first)])
    assert list(places.items()) == [
        (number(second), RoundOutline("s1", 3, number=2)),
        (number(first), RoundOutline("s0", 2)),
    ]


async def test_a_place_is_read_once(engine: CountingEngine) -> None:
    records = [said("ann", n, "Red bicycle.") for n in range(3)]
    await write(engine, *records)
    places = RoundOutlines(engine)
    for _ in range(2):
        assert len(await places.of("ann", [number(record) for record in records])) == 3
    assert engine.reads == 3


async def test_another_users_round_has_no_place(engine: EdgeEngine) -> None:
    record = said("ann", 0, "Red bicycle.")
    await write(engine, record)
    places = RoundOutlines(engine)
    for user, found in (("bob", 0), ("ann", 1), ("bob", 0)):
        assert len(await places.of(user, [number(record)])) == found


async def test_what_was_written_again_is_read_again(engine: EdgeEngine) -> None:
    before, after = said("ann", 0, "Red bicycle."), said("ann", 0, "Red bicycle, blue fence.")
    places = RoundOutlines(engine)
    for record in (before, after):
        await write(engine, record)
        words = (await places.of("ann", [number(record)]))[number(record)].words
        assert words == (2 if record is before else 4)


async def test_what_others_wrote_is_read_again(engine: CountingEngine) -> None:
    first, second = said("ann", 0, "Red bicycle."), said("ann", 1, "Blue fence.")
    await write(engine, first, second)
    ids = [number(first), number(second)]
    places = RoundOutlines(engine)
    for versions, reads in (((5, 6), 2), ((5, 6), 2), ((9, 6), 3), ((9, 10), 4), ((9, 10), 4)):
        places.found("ann", dict(zip(ids, versions, strict=True)))
        places.found("bob", dict.fromkeys(ids, 17))
        assert len(await places.of("ann", ids)) == 2
        assert engine.reads == reads


async def test_a_version_not_heard_of_before_counts_as_another(engine: CountingEngine) -> None:
    record = said("ann", 0, "Red bicycle.")
    await write(engine, record)
    places = RoundOutlines(engine)
    await places.of("ann", [number(record)])
    places.found("ann", {number(record): 5})
    await places.of("ann", [number(record)])
    assert engine.reads == 2


async def test_users_who_asked_long_ago_are_read_again(engine: CountingEngine) -> None:
    records = {user: [said(user, n, "Red fence.") for n in range(3)] for user in ("ann", "bob")}
    await write(engine, *records["ann"], *records["bob"])
    places = RoundOutlines(engine, most_rounds=4)
    for user in ("ann", "bob", "bob", "ann"):
        ids = [number(record) for record in records[user]]
        assert set(await places.of(user, ids)) == set(ids)
    assert engine.reads == 9


async def test_a_forgotten_user_has_no_places(engine: EdgeEngine) -> None:
    record = said("ann", 0, "Red bicycle.")
    await write(engine, record)
    places = RoundOutlines(engine)
    assert await places.of("ann", [number(record)])
    await engine.delete(UserScope("ann"))
    assert await places.of("ann", [number(record)]) == {}


async def test_of_a_forgotten_round_not_even_the_version_is_kept(engine: CountingEngine) -> None:
    record = said("ann", 0, "Red bicycle.")
    await write(engine, record)
    places, found = RoundOutlines(engine), {number(record): 5}
    places.found("ann", found)
    await engine.delete(UserScope("ann", ids=(record.id,)))
    await write(engine, record)
    for reads in (1, 2, 2):  # as one of which no version is known
        assert len(await places.of("ann", list(found))) == 1
        assert engine.reads == reads
        places.found("ann", found)
