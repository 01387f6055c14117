"""What one assistant knows of the rounds that another writes: recalls rank them as they are now."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from memory_store import (
    Correction,
    Extraction,
    Fact,
    MemoryStore,
    Query,
    Round,
    Speaker,
)
from memory_store.embedding import Embedder, HashEncoder
from memory_store.engines import Engine
from memory_store.engines._engine import StoredPoint, UserScope
from memory_store.recall._remembered import RoundOutlines

NOON = datetime(2023, 5, 20, 12, tzinfo=UTC)
LATER = NOON + timedelta(days=1)
QUESTION = Query("ann", "Which bird did Cleo see at the lake?")


def round(index: int, user: str, assistant: str = "", **more: Any) -> Round:
    return Round("ann", f"s{index // 2}", index, NOON, user, assistant, **more)


ROUNDS = [
    round(0, "The bird at the lake."),
    round(1, "I saw a heron.", "At the lake?", user_name="Cleo"),
    round(2, "I feed ducks.", user_name="Dan"),
    round(3, "A map, please."),
]
FIRST = ROUNDS[0]


@pytest.fixture
async def told(store: MemoryStore) -> MemoryStore:
    """A store that was asked, so that it keeps what it needs of the rounds."""
    await store.remember(ROUNDS)
    await store.recall(QUESTION)
    return store


@pytest.fixture
def fresh(engine: Engine, store: MemoryStore) -> MemoryStore:
    """A store that was never asked before, and so knows nothing of the rounds."""
    return MemoryStore(engine, Embedder(HashEncoder()))


Change = Callable[[MemoryStore], Awaitable[object]]


async def _answered(store: MemoryStore) -> None:
    await store.remember([replace(FIRST, assistant_text="A heron is grey. " * 20)])


async def _said_by_somebody(store: MemoryStore) -> None:
    await store.remember([replace(FIRST, user_name="Cleo")])


async def _enriched(store: MemoryStore) -> None:
    await store.enrich(FIRST, Extraction("m", (Fact("Ann saw a heron.", Speaker.USER, "m"),)))


async def _put_right(store: MemoryStore) -> None:
    await store.correct("ann", FIRST.id, Correction(LATER, user_text="I saw a swan at the lake."))


async def _forgotten(store: MemoryStore) -> None:
    await store.forget_round("ann", FIRST.id)


async def _forgotten_and_told_anew(store: MemoryStore) -> None:
    await store.forget_round("ann", FIRST.id)
    await store.remember([replace(FIRST, user_text="I have a bird. " * 9, user_name="Dan")])


async def _moved_house(store: MemoryStore) -> None:
    await store.forget_user("ann")
    await store.remember([replace(r, user_text=f"{r.user_text} Of Cleo.") for r in ROUNDS])


def ranked(rounds: Sequence[Any]) -> list[tuple[str, float, dict[str, float]]]:
    return [(one.record.id, one.similarity, dict(one.signals)) for one in rounds]


@pytest.mark.parametrize(
    "change",
    [
        _answered,
        _said_by_somebody,
        _enriched,
        _put_right,
        _forgotten,
        _forgotten_and_told_anew,
        _moved_house,
    ],
)
async def test_what_another_wrote_ranks_as_it_is(
    told: MemoryStore, second_store: MemoryStore, fresh: MemoryStore, change: Change
) -> None:
    await change(second_store)
    now = await fresh.recall(QUESTION)
    assert ranked((await told.recall(QUESTION)).rounds) == ranked(now.rounds)


async def test_a_link_does_not_bring_back_what_another_has_put_right(
    store: MemoryStore, second_store: MemoryStore, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    leeds, ghent = round(0, "I live in Leeds.", turn_ids=("t0",)), round(1, "I moved to Ghent.")
    await store.remember([leeds])
    link, once = engine.set_payload, asyncio.Event()

    async def put_right_before(*arguments: Any) -> None:
        if not once.is_set():
            once.set()
            await second_store.correct(
                "ann", leeds.id, Correction(LATER, user_text="I like green tea.")
            )
        await link(*arguments)

    monkeypatch.setattr(engine, "set_payload", put_right_before)
    await store.remember([replace(ghent, session_date=LATER)])
    assert once.is_set()
    record = await store.round("ann", leeds.id)
    assert record is not None
    assert [fact.text for fact in record.facts] == ["I like green tea."]


class Gate:
    """Reads of an engine are made, and their answers held back until it is opened."""

    def __init__(self, engine: Engine) -> None:
        self.reached, self.open = asyncio.Event(), asyncio.Event()
        self._scroll = engine.scroll

    async def scroll(
        self, scope: UserScope, fields: Sequence[str] | None = None
    ) -> list[StoredPoint]:
        found = await self._scroll(scope, fields)
        self.reached.set()
        await self.open.wait()
        return found


@pytest.mark.parametrize(
    "scope", [UserScope("ann"), UserScope("ann", "s0"), UserScope("ann", ids=(FIRST.id,))]
)
async def test_what_is_forgotten_while_it_is_read_is_not_kept(
    store: MemoryStore, engine: Engine, monkeypatch: pytest.MonkeyPatch, scope: UserScope
) -> None:
    await store.remember(ROUNDS)
    places, gate, number = RoundOutlines(engine), Gate(engine), UUID(FIRST.id).int
    with monkeypatch.context() as patch:
        patch.setattr(engine, "scroll", gate.scroll)
        reading = asyncio.create_task(places.of("ann", [number]))
        await gate.reached.wait()
        await engine.delete(scope)
        gate.open.set()
        assert list(await reading) == [number]
    assert await places.of("ann", [number]) == {}


async def test_what_another_wrote_while_it_was_read_is_read_again(
    store: MemoryStore,
    second_store: MemoryStore,
    engine: Engine,
    fresh: MemoryStore,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    await store.remember(ROUNDS)
    gate = Gate(engine)
    with monkeypatch.context() as patch:
        patch.setattr(engine, "scroll", gate.scroll)
        asking = asyncio.create_task(store.recall(QUESTION))
        await gate.reached.wait()
        await second_store.remember([replace(FIRST, assistant_text="A heron is grey. " * 20)])
        gate.open.set()
        await asking
    now = await fresh.recall(QUESTION)
    assert ranked((await store.recall(QUESTION)).rounds) == ranked(now.rounds)
