"""The nouns of the store: rounds, facts, records, sessions. Plain frozen data."""

import hashlib
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, timedelta, timezone, tzinfo
from enum import StrEnum
from functools import lru_cache
from typing import TYPE_CHECKING, Self

from memory_store._labels import Labels
from memory_store._owners import is_shared, whose
from memory_store._reach import Reach
from memory_store.errors import InvalidRecord

if TYPE_CHECKING:
    from memory_store.language.reading import Reading

CORRECTED = "corrected:"
"""How the mark of a correction among the turn ids of a round begins."""

_ID_SPACE = uuid.UUID("6d0d9f5c-3c5e-5b7a-9a0e-9a4c8f1f2b61")


@lru_cache(maxsize=1 << 14)
def round_id(user_id: str, session_id: str, round_index: int) -> str:
    """The id of a round: the same place in the same session is always the same id (UUIDv5)."""
    # Length prefixes keep ("ab", "c") and ("a", "bc") apart.
    name = f"{len(user_id)}:{user_id}/{len(session_id)}:{session_id}/{round_index}"
    # The same as `str(uuid.uuid5(_ID_SPACE, name))`, without an object in between.
    digest = bytearray(hashlib.sha1(_ID_SPACE.bytes + name.encode()).digest()[:16])
    digest[6] = digest[6] & 0x0F | 0x50
    digest[8] = digest[8] & 0x3F | 0x80
    hex = digest.hex()
    return f"{hex[:8]}-{hex[8:12]}-{hex[12:16]}-{hex[16:20]}-{hex[20:]}"


def is_round_id(text: str) -> bool:
    """Whether the text could be the id of a round; any other text names none."""
    try:
        return str(uuid.UUID(text)) == text
    except ValueError:
        return False


Place = tuple[datetime, str, int]
"""Where a round stands among the rounds of its user: by date, then by session and index."""

Held = Mapping[str, tuple[str, ...]]
"""What rounds hold, by round id: the ids of their turns."""


def in_zone(instant: datetime, zone: tzinfo) -> datetime:
    """The instant by the clocks of a zone, at a fixed distance from UTC: Python compares two times
    of one zone by their clocks, which are put back once a year."""
    there = instant.astimezone(zone)
    return there.replace(tzinfo=timezone(there.utcoffset() or timedelta()))


@dataclass(frozen=True, slots=True)
class Days:
    """An inclusive range of days; an open end is None. When they begin and end is a matter of the
    zone in which they are counted."""

    first: date | None = None
    last: date | None = None
    zone: tzinfo = field(default=UTC, compare=False)

    def __post_init__(self) -> None:
        if self.first and self.last and self.first > self.last:
            raise InvalidRecord(f"the range ends ({self.last}) before it begins ({self.first})")

    def within(self, other: "Days") -> "Days | None":
        """The days in both ranges; None when they share none."""
        first = max((day for day in (self.first, other.first) if day), default=None)
        last = min((day for day in (self.last, other.last) if day), default=None)
        zone = other.zone if self.zone is UTC else self.zone
        return None if first and last and first > last else Days(first, last, zone)

    def hold(self, instant: datetime) -> bool:
        """Whether the instant lies on one of the days."""
        day = instant.astimezone(self.zone).date()
        return (self.first or day) <= day <= (self.last or day)


@dataclass(frozen=True, slots=True)
class Round:
    """A user turn with the assistant turn that answers it; either side may be empty.

    `session_date` is when the round was said (never when it was stored). It must carry a zone, in
    which its day is counted, and "tomorrow" in its words.
    `turn_ids` name the turns the round was made of, so that a turn sent twice is known. A round
    whose text or facts the user put right says when (`corrected_at`) and has a mark among them.
    """

    user_id: str
    session_id: str
    round_index: int
    session_date: datetime
    user_text: str = ""
    assistant_text: str = ""
    user_name: str | None = None
    assistant_name: str | None = None
    turn_ids: tuple[str, ...] = ()
    corrected_at: datetime | None = None
    repeats: tuple[str, ...] = ()
    """Ids of the rounds whose words its answer repeats: it is withdrawn when they go."""
    tools: tuple[str, ...] = ()
    """The names of the tools that were called for its answer."""
    session_title: str = field(default="", compare=False)
    """What its session was named, if it was; the same in all its rounds. It is no part of what the
    round says, and neither is what follows."""
    labels: Labels = field(default_factory=dict, compare=False)
    """Metadata of the caller's own."""
    expires_at: datetime | None = field(default=None, compare=False)
    """When it may be forgotten, which somebody must ask for."""
    pinned: bool = field(default=False, compare=False)
    """Whether the user wants it to be at hand for every answer."""
    reach: Reach = field(default=Reach.ANYWHERE, compare=False)
    """Where it may go."""
    outcome: str = field(default="", compare=False)
    """What the assistant did with what the user said, in a word of the assistant's own."""
    reading: "Reading | None" = field(default=None, compare=False, repr=False)
    """What the user's side may mean, as it was read; None where it was not."""

    def __post_init__(self) -> None:
        if not self.user_id or not self.session_id:
            raise InvalidRecord("a round needs a user_id and a session_id")
        if self.round_index < 0:
            raise InvalidRecord(f"round_index must not be negative, got {self.round_index}")
        if self.session_date.tzinfo is None:
            raise InvalidRecord("session_date needs a time zone")
        if self.expires_at and self.expires_at.tzinfo is None:
            raise InvalidRecord("expires_at needs a time zone")

    @property
    def id(self) -> str:
        """UUIDv5 of (user, session, round index)."""
        return round_id(self.user_id, self.session_id, self.round_index)

    @property
    def person(self) -> str | None:
        """Whose it is beside its owner: of a space its user, of a shared one who said it."""
        owner = whose(self.user_id)
        if is_shared(self.user_id):
            return self.user_name
        return None if owner.space is None else owner.user_id

    @property
    def place(self) -> Place:
        """The date, the session and the index of the round."""
        return self.session_date, self.session_id, self.round_index

    @property
    def turns(self) -> tuple[str, ...]:
        """The ids of its turns, without the mark of a correction."""
        return tuple(id for id in self.turn_ids if not id.startswith(CORRECTED))

    def was_said_on(self, days: Days) -> bool:
        """Whether it was said on one of the days."""
        return days.hold(self.session_date)

    @property
    def size(self) -> int:
        """Characters of both sides."""
        return len(self.user_text) + len(self.assistant_text)

    @property
    def is_changed(self) -> bool:
        """Whether it no longer says what its turns said: put right, or its answer withdrawn."""
        return len(self.turns) < len(self.turn_ids)

    @property
    def answer_withdrawn(self) -> bool:
        """Whether it had an answer that is not kept any more."""
        return self.is_changed and len(self.turns) > 1 and not self.assistant_text.strip()


class Speaker(StrEnum):
    """Who said it."""

    USER = "user"
    ASSISTANT = "assistant"
    QUOTED = "quoted"
    """Somebody whom the user quotes, or whose text they paste or make up."""

    @classmethod
    def _missing_(cls, value: object) -> "Speaker | None":
        # Older memories call quoted words another's.
        return cls.QUOTED if value == "other" else None


@dataclass(frozen=True, slots=True)
class FactLink:
    """Names a fact: its round's id, its words, and when it was said.

    `by` says who found that one fact replaces the other: `rule`, or a model id.
    """

    round_id: str
    text: str
    said_at: datetime
    by: str = "rule"


CONDITION = "condition"
"""Who found a link where the day of a fact's condition is over: it leads to the fact itself, which
says so, and names that day."""


@dataclass(frozen=True, slots=True)
class Condition:
    """Up to when a fact holds, in the words that say so: to the end of the day `until`, or while
    the user gives a `slot` this `value`. Neither where the user will say so."""

    text: str
    until: date | None = None
    slot: str | None = None
    value: str = ""

    @classmethod
    def until_day(cls, day: date) -> Self:
        """To the end of a day."""
        return cls(f"until {day.day} {day:%B %Y}", day)


@dataclass(frozen=True, slots=True)
class Fact:
    """One standalone statement found in a round. `source` is `rule`, a model id, or `user` where
    the user wrote it.

    `event_dates` are the days it talks about, which are seldom the day it was said. A fact that no
    longer holds stays, linked to the one that replaced it (`superseded_by`) and back. `slot` says
    what a statement gives a value for ("live in"), where rules can tell; facts of one slot replace
    each other by date, where they are surely the user's own. A fact that is `in_doubt` may be
    another's, whatever its speaker: it replaces nothing, and `contradicts` what it would replace
    until the user says who said it. `confirmed_at` is when the user last said that it still holds,
    `ask_on` the day from which on they are asked, once, whether it does.
    """

    text: str
    speaker: Speaker = Speaker.USER
    source: str = "rule"
    event_dates: tuple[Days, ...] = ()
    slot: str | None = None
    superseded_by: FactLink | None = None
    supersedes: tuple[FactLink, ...] = ()
    in_doubt: bool = False
    contradicts: tuple[FactLink, ...] = ()
    condition: Condition | None = None
    confirmed_at: datetime | None = None
    ask_on: date | None = None

    @property
    def slots(self) -> tuple[str, ...]:
        """The slot it gives a value for, and the one that its condition is bound to."""
        bound = self.condition.slot if self.condition else None
        return tuple(slot for slot in (self.slot, bound) if slot)

    @property
    def is_users(self) -> bool:
        """Whether the user surely said it of themselves."""
        return self.speaker is Speaker.USER and not self.in_doubt


class EnrichmentState(StrEnum):
    """How far the background work on a round is."""

    PENDING = "pending"
    DONE = "done"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Record:
    """A round as it is stored: the value, its facts, and bookkeeping.

    `attempts` counts the extractions that were tried, `extractor` names the one that succeeded,
    `failure` says why the last one did not. `may_supersede` is False where the user undid what its
    facts had replaced.
    """

    round: Round
    facts: tuple[Fact, ...] = ()
    enrichment: EnrichmentState = EnrichmentState.DONE
    attempts: int = 0
    extractor: str = ""
    failure: str = ""
    keyphrases: tuple[str, ...] = ()
    summary: str = ""
    may_supersede: bool = True

    @property
    def id(self) -> str:
        """The id of the round."""
        return self.round.id

    def told_in(self, zone: tzinfo) -> "Record":
        """The record as somebody in a zone tells it. A round that was said elsewhere keeps the days
        of that place; one of which nobody knows where takes theirs."""
        said_at = self.round.session_date
        if zone is UTC or said_at.utcoffset():
            return self
        return replace(self, round=replace(self.round, session_date=in_zone(said_at, zone)))


@dataclass(frozen=True, slots=True)
class EnrichmentFailure:
    """A round whose last extraction failed: still `pending` while it is tried again."""

    round_id: str
    round_index: int
    state: EnrichmentState
    attempts: int
    failure: str


@dataclass(frozen=True, slots=True)
class SessionSummary:
    """What the store knows of one session without its texts."""

    session_id: str
    started_at: datetime
    ended_at: datetime
    rounds: int
    enrichment: Mapping[EnrichmentState, int]
    failures: tuple[EnrichmentFailure, ...] = ()
    opening: str = ""
    """How its first round begins."""
    title: str = ""
    """What it was named, if it was."""
    days: Mapping[date, int] = field(default_factory=dict)
    """How many of its rounds were said on each day."""
    labels: Labels = field(default_factory=dict)
    """What all its rounds are labelled with."""
