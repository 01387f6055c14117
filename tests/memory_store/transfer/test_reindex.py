"""A memory indexed anew: the old index serves until the new one is complete."""

import asyncio
import shutil
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from memories import Steps, WideEncoder, a_store, answers, held, made_up, questions, remember
from transfers import Make, moved_and_used, reindexed

from memory_store import (
    Extraction,
    Fact,
    FactLink,
    KeyDesign,
    KeyKind,
    MemoryStore,
    Query,
    Record,
    Speaker,
)
from memory_store._facts import rule_facts
from memory_store._keys import keys_of
from memory_store.embedding import Embedder, HashEncoder, TextKind
from memory_store.engines import EdgeEngine, EdgeOperator
from memory_store.errors import (
    EmbeddingFailed,
    StoreMismatch,
    StoreMissing,
    StoreUnready,
)
from memory_store.transfer import cancel_reindex, from_lines
from memory_store.transfer._reindexing import lasting, renewed

ROUNDS = made_up(150)
FEW = ROUNDS[:30]
QUESTIONS = questions(9)


class Breaks(WideEncoder):
    """Stands for a process that ends in the middle: fails with the last text of all."""

    def __init__(self) -> None:
        self._left = _keys()

    def encode(self, texts: Any, kind: TextKind) -> Any:
        self._left -= len(texts)
        if self._left <= 0:
            raise RuntimeError("no more")
        return super().encode(texts, kind)


@cache
def _keys() -> int:
    """How many keys all rounds have."""
    return sum(len(keys_of(Record(round, rule_facts(round)))) for round in ROUNDS)


class Counts(WideEncoder):
    """Knows how many texts it was asked for."""

    texts = 0

    def encode(self, texts: Any, kind: TextKind) -> Any:
        self.texts += len(texts)
        return super().encode(texts, kind)


@pytest.fixture
def wide(tmp_path: Path) -> EdgeEngine:
    """What is to come out: the same rounds, written by the other encoder from the start."""
    asyncio.run(remember(EdgeEngine(tmp_path / "wide"), FEW, WideEncoder()))
    return EdgeEngine(tmp_path / "wide")


@pytest.fixture(params=["edge", pytest.param("server", marks=pytest.mark.qdrant_server)])
def memory(request: pytest.FixtureRequest, folder: Path) -> Make:
    """Makes operators of one memory of 30 rounds, on each engine."""
    return _on_the_engine(request, folder)


@pytest.fixture(params=["edge", pytest.param("server", marks=pytest.mark.qdrant_server)])
def long_memory(request: pytest.FixtureRequest, long_folder: Path) -> Make:
    """The same with 150 rounds: indexing them can be interrupted between two pages."""
    return _on_the_engine(request, long_folder)


def _on_the_engine(request: pytest.FixtureRequest, folder: Path) -> Make:
    if request.param == "edge":
        return lambda: EdgeOperator(folder)
    make: Make = request.getfixturevalue("server_operator")
    asyncio.run(moved_and_used(EdgeOperator(folder), make()))
    return make


async def test_another_embedder_finds_as_if_it_had_always_been_there(
    memory: Make, wide: EdgeEngine
) -> None:
    before = await held(memory())
    steps = Steps()
    done = await reindexed(memory(), steps=steps)
    assert (done.rounds, done.written, done.already_there) == (30, 30, 0)
    assert (done.was["embedder"], done.now["embedder"]) == ("hash", "wide")
    assert steps.seen[0] == ("indexing", 30)
    assert steps.seen[-1] == ("checking", 30)
    assert await held(memory()) == before
    assert await answers(memory(), QUESTIONS, WideEncoder()) == await answers(
        wide, QUESTIONS, WideEncoder()
    )
    with pytest.raises(StoreMismatch, match="Run `assistant reindex`"):
        await a_store(memory()).open()


async def test_other_keys_are_another_index(memory: Make) -> None:
    before = await held(memory()), await answers(memory(), QUESTIONS)
    raw = KeyDesign((KeyKind.RAW,))
    done = await reindexed(memory(), HashEncoder(), design=raw)
    assert (done.written, done.now["keys"], "keys" in done.was) == (30, "raw", False)
    with pytest.raises(StoreMismatch, match="keys 'raw' in the store, 'usual' now"):
        await a_store(memory()).open()
    ours = MemoryStore(memory(), Embedder(HashEncoder()), design=raw)
    await ours.open()
    assert (await ours.recall(Query("user-0", ROUNDS[0].user_text))).rounds
    await ours.close()
    assert (await reindexed(memory(), HashEncoder(), design=raw)).was_needed is False
    await reindexed(memory(), HashEncoder())
    assert (await held(memory()), await answers(memory(), QUESTIONS)) == before


async def test_there_and_back_again(memory: Make) -> None:
    before = await held(memory()), await answers(memory(), QUESTIONS)
    await reindexed(memory())
    await remember(memory(), [], WideEncoder())
    await reindexed(memory(), HashEncoder())
    assert (await held(memory()), await answers(memory(), QUESTIONS)) == before


async def test_nothing_to_do_is_nothing_done(memory: Make) -> None:
    done = await reindexed(memory(), HashEncoder())
    assert not done.was_needed
    again = await reindexed(memory(), HashEncoder(), again=True)
    assert (again.was_needed, again.written) == (True, 30)


async def test_an_interrupted_reindex_leaves_the_old_index_in_use_and_is_taken_up(
    long_memory: Make,
) -> None:
    before = await held(long_memory())
    with pytest.raises(EmbeddingFailed, match="no more"):
        await reindexed(long_memory(), Breaks())
    # The old index serves on, and what is said now is in the new one in the end.
    await remember(long_memory(), made_up(153)[150:])
    encoder = Counts()
    done = await reindexed(long_memory(), encoder)
    assert (done.rounds, done.already_there, done.written) == (153, 128, 25)
    assert 0 < encoder.texts < 200
    assert set(before[:-1]) < set(await held(long_memory()))


async def test_a_reindex_begun_for_another_embedder_is_begun_anew(long_memory: Make) -> None:
    with pytest.raises(EmbeddingFailed, match="no more"):
        await reindexed(long_memory(), Breaks())
    done = await reindexed(long_memory(), HashEncoder(), again=True)
    assert (done.already_there, done.written) == (0, 150)


async def test_back_to_the_old_setting_after_an_interruption_needs_nothing(
    long_memory: Make,
) -> None:
    with pytest.raises(EmbeddingFailed, match="no more"):
        await reindexed(long_memory(), Breaks())
    assert not (await reindexed(long_memory(), HashEncoder())).was_needed
    assert len(await held(long_memory())) == 152


async def test_cancelling_leaves_the_old_index_and_nothing_else(long_memory: Make) -> None:
    with pytest.raises(EmbeddingFailed, match="no more"):
        await reindexed(long_memory(), Breaks())
    assert await cancel_reindex(long_memory())
    assert not await cancel_reindex(long_memory())
    await remember(long_memory(), made_up(151)[150:])
    assert (await reindexed(long_memory())).already_there == 0


async def test_facts_of_a_model_stay_and_facts_of_rules_are_found_anew(tmp_path: Path) -> None:
    """A memory of schema 1, whose facts had no days and whose rules found something else."""
    memory = EdgeOperator(tmp_path)
    await remember(memory, ROUNDS[:3])
    await memory.open_existing()
    first, second, third = await memory.browse(None, 3, with_keys=True)
    old = {"text": "Old rules found this.", "speaker": "user", "source": "rule"}
    model = {"text": "A model found this.", "speaker": "user", "source": "gpt"}
    for point, facts in ((first, [old]), (second, [old, model]), (third, [model])):
        payload = {**point.payload, "facts": facts, "schema_version": 1}
        del payload["event_days"]
        await memory.upsert([replace(point, payload=payload)])
    await memory.sign({"embedder": "hash", "dimension": 256, "schema_version": 1})
    await memory.close()

    assert (await reindexed(memory, HashEncoder())).written == 3
    facts = [[fact.text for fact in record.facts] for record in from_lines(await held(memory))]
    assert all("Old rules found this." not in texts for texts in facts)
    assert [texts[-1:] == ["A model found this."] for texts in facts] == [False, True, True]
    assert len(facts[1]) > 1
    assert await answers(memory, [("user-0", "cello")])


async def test_what_replaced_what_is_known_afterwards(memory: Make) -> None:
    said = ["I live in Ghent.", "I live in Porto now.", "My cat is called Miso.", "Miso is a dog."]
    one = ROUNDS[0]
    homes = [replace(one, session_id="home", round_index=n, user_text=said[n]) for n in (0, 1)]
    cats = [replace(one, session_id="cat", round_index=n, user_text=said[n]) for n in (2, 3)]
    store = a_store(memory())
    await store.open()
    await store.remember([*homes, *cats])
    # A model says that the dog replaces the cat; no rule would.
    older = FactLink(cats[0].id, said[2], cats[0].session_date, by="gpt")
    dog = Fact(said[3], source="gpt", supersedes=(older,))
    assert await store.enrich(cats[1], Extraction("gpt", facts=(dog,)))
    before = await store.session("user-0", "home"), await store.session("user-0", "cat")
    await store.close()
    assert [fact.superseded_by is None for r in before[0] for fact in r.facts] == [False, True]
    assert before[1][0].facts[0].superseded_by is not None

    await reindexed(memory())
    store = a_store(memory(), WideEncoder())
    await store.open()
    after = await store.session("user-0", "home"), await store.session("user-0", "cat")
    await store.close()
    assert after == before


async def test_a_newer_schema_is_left_to_a_newer_assistant(memory: Make) -> None:
    opened = memory()
    identity = await opened.open_existing()
    assert identity is not None
    await opened.sign({**identity, "schema_version": 99})
    await opened.close()
    with pytest.raises(StoreMismatch, match="upgrade this one"):
        await reindexed(memory())


async def test_there_must_be_a_memory(tmp_path: Path) -> None:
    with pytest.raises(StoreMissing):
        await reindexed(EdgeOperator(tmp_path))
    with pytest.raises(StoreMissing):
        await cancel_reindex(EdgeOperator(tmp_path))
    assert not list(tmp_path.iterdir())


async def test_the_old_folder_is_gone_unless_it_is_to_be_kept(folder: Path) -> None:
    await reindexed(EdgeOperator(folder))
    assert [path.name for path in folder.iterdir()] == ["edge"]
    await remember(EdgeEngine(folder), [], WideEncoder())
    await reindexed(EdgeOperator(folder), HashEncoder(), keep_old=True)
    assert sorted(path.name for path in folder.iterdir()) == ["edge", "edge.old"]
    # And this is the way back to it.
    shutil.rmtree(folder / "edge")
    (folder / "edge.old").rename(folder / "edge")
    assert await cancel_reindex(EdgeOperator(folder))
    assert len(await answers(EdgeEngine(folder), QUESTIONS, WideEncoder())) == 9


async def test_a_crash_between_the_two_renames_is_mended_by_the_next_opening(folder: Path) -> None:
    before = await held(EdgeOperator(folder))
    await reindexed(EdgeOperator(folder), keep_old=True)
    (folder / "edge").rename(folder / "edge.next")  # as it was after the first rename
    await remember(EdgeEngine(folder), [], WideEncoder())
    assert await held(EdgeOperator(folder)) == before
    assert not (folder / "edge.next").exists()


async def test_a_half_built_index_is_never_taken_for_a_memory(long_folder: Path) -> None:
    with pytest.raises(EmbeddingFailed, match="no more"):
        await reindexed(EdgeOperator(long_folder), Breaks())
    shutil.rmtree(long_folder / "edge")
    with pytest.raises(StoreUnready):
        await a_store(EdgeEngine(long_folder), WideEncoder()).open()


def test_facts_of_earlier_rules_are_told_anew() -> None:
    pasted = "Fix grammar please\nMy name is now Carla."
    before = Record(
        replace(ROUNDS[0], user_text=pasted, user_name=""),
        (Fact("My name is now Carla.", slot="name"),),
    )
    (fact,) = renewed(before).facts
    assert (fact.speaker, fact.in_doubt, fact.slot) == (Speaker.QUOTED, True, "name")
    assert lasting(renewed(before)) == lasting(before)


def test_facts_that_the_user_gave_are_all_there_is() -> None:
    given = Fact("My name is Carla.", Speaker.USER, "user", slot="name")
    before = Record(replace(ROUNDS[0], user_text="I moved to Oslo last week."), (given,))
    assert renewed(before).facts == (given,)
