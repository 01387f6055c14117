"""Where a memory may go: what is held back from a reader, and from an embedder elsewhere."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest

from memory_store import (
    Correction,
    Listing,
    MemoryReader,
    MemoryStore,
    Query,
    Reach,
    ReachRule,
    Round,
    owner_of,
)
from memory_store.embedding import Embedder, HashEncoder, TextKind
from memory_store.engines import EdgeEngine

MAY = datetime(2023, 5, 20, 12, tzinfo=UTC)
SECRET = "tulip-4711"
TOWN = "Oudenaarde"
ANYWHERE, HERE, NEVER = Reach


class Listening(HashEncoder):
    """Keeps what it was asked to encode."""

    def __init__(self) -> None:
        self.heard: list[str] = []

    def encode(self, texts: Sequence[str], kind: TextKind) -> np.ndarray:
        self.heard += texts
        return super().encode(texts, kind)


def said(index: int, text: str, answer: str = "", **more: object) -> Round:
    at = MAY + timedelta(days=index)
    return replace(Round("ann", "s", index, at, text, answer), **more)  # type: ignore[arg-type]


SAFE = said(0, f"My safe opens with {SECRET}.", "Noted.", reach=HERE)
DIARY = said(1, f"My diary opens with {SECRET}, too.", "Noted.", reach=NEVER)
BIKE = said(2, "My bicycle lock opens with a key.", "Noted.")
ROUNDS = [SAFE, DIARY, BIKE]


class Opened:
    """A store whose embedder is here or elsewhere."""

    def __init__(self, folder: Path, *, is_local: bool, rules: Sequence[ReachRule] = ()) -> None:
        self.encoder = Listening()
        embedder = Embedder(self.encoder, is_local=is_local)
        self.store = MemoryStore(EdgeEngine(folder), embedder, reach_rules=rules)


@pytest.fixture
async def local(tmp_path: Path) -> AsyncIterator[MemoryStore]:
    opened = Opened(tmp_path, is_local=True)
    await opened.store.open()
    yield opened.store
    await opened.store.close()


@pytest.fixture
async def hosted(tmp_path: Path) -> AsyncIterator[Opened]:
    opened = Opened(tmp_path, is_local=False)
    await opened.store.open()
    yield opened
    await opened.store.close()


async def texts_read(reader: MemoryReader, asked: str = "What does my safe open with?") -> str:
    """Whatever a reader can read, by every way there is."""
    recall = await reader.recall(Query("ann", asked, explained=True))
    listed = await reader.listed(Listing("ann", as_of=MAY.date() + timedelta(days=9)))
    told = [await reader.told("ann", one.id) for one in ROUNDS]
    known = await reader.known_facts("ann", ["My safe opens."], 10)
    return repr(
        [
            recall.rounds,
            recall.sessions,
            (await reader.listed(Listing("ann", text="opens"))).records,
            listed.records,
            told,
            known,
            await reader.session("ann", "s"),
            [replace(one, rounds=0) for one in await reader.sessions("ann")],
            await reader.records("ann"),
            await reader.conflicts("ann"),
            [await reader.round("ann", one.id) for one in ROUNDS],
        ]
    )


@pytest.mark.parametrize(
    ("reach", "seen"), [(ANYWHERE, [BIKE]), (HERE, [SAFE, BIKE]), (NEVER, ROUNDS)]
)
async def test_a_reader_sees_up_to_a_reach(
    local: MemoryStore, reach: Reach, seen: list[Round]
) -> None:
    await local.remember(ROUNDS)
    reader = local.seen_up_to(reach)
    read = await texts_read(reader)
    for round in ROUNDS:
        assert (round.user_text in read) is (round in seen)
    assert await reader.count("ann") == len(seen)


async def test_a_recall_says_how_much_was_held_back(local: MemoryStore) -> None:
    await local.remember(ROUNDS)
    query = Query("ann", "What does my safe open with?", 3)
    assert [
        (await local.seen_up_to(reach).recall(query)).held_back for reach in (ANYWHERE, HERE, NEVER)
    ] == [2, 1, 0]
    unlike = Query("ann", "bicycle lock key", 1)
    assert (await local.seen_up_to(ANYWHERE).recall(unlike)).held_back == 0


async def test_what_replaced_a_fact_is_not_told_and_the_fact_holds_no_longer(
    local: MemoryStore,
) -> None:
    old, new = said(0, "I live in Ghent."), said(1, f"I moved to {TOWN}.", reach=HERE)
    await local.remember([old, new])
    reader = local.seen_up_to(ANYWHERE)
    assert TOWN not in await texts_read(reader, "Where do I live?")
    record = await reader.round("ann", old.id)
    assert record is not None
    assert record.facts[0].superseded_by is not None
    (found,) = (await reader.recall(Query("ann", "Where do I live?"))).rounds
    assert found.record.facts[0].superseded_by is not None
    assert TOWN in await texts_read(local, "Where do I live?")
    for days, holds in ((0, True), (1, False)):
        seen = await reader.listed(Listing("ann", as_of=MAY.date() + timedelta(days=days)))
        assert (seen.records[-1].facts[0].superseded_by is None) is holds


async def test_what_a_fact_replaced_is_not_told(local: MemoryStore) -> None:
    await local.remember([said(0, f"I live in {TOWN}.", reach=HERE), said(1, "I moved to Ghent.")])
    assert TOWN not in await texts_read(local.seen_up_to(ANYWHERE), "Where do I live?")


async def test_an_embedder_elsewhere_never_reads_what_stays_here(hosted: Opened) -> None:
    store = hosted.store
    await store.remember(ROUNDS)
    moved = said(3, f"I live in {TOWN}.", reach=HERE)
    await store.remember([moved, said(4, "I moved to Ghent.")])
    for reach in Reach:
        await texts_read(store.seen_up_to(reach))
    await store.recall(Query("ann", "Where do I live?", explained=True))
    await store.correct("ann", SAFE.id, Correction(MAY, f"My safe opens with {SECRET} again."))
    await store.set_reach("ann", [SAFE.id], NEVER)
    await store.forget_round("ann", DIARY.id)
    assert SECRET not in repr(hosted.encoder.heard)
    assert TOWN not in repr(hosted.encoder.heard)
    assert SECRET not in await texts_read(store.seen_up_to(HERE))
    by_words = await store.recall(Query("ann", "safe"))
    assert SECRET in repr(by_words.rounds)


async def test_a_memory_that_may_go_anywhere_again_is_found_by_meaning(hosted: Opened) -> None:
    await hosted.store.remember(ROUNDS)
    await hosted.store.set_reach("ann", [SAFE.id], ANYWHERE)
    assert SAFE.user_text in hosted.encoder.heard
    found = await hosted.store.seen_up_to(ANYWHERE).recall(Query("ann", "safe"))
    assert SAFE.user_text in repr(found.rounds)


async def test_who_repeats_a_memory_goes_no_farther(local: MemoryStore) -> None:
    asked = said(3, "What does my safe open with?", f"With {SECRET}.", repeats=(SAFE.id,))
    again = said(4, "And again?", f"{SECRET}.", repeats=(asked.id,))
    await local.remember(ROUNDS)
    for round in (asked, again):
        (record,) = await local.remember([round])
        assert record.round.reach is HERE
    await local.set_reach("ann", [SAFE.id], NEVER)
    assert SECRET not in await texts_read(local.seen_up_to(HERE))
    await local.set_reach("ann", [asked.id], ANYWHERE)
    assert SECRET not in await texts_read(local.seen_up_to(HERE))


async def test_rules_keep_memories_closer(tmp_path: Path) -> None:
    rules = [
        ReachRule(HERE, words=("salary",), labels={"topic": "health"}),
        ReachRule(NEVER, spaces=frozenset({"agent:nurse"})),
    ]
    store = Opened(tmp_path, is_local=True, rules=rules).store
    await store.open()
    kept = await store.remember(
        [
            said(0, "My Salary is fine."),
            said(1, "Celery is fine, salaryless."),
            said(2, "My knee hurts.", labels={"topic": "health"}),
            said(3, "My knee hurts.", labels={"topic": "sports"}),
        ]
    )
    assert [one.round.reach for one in kept] == [HERE, ANYWHERE, HERE, ANYWHERE]
    nurse = said(4, "My knee hurts.", user_id=owner_of("ann", "agent:nurse"))
    (in_space,) = await store.remember([nurse])
    (closer,) = await store.remember([said(5, "A salary.", reach=NEVER)])
    assert (in_space.round.reach, closer.round.reach) == (NEVER, NEVER)
    corrected = await store.correct("ann", kept[1].id, Correction(MAY, "It is my salary."))
    assert corrected is not None
    assert corrected.record.round.reach is HERE
    await store.close()
