"""A design over what was said, without a server: rounds in, a ranking out."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

from assistant.designs.design import Design, Tools
from assistant.designs.registry import choices_of, class_of
from assistant.designs.summaries import Summariser
from assistant.designs.value import Ranking, ViewQuestion
from memory_store import Record, Round, TimeRange
from memory_store.embedding import Embedder, HashEncoder
from memory_store.language import ENGLISH

FIRST_DAY = datetime(2024, 3, 1, 9, tzinfo=UTC)


@asynccontextmanager
async def design_of(
    name: str, summariser: Summariser | None = None, **chosen: Any
) -> AsyncIterator[Design]:
    """A design with the hash encoder; its summaries are made without a model if nothing else is
    said."""
    embedder = Embedder(HashEncoder())
    tools = Tools(embedder, ENGLISH, summariser or Summariser(ENGLISH))
    try:
        yield class_of(name)(tools, choices_of(name, chosen))
    finally:
        await embedder.close()


def records_of(texts: Sequence[str]) -> list[Record]:
    """One round a day."""
    return [
        Record(Round("ann", f"s{day}", 0, FIRST_DAY + timedelta(days=day), text, ""), ())
        for day, text in enumerate(texts)
    ]


async def ranking_of(
    name: str,
    texts: Sequence[str],
    question: str,
    limit: int = 3,
    range_: TimeRange | None = None,
    **chosen: Any,
) -> Ranking:
    """What a design finds for a question."""
    async with design_of(name, **chosen) as design:
        view = await design.view(records_of(texts))
        return await view.search(ViewQuestion(question, None, range_, limit))
