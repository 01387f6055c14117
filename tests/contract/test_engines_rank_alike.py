"""The same rounds on both engines: the same rounds found, in the same order, as near."""

import random
from collections.abc import AsyncIterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest

from memory_store import (
    Days,
    MemoryStore,
    Query,
    Round,
)
from memory_store.embedding import Embedder, HashEncoder
from memory_store.engines import EdgeEngine, ServerEngine

pytestmark = pytest.mark.qdrant_server

MAY = datetime(2023, 5, 1, tzinfo=UTC)
USERS = ("ann", "bob")
SUBJECTS = "I|My sister|We|My neighbour|Our choir|The doctor|My boss".split("|")
VERBS = "painted|sold|forgot|repaired|visited|bought|lost|praised".split("|")
THINGS = "the garden fence|a red bicycle|the old piano|two concert tickets|my passport|the oven"
PLACES = "in Ghent|near the harbour|last Tuesday|before breakfast|with Miso the cat|at work"


def talk(numbers: random.Random) -> str:
    things, places = THINGS.split("|"), PLACES.split("|")
    return " ".join(
        f"{numbers.choice(SUBJECTS)} {numbers.choice(VERBS)} {numbers.choice(things)} "
        f"{numbers.choice(places)}."
        for _ in range(numbers.randint(1, 4))
    )


def rounds() -> list[Round]:
    numbers = random.Random(7)
    return [
        Round(
            USERS[number % 2],
            f"s{number // 8}",
            number,
            MAY + timedelta(hours=5 * number),
            talk(numbers),
            numbers.choice(["Noted.", "How nice!", talk(numbers)]),
        )
        for number in range(300)
    ]


def queries() -> list[Query]:
    numbers = random.Random(8)
    days = [Days(), Days(first=date(2023, 5, 9)), Days(date(2023, 5, 9), date(2023, 5, 20))]
    return [Query(USERS[n % 2], talk(numbers), limit=10, days=days[n % 3]) for n in range(30)]


@pytest.fixture
async def stores(tmp_path: Path, server_engine: ServerEngine) -> AsyncIterator[list[MemoryStore]]:
    opened = [
        MemoryStore(e, Embedder(HashEncoder())) for e in (EdgeEngine(tmp_path), server_engine)
    ]
    for store in opened:
        await store.open()
        await store.remember(rounds())
    yield opened
    for store in opened:
        await store.close()


async def test_both_engines_find_the_same_in_the_same_order(stores: list[MemoryStore]) -> None:
    for query in queries():
        edge, server = [await store.recall(query) for store in stores]
        assert len(edge.rounds) == 10
        assert [r.record for r in server.rounds] == [r.record for r in edge.rounds]
        for ours, theirs in zip(edge.rounds, server.rounds, strict=True):
            assert theirs.similarity == pytest.approx(ours.similarity, abs=1e-5)
            assert theirs.signals == pytest.approx(ours.signals, abs=1e-5)
        sessions = [[session.session_id for session in found.sessions] for found in (edge, server)]
        assert sessions[0] == sessions[1]
