"""Standing requests: how the user wants to be answered from now on, whatever they ask about.

"Always give dates as day and month." is like no question that it is meant for, so that it is
looked for by itself, and shown apart from the rounds.
"""

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from assistant.answering.reader import Question
from assistant.dates import print_day
from memory_store import (
    Days,
    MemoryReader,
    Query,
    Recalled,
    Record,
    is_anothers,
    is_quoting,
    reading_of,
)

STANDING = "standing requests"
"""Under this name they stand in what a model reads."""

# Rounds near to any of these may hold a standing request.
_LIKE = (
    "From now on always answer me in German.",
    "Always write dates and amounts like this when you reply.",
    "Never use emojis or long lists in your answers, and call me by my name.",
)
_ROUNDS = 10
_MOST = 8
_LONGEST = 500


@dataclass(frozen=True, slots=True)
class StandingRequest:
    """One sentence of the user, and when it was said."""

    round_id: str
    said_at: datetime
    text: str

    @property
    def entry(self) -> dict[str, Any]:
        """The entry that is shown."""
        return {"said_on": print_day(self.said_at), "request": self.text}


async def standing_requests(
    store: MemoryReader, recalled: Sequence[Recalled], question: Question
) -> list[StandingRequest]:
    """What the user whose rounds these are asked for by the day of the question, and by the last
    one that is known, the newest first.

    Raises what the store raises.
    """
    if not recalled or not store.language.has_rules:
        return []
    user = recalled[0].record.round.user_id
    today, known = question.asked_at.date(), question.known
    until = Days(last=min(known.last, today) if known.last else today, zone=known.zone)
    queries = (
        Query(user, like, _ROUNDS, until, sessions=False, where=question.where) for like in _LIKE
    )
    found = await asyncio.gather(*map(store.recall, queries))
    records = {one.record.id: one.record for recall in found for one in recall.rounds}
    records |= {one.record.id: one.record for one in recalled}
    requests = [one for record in records.values() for one in _requests(record)]
    distinct = {one.text.casefold(): one for one in sorted(requests, key=lambda one: one.said_at)}
    return sorted(distinct.values(), key=lambda one: one.said_at, reverse=True)[:_MOST]


def _requests(record: Record) -> Iterator[StandingRequest]:
    round = record.round
    if is_anothers(round):
        return
    # A longer message may be a text to work on; of two people by name none is the assistant.
    if len(round.user_text) > _LONGEST or (round.user_name and round.assistant_name):
        return
    requests = reading_of(round).instructions
    if requests and not is_quoting(record):
        yield from (StandingRequest(record.id, round.session_date, text) for text in requests)
