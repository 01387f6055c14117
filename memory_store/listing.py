"""A user's rounds by when they were said: which of them, in which order, and how far."""

import heapq
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date, datetime

from memory_store.engines.engine import Hit
from memory_store.engines.layout import ASKS
from memory_store.labels import Where
from memory_store.types import Days, Record

TEXTS = ("user_text", "assistant_text")
_PLACE = ("session_date", "session_id", "round_index")

Place = tuple[datetime, str, int]
"""Where a round stands among the rounds of its user: by date, then by session and index."""


@dataclass(frozen=True, slots=True)
class Listing:
    """Which rounds of a user to list: said on these days, in this session, labelled like this, with
    this text on either side, of these ids. With `as_of` they say what held on that day.

    Without `questions` those in which the user only asks are left out; of rounds that were written
    before this was noted, none are.

    `after` goes on behind the round of an earlier page, which may have been forgotten meanwhile.
    """

    user_id: str
    days: Days = field(default_factory=Days)
    session_id: str | None = None
    as_of: date | None = None
    text: str = ""
    ids: tuple[str, ...] | None = None
    questions: bool = True
    newest_first: bool = True
    limit: int = 50
    after: Place | None = None
    where: Where = ()


@dataclass(frozen=True, slots=True)
class Page:
    """Some of the rounds listed, in order. `total` counts them all, `next` is None at the end."""

    records: tuple[Record, ...]
    total: int
    next: Place | None = None


@dataclass(frozen=True, slots=True)
class Cut:
    """The ids of one page."""

    ids: tuple[str, ...]
    total: int
    next: Place | None


def fields(listing: Listing) -> Sequence[str]:
    """The payload fields that `cut` looks at."""
    texts = TEXTS if listing.text else ()
    return (*_PLACE, *texts) if listing.questions else (*_PLACE, *texts, ASKS)


def cut(hits: Sequence[Hit], listing: Listing) -> Cut:
    """The page that the listing asks for, of all rounds said on its days."""
    wanted = listing.text.casefold()
    placed = [
        (_place(hit), hit.id)
        for hit in hits
        if (listing.questions or not hit.payload.get(ASKS)) and (not wanted or _holds(hit, wanted))
    ]
    behind = (one for one in placed if _is_behind(one[0], listing))
    first = heapq.nlargest if listing.newest_first else heapq.nsmallest
    found = first(listing.limit + 1, behind)
    page, more = found[: listing.limit], len(found) > listing.limit
    return Cut(tuple(id for _, id in page), len(placed), page[-1][0] if page and more else None)


def place_of(record: Record) -> Place:
    """Where a record stands."""
    return record.round.session_date, record.round.session_id, record.round.round_index


def _place(hit: Hit) -> Place:
    payload = hit.payload
    said = datetime.fromisoformat(payload["session_date"])
    return said, payload["session_id"], int(payload["round_index"])


def _is_behind(place: Place, listing: Listing) -> bool:
    if listing.after is None:
        return True
    return place < listing.after if listing.newest_first else place > listing.after


def _holds(hit: Hit, wanted: str) -> bool:
    return any(wanted in hit.payload[field].casefold() for field in TEXTS)
