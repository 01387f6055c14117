"""A round put right: found by what it says now, and by nothing of what it said before."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta

import pytest

from memory_store import (
    Corrected,
    Correction,
    Days,
    EnrichmentState,
    Extraction,
    Fact,
    FactLink,
    GivenFact,
    Listing,
    MemoryStore,
    Query,
    Record,
    Round,
    Speaker,
)
from memory_store.errors import InvalidRecord, RoundTaken

MAY = datetime(2023, 5, 20, 12, tzinfo=UTC)
LATER = MAY + timedelta(days=30)
GHENT = Round("ann", "s1", 0, MAY, "I live in Ghent.", "A fine town.", turn_ids=("t1",))
OSLO = Round("ann", "s2", 0, MAY + timedelta(days=1), "I live in Oslo now.", turn_ids=("t2",))
BRUGES = Correction(LATER, user_text="I live in Bruges now.")


async def everything(store: MemoryStore) -> str:
    """All that the store gives out of ann: records, pages, searches, known facts."""
    said: list[object] = [await store.records("ann"), await store.sessions("ann")]
    for text in ("Where do I live?", "Oslo", "town"):
        said.append((await store.recall(Query("ann", text, explained=True))).rounds)
        said.append(await store.known_facts("ann", [f"I live in {text}."], 10))
        said.append((await store.listed(Listing("ann", text=text))).records)
    said += [await store.told("ann", record.id) for record in await store.records("ann")]
    return str(said).replace("Query", "")


async def put_right(store: MemoryStore, round: Round, correction: Correction) -> Record:
    done = await store.correct("ann", round.id, correction)
    assert done is not None
    return done.record


async def test_the_old_text_is_nowhere_and_the_new_one_is_found(store: MemoryStore) -> None:
    await store.remember([GHENT, OSLO])
    record = await put_right(store, OSLO, BRUGES)
    assert (record.id, record.round.session_date) == (OSLO.id, OSLO.session_date)
    assert record.round.corrected_at == LATER
    assert "Oslo" not in await everything(store)
    recall = await store.recall(Query("ann", "Do I live in Bruges?"))
    assert recall.rounds[0].record.round.user_text == "I live in Bruges now."
    assert await store.count("ann") == 2


async def test_what_it_replaced_follows_what_it_says_now(store: MemoryStore) -> None:
    await store.remember([GHENT, OSLO])
    await put_right(store, OSLO, BRUGES)
    older = await store.round("ann", GHENT.id)
    assert older is not None
    newer = older.facts[0].superseded_by
    assert newer is not None
    assert (newer.round_id, newer.text) == (OSLO.id, "I live in Bruges now.")
    await put_right(store, OSLO, Correction(LATER, user_text="Good morning."))
    older = await store.round("ann", GHENT.id)
    assert older is not None
    assert older.facts[0].superseded_by is None


async def test_dates_are_read_anew(store: MemoryStore) -> None:
    told = replace(GHENT, user_text="I ran a marathon on May 3rd.")
    await store.remember([told])
    record = await put_right(store, told, Correction(LATER, user_text="I ran it on May 10th."))
    assert record.facts[0].event_dates == (Days(date(2023, 5, 10), date(2023, 5, 10)),)


async def test_saying_it_twice_is_saying_it_once(store: MemoryStore) -> None:
    await store.remember([OSLO])
    first = await put_right(store, OSLO, BRUGES)
    assert await put_right(store, OSLO, replace(BRUGES, at=LATER + timedelta(days=1))) == first
    same = Correction(LATER + timedelta(days=2), facts=(GivenFact("I live in Bruges now."),))
    assert await put_right(store, OSLO, same) == first


async def test_facts_take_the_place_of_all_others_and_stay(store: MemoryStore) -> None:
    await store.remember([GHENT, OSLO], enrichment=EnrichmentState.PENDING)
    days = (Days(date(2023, 1, 1), None),)
    given = (GivenFact("I live in Bruges."), GivenFact("I moved.", days))
    record = await put_right(store, OSLO, Correction(LATER, facts=given))
    assert [(f.text, f.source, f.speaker) for f in record.facts] == [
        ("I live in Bruges.", "user", Speaker.USER),
        ("I moved.", "user", Speaker.USER),
    ]
    assert record.facts[1].event_dates == days
    assert record.enrichment is EnrichmentState.DONE
    older = await store.round("ann", GHENT.id)
    assert older is not None
    assert older.facts[0].superseded_by is None  # "I live in Bruges." does not say "now"
    answered = replace(record.round, assistant_text="Noted.")
    await store.enrich(record.round, Extraction("model", (Fact("They live in Oslo."),)))
    await store.remember([answered], enrichment=EnrichmentState.PENDING)
    kept = await store.round("ann", OSLO.id)
    assert kept is not None
    assert [fact.text for fact in kept.facts] == ["I live in Bruges.", "I moved."]
    assert kept.enrichment is EnrichmentState.DONE


async def test_what_a_model_found_in_the_old_text_goes_with_it(store: MemoryStore) -> None:
    await store.remember([GHENT, OSLO], enrichment=EnrichmentState.PENDING)
    older = FactLink(GHENT.id, "I live in Ghent.", MAY, "model")
    moved = Fact("I live in Oslo now since 2023-05.", source="model", supersedes=(older,))
    found = Extraction("model", (moved,), ("life in Oslo",), "Lives in Oslo.")
    await store.enrich(OSLO, found)
    done = await store.correct("ann", OSLO.id, BRUGES, enrichment=EnrichmentState.PENDING)
    assert done is not None
    record = done.record
    assert (record.keyphrases, record.summary) == ((), "")
    assert record.enrichment is EnrichmentState.PENDING
    assert "Oslo" not in await everything(store)


async def test_another_writer_of_the_old_round_is_told(store: MemoryStore) -> None:
    await store.remember([OSLO])
    record = await put_right(store, OSLO, BRUGES)
    answered = replace(OSLO, assistant_text="Noted.", turn_ids=("t2", "t3"))
    with pytest.raises(RoundTaken):
        await store.remember([answered], over={OSLO.id: OSLO.turn_ids})
    assert await store.enrich(OSLO, Extraction("model", (Fact("In Oslo."),))) is None
    assert await store.round("ann", OSLO.id) == record


async def test_a_given_fact_of_two_things_replaces_neither(store: MemoryStore) -> None:
    await store.remember([GHENT, OSLO])
    given = GivenFact("My name is Sofia and I live in Lyon now.")
    record = await put_right(store, OSLO, Correction(LATER, facts=(given,)))
    assert [fact.slot for fact in record.facts] == [None]


async def test_nothing_is_left_to_say(store: MemoryStore) -> None:
    await store.remember([OSLO])
    with pytest.raises(InvalidRecord):
        await store.correct("ann", OSLO.id, Correction(LATER, user_text=" "))
    with pytest.raises(InvalidRecord):
        await store.correct("ann", OSLO.id, Correction(LATER, facts=(GivenFact(" "),)))
    assert await store.correct("bob", OSLO.id, BRUGES) is None
    assert await store.correct("ann", "nothing", BRUGES) is None


async def test_the_history_of_a_fact(store: MemoryStore) -> None:
    rome = replace(OSLO, session_id="s3", session_date=LATER, user_text="I live in Rome now.")
    await store.remember([GHENT, OSLO, rome])
    for round in (GHENT, OSLO, rome):
        told = await store.told("ann", round.id)
        assert told is not None
        steps = told.histories[0]
        assert [step.said.text for step in steps] == [
            "I live in Ghent.",
            "I live in Oslo now.",
            "I live in Rome now.",
        ]
        assert [step.until.text if step.until else None for step in steps] == [
            "I live in Oslo now.",
            "I live in Rome now.",
            None,
        ]
    then = await store.told("ann", GHENT.id, as_of=OSLO.session_date.date())
    assert then is not None
    assert [step.said.text for step in then.histories[0]][1:] == ["I live in Oslo now."]
    assert await store.told("ann", rome.id, as_of=MAY.date()) is None


async def test_a_dry_run_counts_and_does_nothing(store: MemoryStore) -> None:
    second = replace(GHENT, round_index=1, user_text="My cat is Miso.", turn_ids=("t9",))
    await store.remember([GHENT, second, OSLO])
    before = await everything(store)
    counts = [
        await store.forget_round("ann", GHENT.id, dry_run=True),
        await store.forget_round("ann", OSLO.id, dry_run=True),
        await store.forget_session("ann", "s1", dry_run=True),
        await store.forget_user("ann", dry_run=True),
        await store.forget_user("bob", dry_run=True),
    ]
    counted = [(c.rounds, c.facts, c.sessions) for c in counts]
    assert counted == [(1, 1, 0), (1, 1, 1), (2, 2, 1), (3, 3, 2), (0, 0, 0)]
    assert await everything(store) == before
    assert await store.forget_session("ann", "s1") == counts[2]
    assert await store.forget_user("ann") == counts[1]


FORGETTING: dict[str, Callable[[MemoryStore], Awaitable[object]]] = {
    "a round": lambda store: store.forget_round("ann", OSLO.id),
    "a session": lambda store: store.forget_session("ann", "s2"),
    "everything": lambda store: store.forget_user("ann"),
    "put right": lambda store: store.correct("ann", OSLO.id, BRUGES),
}


@pytest.mark.parametrize("what", FORGETTING)
async def test_what_is_forgotten_is_nowhere(store: MemoryStore, what: str) -> None:
    await store.remember([GHENT, OSLO])
    assert "Oslo" in await everything(store)
    await FORGETTING[what](store)
    assert "Oslo" not in await everything(store)


async def test_two_corrections_at_once_are_one_after_the_other(store: MemoryStore) -> None:
    await store.remember([OSLO])
    rome = Correction(LATER, user_text="I live in Rome now.")
    done = await asyncio.gather(
        store.correct("ann", OSLO.id, BRUGES),
        store.correct("ann", OSLO.id, rome),
        return_exceptions=True,
    )
    assert all(isinstance(one, (Corrected, RoundTaken)) for one in done)
    record = await store.round("ann", OSLO.id)
    assert record is not None
    assert [fact.text for fact in record.facts] == [record.round.user_text]
