"""Answers that repeated what is forgotten or put right are withdrawn, on every engine."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from memory_store import Correction, EnrichmentState, Forgotten, MemoryStore, Query, Round

MAY = datetime(2023, 5, 20, 12, tzinfo=UTC)
JUNE = datetime(2023, 6, 10, tzinfo=UTC)

TOLD = Round("ann", "told", 0, MAY, "My safe opens with 4711.", "Noted.")
OTHER = Round("ann", "told", 1, MAY, "My cat is called Miso.", "Noted.")
ASKED = Round(
    "ann",
    "asked",
    0,
    MAY,
    "What opens my safe?",
    "You said: 4711.",
    turn_ids=("u", "a"),
    repeats=(TOLD.id,),
)
SAID_AGAIN = Round("ann", "again", 0, MAY, "Say it again.", "It is 4711.", repeats=(ASKED.id,))
ABOUT_THE_CAT = Round("ann", "asked", 1, MAY, "My cat's name?", "Miso.", repeats=(OTHER.id,))
EVERY = (TOLD, OTHER, ASKED, SAID_AGAIN, ABOUT_THE_CAT)


async def answers(store: MemoryStore) -> dict[str, str]:
    return {
        record.round.user_text: record.round.assistant_text
        for record in await store.records("ann")
        if record.round.session_id != "told"
    }


GONE = {"What opens my safe?": "", "Say it again.": "", "My cat's name?": "Miso."}


async def forget_round(store: MemoryStore, *, dry_run: bool) -> Forgotten:
    return await store.forget_round("ann", TOLD.id, dry_run=dry_run)


async def test_they_go_with_the_round_and_are_counted_before(store: MemoryStore) -> None:
    await store.remember(EVERY)
    before = await store.records("ann")
    counted = await forget_round(store, dry_run=True)
    assert (counted.rounds, counted.answers) == (1, 2)
    assert counted.changed_sessions == {"asked", "again"}
    assert await store.records("ann") == before
    assert await forget_round(store, dry_run=False) == counted
    assert await answers(store) == GONE
    withdrawn = [r.round.user_text for r in await store.records("ann") if r.round.answer_withdrawn]
    assert withdrawn == [ASKED.user_text]  # of the other no turns are known
    found = await store.recall(Query("ann", "4711", explained=True))
    assert "4711" not in str(found.rounds)
    assert await forget_round(store, dry_run=False) == Forgotten()


async def test_an_answer_that_tells_nothing_of_it_stays(store: MemoryStore) -> None:
    beside = Round("ann", "again", 1, MAY, "What else?", "You like tea.", repeats=(ASKED.id,))
    after = Round("ann", "again", 2, MAY, "And now?", "Still 4711.", repeats=(beside.id,))
    await store.remember([*EVERY, beside, after])
    assert (await forget_round(store, dry_run=False)).answers == 2
    said = await answers(store)
    assert (said["What else?"], said["And now?"]) == ("You like tea.", "Still 4711.")


async def test_a_word_that_many_rounds_have_tells_nothing(store: MemoryStore) -> None:
    safes = [Round("ann", "told", 9 + n, MAY, f"I bought safe {n}.", "Noted.") for n in range(6)]
    common = replace(SAID_AGAIN, assistant_text="It is a safe.")
    quoting = replace(SAID_AGAIN, session_id="q", assistant_text="“My safe opens with 4711.”")
    await store.remember([TOLD, ASKED, *safes, common, quoting])
    counted = await forget_round(store, dry_run=True)
    assert counted.changed_sessions == {"asked", "q"}


async def test_they_go_with_the_session_but_not_twice(store: MemoryStore) -> None:
    await store.remember(EVERY)
    counted = await store.forget_session("ann", "asked", dry_run=True)
    assert (counted.rounds, counted.sessions, counted.answers) == (2, 1, 1)
    await store.forget_session("ann", "asked")
    assert await answers(store) == {"Say it again.": ""}
    assert (await store.forget_user("ann")).answers == 0


async def test_they_go_when_the_text_is_put_right(store: MemoryStore) -> None:
    await store.remember(EVERY)
    await store.correct("ann", TOLD.id, Correction(JUNE, user_text="My safe opens with 1234."))
    assert await answers(store) == GONE


async def test_they_stay_when_facts_alone_are_put_right(store: MemoryStore) -> None:
    await store.remember(EVERY)
    before = await answers(store)
    await store.correct("ann", TOLD.id, Correction(JUNE, facts=()))
    assert await answers(store) == before


@pytest.mark.parametrize("state", [EnrichmentState.DONE, EnrichmentState.PENDING])
async def test_what_the_user_said_stays(store: MemoryStore, state: EnrichmentState) -> None:
    asked = replace(ASKED, user_text="I have a green safe. What opens it?")
    await store.remember([TOLD, asked])
    await store.forget_round("ann", TOLD.id, enrichment=state)
    (record,) = await store.session("ann", "asked")
    assert [fact.text for fact in record.facts] == ["I have a green safe."]
    assert record.enrichment is state
    assert (record.round.turns, record.round.is_changed) == (("u", "a"), True)
    assert (record.round.corrected_at, record.round.repeats) == (None, ())


async def test_nobody_elses_are_touched(store: MemoryStore) -> None:
    await store.remember([TOLD])
    bobs = replace(ASKED, user_id="bob")
    await store.remember([bobs])
    assert (await forget_round(store, dry_run=False)).answers == 0
    (record,) = await store.records("bob")
    assert record.round == bobs


async def test_they_are_followed_to_another_user(store: MemoryStore) -> None:
    await store.remember([TOLD, ASKED])
    await store.bring_in("bob", await store.records("ann"))
    told = replace(TOLD, user_id="bob")
    assert (await store.forget_round("bob", told.id)).answers == 1
    assert (await store.forget_round("ann", TOLD.id, dry_run=True)).answers == 1
