"""Claims: a round that waits for enrichment is one worker's at a time, on every engine."""

from datetime import UTC, datetime, timedelta

import pytest

from memory_store import (
    EnrichmentState,
    Extraction,
    MemoryStore,
    Record,
    Round,
)
from memory_store.engines import Claim, EdgeEngine, Engine
from memory_store.transfer import to_line

MAY = datetime(2023, 5, 20, tzinfo=UTC)
NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
ROUNDS = [Round("ann", "s", n, MAY, f"I own {n} cats.", turn_ids=(f"t{n}",)) for n in range(3)]
PENDING, DONE, FAILED = EnrichmentState.PENDING, EnrichmentState.DONE, EnrichmentState.FAILED


@pytest.fixture
async def waiting(store: MemoryStore) -> MemoryStore:
    await store.remember(ROUNDS, enrichment=PENDING)
    await store.remember([Round("bob", "s", 0, MAY, "I own a dog.")], enrichment=PENDING)
    return store


async def claimed(
    store: MemoryStore, by: str, *, at: timedelta = timedelta(0), lasting: timedelta = MINUTE
) -> list[int]:
    """Which of Ann's rounds a worker gets."""
    got = await store.claim(ROUNDS, Claim(by, NOW + at + lasting), NOW + at)
    return [round.round_index for round in got]


@pytest.fixture
def shared(engine: Engine) -> None:
    if isinstance(engine, EdgeEngine):
        pytest.skip("an embedded memory has one owner")


async def test_one_owner_gets_everything(waiting: MemoryStore, engine: Engine) -> None:
    assert await claimed(waiting, "one") == [0, 1, 2]
    if isinstance(engine, EdgeEngine):
        assert await claimed(waiting, "other") == [0, 1, 2]
        assert await waiting.unenriched(PENDING, lapsed=NOW + 9 * MINUTE) == []


@pytest.mark.usefixtures("shared")
async def test_a_round_is_one_workers_until_its_lease_is_over(
    waiting: MemoryStore, second_store: MemoryStore
) -> None:
    assert await claimed(waiting, "one") == [0, 1, 2]
    assert await claimed(second_store, "other") == []
    assert await second_store.unenriched(PENDING, lapsed=NOW + MINUTE / 2) == []
    # Renewed, it lasts for longer; over, it is anybody's.
    assert await claimed(waiting, "one", at=MINUTE / 2) == [0, 1, 2]
    assert await claimed(second_store, "other", at=MINUTE) == []
    lapsed = await second_store.unenriched(PENDING, lapsed=NOW + 2 * MINUTE)
    assert {record.round for record in lapsed} == set(ROUNDS)
    assert await claimed(second_store, "other", at=2 * MINUTE) == [0, 1, 2]
    assert await claimed(waiting, "one", at=2 * MINUTE) == []


@pytest.mark.usefixtures("shared")
async def test_what_is_given_back_is_anybodys(
    waiting: MemoryStore, second_store: MemoryStore
) -> None:
    await claimed(waiting, "one")
    assert await claimed(waiting, "one", lasting=timedelta(0)) == [0, 1, 2]
    assert await claimed(second_store, "other") == [0, 1, 2]
    # Who has it no longer can give nothing back.
    assert await claimed(waiting, "one", lasting=timedelta(0)) == []
    assert await claimed(waiting, "one") == []


@pytest.mark.usefixtures("shared")
async def test_only_what_waits_and_is_as_it_was_read(
    waiting: MemoryStore, second_store: MemoryStore
) -> None:
    await waiting.enrich(ROUNDS[0], Extraction("model"))
    changed = Round("ann", "s", 1, MAY, "I own 1 cat.", "Nice.", turn_ids=("t1", "answer"))
    await second_store.remember([changed], enrichment=PENDING)
    assert await claimed(waiting, "one") == [2]
    assert await waiting.claim([], Claim("one", NOW), NOW) == []


@pytest.mark.usefixtures("shared")
async def test_a_claim_is_no_part_of_the_round(
    waiting: MemoryStore, second_store: MemoryStore, engine: Engine
) -> None:
    before = await waiting.records("ann")
    await claimed(waiting, "one")
    after = await second_store.records("ann")
    assert after == before
    assert [to_line(record) for record in after] == [to_line(record) for record in before]
    # Written anew, it is nobody's.
    await second_store.remember(ROUNDS[:1], enrichment=PENDING)
    held = {ROUNDS[1].id: ROUNDS[1].turn_ids}
    await second_store.remember(ROUNDS[1:2], enrichment=PENDING, over=held)
    assert await claimed(second_store, "other") == [0, 1]


@pytest.mark.usefixtures("shared")
async def test_what_was_enriched_or_failed_is_claimed_by_nobody(
    waiting: MemoryStore, second_store: MemoryStore
) -> None:
    await claimed(waiting, "one")
    done: Record | None = await waiting.enrich(ROUNDS[0], Extraction("model"))
    assert done is not None
    assert done.enrichment is DONE
    await waiting.enrichment_failed(ROUNDS[1], "model", "no", most_attempts=1)
    await waiting.enrichment_failed(ROUNDS[2], "model", "no", most_attempts=2)
    assert await claimed(waiting, "one", lasting=timedelta(0)) == [2]
    states = [record.enrichment for record in await second_store.session("ann", "s")]
    assert states == [DONE, FAILED, PENDING]
    assert await claimed(second_store, "other") == [2]
