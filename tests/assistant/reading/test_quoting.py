"""The quoting reader: dated quotes of what is near, or that it does not know."""

from datetime import UTC, datetime

from assistant.reading.quoting import NO_MEMORY, UNKNOWN, QuotingReader
from assistant.reading.reader import Question, Trace
from memory_store import MemoryStore, Query, Recalled, Round

ASKED_AT = datetime(2023, 6, 10, tzinfo=UTC)


def round(index: int, user: str, assistant: str = "Noted.") -> Round:
    return Round("ann", "s", index, datetime(2023, 5, 20 + index, tzinfo=UTC), user, assistant)


async def ask(store: MemoryStore, text: str, *, floor: float = 0.3) -> tuple[str, Trace]:
    recall = await store.recall(Query("ann", text))
    return await read(store, text, list(recall.rounds), floor=floor)


async def read(
    store: MemoryStore, text: str, recalled: list[Recalled] | None, *, floor: float = 0.3
) -> tuple[str, Trace]:
    reader = QuotingReader(store, floor=floor)
    pieces = [piece async for piece in reader.read(Question(text, ASKED_AT, recalled=recalled))]
    traces = [piece.trace for piece in pieces if piece.trace]
    assert len(traces) == 1
    assert pieces[-1].trace is traces[0]
    return "".join(piece.text for piece in pieces), traces[0]


async def test_it_quotes_the_sentence_with_its_day(store: MemoryStore) -> None:
    await store.remember([round(0, "Nice weather. I ran a half marathon in Ghent. Any tips?")])
    answer, trace = await ask(store, "Where did I run the half marathon?")
    assert "On 2023-05-20 (Sat) you said: “I ran a half marathon in Ghent.”" in answer
    assert "Any tips?" not in answer
    assert list(trace.context) == [round(0, "").id]


async def test_the_newest_statement_comes_first(store: MemoryStore) -> None:
    said = ["My dentist is Dr. Peeters in Ghent.", "My dentist is now Dr. Maes in Ghent."]
    await store.remember([round(index, text) for index, text in enumerate(said)])
    answer, _ = await ask(store, "Who is my dentist in Ghent?")
    assert answer.index("Maes") < answer.index("Peeters")


async def test_it_quotes_what_the_assistant_said(store: MemoryStore) -> None:
    await store.remember([round(0, "Any hotel?", "The Marriott hotel in Ghent is good.")])
    answer, _ = await ask(store, "Which hotel in Ghent did you recommend?")
    assert "I said: “The Marriott hotel in Ghent is good.”" in answer


async def test_it_does_not_know_what_is_not_near(store: MemoryStore) -> None:
    await store.remember([round(0, "I ran a half marathon in Ghent.")])
    assert (await ask(store, "What colour is my bicycle?"))[0] == UNKNOWN
    assert (await ask(store, "half marathon Ghent", floor=2.0))[0] == UNKNOWN
    assert (await read(store, "anything", []))[0] == UNKNOWN


async def test_it_does_not_quote_its_own_quotes(store: MemoryStore) -> None:
    await store.remember([round(0, "I ran a half marathon in Ghent.")])
    first, _ = await ask(store, "Where was my half marathon?")
    await store.remember([round(1, "Where was my half marathon?", first)])
    again, _ = await ask(store, "Where was my half marathon?")
    assert again == first


async def test_without_memory_it_says_so(store: MemoryStore) -> None:
    assert (await read(store, "anything", None))[0] == NO_MEMORY


async def test_a_long_sentence_is_shortened_at_a_word(store: MemoryStore) -> None:
    await store.remember([round(0, "I like marathon running " + "and cycling " * 100)])
    answer, _ = await ask(store, "Do I like marathon running and cycling?")
    assert answer.endswith("cycling …”") or answer.endswith("and …”")
    assert len(answer) < 600
