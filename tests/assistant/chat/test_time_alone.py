"""What is recalled for questions that name a time and nothing else."""

from datetime import UTC, date, datetime, timedelta

import pytest

from assistant.chat.retriever import Retriever
from memory_store import Days, MemoryStore, Query, Round

TODAY = date(2023, 6, 10)


async def asked(store: MemoryStore, text: str, **more: object) -> list[Round]:
    query = Query("ann", text, 3, asked_on=TODAY, **more)  # type: ignore[arg-type]
    retrieved = await Retriever(store).retrieve(query)
    return [found.record.round for found in retrieved.recall.rounds]


@pytest.fixture
async def diary(store: MemoryStore) -> MemoryStore:
    """A round a week from April on, on which nothing but its day is told in words of its own."""
    at = datetime(2023, 4, 5, 12, tzinfo=UTC)
    told = ["What did I do? I did what I do.", *(f"The {n}th walk." for n in range(9))]
    await store.remember(
        [Round("ann", "s", n, at + timedelta(weeks=n), text) for n, text in enumerate(told)]
    )
    return store


async def test_the_rounds_of_that_time_come_first(diary: MemoryStore) -> None:
    rounds = await asked(diary, "What did I do last month?")
    assert [round.session_date.month for round in rounds] == [5, 5, 5]


async def test_the_others_come_after_them(diary: MemoryStore) -> None:
    rounds = await asked(diary, "What did I do last week?")
    assert [round.session_date.date() for round in rounds[:1]] == [date(2023, 5, 31)]
    assert len(rounds) == 3
    assert rounds[1].user_text.startswith("What did I do?")


async def test_an_explicit_cut_holds(diary: MemoryStore) -> None:
    until = Days(last=date(2023, 5, 15))
    rounds = await asked(diary, "What did I do last month?", days=until)
    assert rounds
    assert all(round.session_date.date() <= date(2023, 5, 15) for round in rounds)
    assert [round.session_date.month for round in rounds[:2]] == [5, 5]
