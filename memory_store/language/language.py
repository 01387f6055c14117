"""How text of a language is read: by the rules of English, or by none.

Without rules whole sentences are keys, and nothing is concluded: no sentence is taken for a
question but by its mark, and no fact replaces another. Days are read in the languages of `dates`.
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
    """How text of a language is read. Pure: a day is always an argument.

    A memory is written and asked in one language. The rules are those of English.
    """

    name: str
    """As the setting `language` has it."""
    has_rules: bool
    """Whether anything is concluded from texts; if not, the nearest are quoted as they are."""

    def sentences(self, text: str) -> list[str]:
        """The sentences of as much of a text as is read, and lines that are none; trimmed, none of
        them empty."""
        if self.has_rules:
            return read_sentences(text)
        return [unit.text for unit in units_of(text[:LONGEST_READ])]

    def statements(self, user_text: str) -> Sequence[str]:
        """What the user's side of a round states, each once, in order: its facts, and thereby keys.
        Without rules the first sentences that are no questions and not too short or long to be
        found by."""
        if self.has_rules:
            return statements(user_text)
        fitting = (
            sentence
            for sentence in self.sentences(user_text)
            if _SHORTEST <= len(sentence) <= LONGEST_STATEMENT and not self.is_question(sentence)
        )
        return [*dict.fromkeys(fitting)][:MOST_STATEMENTS]

    def is_question(self, sentence: str) -> bool:
        """Whether a sentence asks and states nothing: whether it ends in a question mark, or by
        rules begins like one."""
        if self.has_rules:
            return is_question(sentence)
        return sentence.rstrip("\"'”’»」』) ").endswith(_QUESTION_MARKS)

    def stated(self, statement: str) -> Stated | None:
        """The slot and value of a first-person statement; None where that is not sure."""
        return stated(statement) if self.has_rules else None

    def slot_of(self, statement: str) -> str | None:
        """The slot of a fact; None also where the statement gives several values."""
        return slot_of(statement) if self.has_rules else None

    def condition_of(self, statement: str, said_on: datetime | date) -> Condition | None:
        """Up to when a statement holds, as it says itself."""
        return condition_of(statement, said_on) if self.has_rules else None

    def asked_slot(self, question: str) -> str | None:
        """The slot of which a question wants the value; None where that is not sure."""
        return asked_slot(question) if self.has_rules else None

    def replacements(self, said: Sequence[str]) -> Mapping[int, int]:
        """Statements about others that no longer hold, among statements in the order they were
        said: the index of each, and of the one that replaced it."""
        return replacements(said) if self.has_rules else {}

    def as_statement(self, question: str) -> str:
        """The question as the statement that would answer it, to be embedded; the question itself
        where no rule knows better."""
        return as_statement(question) if self.has_rules else question

    def read(self, text: str) -> Reading:
        """What a message may be, with certainties, and its sentences."""
        return read(text, self.sentences)

    def asked(self, question: str, asked_on: date | None, week_begins: int = 0) -> Asked:
        """What a question asks for; without a day, no days. Weeks begin on a weekday, Monday is 0.
        By English turns of phrase where the question is English; else its days alone."""
        question = question[:LONGEST_READ]
        is_english = self.has_rules or languages_of(question) == {ENGLISH}
        asked = asked_in(question) if is_english else Asked()
        asked = replace(asked, slot=self.asked_slot(question))
        if asked_on is None:
            return asked
        found = self.time_range(question, asked_on)
        return asked.within(found and found.in_weeks_from(week_begins, asked_on), question)

    def event_days(self, statement: str, said_on: datetime | date) -> tuple[Days, ...]:
        """The days that a statement talks about, in its order, each once; none where its language
        is not clear."""
        pack = self._days_of(statement)
        return event_days(statement, said_on, pack) if pack else ()

    def counted_days(self, text: str, said_on: datetime | date) -> Sequence[tuple[str, Days]]:
        """The words of a text that count from the day they were said on ("yesterday"), each with
        the days that they surely name; not those that name that day itself. Without rules none: a
        wrong day is worse than none."""
        return counted_days(text, said_on) if self.has_rules else ()

    def picked_weekdays(
        self, text: str, said_on: datetime | date
    ) -> Sequence[tuple[str, tuple[date, ...]]]:
        """The words of a text that pick a weekday ahead ("next Friday"), each with its day, or the
        two that it may mean. Without rules none."""
        return picked_weekdays(text, said_on) if self.has_rules else ()

    def time_range(self, question: str, asked_on: date) -> TimeRange | None:
        """The days that a question asks about; None where it names none, or its language is not
        clear."""
        pack = self._days_of(question)
        return time_range(question, asked_on, pack) if pack else None

    def _days_of(self, text: str) -> Pack | None:
        """The words by which days are named in a text."""
        return pack_of(ENGLISH) if self.has_rules else pack_for(text)
