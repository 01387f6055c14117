"""What the user pinned: it stands in every prompt, whatever is asked, as long as it holds."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from assistant.answering.packing import shortened
from assistant.answering.reader import Question
from assistant.dates import print_day
from assistant.prompts.fence import fenced_name
from memory_store import Days, Listing, MemoryReader, Record, is_anothers

PINNED = "pinned"
"""Under this name it stands in what a model reads."""
_MOST = 16
_LONGEST = 400


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
    """What is pinned, the newest first, as it holds on the day of the question: of days, labels and
    a user as the question has them. Raises what the store raises."""
    if not question.user_id:
        return []
    days = question.known.within(Days(last=question.asked_at.date()))
    if days is None:
        return []
    listing = Listing(
        question.user_id,
        days,
        as_of=days.last,
        limit=_MOST,
        where=question.where,
        pinned=True,
    )
    page = await store.listed(listing)
    return [one for record in page.records for one in _said(record)]


def _said(record: Record) -> Iterator[Pinned]:
    """What of a round holds: its facts, without those that were replaced; without facts its
    words."""
    holding = [fact.text for fact in record.facts if fact.superseded_by is None]
    text = " ".join(holding) if record.facts else record.round.user_text
    if text.strip():
        said_by = (record.round.user_name or "") if is_anothers(record.round) else ""
        yield Pinned(record.id, record.round.session_date, shortened(text, _LONGEST), said_by)
