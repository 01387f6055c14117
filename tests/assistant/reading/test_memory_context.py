"""What a question gets to read of the memory."""

from datetime import UTC, datetime

import pytest

from assistant.models.token_counter import about_tokens
from assistant.reading.memory_context import read_memory
from assistant.reading.plan import ReadingPlan
from assistant.reading.reader import Question
from memory_store import MemoryStore, Recalled, Round

ASKED_AT = datetime(2023, 6, 10, 9, tzinfo=UTC)
SONG = [
    Round("ann", "song", 0, ASKED_AT, "Write me a song.", "Rain, rain on the pane."),
    Round("ann", "song", 1, ASKED_AT, "More tender, please.", "G, A, B and home to C."),
]


@pytest.mark.parametrize(
    ("text", "comes_along"),
    [
        ("Which chords did you give me for the second song?", True),
        ("Which song do I like?", False),
    ],
)
async def test_what_the_assistant_said_comes_with_its_neighbours(
    store: MemoryStore, text: str, comes_along: bool
) -> None:
    found, _ = await store.remember(SONG)
    question = Question(text, ASKED_AT)
    context = await read_memory(
        store, question, [Recalled(found, 0.5)], ReadingPlan(), about_tokens
    )
    assert ("home to C" in context.text) is comes_along


async def test_what_is_said_of_a_thing_mentions_no_other_one(store: MemoryStore) -> None:
    told = Round("ann", "cats", 0, ASKED_AT, "I adopted two cats in Ghent. They are very soft.")
    (found,) = await store.remember([told])
    question = Question("How many cats did I adopt in Ghent?", ASKED_AT)
    context = await read_memory(
        store, question, [Recalled(found, 0.5)], ReadingPlan(), about_tokens
    )
    assert '"number": 1' in context.text
    assert '"number": 2' not in context.text
