"""Replies about memories: values, what was found, pages, what was forgotten."""

from typing import Literal

from assistant.api.schemas.base import Day, Instant, Reply

Speaker = Literal["user", "assistant", "quoted"]
"""Who said something; `quoted` is somebody whom the user quotes or whose text they paste."""


class DayRange(Reply):
    """Days, both inclusive; an open end is null."""

    first: Day | None
    last: Day | None


class TimeAsked(DayRange):
    """The days that a question asks about, and the words that say so."""

    precision: str
    text: str


class LinkedFact(Reply):
    """The fact on the other side of a link."""

    id: str
    text: str
    said_at: Instant
    by: str


class KeptFact(Reply):
    """A fact of a round."""

    text: str
    speaker: Speaker
    source: str
    event_dates: list[DayRange]
    superseded_by: LinkedFact | None
    supersedes: list[LinkedFact]
    in_doubt: bool
    contradicts: list[LinkedFact]


class HistoryStep(Reply):
    """One statement in the history of a fact."""

    id: str
    text: str
    said_at: Instant
    source: str
    until: LinkedFact | None


class ToldFact(KeptFact):
    """A fact with everything that was said of the matter, oldest first."""

    history: list[HistoryStep]


class EnrichmentState(Reply):
    """How far the background work on a round is."""

    state: Literal["pending", "done", "failed"]
    attempts: int
    extractor: str | None
    failure: str | None


class MemoryBase(Reply):
    """A round, apart from its facts."""

    object: Literal["memory"]
    id: str
    session_id: str
    round_index: int
    session_date: Instant
    user_text: str
    assistant_text: str
    enrichment: EnrichmentState
    corrected_at: Instant | None


class Memory(MemoryBase):
    """A round as a value."""

    facts: list[KeptFact]


class ToldMemory(MemoryBase):
    """A round, each of its facts with its history."""

    facts: list[ToldFact]


class SignalReason(Reply):
    """What a signal added to a similarity, and what matched."""

    signal: str
    value: float
    weight: float
    contribution: float
    because: list[str]


class FoundMemory(Memory):
    """A value that was found."""

    similarity: float
    signals: dict[str, float]
    reasons: list[SignalReason]


class FoundRound(Reply):
    """A round found in a session."""

    id: str
    round_index: int
    similarity: float


class FoundSession(FoundMemory):
    """A session by its best round, with every round of it that was found."""

    rounds: list[FoundRound]


class SearchResult(Reply):
    """Ranked values, best first."""

    object: Literal["list"]
    query: str
    now: Instant
    time_range: TimeAsked | None
    unit: Literal["round", "session"]
    timings: dict[str, float]
    data: list[FoundMemory] | list[FoundSession]


class MemoryPage(Reply):
    """A page of values; `next` is null on the last one."""

    object: Literal["list"]
    total: int
    next: str | None
    data: list[Memory]


class Conflict(Reply):
    """A statement that may be another's, and the user's own that it would replace."""

    object: Literal["conflict"]
    id: str
    session_id: str
    round_index: int
    fact: str
    speaker: Speaker
    source: str
    said_at: Instant
    contradicts: list[LinkedFact]


class Conflicts(Reply):
    """The newest conflicts; `total` counts all."""

    object: Literal["list"]
    total: int
    data: list[Conflict]


class Forgotten(Reply):
    """How much went; with `dry_run` nothing did, and this is how much would."""

    dry_run: bool
    rounds: int
    facts: int
    sessions: int
    answers: int


class ForgottenMemory(Forgotten):
    """A round that went."""

    object: Literal["memory.deleted"]
    id: str
    deleted: bool


class ForgottenUser(Forgotten):
    """Everything of a user that went; `deleted` counts the rounds, none in a dry run."""

    object: Literal["user.memories.deleted"]
    user_id: str
    deleted: int


class ImportedMemories(Reply):
    """How many rounds were new, how many were there, and what could not be read."""

    object: Literal["user.memories.imported"]
    user_id: str
    imported: int
    known: int
    unreadable: list[str]
