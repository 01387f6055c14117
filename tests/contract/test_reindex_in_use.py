"""A memory indexed anew while it is asked and written to, on each engine."""

import asyncio
import random
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from memories import MAY, Steps, WideEncoder, a_store, copied, made_up, questions, remember
from qdrant_binary import Qdrant
from seeds import seeds

from memory_store import (
    Correction,
    Extraction,
    Fact,
    FactLink,
    KeyDesign,
    KeyKind,
    MemoryStore,
    Query,
    Record,
    Round,
)
from memory_store.embedding import Embedder, EncoderIdentity, HashEncoder, TextKind
from memory_store.engines import EdgeEngine, Engine
from memory_store.errors import EmbeddingFailed, MemoryStoreError, StoreMismatch, StoreUnready
from memory_store.transfer import Reindexed

ROUNDS = made_up(70)
USERS = ("user-0", "user-1", "user-2")


class Turned(HashEncoder):
    """Another vector space of the same size: a vector of one is far from its own in the other."""

    @property
    def identity(self) -> EncoderIdentity:
        return EncoderIdentity("turned", HashEncoder().identity.dimension)

    def encode(self, texts: Any, kind: TextKind) -> np.ndarray:
        return np.roll(super().encode(texts, kind), 1, axis=1)


class Stopped(WideEncoder):
    """Stops before it encodes the last rounds of the first pass, until it may go on."""

    def __init__(self) -> None:
        self.reached, self.may_go_on = threading.Event(), threading.Event()
        self._texts = 0

    def encode(self, texts: Any, kind: TextKind) -> np.ndarray:
        self._texts += len(texts)
        if self._texts > 80:
            self.reached.set()
            assert self.may_go_on.wait(60)
        return super().encode(texts, kind)


class Breaks(WideEncoder):
    """Fails after so many texts, as a process that ends there."""

    def __init__(self, texts: int) -> None:
        self._left = texts

    def encode(self, texts: Any, kind: TextKind) -> np.ndarray:
        self._left -= len(texts)
        if self._left < 0:
            raise RuntimeError("no more")
        return super().encode(texts, kind)


async def reindexed(
    store: MemoryStore, encoder: HashEncoder | None = None, **how: Any
) -> Reindexed:
    encoder = encoder or WideEncoder()
    return await store.reindex(lambda: Embedder(encoder, cached_texts=0), Steps(), **how)


@asynccontextmanager
async def stopped(store: MemoryStore) -> AsyncIterator[None]:
    """A reindex is in the middle, with half of the rounds in the new index; it is done after."""
    encoder = Stopped()
    running = asyncio.create_task(reindexed(store, encoder))
    assert await asyncio.to_thread(encoder.reached.wait, 60)
    try:
        yield
    finally:
        encoder.may_go_on.set()
        await running


async def everything(store: MemoryStore) -> dict[str, list[Record]]:
    return {user: await store.records(user) for user in await store.users()}


async def found(store: MemoryStore) -> list[list[str]]:
    asked = [Query(user, text, limit=10) for user, text in questions(9)]
    recalls = [await store.recall(query) for query in asked]
    return [[hit.record.id for hit in recall.rounds] for recall in recalls]


@pytest.fixture(params=["edge", pytest.param("server", marks=pytest.mark.qdrant_server)])
def engine(request: pytest.FixtureRequest, tmp_path: Path) -> Engine:
    """One that only this test has, for its index is exchanged."""
    if request.param == "edge":
        return EdgeEngine(tmp_path)
    served: Engine = request.getfixturevalue("server_engine")
    return served


@pytest.fixture
async def store(engine: Engine) -> AsyncIterator[MemoryStore]:
    opened = MemoryStore(engine, Embedder(HashEncoder()))
    await opened.open()
    yield opened
    await opened.close()


@pytest.fixture(autouse=True)
def _no_successors(request: pytest.FixtureRequest) -> Iterator[None]:
    """On a server, the next indexes are deleted afterwards."""
    if not request.node.get_closest_marker("qdrant_server"):
        yield
        return
    qdrant: Qdrant = request.getfixturevalue("qdrant")
    named: str = request.getfixturevalue("collection")
    yield
    for number in (2, 3):
        qdrant.forget(f"{named}.{number}")


@pytest.fixture(scope="module")
def _reference(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("reference") / "memory"
    asyncio.run(remember(EdgeEngine(folder), ROUNDS, WideEncoder()))
    return folder


@pytest.fixture
async def reference(tmp_path: Path, _reference: Path) -> AsyncIterator[MemoryStore]:
    """What is to come out: all rounds, written by the other encoder from the start."""
    opened = a_store(EdgeEngine(copied(_reference, tmp_path / "reference")), WideEncoder())
    await opened.open()
    yield opened
    await opened.close()


async def test_it_answers_by_the_old_index_until_the_new_one_is_complete(
    store: MemoryStore, reference: MemoryStore
) -> None:
    await store.remember(ROUNDS)
    before, old = await everything(store), store.embedder
    async with stopped(store):
        assert store.embedder is old
        assert (await store.recall(Query("user-0", ROUNDS[0].user_text))).rounds
    assert store.description["embedder"] == store.embedder.identity.name == "wide"
    assert await everything(store) == before == await everything(reference)
    assert await found(store) == await found(reference)
    with pytest.raises(EmbeddingFailed, match="closed"):
        await old.embed(["a text"], TextKind.QUERY)


async def test_it_is_opened_by_the_new_embedder_alone(store: MemoryStore, engine: Engine) -> None:
    await store.remember(ROUNDS)
    await reindexed(store)
    await store.remember(made_up(71)[70:])
    before = await everything(store)
    await store.close()
    with pytest.raises(StoreMismatch):
        await a_store(engine).open()
    again = a_store(engine, WideEncoder())
    await again.open()
    assert await everything(again) == before
    await again.close()


async def test_nothing_to_do_is_nothing_done(store: MemoryStore) -> None:
    await store.remember(ROUNDS[:3])
    assert not (await reindexed(store, HashEncoder())).was_needed
    again = await reindexed(store, HashEncoder(), again=True)
    assert (again.was_needed, again.written) == (True, 3)
    assert (await store.recall(Query("user-0", ROUNDS[0].user_text))).rounds


async def test_other_keys_are_another_index(store: MemoryStore) -> None:
    await store.remember(ROUNDS[:3])
    raw = KeyDesign((KeyKind.RAW,))
    await store.reindex(lambda: Embedder(HashEncoder()), Steps(), raw)
    assert store.description["keys"] == "raw"


async def test_no_vector_meets_one_of_another_encoder(store: MemoryStore) -> None:
    await store.remember(ROUNDS)
    said = Query(ROUNDS[0].user_id, ROUNDS[0].user_text)
    (best, *_) = (await store.recall(said)).rounds
    over = False
    seen: set[str] = set()

    async def ask() -> None:
        while not over:
            (first, *_) = (await store.recall(said)).rounds
            assert first.record.id == best.record.id
            assert first.signals["dense"] == pytest.approx(best.signals["dense"], abs=1e-3)
            near = await store.closeness(ROUNDS[1].user_text, [ROUNDS[1].user_text])
            assert near[0] > 0.5
            seen.add(str(store.description["embedder"]))
            await asyncio.sleep(0)

    asking = [asyncio.create_task(ask()) for _ in range(3)]
    await reindexed(store, Turned())
    await asyncio.sleep(0.05)
    over = True
    await asyncio.gather(*asking)
    assert seen == {"hash", "turned"}


async def test_what_is_forgotten_meanwhile_does_not_come_back(
    store: MemoryStore, engine: Engine, tmp_path: Path
) -> None:
    one = replace(ROUNDS[0], user_id="ann", session_id="home")
    said = ["I live in Ghent.", "I live in Quixotown now.", "My cat is called Zebulon."]
    homes = [
        replace(one, round_index=n, session_date=MAY + timedelta(days=n), user_text=text)
        for n, text in enumerate(said)
    ]
    await store.remember([*homes, *ROUNDS])
    (older, *_) = await store.session("ann", "home")
    assert older.facts[0].superseded_by
    async with stopped(store):
        await store.forget_round("ann", homes[1].id)
        await store.correct("ann", homes[2].id, Correction(MAY, user_text="My cat is called Miso."))
        await store.forget_user("user-1")
    left = await store.session("ann", "home")
    assert [record.round.user_text for record in left] == [said[0], "My cat is called Miso."]
    assert left[0].facts[0].superseded_by is None
    assert await store.count("user-1") == 0
    for word in ("Quixotown", "Zebulon"):
        assert word not in repr(await everything(store))
    if isinstance(engine, EdgeEngine):
        await store.scrub()
        files = [file for file in (tmp_path / "edge").rglob("*") if file.is_file()]
        assert files
        assert not any(b"Quixotown" in file.read_bytes() for file in files)
        assert not any(b"Zebulon" in file.read_bytes() for file in files)


async def test_vectors_of_what_is_forgotten_meanwhile_are_forgotten(store: MemoryStore) -> None:
    await store.remember(ROUNDS)
    encoder = Stopped()
    embedder = Embedder(encoder)
    running = asyncio.create_task(store.reindex(lambda: embedder, Steps()))
    assert await asyncio.to_thread(encoder.reached.wait, 60)
    first = (await store.records("user-0"))[0]
    every = sorted(ROUNDS, key=lambda one: one.id)
    gone = next(one for one in every if one.user_text)  # it is in the new index by now
    assert first.round.user_id == "user-0"
    await store.forget_round(gone.user_id, gone.id)
    encoder.may_go_on.set()
    await running
    encoded = embedder.stats.encoded
    await embedder.embed([gone.user_text], TextKind.DOCUMENT)
    assert embedder.stats.encoded == encoded + 1


class Life:
    """Two stores that are told the same things in the same order, drawn by chance."""

    def __init__(self, store: MemoryStore, reference: MemoryStore, seed: int) -> None:
        self._both = (store, reference)
        self._reference = reference
        self._draw = random.Random(seed)
        self._number = 1000
        self.over = False
        self.steps = 0

    async def go_on(self) -> None:
        while not self.over:
            await self.step()
            for _ in range(self._draw.randrange(8)):
                await asyncio.sleep(0)

    async def step(self) -> None:
        self.steps += 1
        doing = (
            *[self._tell] * 5,
            *[self._correct] * 2,
            *[self._forget] * 2,
            self._forget_session,
            self._forget_user,
            self._enrich,
            self._name,
            self._let_supersede,
        )
        user = self._draw.choice(USERS)
        records = await self._reference.records(user)
        await self._draw.choice(doing)(user, records)

    async def _do(self, work: Callable[[MemoryStore], Awaitable[object]]) -> None:
        for store in self._both:
            await work(store)

    def _text(self) -> str:
        city, name = self._draw.choice(("Ghent", "Oslo", "Turin")), self._draw.choice("ABCDE")
        said = (
            f"I live in {city} now.",
            f"My cat is called {name}iso.",
            f"I moved to {city}, thing number {self._number}.",
            f"We bought {self._number} pears in {city} yesterday.",
        )
        return self._draw.choice(said)

    async def _tell(self, user: str, records: list[Record]) -> None:
        self._number += 1
        said = Round(
            user,
            f"s{self._draw.randrange(3)}",
            self._number,
            MAY + timedelta(hours=self._draw.randrange(2000)),
            self._text(),
            "Noted.",
            turn_ids=(f"turn {self._number}",),
        )
        await self._do(lambda store: store.remember([said]))

    async def _correct(self, user: str, records: list[Record]) -> None:
        if records:
            id, correction = self._draw.choice(records).id, Correction(MAY, self._text())
            await self._do(lambda store: store.correct(user, id, correction))

    async def _forget(self, user: str, records: list[Record]) -> None:
        if records:
            id = self._draw.choice(records).id
            await self._do(lambda store: store.forget_round(user, id))

    async def _forget_session(self, user: str, records: list[Record]) -> None:
        if records:
            session_id = self._draw.choice(records).round.session_id
            await self._do(lambda store: store.forget_session(user, session_id))

    async def _forget_user(self, user: str, records: list[Record]) -> None:
        if self._draw.random() < 0.3:
            await self._do(lambda store: store.forget_user(user))

    async def _enrich(self, user: str, records: list[Record]) -> None:
        if len(records) < 2:
            return
        newer, older = self._draw.sample(records, 2)
        links = [
            FactLink(older.id, fact.text, older.round.session_date, "gpt") for fact in older.facts
        ]
        fact = Fact(f"A model found {self._number}.", source="gpt", supersedes=tuple(links[:1]))
        extraction = Extraction("gpt", facts=(fact,), keyphrases=("pears",))
        await self._do(lambda store: store.enrich(newer.round, extraction))

    async def _name(self, user: str, records: list[Record]) -> None:
        if records:
            session_id = self._draw.choice(records).round.session_id
            labels = {"topic": self._draw.choice(("pears", "cats"))}
            title = f"Title {self._number}"
            await self._do(lambda store: store.name_session(user, session_id, title, labels))

    async def _let_supersede(self, user: str, records: list[Record]) -> None:
        if records:
            id, allowed = self._draw.choice(records).id, self._draw.random() < 0.5
            await self._do(lambda store: store.let_supersede(user, id, allowed))


@pytest.mark.parametrize("seed", seeds(2, 6))
async def test_no_round_and_no_change_is_lost_whenever_it_comes(
    store: MemoryStore, reference: MemoryStore, seed: int
) -> None:
    await store.remember(ROUNDS)
    life = Life(store, reference, seed)
    draw = random.Random(seed)

    for _ in range(draw.randrange(20)):
        await life.step()
    living = asyncio.create_task(life.go_on())
    if seed % 2:  # it ends in the middle, and is taken up while life has gone on
        with pytest.raises(EmbeddingFailed, match="no more"):
            await reindexed(store, Breaks(draw.randrange(10, 40)))
        assert await store.reindex_is_unfinished()
    await reindexed(store)
    life.over = True
    await living
    await life.step()
    assert store.description["embedder"] == "wide"
    assert life.steps > 5
    assert not await store.reindex_is_unfinished()
    assert await everything(store) == await everything(reference)
    assert await found(store) == await found(reference)


async def test_a_failure_leaves_the_old_index_in_use(store: MemoryStore) -> None:
    await store.remember(ROUNDS)
    before = await everything(store), await found(store)
    with pytest.raises(EmbeddingFailed, match="no more"):
        await reindexed(store, Breaks(100))
    assert (await everything(store), await found(store)) == before
    assert store.description["embedder"] == "hash"
    await store.remember(made_up(71)[70:])
    done = await reindexed(store)
    assert done.already_there > 0
    assert done.rounds == 71


@pytest.mark.qdrant_server
async def test_what_another_assistant_writes_is_there_or_was_refused(
    server_engine: Engine, another_server_engine: Callable[[], Engine]
) -> None:
    store, other = a_store(server_engine), a_store(another_server_engine())
    for one in (store, other):
        await one.open()
    await store.remember(ROUNDS)
    acknowledged: list[str] = []
    refused: list[MemoryStoreError] = []

    async def talk() -> None:
        for number in range(1000, 3000):
            said = replace(made_up(1, seed=number)[0], session_id="talk", round_index=number)
            try:
                await other.remember([said])
            except StoreUnready as error:
                refused.append(error)
                return
            acknowledged.append(said.id)

    talking = asyncio.create_task(talk())
    await reindexed(store)
    await talking
    assert acknowledged
    assert "restart the assistant" in str(refused[0])
    assert {one.id for one in await store.session("user-0", "talk")} >= set(acknowledged)
    await store.remember(made_up(71)[70:])
    for one in (store, other):
        await one.close()
