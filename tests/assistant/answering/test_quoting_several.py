"""The quoting reader where several people speak: it says who, and mixes nobody's words."""

from datetime import UTC, datetime

from assistant.answering.quoting import QuotingReader
from assistant.answering.reader import Question
from memory_store import MemoryStore, Query, Round

ASKED_AT = datetime(2023, 6, 10, tzinfo=UTC)


async def asked(store: MemoryStore, question: str, *talk: tuple[str | None, str]) -> str:
    """The answer after these have spoken in turn, a day each."""
    await store.remember(
        Round("ann", "s", day, datetime(2023, 5, 20 + day, tzinfo=UTC), text, user_name=name)
        for day, (name, text) in enumerate(talk)
    )
    recall = await store.recall(Query("ann", question))
    asked = store.language.asked(question, ASKED_AT.date())
    asking = Question(question, ASKED_AT, recalled=list(recall.rounds), asked=asked)
    reader = QuotingReader(store, floor=0.33)
    return "".join([piece.text async for piece in reader.read(asking)])


async def test_the_one_who_is_named_is_quoted_by_name(store: MemoryStore) -> None:
    answer = await asked(
        store,
        "Where did Caroline go in spring?",
        ("Caroline", "I went to Rome in spring."),
        ("Melanie", "Caroline, I went to Oslo in spring!"),
    )
    assert "On 2023-05-20 (Sat) Caroline said: “I went to Rome in spring.”" in answer
    assert "you said" not in answer


async def test_what_another_said_is_no_answer_about_one(store: MemoryStore) -> None:
    talk = (
        ("Caroline", "I drink green tea every morning."),
        ("Melanie", "I painted a sunset over the lake for my brother."),
    )
    answer = await asked(store, "What did Caroline paint over the lake?", *talk)
    assert answer.splitlines() == [
        "I don't know: I find nothing of that from Caroline, only from others.",
        "The closest that I find:",
        "- On 2023-05-21 (Sun) Melanie said: “I painted a sunset over the lake for my brother.”",
        "- On 2023-05-20 (Sat) Caroline said: “I drink green tea every morning.”",
    ]


async def test_nothing_is_concluded_of_what_several_say(store: MemoryStore) -> None:
    answer = await asked(
        store,
        "How many dogs does Caroline have?",
        ("Caroline", "I have two dogs."),
        ("Melanie", "I have five dogs."),
    )
    assert "Caroline said: “I have two dogs.”" in answer
    assert "you gave" not in answer


async def test_what_one_says_of_others_replaces_nothing_that_another_says(
    store: MemoryStore,
) -> None:
    answer = await asked(
        store,
        "Where does Caroline's sister live?",
        ("Caroline", "My sister lives in Porto."),
        ("Melanie", "My sister moved to Lisbon yesterday."),
    )
    assert "Porto" in answer
    assert "no longer" not in answer


async def test_one_who_speaks_under_a_name_is_you(store: MemoryStore) -> None:
    said = (("Ann", "I ran a half marathon."), (None, "Bye."))
    answer = await asked(store, "Which marathon did I run?", *said)
    assert "you said: “I ran a half marathon.”" in answer


async def test_who_speaks_has_come_up(store: MemoryStore) -> None:
    said = (("Caroline", "I paint lakes."), ("Melanie", "I sing."))
    assert "never came up" not in await asked(store, "What does Caroline paint?", *said)
