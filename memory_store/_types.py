"""The basic types of the store: rounds, facts, records, sessions. Plain frozen data."""

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
"""The prefix of the mark that a correction leaves among the turn ids of a round."""

_ID_SPACE = uuid.UUID("6d0d9f5c-3c5e-5b7a-9a0e-9a4c8f1f2b61")


@lru_cache(maxsize=1 << 14)
def round_id(user_id: str, session_id: str, round_index: int) -> str:
    """The id of a round: the same place in the same session is always the same id (UUIDv5)."""
    # Length prefixes keep ("ab", "c") and ("a", "bc") apart.
    name = f"{len(user_id)}:{user_id}/{len(session_id)}:{session_id}/{round_index}"
    # This equals `str(uuid.uuid5(_ID_SPACE, name))`, but is faster as it makes no UUID object.
    digest = bytearray(hashlib.sha1(_ID_SPACE.bytes + name.encode()).digest()[:16])
    digest[6] = digest[6] & 0x0F | 0x50
    digest[8] = digest[8] & 0x3F | 0x80
    hex = digest.hex()
    return f"{hex[:8]}-{hex[8:12]}-{hex[12:16]}-{hex[16:20]}-{hex[20:]}"


def is_round_id(text: str) -> bool:
    """Whether the text has the form of a round id."""
    try:
        return str(uuid.UUID(text)) == text
    except ValueError:
        return False


Place = tuple[datetime, str, int]
"""The sort key of a round among the rounds of its user: date, session and index."""

Held = Mapping[str, tuple[str, ...]]
"""By round id, the ids of the turns that the round holds."""


def in_zone(instant: datetime, zone: tzinfo) -> datetime:
    """The instant by the clocks of a zone, with a fixed offset from UTC. Python compares two times
    of one zone by their clocks, which would be wrong where these are put back once a year."""
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

    `session_date` is when the round was said (never when it was stored). It must carry a zone: its
    day, and words such as "tomorrow", are counted in it. `turn_ids` name the turns the round was
    made of, so that a turn sent twice is recognised. If the user corrected its text or facts,
    `corrected_at` says when, and a mark stands among the turn ids.
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
    """Ids of the rounds whose words its answer repeats. If they go, the answer is withdrawn."""
    tools: tuple[str, ...] = ()
    """The names of the tools that were called for its answer."""
    session_title: str = field(default="", compare=False)
    """The title given to its session, if any; the same in all its rounds. Like all fields below, it
    is no part of what the round says, so it does not count when rounds are compared."""
    labels: Labels = field(default_factory=dict, compare=False)
    """The caller's own metadata."""
    expires_at: datetime | None = field(default=None, compare=False)
    """When it may be forgotten. It goes only when `forget_by_rule` asks for it."""
    pinned: bool = field(default=False, compare=False)
    """Whether the user wants it to be at hand for every answer."""
    reach: Reach = field(default=Reach.ANYWHERE, compare=False)
    """How far it may go."""
    outcome: str = field(default="", compare=False)
    """What the assistant did with the message, in a word that the assistant chooses."""
    reading: "Reading | None" = field(default=None, compare=False, repr=False)
    """What the user's side may mean, as it was read; None if it was not read."""

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
        """In a space, its user; in a shared space, who said the round; else None."""
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
        """The number of characters of both sides."""
        return len(self.user_text) + len(self.assistant_text)

    @property
    def is_changed(self) -> bool:
        """Whether it no longer says what its turns said: it was corrected or lost its answer."""
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
        # Older memories have "other" for quoted words.
        return cls.QUOTED if value == "other" else None


@dataclass(frozen=True, slots=True)
class FactLink:
    """Names a fact by the id of its round, its words, and when it was said.

    `by` says who found the link between the two facts: `rule`, a model id, or another finder.
    """

    round_id: str
    text: str
    said_at: datetime
    by: str = "rule"


CONDITION = "condition"
"""The finder named in a link that ends a fact because the last day of its condition is over. The
link leads to the fact itself, and its date is that day."""


@dataclass(frozen=True, slots=True)
class Condition:
    """Until when a fact holds, with the words that say so: to the end of the day `until`, or while
    the user's `slot` has this `value`. With neither, it holds until the user says that it ended."""

    text: str
    until: date | None = None
    slot: str | None = None
    value: str = ""

    @classmethod
    def until_day(cls, day: date) -> Self:
        """A condition that holds to the end of a day."""
        return cls(f"until {day.day} {day:%B %Y}", day)


@dataclass(frozen=True, slots=True)
class Fact:
    """One standalone statement found in a round. `source` is `rule`, a model id, or `user` if the
    user wrote it.

    `event_dates` are the days it talks about, which are seldom the day it was said. A fact that no
    longer holds stays, with links to the fact that replaced it (`superseded_by`) and back. `slot`
    says what the statement gives a value for ("live in"), if rules can tell; later facts of one
    slot replace earlier ones if they are surely the user's own. A fact `in_doubt` may be somebody
    else's, whatever its speaker: it replaces nothing, but `contradicts` what it would replace until
    the user says who said it. `confirmed_at` is when the user last said that it still holds;
    `ask_on` is the day from which they are asked, once, whether it does.
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
    """How far the enrichment of a round, a background task, is."""

    PENDING = "pending"
    DONE = "done"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Record:
    """A round as it is stored: the value, its facts, and bookkeeping.

    `attempts` counts the extractions that were tried, `extractor` names the extractor of the last
    one, and `failure` says why it failed. `may_supersede` is False if the user undid what the facts
    had replaced.
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
        """The record with days as counted in this zone. A round that was said with a UTC offset of
        its own keeps that one."""
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
    """The first words of its first round."""
    title: str = ""
    """The title that it was given, if any."""
    days: Mapping[date, int] = field(default_factory=dict)
    """How many of its rounds were said on each day."""
    labels: Labels = field(default_factory=dict)
    """The labels that all its rounds share."""
