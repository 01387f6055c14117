"""Days that cut a recall and times that lift in it, on every engine."""

from datetime import date, timedelta

import pytest
from cat_and_bread import BREAD, CAT, MAY, OVEN, found, said

from memory_store import Days, MemoryStore, Query, Round

TODAY = date(2023, 6, 14)  # a Wednesday


@pytest.mark.parametrize(
    ("days", "expected"),
    [
        (Days(last=date(2023, 5, 20)), {CAT.user_text}),
        (Days(first=date(2023, 5, 21)), {BREAD.user_text, OVEN.user_text}),
        (Days(date(2023, 5, 20), date(2023, 5, 21)), {r.user_text for r in (CAT, BREAD, OVEN)}),
        (Days(date(2023, 6, 1), date(2023, 6, 2)), set()),
    ],
)
async def test_explicit_days_cut_both_keys_and_words(
    store: MemoryStore, days: Days, expected: set[str]
) -> None:
    await store.remember([CAT, BREAD, OVEN])
    assert set(await found(store, "cat bread oven", days=days)) == expected


async def test_a_day_holds_its_first_and_last_moment(store: MemoryStore) -> None:
    midnight = MAY.replace(hour=0)
    rounds = [
        Round("ann", "s", 0, midnight, "first tea"),
        Round("ann", "s", 1, midnight + timedelta(hours=23, minutes=59), "last tea"),
        Round("ann", "s", 2, midnight + timedelta(days=1), "tomorrow's tea"),
    ]
    await store.remember(rounds)
    day = Days(midnight.date(), midnight.date())
    assert set(await found(store, "tea", days=day)) == {"first tea", "last tea"}


async def lifted(store: MemoryStore, text: str, signal: str) -> list[str]:
    recall = await store.recall(Query("ann", text, asked_on=TODAY))
    return [hit.record.round.user_text for hit in recall.rounds if hit.signals[signal]]


async def test_a_time_in_the_question_lifts_what_was_said_then(store: MemoryStore) -> None:
    await store.remember([CAT, said("ann", "s3", 0, "The cat sleeps.", days=22)])
    assert await lifted(store, "What did my cat do on June 11?", "said_then") == ["The cat sleeps."]
    assert len(await found(store, "What did my cat do on June 11?")) == 2


async def test_a_time_in_the_question_lifts_what_happened_then(store: MemoryStore) -> None:
    # Said on Saturday 20 May; last Tuesday was the 16th.
    vet = said("ann", "s3", 0, "I took the cat to the vet last Tuesday.")
    await store.remember([CAT, vet])
    question = "Where did I take the cat on May 16?"
    assert await lifted(store, question, "happened_then") == [vet.user_text]
    assert await lifted(store, question, "said_then") == []


async def test_a_time_that_names_every_round_lifts_none(store: MemoryStore) -> None:
    await store.remember([CAT, OVEN, BREAD])
    assert await lifted(store, "What did I do in the last few months?", "said_then") == []


async def test_without_the_day_of_the_question_time_lifts_nothing(store: MemoryStore) -> None:
    await store.remember([said("ann", "s3", 0, "I took the cat to the vet yesterday.")])
    recall = await store.recall(Query("ann", "What did I do yesterday?"))
    assert recall.time_range is None
    assert recall.rounds[0].signals["happened_then"] == 0.0


async def test_the_days_of_a_fact_come_back(store: MemoryStore) -> None:
    await store.remember([said("ann", "s3", 0, "I took the cat to the vet last Tuesday.")])
    (record,) = await store.session("ann", "s3")
    assert record.facts[0].event_dates == (Days(date(2023, 5, 16), date(2023, 5, 16)),)


async def test_a_cut_that_ends_before_the_time_asked_for_is_still_a_cut(store: MemoryStore) -> None:
    await store.remember([CAT, said("ann", "s3", 0, "The cat sleeps.", days=22)])
    until_may = Days(last=date(2023, 5, 31))
    recall = await store.recall(Query("ann", "cat on June 11", days=until_may, asked_on=TODAY))
    assert [hit.record.round for hit in recall.rounds] == [CAT]
