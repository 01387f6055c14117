"""The health of the facts of a memory: stale, contradictory, replaced, told twice, about to end, or
never used.

All functions are pure: the findings follow from the records of one user and a day.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from enum import StrEnum

from memory_store._changes.validity import LinksOnADay, standing_on
from memory_store._types import Days, Fact, FactLink, Record
from memory_store.engines._layout import REPEATS
from memory_store.language import Language, is_open

HEALTH_FIELDS = (
    "user_id",
    "session_id",
    "round_index",
    "session_date",
    "user_text",
    "assistant_text",
    "user_name",
    "turn_ids",
    "facts",
    "enrichment",
    REPEATS,
)
"""The payload fields that are looked at; without readings of messages it takes half the time."""


class Finding(StrEnum):
    """A kind of remark about a fact."""

    STALE = "stale"
    """It is a state, such as where somebody lives, and was not confirmed for a long time."""
    CONTRADICTORY = "contradictory"
    """It contradicts a fact that holds, and may be somebody else's statement."""
    REPLACED = "replaced"
    """It no longer holds."""
    DUPLICATE = "duplicate"
    """A later fact says the same."""
    EXPIRING = "expiring"
    """Its condition ends soon or at an unknown time, or the user is to be asked about it."""
    UNUSED = "unused"
    """No answer has repeated its round."""
    USED = "used"
    """Answers have repeated its round, most often first."""


@dataclass(frozen=True, slots=True)
class FactHealth:
    """A finding about a fact of a record. `others` are the other facts that the finding names;
    `used` counts the answers that repeated the fact's round."""

    finding: Finding
    record: Record
    fact: Fact
    used: int
    others: tuple[FactLink, ...] = ()


@dataclass(frozen=True, slots=True)
class Checkup:
    """The day of the check, and the limits, in days, for stale and for expiring facts."""

    today: date
    stale_days: int = 180
    expiring_days: int = 30


def health_of(records: Sequence[Record], checkup: Checkup, language: Language) -> list[FactHealth]:
    """The findings about the facts of one user, by kind. Within a kind the newest comes first; used
    facts are ordered by how often they were used."""
    known = {record.id: record for record in records}
    links = LinksOnADay(known, Days())
    standing = [standing_on(links.of(record), checkup.today) for record in known.values()]
    used = Counter(id for record in known.values() for id in record.round.repeats)
    own = [(record, fact) for record in standing for fact in record.facts if fact.is_users]
    holding = [(record, fact) for record, fact in own if fact.superseded_by is None]
    places = {(record.id, fact.text) for record, fact in holding}
    found = [
        *_contradictory(standing, places, used),
        *(
            FactHealth(Finding.REPLACED, record, fact, used[record.id], (fact.superseded_by,))
            for record, fact in own
            if fact.superseded_by
        ),
        *_duplicates(holding, used, language),
    ]
    for record, fact in holding:
        kinds = [*_of_time(record, fact, checkup)]
        kinds.append(Finding.USED if used[record.id] else Finding.UNUSED)
        found += (FactHealth(kind, record, fact, used[record.id]) for kind in kinds)
    order = {finding: place for place, finding in enumerate(Finding)}
    found.sort(key=lambda one: one.record.round.place, reverse=True)
    most = Finding.USED
    return sorted(found, key=lambda one: (order[one.finding], one.finding is most and -one.used))


def _of_time(record: Record, fact: Fact, checkup: Checkup) -> Iterator[Finding]:
    if fact.slot and _age(record, fact, checkup.today) > timedelta(checkup.stale_days):
        yield Finding.STALE
    condition, soon = fact.condition, checkup.today + timedelta(checkup.expiring_days)
    ends = condition is not None and condition.until is not None and condition.until <= soon
    if ends or fact.ask_on or (condition and is_open(condition)):
        yield Finding.EXPIRING


def _age(record: Record, fact: Fact, today: date) -> timedelta:
    last: datetime = max(filter(None, (record.round.session_date, fact.confirmed_at)))
    return today - last.date()


def _contradictory(
    records: Iterable[Record], holding: set[tuple[str, str]], used: Counter[str]
) -> Iterator[FactHealth]:
    for record in records:
        for fact in record.facts:
            held = tuple(one for one in fact.contradicts if (one.round_id, one.text) in holding)
            if held:
                yield FactHealth(Finding.CONTRADICTORY, record, fact, used[record.id], held)


def _duplicates(
    holding: Iterable[tuple[Record, Fact]], used: Counter[str], language: Language
) -> Iterator[FactHealth]:
    """Facts that a later one repeats, in the same words or by giving the same value."""
    latest: dict[tuple[str, str], tuple[Record, Fact]] = {}
    for record, fact in sorted(holding, key=lambda one: one[0].round.place):
        known = language.stated(fact.text) if fact.slot else None
        said = (known.slot, known.value) if known else ("", _plain(fact.text))
        if (before := latest.get(said)) and before[0].id != record.id:
            again = FactLink(record.id, fact.text, record.round.session_date)
            earlier, repeated = before
            yield FactHealth(Finding.DUPLICATE, earlier, repeated, used[earlier.id], (again,))
        latest[said] = record, fact


def _plain(text: str) -> str:
    return " ".join(text.casefold().split()).rstrip(".!")
