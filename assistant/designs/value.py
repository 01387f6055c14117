"""A value of a design: what is ranked and read, and the rounds it was made of; and rankings."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Protocol

from assistant.designs.control_points import ValueKind
from memory_store import Days, Fact, Recalled, Record, Round, TimeRange, TimeUse, Weights

# From this index on a session has no rounds: derived values are read as rounds with such indexes.
_DERIVED = 1 << 24
# In this range facts come after summaries, with one index for each round.
_FACTS = 1 << 20
_SUMMARY = "Summary"
_WEIGHTS = Weights()


@dataclass(frozen=True, slots=True)
class Value:
    """`text` is what is read, `said` what a key of the value itself is made of, `sources` are the
    rounds behind it, oldest first. `number` tells apart values derived from the same rounds."""

    kind: ValueKind
    text: str
    said: str
    sources: tuple[Record, ...]
    facts: tuple[Fact, ...] = ()
    number: int = 0

    @property
    def said_at(self) -> datetime:
        return self.sources[-1].round.session_date

    @property
    def said_on(self) -> Days:
        return Days(self.sources[0].round.session_date.date(), self.said_at.date())

    def is_of(self, days: Days) -> bool:
        """Whether it was said on one of the days, or talks about one."""
        said_on = {record.round.session_date.date() for record in self.sources}
        about = (each for fact in self.facts for each in fact.event_dates)
        return any(days.within(each) for each in (*(Days(day, day) for day in said_on), *about))

    def read(self, similarity: float, signals: dict[str, float]) -> list[Recalled]:
        """What is read of the value: its rounds, or one round with the text derived from them."""
        if self.kind in (ValueKind.ROUND, ValueKind.SESSION):
            return [Recalled(record, similarity, signals) for record in self.sources]
        ids = tuple(record.id for record in self.sources)
        return [Recalled(self._derived(), similarity, signals, sources=ids)]

    def _derived(self) -> Record:
        first, days = self.sources[0].round, self.said_on
        is_summary = self.kind is ValueKind.SUMMARY
        span = "" if days.first == days.last else f" of {days.first} to {days.last}"
        said = Round(
            first.user_id,
            first.session_id,
            _DERIVED + self.number,
            first.session_date,
            self.text,
            user_name=f"{_SUMMARY}{span}" if is_summary else first.user_name,
        )
        return Record(said, self.facts)


def of_round(record: Record) -> Value:
    round = record.round
    said = round.user_text or round.assistant_text
    return Value(ValueKind.ROUND, spoken(round), said, (record,), record.facts)


def of_session(records: Sequence[Record]) -> Value:
    text = "\n".join(spoken(record.round) for record in records)
    said = "\n".join(record.round.user_text or record.round.assistant_text for record in records)
    return Value(ValueKind.SESSION, text, said, tuple(records), _facts(records))


def of_summary(text: str, records: Sequence[Record], number: int = 0) -> Value:
    return Value(ValueKind.SUMMARY, text, text, tuple(records), _facts(records), number)


def of_facts(record: Record, facts: Sequence[Fact]) -> Value:
    text = "\n".join(fact.text for fact in facts)
    number = _FACTS + record.round.round_index
    return Value(ValueKind.FACT, text, text, (record,), tuple(facts), number)


def spoken(round: Round) -> str:
    """A round as it is read: who said what."""
    sides = [
        (round.user_name or "user", round.user_text),
        (round.assistant_name or "assistant", round.assistant_text),
    ]
    return "\n".join(f"{name}: {text}" for name, text in sides if text)


def by_session(records: Iterable[Record]) -> list[list[Record]]:
    """The records of each session, in order, the oldest session first."""
    sessions: dict[str, list[Record]] = {}
    for record in records:
        sessions.setdefault(record.round.session_id, []).append(record)
    for session in sessions.values():
        session.sort(key=lambda record: record.round.round_index)
    return sorted(sessions.values(), key=lambda session: session[0].round.session_date)


def by_day(records: Iterable[Record]) -> list[list[Record]]:
    """The records of each day, in order, the oldest day first."""
    days: dict[date, list[Record]] = {}
    for record in sorted(records, key=lambda record: record.round.session_date):
        days.setdefault(record.round.session_date.date(), []).append(record)
    return list(days.values())


def _facts(records: Iterable[Record]) -> tuple[Fact, ...]:
    return tuple(fact for record in records for fact in record.facts)


@dataclass(frozen=True, slots=True)
class ViewQuestion:
    """A question to a view: its text, its day, the days it asks about, how much is wanted."""

    text: str
    on: date | None
    range: TimeRange | None
    limit: int


@dataclass(frozen=True, slots=True)
class Ranked:
    """A value that was found; higher is nearer. `signals` are the parts of its similarity,
    `nearest` its rounds where the view knows which of them are nearer than others."""

    value: Value
    similarity: float
    signals: dict[str, float]
    nearest: Sequence[Record] = ()


@dataclass(frozen=True, slots=True)
class Ranking:
    """Values, best first; whether none was of the time asked about, so that no other was left out;
    and the steps that were taken, for designs that walk a tree."""

    values: Sequence[Ranked]
    fell_back: bool = False
    steps: tuple[str, ...] = ()


class View(Protocol):
    """The index of one user's rounds."""

    async def search(self, asked: ViewQuestion) -> Ranking:
        """The values for a question, best first."""


def in_time(found: Sequence[Ranked], asked: ViewQuestion, use: TimeUse) -> Ranking:
    """The values, best first, filtered or lifted by the time asked about, as `use` says."""
    days = asked.range.days if asked.range else None
    then = [one for one in found if days and one.value.is_of(days)]
    if use is TimeUse.FILTER and days:
        return Ranking(best_first(then or found)[: asked.limit], fell_back=not then)
    if use is TimeUse.LIFT and then:
        lifted = {id(one) for one in then}
        found = [_lifted(one) if id(one) in lifted else one for one in found]
    return Ranking(best_first(found)[: asked.limit])


def best_first(found: Sequence[Ranked]) -> list[Ranked]:
    """The nearest values first; of equally near ones, the one said last."""
    return sorted(found, key=lambda one: (one.similarity, one.value.said_at), reverse=True)


def _lifted(one: Ranked) -> Ranked:
    signals = {**one.signals, "said_then": _WEIGHTS.said_then}
    return Ranked(one.value, one.similarity + _WEIGHTS.said_then, signals)
