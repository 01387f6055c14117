"""What stands in every prompt, whatever is asked: what the user pinned, as long as it holds, and
how they want to be answered from now on.

A request such as "Always give dates as day and month." resembles no question that it is meant for.
So such requests are searched for by themselves, and shown apart from the rounds.
"""

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from assistant.answering.packing import shortened
from assistant.answering.reader import Question
from assistant.dates import print_day
from assistant.prompts.fence import fenced_name
from memory_store import (
    Days,
    Listing,
    MemoryReader,
    Query,
    Recalled,
    Record,
    is_anothers,
    is_quoting,
    reading_of,
)
from memory_store.language import Language

STANDING = "standing requests"
"""The name of standing requests in what a model reads."""
PINNED = "pinned"
"""The name of what is pinned in what a model reads."""
_MOST_PINNED = 16
_LONGEST_PINNED = 400

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
    """The standing requests of the user whose rounds these are, newest first: those made by the day
    of the question, and by the last day that it may search.

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
    every = [one for record in records.values() for one in _requests(record)]
    requests = [one for one in every if _holds(one, store.language, until.last)]
    distinct = {one.text.casefold(): one for one in sorted(requests, key=lambda one: one.said_at)}
    return sorted(distinct.values(), key=lambda one: one.said_at, reverse=True)[:_MOST]


def _holds(request: StandingRequest, language: Language, day: date | None) -> bool:
    condition = language.condition_of(request.text, request.said_at)
    last = condition.until if condition else None
    return last is None or day is None or last >= day


def _requests(record: Record) -> Iterator[StandingRequest]:
    round = record.round
    if is_anothers(round):
        return
    # A longer message may be a text to work on; of two named speakers neither is the assistant.
    if len(round.user_text) > _LONGEST or (round.user_name and round.assistant_name):
        return
    requests = reading_of(round).instructions
    if requests and not is_quoting(record):
        yield from (StandingRequest(record.id, round.session_date, text) for text in requests)


@dataclass(frozen=True, slots=True)
class Pinned:
    """What one pinned round says, and when it was said."""

    round_id: str
    said_at: datetime
    text: str
    said_by: str = ""
    """The name of another member of a shared space who said it."""

    @property
    def entry(self) -> dict[str, Any]:
        """The entry that is shown."""
        said_by = {"said_by": fenced_name(self.said_by)} if self.said_by else {}
        return {"said_on": print_day(self.said_at), **said_by, "text": self.text}


async def pinned_of(store: MemoryReader, question: Question) -> list[Pinned]:
    """What is pinned, newest first, as it holds on the day of the question, for its user and within
    its days and labels. Raises what the store raises."""
    if not question.user_id:
        return []
    days = question.known.within(Days(last=question.asked_at.date()))
    if days is None:
        return []
    listing = Listing(
        question.user_id,
        days,
        as_of=days.last,
        limit=_MOST_PINNED,
        where=question.where,
        pinned=True,
    )
    page = await store.listed(listing)
    return [one for record in page.records for one in _pinned_in(record)]


def _pinned_in(record: Record) -> Iterator[Pinned]:
    """What of a round holds: its facts except replaced ones, or its words if it has no facts;
    nothing where all facts were replaced."""
    holding = [fact.text for fact in record.facts if fact.superseded_by is None]
    text = " ".join(holding) if record.facts else record.round.user_text
    if text.strip():
        said_by = (record.round.user_name or "") if is_anothers(record.round) else ""
        short = shortened(text, _LONGEST_PINNED)
        yield Pinned(record.id, record.round.session_date, short, said_by)
