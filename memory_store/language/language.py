"""How text of a language is read, and what a statement gives a value for.

What is here holds for any language, and needs no rules: whole sentences are keys, and nothing is
concluded. No sentence is taken for a question but by its mark, and no fact replaces another. Days
are read in the languages of `dates`. `English` has rules of its own.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime

from memory_store._spans import TimeRange
from memory_store._types import Days
from memory_store.language.asked import Asked, asked_in
from memory_store.language.dates import event_days, time_range
from memory_store.language.languages import ENGLISH, languages_of
from memory_store.language.reading import Reading, read
from memory_store.language.sentences import LONGEST_READ, units_of

_SHORTEST, LONGEST_STATEMENT = 4, 400
MOST_STATEMENTS = 32
"""A pasted document must not turn one round into hundreds of keys."""
_QUESTION_MARKS = ("?", "？", "؟", ";")  # the last one is the Greek question mark


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


@dataclass(frozen=True, slots=True)
class Language:
    """How text of a language is read. Pure: a day is always an argument.

    A memory is written and asked in one language: by the rules of `English`, or by none.
    """

    name: str = "plain"
    """As the setting `language` has it."""
    has_rules: bool = False
    """Whether anything is concluded from texts; if not, the nearest are quoted as they are."""

    def sentences(self, text: str) -> list[str]:
        """The sentences of as much of a text as is read, and lines that are none; trimmed, none of
        them empty."""
        return [unit.text for unit in units_of(text[:LONGEST_READ])]

    def statements(self, user_text: str) -> Sequence[str]:
        """What the user's side of a round states, each once, in order: its facts, and thereby keys.
        The first sentences that are no questions and not too short or long to be found by."""
        fitting = (
            sentence
            for sentence in self.sentences(user_text)
            if _SHORTEST <= len(sentence) <= LONGEST_STATEMENT and not self.is_question(sentence)
        )
        return [*dict.fromkeys(fitting)][:MOST_STATEMENTS]

    def is_question(self, sentence: str) -> bool:
        """Whether a sentence asks and states nothing: whether it ends in a question mark."""
        return sentence.rstrip("\"'”’»」』) ").endswith(_QUESTION_MARKS)

    def stated(self, statement: str) -> Stated | None:
        """The slot and value of a first-person statement; None where that is not sure."""

    def slot_of(self, statement: str) -> str | None:
        """The slot of a fact; None also where the statement gives several values."""

    def asked_slot(self, question: str) -> str | None:
        """The slot of which a question wants the value; None where that is not sure."""

    def replacements(self, said: Sequence[str]) -> Mapping[int, int]:
        """Statements about others that no longer hold, among statements in the order they were
        said: the index of each, and of the one that replaced it."""
        return {}

    def as_statement(self, question: str) -> str:
        """The question as the statement that would answer it, to be embedded; the question itself
        where no rule knows better."""
        return question

    def read(self, text: str) -> Reading:
        """What a message may be, with certainties, and its sentences."""
        return read(text, self.sentences)

    def asked(self, question: str, asked_on: date | None) -> Asked:
        """What a question asks for; without a day, no days. By English turns of phrase where the
        question is English; else its days alone."""
        question = question[:LONGEST_READ]
        asked = asked_in(question) if languages_of(question) == {ENGLISH} else Asked()
        return asked.within(self.time_range(question, asked_on), question) if asked_on else asked

    def event_days(self, statement: str, said_on: datetime | date) -> tuple[Days, ...]:
        """The days that a statement talks about, in its order, each once; none where its language
        is not clear."""
        return event_days(statement, said_on)

    def counted_days(self, text: str, said_on: datetime | date) -> Sequence[tuple[str, Days]]:
        """The words of a text that count from the day they were said on ("yesterday"), each with
        the days that they surely name; not those that name that day itself. Without rules none: a
        wrong day is worse than none."""
        return ()

    def time_range(self, question: str, asked_on: date) -> TimeRange | None:
        """The days that a question asks about; None where it names none, or its language is not
        clear."""
        return time_range(question, asked_on)
