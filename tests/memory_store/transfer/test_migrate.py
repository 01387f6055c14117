"""A memory moved between engines: nothing lost, nothing twice, refusals clear."""

from pathlib import Path

import pytest
from memories import Steps, WideEncoder, a_store, answers, held, made_up, questions, remember
from qdrant_binary import Qdrant
from transfers import Make

from memory_store.engines import (
    EdgeEngine,
    EdgeOperator,
    ServerEngine,
    ServerOperator,
)
from memory_store.errors import (
    StoreLocked,
    StoreMismatch,
    StoreMissing,
    StoreNotEmpty,
    StoreUnready,
    TransferUnfinished,
)
from memory_store.transfer import migrate

server = pytest.mark.qdrant_server
ROUNDS = made_up(30)
QUESTIONS = questions(9)


class Stopped(Exception):
    """Stands for a process that ends in the middle."""


class StopsAfter(Steps):
    """Ends the transfer once so many rounds are done."""

    def __init__(self, rounds: int) -> None:
        super().__init__()
        self._left = rounds

    def advance(self, rounds: int) -> None:
        super().advance(rounds)
        self._left -= rounds
        if self._left <= 0:
            raise Stopped


@pytest.fixture(params=["edge", pytest.param("server", marks=server)])
def target(request: pytest.FixtureRequest, tmp_path: Path) -> Make:
    """Makes operators of one empty place. Two embedded places are as good as two engines here."""
    if request.param == "edge":
        return lambda: EdgeOperator(tmp_path / "target")
    return request.getfixturevalue("server_operator")  # type: ignore[no-any-return]


@pytest.fixture
def source(folder: Path) -> Make:
    return lambda: EdgeOperator(folder)


@pytest.fixture
def long_source(long_folder: Path) -> Make:
    """A move of it can be interrupted between two pages."""
    return lambda: EdgeOperator(long_folder)


async def test_everything_arrives_keys_and_all(source: Make, target: Make) -> None:
    steps = Steps()
    moved = await migrate(source(), target(), steps)
    assert (moved.rounds, moved.written, moved.already_there, moved.removed) == (30, 30, 0, 0)
    assert steps.seen == [("copying", 30), ("checking", 30)]
    assert await held(target()) == await held(source())
    assert await answers(target(), QUESTIONS) == await answers(source(), QUESTIONS)


async def test_there_and_back_is_the_same_memory(
    source: Make, target: Make, tmp_path: Path
) -> None:
    back = EdgeOperator(tmp_path / "back")
    there = await migrate(source(), target(), Steps())
    home = await migrate(target(), back, Steps())
    assert home.checksum == there.checksum
    assert await held(back) == await held(source())
    assert await answers(back, QUESTIONS) == await answers(source(), QUESTIONS)


async def test_an_interrupted_move_is_taken_up_where_it_stopped(
    long_source: Make, target: Make
) -> None:
    with pytest.raises(Stopped):
        await migrate(long_source(), target(), StopsAfter(100))
    with pytest.raises(
        StoreUnready, match=r"run the same `assistant migrate` .* again to finish it"
    ):
        await a_store(target()).open()
    moved = await migrate(long_source(), target(), Steps())
    assert moved.already_there == 128
    assert (moved.rounds, moved.written) == (150, 22)
    assert await held(target()) == await held(long_source())


async def test_what_changed_in_the_source_meanwhile_changes_in_the_target(
    long_source: Make, target: Make
) -> None:
    with pytest.raises(Stopped):
        await migrate(long_source(), target(), StopsAfter(100))
    store = a_store(long_source())
    await store.open()
    await store.forget_session("user-1", "s2")
    await store.remember(made_up(160)[145:])
    await store.close()
    moved = await migrate(long_source(), target(), Steps())
    assert moved.removed > 0
    assert await held(target()) == await held(long_source())


async def test_a_copy_is_brought_up_to_date_until_it_is_used(source: Make, target: Make) -> None:
    await migrate(source(), target(), Steps())
    await remember(source(), made_up(40)[30:])
    moved = await migrate(source(), target(), Steps())
    assert (moved.already_there, moved.written) == (30, 10)

    await remember(target(), made_up(45)[40:])
    with pytest.raises(StoreNotEmpty, match=r"45 rounds.*--data-dir.*qdrant.collection"):
        await migrate(source(), target(), Steps())
    assert len(await held(target())) == 47


async def test_an_empty_memory_of_the_same_kind_may_be_filled(source: Make, target: Make) -> None:
    await remember(target(), [])
    assert (await migrate(source(), target(), Steps())).rounds == 30


async def test_a_memory_in_the_way_stays_as_it_is(source: Make, target: Make) -> None:
    await remember(target(), made_up(3, seed=5))
    before = await held(target())
    with pytest.raises(StoreNotEmpty):
        await migrate(source(), target(), Steps())
    assert await held(target()) == before


async def test_an_empty_memory_of_another_embedder_is_refused(source: Make, target: Make) -> None:
    await remember(target(), [], WideEncoder())
    with pytest.raises(StoreMismatch, match=r"'wide'.*'hash'.*`assistant migrate`"):
        await migrate(source(), target(), Steps())


async def test_a_half_copy_of_another_place_is_refused(
    long_source: Make, target: Make, tmp_path: Path
) -> None:
    with pytest.raises(Stopped):
        await migrate(long_source(), target(), StopsAfter(100))
    other = EdgeOperator(tmp_path / "other")
    await remember(other, made_up(5))
    with pytest.raises(StoreNotEmpty):
        await migrate(other, target(), Steps())


async def test_nothing_is_made_where_there_is_no_memory(target: Make, tmp_path: Path) -> None:
    nowhere = EdgeOperator(tmp_path / "nowhere")
    with pytest.raises(StoreMissing, match=r"no memory in .*nowhere"):
        await migrate(nowhere, target(), Steps())
    assert not (tmp_path / "nowhere").exists()
    assert await target().open_existing() is None


async def test_a_source_in_use_is_refused_and_left_alone(
    source: Make, folder: Path, tmp_path: Path
) -> None:
    assistant = a_store(EdgeEngine(folder))
    await assistant.open()
    with pytest.raises(StoreLocked, match="in use by another process: stop that one"):
        await migrate(source(), EdgeOperator(tmp_path / "target"), Steps())
    await assistant.remember(made_up(31)[30:])
    await assistant.close()
    assert not (tmp_path / "target").exists()


async def test_another_process_can_have_the_source_afterwards(source: Make, target: Make) -> None:
    await migrate(source(), target(), Steps())
    await remember(source(), made_up(31)[30:])
    there, copied = await held(source()), await held(target())
    assert len(there) == len(copied) + 1
    assert set(copied[:-1]) < set(there)


class InUse(ServerOperator):
    """A memory that an assistant writes to before each pass over it, so many times."""

    writer: ServerEngine
    writes: int

    async def total(self) -> int:
        if self.writes:
            self.writes -= 1
            number = 200 + self.writes
            await remember(self.writer, made_up(number + 1)[number:])
        return await super().total()


@pytest.fixture
async def in_use(qdrant: Qdrant, server_engine: ServerEngine, collection: str) -> InUse:
    await remember(server_engine, ROUNDS)
    source = InUse(qdrant.url, grpc_port=qdrant.grpc_port, collection=collection)
    source.writer = server_engine
    return source


@server
async def test_rounds_said_during_a_move_from_a_server_are_carried_over(
    in_use: InUse, server_operator: Make, tmp_path: Path
) -> None:
    in_use.writes = 3
    moved = await migrate(in_use, EdgeOperator(tmp_path / "target"), Steps())
    assert moved.rounds == 33
    assert await held(EdgeOperator(tmp_path / "target")) == await held(server_operator())


@server
async def test_a_source_that_never_rests_is_named(in_use: InUse, tmp_path: Path) -> None:
    in_use.writes = 99
    with pytest.raises(TransferUnfinished, match="stop the assistants"):
        await migrate(in_use, EdgeOperator(tmp_path / "target"), Steps())
    in_use.writes = 0
    assert (await migrate(in_use, EdgeOperator(tmp_path / "target"), Steps())).rounds > 30
