"""The query of a recall, the settings of the search, and the result."""

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
    """The weight of each signal in the similarity; each text says what its signal measures."""

    dense: float = 1.0
    """The cosine of the round's best key to the query."""
    words: float = 0.25
    """BM25 of the query's words in the round, both speakers."""
    session_words: float = 0.2
    """BM25 of the query's words in the whole session; lifts all its rounds alike."""
    speaker: float = 0.2
    """1 if several people speak and the question names one who speaks in the round, else 0."""
    answers: float = 0.6
    """If the round answers another speaker's question right before it: how much nearer to the query
    that question is. The answer often says little by itself ("Five years already!")."""
    neighbours: float = 0.4
    """If several people speak: how much nearer, by the other signals, the nearest of the two rounds
    before and the two after is."""
    opening: float = 0.5
    """If the question asks for a summary or an order of what was said: the similarity of the
    session's best round, halved with every seven rounds since the session's beginning. People begin
    with what a conversation is about."""
    said_then: float = 0.1
    """If the round was said in the time range of the question: how rare that is, 0 to 1."""
    happened_then: float = 0.02
    """If the round talks about a day in that time range: how rare that is, 0 to 1."""


@dataclass(frozen=True, slots=True)
class RecallSettings:
    """How a recall searches."""

    weights: Weights = field(default_factory=Weights)
    statement: float | None = None
    """The share, in the query's vector, of the statement that would answer the question; None for
    the encoder's own."""
    candidates: int = 400
    """How many rounds are asked for by the dense keys, and by each word."""
    time_use: TimeUse = TimeUse.LIFT
    """How the days that a question asks about affect the ranking."""

    def statement_for(self, embedder: Embedder) -> float:
        """The share of the statement in a query's vector of this embedder."""
        return embedder.identity.statement if self.statement is None else self.statement


@dataclass(frozen=True, slots=True)
class Query:
    """What to search for, for which user, how many rounds are wanted, and an explicit cut by day.

    With `asked_on`, the day of the question, a time that the text names ("last March") counts as
    the settings say (`TimeUse`). Rounds outside `days` are never found.
    """

    user_id: str
    text: str
    limit: int = 10
    days: Days = field(default_factory=Days)
    asked_on: date | None = None
    time_range: TimeRange | None = None
    """The days asked about, if the caller knows them better than the rules."""
    explained: bool = False
    """Whether each value comes with the reasons for its similarity."""
    sessions: bool = True
    """Whether sessions are wanted beside rounds. Without them half as many values are read."""
    short_limit: int = 0
    """If rounds are short, up to this many are found: as much text as `limit` rounds of usual
    length. It needs `sessions` to be False; 0 means `limit`, however short they are."""
    where: Where = ()
    """The labels that rounds must have to be found."""
    week_begins: int = 0
    """The weekday on which weeks begin; Monday is 0."""
    asked: Asked | None = None
    """What the text asks for, if it was read before; its days count only with `asked_on`."""
    today: date | None = None
    """The day on which conditions are judged, if that is not `asked_on`."""
    asker: str | None = None
    """The name under which the asker speaks, if the asker is one of several speakers."""

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

    `value` is the signal on its fixed scale. `because` is what matched: the nearest key, the words,
    the words that name a time, or the facts that happened then; empty if nothing did.
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
    """One value found for a query. A higher similarity is nearer; `signals` are its parts by name.

    If the query asked for `reasons`, their contributions add up to `similarity`. `sources` are the
    ids of the rounds that the value was derived from; empty for a round itself.
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
    """The rounds and, if wanted, the sessions found, best first, and the timings in ms."""

    rounds: tuple[Recalled, ...]
    sessions: tuple[RecalledSession, ...]
    timings: Mapping[str, float]
    time_range: TimeRange | None = None
    fell_back: bool = False
    """Whether no round was said in the time range or about it, so that it filtered nothing."""
    values: tuple[Recalled, ...] | None = None
    """The values to read, if these are derived from the rounds; None to read the rounds."""
    steps: tuple[str, ...] = ()
    """The steps that found the values, if they were not found in one step."""
    asked: Asked = field(default_factory=Asked)
    """What the text asks for, as it was read."""
    unknown: frozenset[str] = frozenset()
    """Words of the text that none of the rounds searched has."""
    left_out: Mapping[str, int] = field(default_factory=dict)
    """How many statements in these rounds are left out, by reason, if only some are wanted."""
    held_back: int = 0
    """How many rounds were held back from the reader that would have been found."""

    @property
    def read(self) -> tuple[Recalled, ...]:
        """The values to read, best first."""
        return self.rounds if self.values is None else self.values
