"""What is known of the user, without a model: all that holds, in groups, the newest first."""

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path

import pytest
from quotes import ASKED_AT, round

from assistant.answering.phrases import UNKNOWN
from assistant.answering.profile import UserProfile, profile
from assistant.answering.quoting import QuotingReader
from assistant.answering.reader import AnswerPiece, Question
from memory_store import (
    Days,
    MemoryStore,
    Query,
    where,
)
from memory_store.embedding import Embedder, ModelEncoder
from memory_store.engines import EdgeEngine

ABOUT_ME = "What do you know about me?"
NOW = Days(last=ASKED_AT.date())


@pytest.fixture
async def knowing(tmp_path: Path) -> AsyncIterator[MemoryStore]:
    """A store that knows what words mean."""
    opened = MemoryStore(EdgeEngine(tmp_path), Embedder(ModelEncoder()))
    await opened.open()
    yield opened
    await opened.close()


async def known(store: MemoryStore, *said: str, days: Days = NOW) -> UserProfile:
    """The profile of somebody who said this, a message a day."""
    await store.remember([round(index, text) for index, text in enumerate(said)])
    found = await profile(store, "ann", days)
    assert found
    return found


async def asked(store: MemoryStore, days: Days = NOW) -> AnswerPiece:
    """The answer to the question for it."""
    recalled = list((await store.recall(Query("ann", ABOUT_ME))).rounds)
    reads = store.language.asked(ABOUT_ME, None)
    question = Question(ABOUT_ME, ASKED_AT, recalled=recalled, asked=reads, known=days)
    (piece,) = [one async for one in QuotingReader(store, floor=0.33).read(question)]
    return piece


def quotes(found: UserProfile) -> list[str]:
    return [line for line in found.text.splitlines() if line.startswith("- On")]


@pytest.mark.weights
async def test_all_that_was_told_stands_in_groups_the_newest_first(knowing: MemoryStore) -> None:
    found = await known(
        knowing,
        "My sister Clara had a baby.",
        "We live in a small house with a garden.",
        "Our dog is called Rex.",
        "I baked bread with rye flour.",
    )
    assert found.text.splitlines() == [
        "What I know about you (4 things, the newest of each first):",
        "Home (1)",
        "- On 2023-05-21 (Sun) you said: “We live in a small house with a garden.”",
        "People and pets (2)",
        "- On 2023-05-22 (Mon) you said: “Our dog is called Rex.”",
        "- On 2023-05-20 (Sat) you said: “My sister Clara had a baby.”",
        "Food and drink (1)",
        "- On 2023-05-23 (Tue) you said: “I baked bread with rye flour.”",
    ]
    assert [s.text for s in found.quotes][1] == "Our dog is called Rex."


@pytest.mark.weights
async def test_of_a_group_the_newest_are_shown_and_the_others_counted(
    knowing: MemoryStore,
) -> None:
    pets = ("dog", "cat", "parrot", "rabbit", "hamster")
    found = await known(knowing, *(f"My sister and my son have a {pet}." for pet in pets))
    assert found.text.splitlines()[1] == "People and pets (5)"
    assert [line.split()[-1] for line in quotes(found)] == ["hamster.”", "rabbit.”", "parrot.”"]
    assert found.text.endswith("- and 2 more")
    assert len(found.quotes) == 3


@pytest.mark.weights
async def test_what_is_near_to_no_topic_and_how_to_answer_come_last(knowing: MemoryStore) -> None:
    found = await known(knowing, "Qwyx zzt frobs, I told you.", "From now on answer me in French.")
    headings = [line for line in found.text.splitlines()[1:] if not line.startswith("- ")]
    assert headings == ["How to answer you (1)", "Other things (1)"]


async def test_only_what_holds_is_known(store: MemoryStore) -> None:
    said = [
        "I live in Ghent.",
        "Clara lives in Porto.",
        "I moved to Bruges.",
        "Clara moved to Rome.",
    ]
    found = await known(store, *said)
    text = found.text
    assert "Bruges" in text
    assert "Rome" in text
    assert "Ghent" not in text
    assert "Porto" not in text
    assert text.startswith("What I know about you (2 things,")


async def test_of_two_values_the_newest_is_known(store: MemoryStore) -> None:
    found = await known(store, "I work at Acme.", "I like tea.", "I work at Globex.")
    assert "Globex" in found.text
    assert "tea" in found.text
    assert "Acme" not in found.text


async def test_what_was_put_right_stands_beside_the_correction(store: MemoryStore) -> None:
    found = await known(
        store,
        "The plumber charged 310 for the leak.",
        "Sorry, I got that wrong, it was 301.",
        "Correction, it was 302.",
    )
    assert quotes(found) == [
        "- On 2023-05-22 (Mon) you said: “Correction, it was 302.”"
        " (before: “The plumber charged 310 for the leak.”)"
    ]


async def test_what_is_asked_quoted_or_polite_is_not_known(store: MemoryStore) -> None:
    pasted = "Please proofread this letter:\n\nMy dentist is now Dr Peeters in Ghent."
    said = ["Hi! I'm Nora.", "Any tips? I bake bread.", "Thanks! That helps.", pasted]
    found = await known(store, *said, "I moved to Lyon, can you suggest a bakery?")
    assert {line.partition("said: ")[2] for line in quotes(found)} == {
        "“I moved to Lyon”",
        "“I bake bread.”",
        "“I'm Nora.”",
    }


async def test_a_typed_line_that_looks_quoted_is_known(store: MemoryStore) -> None:
    typed = "cancelled the gym. swimming at bellahouston tuesdays w shabnam from work instead"
    assert f"“{typed}”" in (await known(store, typed)).text


async def test_what_was_told_twice_is_known_once(store: MemoryStore) -> None:
    found = await known(store, "I bake bread.", "I like tea.", "i bake bread.")
    assert found.text.startswith("What I know about you (2 things,")
    assert "2023-05-22 (Mon) you said: “i bake bread.”" in found.text


async def test_of_a_message_of_which_something_is_gone_the_rest_is_known(
    store: MemoryStore,
) -> None:
    found = await known(store, "Clara lives in Porto. I bake bread.", "Clara moved to Rome.")
    assert "“I bake bread.”" in found.text
    assert "Porto" not in found.text


async def test_it_is_as_it_was_on_the_last_day(store: MemoryStore) -> None:
    said = ("I live in Ghent.", "I like tea.", "I moved to Bruges.")
    found = await known(store, *said, days=Days(last=date(2023, 5, 21)))
    assert "Ghent" in found.text
    assert "Bruges" not in found.text


async def test_only_rounds_that_are_labelled_so_are_read(store: MemoryStore) -> None:
    await store.remember(
        [
            replace(round(0, "I bake bread."), labels={"topic": "home"}),
            replace(round(1, "I like tea."), labels={"topic": "work"}),
        ]
    )
    found = await profile(store, "ann", NOW, where({"topic": "work"}))
    assert found
    assert "tea" in found.text
    assert "bread" not in found.text


async def test_names_say_who_told_it_where_several_did(store: MemoryStore) -> None:
    await store.remember(
        [
            replace(round(0, "I bake bread."), user_name="Ann"),
            replace(round(1, "I like tea."), user_name="Bob"),
        ]
    )
    found = await profile(store, "ann", NOW)
    assert found
    assert "Ann said: “I bake bread.”" in found.text


async def test_more_rounds_than_are_read_at_once(
    store: MemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("assistant.answering.profile._AT_ONCE", 2)
    monkeypatch.setattr("assistant.answering.profile._MOST_ROUNDS", 4)
    found = await known(store, *(f"I own boat {number}." for number in range(5)))
    assert "(4 things," in found.text
    assert "boat 0" not in found.text


async def test_the_question_is_answered_with_it_and_the_trace_names_its_rounds(
    store: MemoryStore,
) -> None:
    later = replace(round(1, "I like tea."), session_date=datetime(2023, 6, 20, tzinfo=UTC))
    await store.remember([round(0, "I bake bread."), later])
    piece = await asked(store)
    assert "bread" in piece.text
    assert "tea" not in piece.text, "told after the question"
    assert piece.trace
    assert list(piece.trace.quoted) == [round(0, "").id]


async def test_nothing_is_known_of_days_that_are_still_to_come(store: MemoryStore) -> None:
    await store.remember([round(0, "I bake bread.")])
    for days in (Days(date(2024, 1, 1)), Days(last=date(2023, 5, 1))):
        assert (await asked(store, days)).text == UNKNOWN


async def test_nothing_is_known_of_somebody_who_told_nothing(store: MemoryStore) -> None:
    assert await profile(store, "ann", NOW) is None
    await store.remember([round(0, "Which bread is best?", "Rye.")])
    assert await profile(store, "ann", NOW) is None
