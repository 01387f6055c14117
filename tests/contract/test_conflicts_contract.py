"""What may be another's and contradicts the user: listed until the user says whose it is."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from memory_store import (
    Correction,
    EnrichmentState,
    Extraction,
    Fact,
    FactLink,
    GivenFact,
    MemoryStore,
    Record,
    Round,
    Speaker,
)
from memory_store.errors import InvalidRecord
from memory_store.transfer import from_lines, to_lines
from memory_store.transfer._reindexing import renewed

MAY = datetime(2023, 5, 20, 12, tzinfo=UTC)
LATER = MAY + timedelta(days=90)
GHENT = Round("ann", "home", 0, MAY, "I live in Ghent.", "A fine town.", turn_ids=("t1",))
OSLO = "I moved to Oslo last week."
LETTER = Round(
    "ann",
    "letter",
    0,
    MAY + timedelta(days=30),
    f"Please proofread my uncle's letter:\n\n{OSLO}",
    "Done.",
    turn_ids=("t2",),
)


async def listed(store: MemoryStore) -> list[tuple[str, list[str]]]:
    found = await store.conflicts("ann")
    return [(one.fact.text, [link.text for link in one.held]) for one in found]


async def replaced(store: MemoryStore, round: Round = GHENT) -> list[str]:
    record = await store.round("ann", round.id)
    assert record is not None
    return [fact.superseded_by.text for fact in record.facts if fact.superseded_by]


async def said_by(store: MemoryStore, text: str, speaker: Speaker, round: Round = LETTER) -> Record:
    done = await store.correct("ann", round.id, Correction(LATER, speakers={text: speaker}))
    assert done is not None
    return done.record


@pytest.mark.parametrize("order", [(GHENT, LETTER), (LETTER, GHENT)])
async def test_a_conflict_is_listed_whatever_came_first(
    store: MemoryStore, order: Sequence[Round]
) -> None:
    for round in order:
        await store.remember([round])
    assert await listed(store) == [(OSLO, ["I live in Ghent."])]
    assert await replaced(store) == []
    assert await store.conflicts("bob") == []
    recall = await store.known_facts("ann", [OSLO], 9)
    assert OSLO not in [link.text for link in recall]


async def test_what_the_user_claims_replaces_and_can_be_given_back(store: MemoryStore) -> None:
    await store.remember([GHENT, LETTER])
    record = await said_by(store, OSLO, Speaker.USER)
    claimed = next(fact for fact in record.facts if fact.text == OSLO)
    assert (claimed.speaker, claimed.source, claimed.in_doubt) == (Speaker.USER, "user", False)
    assert record.round.corrected_at == LATER
    assert await replaced(store) == [OSLO]
    assert await listed(store) == []
    await store.let_supersede("ann", LETTER.id, False)
    assert (await replaced(store), await listed(store)) == ([], [])
    await said_by(store, OSLO, Speaker.QUOTED)
    assert (await replaced(store), await listed(store)) == ([], [])
    await said_by(store, OSLO, Speaker.USER)
    assert await replaced(store) == [OSLO]


async def test_what_the_user_leaves_is_no_conflict_any_more(store: MemoryStore) -> None:
    await store.remember([GHENT, LETTER])
    first = await said_by(store, OSLO, Speaker.QUOTED)
    assert (await replaced(store), await listed(store)) == ([], [])
    assert await said_by(store, OSLO, Speaker.QUOTED) == first


@pytest.mark.parametrize("speaker", [Speaker.USER, Speaker.QUOTED])
async def test_what_the_user_said_of_it_lasts(store: MemoryStore, speaker: Speaker) -> None:
    """Written again, enriched, indexed anew, taken out and brought in."""
    await store.remember([GHENT, LETTER], enrichment=EnrichmentState.PENDING)
    record = await said_by(store, OSLO, speaker)
    expected = [OSLO] if speaker is Speaker.USER else []
    model = Extraction("a model", (Fact(OSLO, Speaker.QUOTED, "a model"), Fact("I like snow.")))
    await store.enrich(record.round, model)
    assert (await replaced(store), await listed(store)) == (expected, [])
    again = replace(record.round, assistant_text="Done again.")
    await store.remember([again])
    assert (await replaced(store), await listed(store)) == (expected, [])
    stored = await store.round("ann", LETTER.id)
    assert stored is not None
    told = {fact.text: (fact.speaker, fact.in_doubt) for fact in renewed(stored).facts}
    assert told[OSLO] == (speaker, False)
    records = list(from_lines(to_lines(await store.records("ann"))))
    await store.forget_user("ann")
    await store.bring_in("ann", records)
    assert (await replaced(store), await listed(store)) == (expected, [])


async def test_what_a_model_may_not_replace_is_a_conflict_too(store: MemoryStore) -> None:
    await store.remember([replace(GHENT, user_text="J'habite à Gand.")])
    text = "Corrige mes fautes :\n\nJ'habite maintenant à Lille."
    pasted = replace(LETTER, user_text=text)
    await store.remember([pasted], enrichment=EnrichmentState.PENDING)
    older = FactLink(GHENT.id, "J'habite à Gand.", MAY, "a model")
    known = Extraction("a model", (Fact("J'habite à Gand.", Speaker.USER, "a model"),))
    await store.enrich(replace(GHENT, user_text="J'habite à Gand."), known)
    new = Fact("J'habite maintenant à Lille.", Speaker.USER, "a model", supersedes=(older,))
    await store.enrich(pasted, Extraction("a model", (new,)))
    assert await listed(store) == [(new.text, ["J'habite à Gand."])]
    assert await replaced(store) == []
    await said_by(store, new.text, Speaker.USER)
    assert (await replaced(store), await listed(store)) == ([new.text], [])


async def test_a_conflict_goes_with_what_it_is_about(store: MemoryStore) -> None:
    """Nothing of a forgotten statement is left where something contradicted it."""
    await store.remember([GHENT, LETTER])
    await store.forget_round("ann", GHENT.id)
    assert await listed(store) == []
    assert "Ghent" not in str(await store.records("ann"))
    await store.remember([GHENT])
    assert len(await listed(store)) == 1
    await store.correct("ann", GHENT.id, Correction(LATER, user_text="Good morning."))
    assert await listed(store) == []
    assert "Ghent" not in str(await store.records("ann"))


async def test_a_conflict_ends_when_the_user_says_something_newer(store: MemoryStore) -> None:
    await store.remember([GHENT, LETTER])
    newer = Round("ann", "home", 1, LATER, "I moved to Oslo yesterday.")
    await store.remember([newer])
    assert await listed(store) == []
    assert await replaced(store) == ["I moved to Oslo yesterday."]


async def test_facts_that_are_given_stay_whose_they_were(store: MemoryStore) -> None:
    await store.remember([GHENT, LETTER])
    given = (GivenFact(OSLO), GivenFact("I have an uncle."))
    done = await store.correct("ann", LETTER.id, Correction(LATER, facts=given))
    assert done is not None
    assert [fact.speaker for fact in done.record.facts] == [Speaker.QUOTED, Speaker.USER]
    assert await listed(store) == [(OSLO, ["I live in Ghent."])]
    assert await replaced(store) == []


async def test_a_fact_that_is_not_there_has_no_speaker(store: MemoryStore) -> None:
    await store.remember([GHENT])
    with pytest.raises(InvalidRecord, match="no fact"):
        await said_by(store, "I moved.", Speaker.USER, GHENT)
