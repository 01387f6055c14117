"""Overviews without a model: what the user told, oldest first."""

from dataclasses import replace

import pytest
from quotes import ask, read, round

from assistant.answering.conclusions import names_topic
from memory_store import MemoryStore, Query

TOLD = (
    "I planted tomatoes on the balcony.",
    "My boss is called Ines.",
    "I picked the first tomatoes on the balcony.",
)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Summarise my last chats", False),
        ("Summarise my last trip", True),
        ("Give me a summary of what we talked about.", False),
        ("In which order did I tell you things?", False),
        ("Can you give me an overview of everything we discussed so far?", False),
        ("Summarise how my garden came along.", True),
        ("In which order did I bring up my trips?", True),
    ],
)
def test_whether_an_overview_is_of_something(question: str, expected: bool) -> None:
    assert names_topic(question) is expected


async def test_all_that_was_told_oldest_first(store: MemoryStore) -> None:
    await store.remember([round(n, text) for n, text in enumerate(TOLD)])
    answer, shown = await ask(store, "Give me a summary of what we talked about.")
    assert answer.startswith("What you told me, oldest first:")
    assert [text for text in TOLD if text in answer] == list(TOLD)
    assert sorted(TOLD, key=answer.index) == list(TOLD)
    assert len(shown.quoted) == 3


async def test_what_was_told_of_a_topic(store: MemoryStore) -> None:
    await store.remember([round(n, text) for n, text in enumerate(TOLD)])
    answer, _ = await ask(store, "Summarise my tomatoes on the balcony.")
    assert "planted" in answer
    assert "picked" in answer
    assert "Ines" not in answer


async def test_of_a_topic_that_never_came_up_nothing_is_known(store: MemoryStore) -> None:
    await store.remember([round(n, text) for n, text in enumerate(TOLD)])
    answer, _ = await ask(store, "Give me a summary of my journey to Mars.")
    assert answer.startswith("I don't know")


async def test_of_more_than_fits_it_says_that_it_is_a_part(store: MemoryStore) -> None:
    walks = [replace(round(0, f"I walked to town{n}."), round_index=n) for n in range(30)]
    await store.remember(walks)
    question = "Give me a summary of what I told you."
    recall = await store.recall(Query("ann", question, limit=60))
    answer, shown = await read(store, question, list(recall.rounds))
    assert answer.startswith("Some of what you told me, oldest first:")
    assert [f"town{n}." in answer for n in (0, 9, 10, 29)] == [False, False, True, True]
    assert len(shown.quoted) == 20
