"""Two processes that write the same point at once: what the operations leave in whichever order a
server takes them."""

import asyncio
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from itertools import combinations

import numpy as np
import pytest
from qdrant_binary import Qdrant
from qdrant_client import AsyncQdrantClient, models

from memory_store import Record, Round
from memory_store._points import to_point
from memory_store.engines import ServerEngine
from memory_store.engines._engine import Point, UserScope
from memory_store.engines._server.points import to_replacing
from memory_store.language.words import terms

pytestmark = pytest.mark.qdrant_server
ANN = UserScope("ann")
MAY = datetime(2023, 5, 20, tzinfo=UTC)


def a_point(text: str, turn_ids: tuple[str, ...], *axes: int) -> Point:
    round = Round("ann", "s", 0, MAY, text, turn_ids=turn_ids)
    return to_point(Record(round), np.eye(4, dtype=np.float32)[list(axes)])


SAID = a_point("The secret is 4711.", ("t",), 0)
ENRICHED = a_point("The secret is 4711.", ("t",), 0, 2)
CORRECTED = a_point("Nothing to see.", ("t", "corrected"), 1)
EMPTIED = a_point("…", ("t", "corrected"))
HELD = {SAID.id: ("t",)}


async def holds(engine: ServerEngine, point: Point) -> bool:
    """Whether the memory holds the point with its own text, keys and words."""
    (hit,) = await engine.scroll(ANN)
    keys = (await engine.keys(ANN))[point.id]
    words = [*terms("secret 4711 nothing")]
    counts = [sum(found.values()) for found in await engine.postings(words, ANN, 9)]
    return (
        hit.payload["user_text"] == point.payload["user_text"]
        and np.array_equal(keys, point.keys if len(point.keys) else np.asarray([], np.float32))
        and counts == [point.words.get(word, 0) for word in words]
    )


def mixed(
    one: Sequence[models.UpdateOperation], other: Sequence[models.UpdateOperation]
) -> list[list[models.UpdateOperation]]:
    """Every order of the operations of both that keeps the order of each."""
    size = len(one) + len(other)
    orders = []
    for places in combinations(range(size), len(one)):
        ones, others = iter(one), iter(other)
        orders.append([next(ones if place in places else others) for place in range(size)])
    return orders


@pytest.mark.parametrize("corrected", [CORRECTED, EMPTIED], ids=["other text", "no words"])
async def test_in_every_order_a_correction_keeps_nothing_of_the_old_text(
    qdrant: Qdrant, collection: str, server_engine: ServerEngine, corrected: Point
) -> None:
    await server_engine.open(4)
    client = AsyncQdrantClient(
        url=qdrant.url, grpc_port=qdrant.grpc_port, prefer_grpc=True, check_compatibility=False
    )
    held = HELD[SAID.id]
    orders = mixed(to_replacing(corrected, held), to_replacing(ENRICHED, held))
    for order in orders:
        await server_engine.upsert([SAID])
        for operation in order:
            await client.batch_update_points(collection, [operation], wait=True)
        assert await holds(server_engine, corrected)
    await client.close()
    await server_engine.close()


async def test_a_correction_beside_an_enrichment_wins_whole(
    another_server_engine: Callable[[], ServerEngine],
) -> None:
    correcting, enriching = another_server_engine(), another_server_engine()
    for engine in (correcting, enriching):
        await engine.open(4)
    for _ in range(20):
        await correcting.upsert([SAID])
        await asyncio.gather(
            correcting.upsert([CORRECTED], HELD), enriching.upsert([ENRICHED], HELD)
        )
        assert await holds(correcting, CORRECTED)
    for engine in (correcting, enriching):
        await engine.close()
