"""The plan of the questions to be written, drawn from a seed: type, attribute, values and days.

JSON files beside this module hold the attributes with their values and wordings, the topics to chat
about, and the phrases around them. An attribute has the words in which it comes up in passing
(`says`, with `{v}` for a value and `{when}` for a day), and other words in which it is asked for.
"""

import hashlib
import json
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import cache
from hashlib import sha256
from importlib.resources import files
from random import Random
from typing import Any, Literal, NamedTuple

from harness.datasets.questions import ABSTENTION, LONGMEMEVAL_TYPES
from harness.errors import UsageError

Kind = Literal["fact", "change", "count", "event", "preference", "advice"]
Exchange = tuple[str, str]
_FOLDER = "harness.lab.authoring"
_DATA = ("ontology.json", "topics.json", "phrases.json")


@dataclass(frozen=True, slots=True)
class Attribute:
    """One thing that may be known of a user.

    `now` tells the new value of an attribute that changes. `absent` asks for something similar that
    was never told. `thing` names an event as a question does. `wants` completes "suggestions that
    …". For advice, `asks` says what the assistant listed.
    """

    name: str
    category: str
    kind: Kind
    topic: str
    says: tuple[str, ...]
    values: tuple[str, ...] = ()
    asks: str = ""
    now: str = ""
    absent: str = ""
    thing: str = ""
    wants: str = ""


@dataclass(frozen=True, slots=True)
class Ontology:
    """All attributes in the order of the file. `topics` has questions and answers on each topic
    that fit any user; `openings`, `asides` and `closings` are phrases that open a session, lead
    over to something else, and end a session. `sha256` is the files' hash, twelve hex digits.
    """

    attributes: tuple[Attribute, ...]
    topics: dict[str, tuple[Exchange, ...]]
    openings: tuple[str, ...]
    asides: tuple[str, ...]
    closings: tuple[Exchange, ...]
    sha256: str

    def of_kinds(self, *kinds: Kind) -> list[Attribute]:
        return [attribute for attribute in self.attributes if attribute.kind in kinds]


@cache
def ontology() -> Ontology:
    texts = [files(_FOLDER).joinpath(name).read_text(encoding="utf-8") for name in _DATA]
    entries, topics, phrases = (json.loads(text) for text in texts)
    return Ontology(
        tuple(map(_attribute, entries)),
        {name: _exchanges(found) for name, found in topics.items()},
        tuple(phrases["openings"]),
        tuple(phrases["asides"]),
        _exchanges(phrases["closings"]),
        hashlib.sha256("".join(texts).encode()).hexdigest()[:12],
    )


def _exchanges(pairs: list[list[str]]) -> tuple[Exchange, ...]:
    return tuple((asked, said) for asked, said in pairs)


def _attribute(entry: dict[str, Any]) -> Attribute:
    lists = {name: tuple(entry.get(name, ())) for name in ("says", "values")}
    return Attribute(**(entry | lists))


TYPES = (*LONGMEMEVAL_TYPES, ABSTENTION)
_KINDS: dict[str, tuple[Kind, ...]] = {
    "single-session-user": ("fact", "change"),
    "single-session-assistant": ("advice",),
    "single-session-preference": ("preference",),
    "multi-session": ("count",),
    "knowledge-update": ("change",),
    "temporal-reasoning": ("event",),
    ABSTENTION: ("fact",),
}
_FIRST_DAY = datetime(2025, 3, 1, tzinfo=UTC)
_DAYS = 300
# The least and the most days between evidence and question, and the days between its sessions.
_NEAREST, _FURTHEST, _APART = 3, 75, 4
_ADVICE = 5
# The share of questions about days that ask for the days between two events, not since one event.
_BETWEEN_TWO = 0.6
_TRIES = 200
# How an event's day is worded, and how many days before the telling the event may have been.
WHENS: dict[str, range] = {
    "today": range(1),
    "yesterday": range(1, 2),
    "days ago": range(2, 7),
    "weekday": range(2, 7),
    "date": range(2, 20),
    "weeks ago": range(7, 22, 7),
}
# How many of a thousand chats begin in each hour of the day.
_HOURS = (6, 3, 2, 1, 1, 4, 14, 38, 58, 60, 56, 52, 60, 52, 46, 46, 52, 62, 70, 80, 88, 80, 50, 19)


class When(NamedTuple):
    """How an event's day is worded, one of `WHENS`, and how many days later the event is told."""

    kind: str
    days: int


def time_of_day(random: Random) -> timedelta:
    """A time of day at which people chat, as the time since midnight."""
    (hour,) = random.choices(range(24), weights=_HOURS)
    return timedelta(hours=hour, minutes=random.randrange(60))


@dataclass(frozen=True, slots=True)
class PlannedQuestion:
    """One question to be written, with everything that is decided in advance.

    `values[i]` is told in the evidence session of `dates[i]`. For advice, `values` are the list
    that the assistant gives in its one session, and `place` is the index of the value asked for.
    `whens[i]` says how an author should word the day of the event that is told at `dates[i]`.
    """

    item_id: str
    type: str
    attributes: tuple[Attribute, ...]
    values: tuple[str, ...]
    dates: tuple[datetime, ...]
    asked: datetime
    place: int
    seed: str
    whens: tuple[When, ...] = ()

    @property
    def days(self) -> list[date]:
        """The day of each event."""
        moments = zip(self.dates, self.whens, strict=True)
        return [moment.date() - timedelta(days=when.days) for moment, when in moments]

    @property
    def question_type(self) -> str:
        """The type as the format has it, in which only the id marks an abstention question."""
        return "single-session-user" if self.type == ABSTENTION else self.type

    @property
    def question_id(self) -> str:
        return f"{self.item_id}_abs" if self.type == ABSTENTION else self.item_id

    @property
    def speaker(self) -> Literal["user", "assistant"]:
        return "assistant" if self.type == "single-session-assistant" else "user"

    def draws(self, use: str) -> Random:
        """A random generator of this item and this use; it gives the same numbers every time."""
        return Random(f"{self.seed} {use}")


def plan_items(
    ontology: Ontology, types: tuple[str, ...], per_type: int, seed: int
) -> list[PlannedQuestion]:
    """Plan `per_type` items of each type, no two alike. Raises `UsageError` for unknown types, and
    for more items than the ontology can make different."""
    unknown = [name for name in types if name not in TYPES]
    if unknown:
        raise UsageError(f"--types {unknown[0]!r}: expected some of {', '.join(TYPES)}")
    return [item for kind in types or TYPES for item in _of_type(ontology, kind, per_type, seed)]


def _of_type(ontology: Ontology, kind: str, count: int, seed: int) -> list[PlannedQuestion]:
    attributes = ontology.of_kinds(*_KINDS[kind])
    if kind == ABSTENTION:
        attributes = [attribute for attribute in attributes if attribute.absent]
    Random(f"{seed} {kind}").shuffle(attributes)
    items: list[PlannedQuestion] = []
    taken: set[tuple[str, ...]] = set()
    for number in range(count):
        for attempt in range(_TRIES):
            key = f"{seed} {kind} {number} {attempt}"
            item = _item(attributes, kind, number + attempt, key)
            content = (*(one.name for one in item.attributes), *item.values, str(item.place))
            if content not in taken:
                taken.add(content)
                items.append(item)
                break
        else:
            raise UsageError(f"--per-type {count}: no more than {number} different {kind} items")
    return items


def _item(attributes: list[Attribute], kind: str, number: int, key: str) -> PlannedQuestion:
    random = Random(key)
    first = attributes[number % len(attributes)]
    chosen: tuple[Attribute, ...] = (first,)
    values, place = _values(first, kind, random), 0
    sessions = len(values)
    if kind == "temporal-reasoning":
        others = [one for one in attributes if one.topic != first.topic]
        chosen = (first, random.choice(others)) if random.random() < _BETWEEN_TWO else (first,)
        sessions = len(chosen)
    if kind == "single-session-assistant":
        sessions, place = 1, random.randrange(len(values))
    asked = _FIRST_DAY + timedelta(
        days=random.randrange(_DAYS), minutes=random.randrange(480, 1320)
    )
    dates = tuple(asked.replace(hour=0, minute=0) + one for one in _moments(sessions, random))
    whens = _whens(dates, random) if kind == "temporal-reasoning" else ()
    name = sha256(key.encode()).hexdigest()[:8]
    return PlannedQuestion(name, kind, chosen, values, dates, asked, place, key, whens)


def _values(attribute: Attribute, kind: str, random: Random) -> tuple[str, ...]:
    most = len(attribute.values)
    wanted = {
        "multi-session": random.randint(2, min(4, most or 2)),
        "knowledge-update": 2,
        "single-session-assistant": _ADVICE,
        "temporal-reasoning": 0,
    }.get(kind, 1)
    values = random.sample(attribute.values, wanted)
    # The values of an attribute that changes keep their order, as they may grow.
    return tuple(
        sorted(values, key=attribute.values.index) if kind == "knowledge-update" else values
    )


def _moments(sessions: int, random: Random) -> list[timedelta]:
    """The sessions' times relative to the day of the question, oldest first."""
    steps = range(_NEAREST, _FURTHEST, _APART)
    days = sorted(random.sample(steps, sessions), reverse=True)
    return [
        timedelta(days=-day - random.randrange(_APART - 1)) + time_of_day(random) for day in days
    ]


def _whens(dates: tuple[datetime, ...], random: Random) -> tuple[When, ...]:
    """Draw a wording for each date, so that no two events fall on one day."""
    whens: list[When] = []
    taken: set[date] = set()
    for moment in dates:
        day = None
        while day is None or day in taken:
            kind = random.choice(list(WHENS))
            when = When(kind, random.choice(WHENS[kind]))
            day = moment.date() - timedelta(days=when.days)
        taken.add(day)
        whens.append(when)
    return tuple(whens)
