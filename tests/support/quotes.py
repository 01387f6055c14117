"""Questions to the quoting reader about rounds of one person."""

from datetime import UTC, datetime

from assistant.answering.quoting import QuotingReader
from assistant.answering.reader import Question, Trace
from memory_store import MemoryStore, Query, Recalled, Round

ASKED_AT = datetime(2023, 6, 10, tzinfo=UTC)


def round(index: int, user: str, assistant: str = "Noted.") -> Round:
    return Round("ann", "s", index, datetime(2023, 5, 20 + index, tzinfo=UTC), user, assistant)


async def ask(store: MemoryStore, text: str, *, floor: float = 0.33) -> tuple[str, Trace]:
    recall = await store.recall(Query("ann", text))
    return await read(store, text, list(recall.rounds), floor=floor)


async def read(
    store: MemoryStore, text: str, recalled: list[Recalled] | None, *, floor: float = 0.33
) -> tuple[str, Trace]:
    reader = QuotingReader(store, floor=floor)
    asked = store.language.asked(text, ASKED_AT.date())
    question = Question(text, ASKED_AT, recalled=recalled, asked=asked)
    pieces = [piece async for piece in reader.read(question)]
    traces = [piece.trace for piece in pieces if piece.trace]
    assert len(traces) == 1
    assert pieces[-1].trace is traces[0]
    return "".join(piece.text for piece in pieces), traces[0]
