"""Records recalled: read again when written again, never another user's, bounded in size."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from counting import CountingEngine, write

from memory_store import Record, Round
from memory_store.engines import EdgeEngine
from memory_store.engines._engine import UserScope
from memory_store.recall._remembered import KnownRecords

MAY = datetime(2023, 5, 20, tzinfo=UTC)


def said(index: int, text: str = "Red bicycle.", user: str = "ann") -> Record:
    return Record(Round(user, "s", index, MAY, text))


async def test_a_record_is_read_once(engine: CountingEngine) -> None:
    first, second = said(0), said(1)
    await write(engine, first, second)
    values = KnownRecords(engine)
    assert await values.of("ann", [first.id]) == {first.id: first}
    assert await values.of("ann", [second.id, first.id]) == {first.id: first, second.id: second}
    assert engine.reads == 2


async def test_records_that_two_read_at_once_count_once(engine: CountingEngine) -> None:
    # More than a page, between two of which others have their turn.
    records = [said(n) for n in range(200)]
    ids = [record.id for record in records]
    await write(engine, *records)
    values = KnownRecords(engine, most_characters=sum(one.round.size for one in records))
    await asyncio.gather(*(values.of("ann", ids) for _ in range(3)))
    reads = engine.reads
    await values.of("ann", ids)
    assert engine.reads == reads


async def test_another_users_record_is_nobodys(engine: CountingEngine) -> None:
    record = said(0)
    await write(engine, record)
    values = KnownRecords(engine)
    for user, found in (("bob", {}), ("ann", {record.id: record}), ("bob", {})):
        assert await values.of(user, [record.id]) == found


Change = Callable[[EdgeEngine, Record], Awaitable[None]]


async def _written_again(engine: EdgeEngine, record: Record) -> None:
    await write(engine, replace(record, summary="new"))


async def _set(engine: EdgeEngine, record: Record) -> None:
    await engine.set_payload(UserScope("ann", ids=(record.id,)), {"summary": "new"})


@pytest.mark.parametrize("change", [_written_again, _set])
async def test_what_was_changed_is_read_again(engine: CountingEngine, change: Change) -> None:
    record = said(0)
    await write(engine, record)
    values = KnownRecords(engine)
    await values.of("ann", [record.id])
    await change(engine, record)
    assert (await values.of("ann", [record.id]))[record.id].summary == "new"


async def test_all_who_keep_records_are_told(engine: CountingEngine) -> None:
    record = said(0)
    await write(engine, record)
    several = [KnownRecords(engine), KnownRecords(engine)]
    for values in several:
        await values.of("ann", [record.id])
    await engine.delete(UserScope("ann"))
    assert [await values.of("ann", [record.id]) for values in several] == [{}, {}]


async def test_what_was_deleted_is_gone(engine: CountingEngine) -> None:
    record = said(0)
    await write(engine, record)
    values = KnownRecords(engine)
    await values.of("ann", [record.id])
    await engine.delete(UserScope("ann", "s"))
    assert await values.of("ann", [record.id]) == {}


async def test_what_was_written_while_it_was_read_is_not_kept(engine: CountingEngine) -> None:
    # More than a page, between two of which others have their turn.
    records = [said(n) for n in range(200)]
    await write(engine, *records)
    values = KnownRecords(engine)
    reading = asyncio.create_task(values.of("ann", [record.id for record in records]))
    await asyncio.sleep(0)
    await engine.delete(UserScope("ann"))
    await reading
    assert await values.of("ann", [record.id for record in records]) == {}


async def test_long_texts_are_let_go_of(engine: CountingEngine) -> None:
    records = [said(n, "x" * 60) for n in range(3)]
    await write(engine, *records)
    values = KnownRecords(engine, most_characters=130)
    for _ in range(2):
        for record in records:
            assert await values.of("ann", [record.id]) == {record.id: record}
    assert engine.reads == 6
    await values.of("ann", [records[2].id, records[1].id])
    assert engine.reads == 6
