"""What a question gets to read of the memory."""

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta

import pytest

from assistant.answering.context import read_memory
from assistant.answering.plan import ReadingPlan
from assistant.answering.reader import Question
from assistant.models.token_counter import about_tokens
from memory_store import (
    Days,
    MemoryStore,
    Query,
    Recalled,
    Round,
    where,
)
from memory_store.language import ENGLISH, Asked, Sentence

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
    question = Question(text, ASKED_AT, asked=ENGLISH.asked(text, ASKED_AT.date()))
    context = await read_memory(
        store, question, [Recalled(found, 0.5)], ReadingPlan(), about_tokens
    )
    assert ("home to C" in context.text) is comes_along


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("Which song do I like?", 1),
        ("Summarize what we did with my song.", 2),
        ("How many songs did I ask for?", 2),
        ("In which order did I ask for songs?", 2),
    ],
)
async def test_rounds_much_farther_than_the_best_one_are_left_out_unless_many_are_wanted(
    store: MemoryStore, text: str, read: int
) -> None:
    found = await store.remember(SONG)
    near = [Recalled(one, by) for one, by in zip(found, (0.9, 0.05), strict=True)]
    context = await read_memory(
        store,
        Question(text, ASKED_AT, asked=ENGLISH.asked(text, ASKED_AT.date())),
        near,
        ReadingPlan(),
        about_tokens,
    )
    assert (context.used, context.dropped) == (tuple(one.id for one in found[:read]), ())


@pytest.mark.parametrize(
    ("text", "similarity", "read"),
    [
        ("What is the capital of France?", 0.2, 0),
        ("What is the capital of France?", 0.3, 1),
        ("Will it rain where I live?", 0.2, 1),
    ],
)
async def test_a_question_of_general_knowledge_gets_what_is_near_to_it_alone(
    store: MemoryStore, text: str, similarity: float, read: int
) -> None:
    found, _ = await store.remember(SONG)
    question = Question(text, ASKED_AT, asked=ENGLISH.asked(text, ASKED_AT.date()))
    plan = ReadingPlan(near=0.28)
    near = [Recalled(found, similarity)]
    context = await read_memory(store, question, near, plan, about_tokens)
    assert len(context.used) == read


@pytest.mark.parametrize(
    ("nearest", "read"), [(0.27, 0), (0.3, 2), (0.34, 3)], ids=["far", "barely near", "near"]
)
async def test_of_general_knowledge_counts_what_is_near_in_meaning_not_in_words(
    store: MemoryStore, nearest: float, read: int
) -> None:
    told = [Round("ann", f"s{n}", 0, ASKED_AT, f"I like song {n}.", "Nice.") for n in range(3)]
    found = await store.remember(told)
    meanings = [nearest, 0.2, 0.1]
    near = [
        Recalled(one, 0.5, {"dense": by, "words": 0.9})
        for one, by in zip(found, meanings, strict=True)
    ]
    question = Question("Who wrote the song?", ASKED_AT, asked=Asked(impersonal=True))
    context = await read_memory(store, question, near, ReadingPlan(near=0.28), about_tokens)
    assert context.used == tuple(one.id for one in found[:read])


@pytest.mark.parametrize(
    ("said", "reply", "read"),
    [
        ("Sounds good, thanks!", "You're welcome!", 0),
        ("Sounds good, thanks!", "You're welcome! " + "Sew the hem first. " * 9, 1),
        ("My aunt sews.", "Nice.", 1),
    ],
)
async def test_a_round_in_which_nobody_says_anything_takes_no_place(
    store: MemoryStore, said: str, reply: str, read: int
) -> None:
    found = await store.remember([Round("ann", "sewing", 0, ASKED_AT, said, reply)])
    question = Question("Who sews?", ASKED_AT)
    near = [Recalled(one, 0.9) for one in found]
    context = await read_memory(store, question, near, ReadingPlan(), about_tokens)
    assert len(context.used) == read


STANDING = Round("ann", "wishes", 0, ASKED_AT - timedelta(days=9), "always give dates in full pls")


async def test_what_was_asked_of_every_answer_is_found_by_itself(store: MemoryStore) -> None:
    told = [Round("ann", f"s{n}", 0, ASKED_AT, f"I planted oak {n}.", "Nice.") for n in range(30)]
    later = replace(
        STANDING,
        session_id="later",
        session_date=ASKED_AT + timedelta(days=1),
        user_text="never use emojis",
    )
    await store.remember([*told, STANDING, later])
    question = Question("How many oaks did I plant?", ASKED_AT)
    recall = await store.recall(Query("ann", question.text, 5))
    context = await read_memory(store, question, recall.rounds, ReadingPlan(), about_tokens)
    assert [(one.text, one.round_id) for one in context.requests] == [
        (STANDING.user_text, STANDING.id)
    ]
    assert STANDING.id in context.used


@pytest.mark.parametrize(
    ("question", "requests"),
    [
        (Question("What did I plant?", ASKED_AT), 1),
        (Question("What did I plant?", ASKED_AT, where=where({"topic": "garden"})), 0),
        (Question("What did I plant?", ASKED_AT, known=Days(last=date(2023, 5, 1))), 0),
    ],
)
async def test_a_request_counts_where_the_question_may_read_it(
    store: MemoryStore, question: Question, requests: int
) -> None:
    oak = Round("ann", "oak", 0, ASKED_AT - timedelta(days=90), "I planted an oak.", "Nice.")
    found, _ = await store.remember([replace(oak, labels={"topic": "garden"}), STANDING])
    recalled = [Recalled(found, 0.5)]
    context = await read_memory(store, question, recalled, ReadingPlan(), about_tokens)
    assert len(context.requests) == requests


@pytest.mark.parametrize(("asked_on", "requests"), [(0, 1), (10, 1), (11, 0)])
async def test_a_request_counts_up_to_the_day_it_names(
    store: MemoryStore, asked_on: int, requests: int
) -> None:
    asked_at = STANDING.session_date + timedelta(days=asked_on)
    last = STANDING.session_date + timedelta(days=10)
    text = f"Always give dates in full, until {last.day} {last:%B}."
    recalled = [
        Recalled(record, 0.5)
        for record in await store.remember([replace(STANDING, user_text=text)])
    ]
    question = Question("What did I plant?", asked_at)
    context = await read_memory(store, question, recalled, ReadingPlan(), about_tokens)
    assert len(context.requests) == requests


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("always give dates as day month year", True),
        ("From now on answer in German.", True),
        ("When you answer, never use emojis.", True),
        ("call me Bo from now on", True),
        ("please keep your answers short from now on", True),
        ("Don't ever use bullet points again", True),
        ("can you always reply in one sentence", True),
        ("reply in french from now on please", True),
        ("whenever i ask about money, give euros", True),
        ('Always write dates as "4 March 2024" when I ask about deadlines.', True),
        ("no more exclamation marks in your replies pls", True),
        ("i always give my dog a treat", False),
        ("I'll message Kelly when I get there, always do", False),
        ("If you have any more questions, feel free to ask.", False),
        ("Long time no talk!", False),
        ("Please write in English language.", False),
        ("Always lock the shed when you leave, that is what I tell the volunteers.", False),
        ("from now on i'm vegan", False),
        ("He never answers me.", False),
        ("always keep receipts, dad says", False),
        ("we always put up the tree in december", False),
        ("Can you tell me again?", False),
        ("Write me a poem about going forward", False),
    ],
)
def test_a_standing_request_says_how_to_answer(said: str, expected: bool) -> None:
    assert Sentence.read(said).instructs is expected


async def test_what_people_say_to_each_other_asks_nothing_of_the_assistant(
    store: MemoryStore,
) -> None:
    said = replace(STANDING, user_name="Ann", assistant_name="Bo")
    recalled = [Recalled(record, 0.5) for record in await store.remember([said])]
    context = await read_memory(
        store, Question("What do I like?", ASKED_AT), recalled, ReadingPlan(), about_tokens
    )
    assert not context.requests


async def test_a_message_of_another_that_is_to_be_worked_on_asks_nothing(
    store: MemoryStore,
) -> None:
    text = "Translate: please always give dates in full when I ask. I live in Leith and I am 40."
    said = replace(STANDING, user_text=text)
    recalled = [Recalled(record, 0.5) for record in await store.remember([said])]
    context = await read_memory(
        store, Question("What do I like?", ASKED_AT), recalled, ReadingPlan(), about_tokens
    )
    assert not context.requests
