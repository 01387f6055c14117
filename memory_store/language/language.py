"""What the memory must know of a language, and what a statement gives a value for."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Protocol

from memory_store.language.asked import Asked
from memory_store.language.reading import Reading
from memory_store.time import TimeRange
from memory_store.types import Days


@dataclass(frozen=True, slots=True)
class Stated:
    """The value a statement gives to a slot: "My favourite colour is green" gives the slot
    "favourite colour" the value "green".

    `replaces` says whether it may replace an earlier value: always where only one can hold, else
    when the statement says that something changed ("now", "no longer"). `holds` is False for a
    statement that only ends an earlier one.
    """

    slot: str
    value: str
    replaces: bool
    holds: bool = True
    changed: bool = False
    """Whether it says that something changed."""


def replaces(newer: Stated, older: Stated) -> bool:
    """Whether a statement replaces an earlier one of the same slot."""
    return newer.replaces and (newer.value == older.value) is not newer.holds


class Language(Protocol):
    """How text of a language is read. Pure: a day is always an argument.

    A memory is written and asked in one language; `English` and `Plain` are the two there are.
    """

    @property
    def name(self) -> str:
        """As the setting `language` has it."""
        ...

    @property
    def has_rules(self) -> bool:
        """Whether anything is concluded from texts; if not, the nearest are quoted as they are."""
        ...

    def sentences(self, text: str) -> list[str]:
        """The sentences of as much of a text as is read, trimmed, none of them empty."""
        ...

    def statements(self, user_text: str) -> Sequence[str]:
        """What the user's side of a round states, each once, in order: its facts, and thereby
        keys."""
        ...

    def is_question(self, sentence: str) -> bool:
        """Whether a sentence asks and states nothing."""
        ...

    def stated(self, statement: str) -> Stated | None:
        """What a first-person statement gives a value for; None where that is not sure."""
        ...

    def slot_of(self, statement: str) -> str | None:
        """The slot of a fact; None also where the statement gives several values."""
        ...

    def asked_slot(self, question: str) -> str | None:
        """The slot of which a question wants the value; None where that is not sure."""
        ...

    def replacements(self, said: Sequence[str]) -> Mapping[int, int]:
        """Of statements in the order they were said, those about others that no longer hold: the
        index of each, and of the one that replaced it."""
        ...

    def as_statement(self, question: str) -> str:
        """The question as the statement that would answer it, to be embedded; the question itself
        where no rule knows better."""
        ...

    def read(self, text: str) -> Reading:
        """What a message may be, with certainties, and its sentences."""
        ...

    def asked(self, question: str, asked_on: date | None) -> Asked:
        """What a question asks for; without a day, no days."""
        ...

    def event_days(self, statement: str, said_on: datetime | date) -> tuple[Days, ...]:
        """The days that a statement talks about, in its order, each once."""
        ...

    def counted_days(self, text: str, said_on: datetime | date) -> Sequence[tuple[str, Days]]:
        """The words of a text that count from the day they were said on ("yesterday"), each with
        the days that they surely name; not those that name that day itself."""
        ...

    def time_range(self, question: str, asked_on: date) -> TimeRange | None:
        """The days that a question asks about; None where it names none."""
        ...
