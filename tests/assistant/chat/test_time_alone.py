"""Questions that name a time and nothing else, and what is recalled for them."""

from datetime import UTC, date, datetime, timedelta

import pytest

from assistant.chat.retriever import Retriever, days_alone
from memory_store import Days, MemoryStore, Query, Round

TODAY = date(2023, 6, 10)
MAY = Days(date(2023, 5, 1), date(2023, 5, 31))


async def asked(store: MemoryStore, text: str, **more: object) -> list[Round]:
    query = Query("ann", text, 3, asked_on=TODAY, **more)  # type: ignore[arg-type]
    retrieved = await Retriever(store).retrieve(query)
    return [found.record.round for found in retrieved.recall.rounds]


@pytest.mark.parametrize(
    ("text", "is_alone"),
    [
        ("What did I do last month?", True),
        ("what happened in May", True),
        ("In May, what did we talk about?", True),
        ("What have I been up to in May?", True),
        ("So what did I tell you in May?", True),
        ("Did anything happen in May?", True),
        ("Summarize what happened in May.", True),
        ("Please tell me what I did in May", False),
        ("What did I buy in May?", False),
        ("What did I do in Ghent in May?", False),
        ("What did Clara do in May?", False),
        ("What did I do?", False),
    ],
)
async def test_a_question_of_a_time_alone(store: MemoryStore, text: str, is_alone: bool) -> None:
    recall = await store.recall(Query("ann", text, asked_on=TODAY))
    assert days_alone(text, recall.time_range) == (MAY if is_alone else None)


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
