"""What is asked of a recall, how it searches, and what it finds."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date

from memory_store._labels import Where
from memory_store._spans import TimeRange, TimeUse
from memory_store._types import Days, Record
from memory_store.embedding.embedder import Embedder
from memory_store.errors import InvalidRecord
from memory_store.language.asked import Asked


@dataclass(frozen=True, slots=True)
class Weights:
    """How much each signal counts."""

    dense: float = 1.0
    """The best key of the round: cosine to the query."""
    words: float = 0.25
    """BM25 of the query's words in the round, both speakers."""
    session_words: float = 0.2
    """BM25 of the query's words in the whole session; lifts all its rounds alike."""
    speaker: float = 0.2
    """1 when the question names who speaks in the round, one of several people."""
    answers: float = 0.6
    """The round answers somebody's question right before it: how much nearer to the query that
    question is than the answer itself, which often says little alone ("Five years already!")."""
    neighbours: float = 0.4
    """A turn up to two before or after it is nearer, by all other signals, where several people
    speak: how much."""
    opening: float = 0.5
    """Where the question asks for a summary or an order of what was said: how near the session is,
    by its best round, halved with every seven rounds since its beginning. People begin with what a
    conversation is about."""
    said_then: float = 0.1
    """The round was said in the time range of the question: how rare that is, 0 to 1."""
    happened_then: float = 0.02
    """The round talks about a day in the time range of the question: how rare that is, 0 to 1."""


@dataclass(frozen=True, slots=True)
class RecallSettings:
    """How a recall searches."""

    weights: Weights = field(default_factory=Weights)
    statement: float | None = None
    """Share of the statement that would answer the question in the query's vector; None for the
    encoder's own."""
    candidates: int = 400
    """Rounds asked of the dense keys, and of each word."""
    time_use: TimeUse = TimeUse.LIFT
    """What the days that a question asks about do."""

    def statement_for(self, embedder: Embedder) -> float:
        """The share of the statement in a query's vector of this embedder."""
        return embedder.identity.statement if self.statement is None else self.statement


@dataclass(frozen=True, slots=True)
class Query:
    """What is searched, for whom, how much of it is wanted, and an explicit cut by day.

    With `asked_on`, the day of the question, a time that the text names ("last March") counts as
    the settings say (`TimeUse`). What lies outside `days` is never found.
    """

    user_id: str
    text: str
    limit: int = 10
    days: Days = field(default_factory=Days)
    asked_on: date | None = None
    time_range: TimeRange | None = None
    """The days asked about where the caller knows them better than the rules."""
    explained: bool = False
    """Whether each value comes with the reasons for its similarity."""
    sessions: bool = True
    """Whether sessions are wanted beside rounds. Without them half as many values are read."""
    short_limit: int = 0
    """Where rounds are short, up to so many: as much to read as `limit` of usual length. Only
    without sessions; 0 is `limit`, however short they are."""
    where: Where = ()
    """How rounds must be labelled to be found."""
    week_begins: int = 0
    """On which weekday weeks begin, Monday is 0."""
    asked: Asked | None = None
    """What the text asks for, where it was read before; its days count only with `asked_on`."""
    today: date | None = None
    """The day on which conditions may be over, where that is not `asked_on`."""
    asker: str | None = None
    """The name under which who asks speaks themselves, where that is one of several."""

    def __post_init__(self) -> None:
        if not self.text.strip():
            raise InvalidRecord("a query needs text")
        if self.limit < 1:
            raise InvalidRecord(f"limit must be at least 1, got {self.limit}")
        if self.short_limit and (self.short_limit < self.limit or self.sessions):
            raise InvalidRecord("short_limit is at least the limit, and without sessions")


@dataclass(frozen=True, slots=True)
class Reason:
    """What one signal added to the similarity of a value.

    `value` is the signal on its fixed scale, `because` what matched: the nearest key, the words,
    the words that name a time, the facts that happened then. Empty where it found nothing.
    """

    signal: str
    value: float
    weight: float
    because: tuple[str, ...] = ()

    @property
    def contribution(self) -> float:
        """The signal's part of the similarity."""
        return self.weight * self.value


@dataclass(frozen=True, slots=True)
class Recalled:
    """One value found for a query. Higher is nearer; `signals` holds the parts by name.

    `reasons` say why, where the query asked for that; their contributions add up to `similarity`.
    `sources` are the ids of the rounds that it was derived from; empty of a round itself.
    """

    record: Record
    similarity: float
    signals: Mapping[str, float] = field(default_factory=dict)
    reasons: tuple[Reason, ...] = ()
    sources: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RecalledSession:
    """One session found for a query: its rounds that were found, best first."""

    session_id: str
    similarity: float
    rounds: tuple[Recalled, ...]


@dataclass(frozen=True, slots=True)
class Recall:
    """Rounds and, where wanted, sessions found, best first, and where the time went (ms)."""

    rounds: tuple[Recalled, ...]
    sessions: tuple[RecalledSession, ...]
    timings: Mapping[str, float]
    time_range: TimeRange | None = None
    fell_back: bool = False
    """Whether nothing was said in the time range, or about it, so that it cut nothing off."""
    values: tuple[Recalled, ...] | None = None
    """What is read where that is not the rounds themselves: what was derived from them."""
    steps: tuple[str, ...] = ()
    """What was done one after the other, where values were not found all at once."""
    asked: Asked = field(default_factory=Asked)
    """What the text asks for, as it was read."""
    unknown: frozenset[str] = frozenset()
    """Words of the text that none of the rounds searched has."""
    left_out: Mapping[str, int] = field(default_factory=dict)
    """How many statements in these rounds are not read, by why, where only some are wanted."""
    held_back: int = 0
    """How many more rounds would be among these, had they not been held back from the reader."""

    @property
    def read(self) -> tuple[Recalled, ...]:
        """Records to read, best first."""
        return self.rounds if self.values is None else self.values
