"""How text of a language is read: by the rules of English, or by none.

Without rules whole sentences are keys, and nothing is concluded: only a question mark makes a
sentence a question, and no fact replaces another. Days are read in all languages of `dates`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime

from memory_store._spans import TimeRange
from memory_store._types import Condition, Days
from memory_store.language.asked import Asked, as_statement, asked_in, asked_slot
from memory_store.language.conditions import condition_of
from memory_store.language.dates import (
    Pack,
    counted_days,
    event_days,
    pack_for,
    pack_of,
    picked_weekdays,
    time_range,
)
from memory_store.language.languages import ENGLISH, languages_of
from memory_store.language.reading import Reading, read
from memory_store.language.sentences import LONGEST_READ, read_sentences, units_of
from memory_store.language.statements import (
    LONGEST_STATEMENT,
    MOST_STATEMENTS,
    Stated,
    is_question,
    replacements,
    slot_of,
    stated,
    statements,
)

_SHORTEST = 4
_QUESTION_MARKS = ("?", "？", "؟", ";")  # the last one is the Greek question mark


@dataclass(frozen=True, slots=True)
class Language:
    """How text of a language is read. All methods are pure: a day is always an argument.

    A memory is written and asked in one language. The only rules are those of English.
    """

    name: str
    """The name that the setting `language` uses."""
    has_rules: bool
    """Whether anything is concluded from texts; if not, the nearest are quoted as they are."""

    def sentences(self, text: str) -> list[str]:
        """The sentences of a text, up to `LONGEST_READ` characters, and lines that are none; all
        are trimmed and not empty."""
        if self.has_rules:
            return read_sentences(text)
        return [unit.text for unit in units_of(text[:LONGEST_READ])]

    def statements(self, user_text: str) -> Sequence[str]:
        """The statements of the user's side of a round, each once, in order. They become its facts,
        and so its keys. Without rules these are the first sentences that are no questions and are
        neither too short nor too long for a key."""
        if self.has_rules:
            return statements(user_text)
        fitting = (
            sentence
            for sentence in self.sentences(user_text)
            if _SHORTEST <= len(sentence) <= LONGEST_STATEMENT and not self.is_question(sentence)
        )
        return [*dict.fromkeys(fitting)][:MOST_STATEMENTS]

    def is_question(self, sentence: str) -> bool:
        """Whether a sentence asks and states nothing: it ends in a question mark or, by rules,
        begins like a question."""
        if self.has_rules:
            return is_question(sentence)
        return sentence.rstrip("\"'”’»」』) ").endswith(_QUESTION_MARKS)

    def stated(self, statement: str) -> Stated | None:
        """The slot and the value of a first-person statement; None if they are not sure."""
        return stated(statement) if self.has_rules else None

    def slot_of(self, statement: str) -> str | None:
        """The slot of a fact; None if it is not sure, or if the statement gives several values."""
        return slot_of(statement) if self.has_rules else None

    def condition_of(self, statement: str, said_on: datetime | date) -> Condition | None:
        """The condition that a statement itself names for how long it holds, if any."""
        return condition_of(statement, said_on) if self.has_rules else None

    def asked_slot(self, question: str) -> str | None:
        """The slot whose value a question asks for; None if that is not sure."""
        return asked_slot(question) if self.has_rules else None

    def replacements(self, said: Sequence[str]) -> Mapping[int, int]:
        """Which of these statements, in the order they were said, are about other people and no
        longer hold: their indexes, each with the index of the one that replaced it."""
        return replacements(said) if self.has_rules else {}

    def as_statement(self, question: str) -> str:
        """The question as the statement that would answer it, to be embedded; the question itself
        if no rule applies."""
        return as_statement(question) if self.has_rules else question

    def read(self, text: str) -> Reading:
        """The kinds of a message, with their certainties, and its sentences."""
        return read(text, self.sentences)

    def asked(self, question: str, asked_on: date | None, week_begins: int = 0) -> Asked:
        """What a question asks for, by English turns of phrase if it is English; else only its
        days. If `asked_on` is None no days are read. Weeks begin on `week_begins`; Monday is 0."""
        question = question[:LONGEST_READ]
        is_english = self.has_rules or languages_of(question) == {ENGLISH}
        asked = asked_in(question) if is_english else Asked()
        asked = replace(asked, slot=self.asked_slot(question))
        if asked_on is None:
            return asked
        found = self.time_range(question, asked_on)
        return asked.within(found and found.in_weeks_from(week_begins, asked_on), question)

    def event_days(self, statement: str, said_on: datetime | date) -> tuple[Days, ...]:
        """The days that a statement talks about, in its order, each once; none if its language is
        not clear."""
        pack = self._days_of(statement)
        return event_days(statement, said_on, pack) if pack else ()

    def counted_days(self, text: str, said_on: datetime | date) -> Sequence[tuple[str, Days]]:
        """The words of a text that count from the day they were said on ("yesterday"), each with
        the days that they surely name. Words for that day itself are left out. Without rules there
        are none, as a wrong day is worse than none."""
        return counted_days(text, said_on) if self.has_rules else ()

    def picked_weekdays(
        self, text: str, said_on: datetime | date
    ) -> Sequence[tuple[str, tuple[date, ...]]]:
        """The words of a text that pick a weekday ahead ("next Friday"), each with its day, or the
        two that it may mean. Without rules none."""
        return picked_weekdays(text, said_on) if self.has_rules else ()

    def time_range(self, question: str, asked_on: date) -> TimeRange | None:
        """The days a question asks about; None if it names none or its language is unclear."""
        pack = self._days_of(question)
        return time_range(question, asked_on, pack) if pack else None

    def _days_of(self, text: str) -> Pack | None:
        """The words for days in the language of a text; None if that is not clear."""
        return pack_of(ENGLISH) if self.has_rules else pack_for(text)
