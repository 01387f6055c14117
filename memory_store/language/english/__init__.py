"""English: first-person statements, slots they fill, questions, and days by rules."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime

from memory_store.language.asked import Asked, asked_in
from memory_store.language.dates import counted_days_of, event_dates_of, time_range_of
from memory_store.language.english.questions import as_statement, asked_slot, is_question
from memory_store.language.english.slots import stated
from memory_store.language.english.statements import replacements, slot_of, statements
from memory_store.language.language import Language, Stated
from memory_store.language.sentences import LONGEST_READ, read_sentences
from memory_store.time import TimeRange
from memory_store.types import Days


@dataclass(frozen=True, slots=True)
class English(Language):
    """`Language` by the rules of this package."""

    name: str = "english"
    has_rules: bool = True

    def sentences(self, text: str) -> list[str]:
        """By closing punctuation and the ends of lines."""
        return read_sentences(text)

    def statements(self, user_text: str) -> Sequence[str]:
        """The first-person statements, each also apart from one that it is joined to by "and"."""
        return statements(user_text)

    def is_question(self, sentence: str) -> bool:
        """By its mark, or without any by how it begins."""
        return is_question(sentence)

    def stated(self, statement: str) -> Stated | None:
        """By a few narrow frames: "My favourite colour is green"."""
        return stated(statement)

    def slot_of(self, statement: str) -> str | None:
        """None also for "My name is Sofia and I live in Lyon."."""
        return slot_of(statement)

    def asked_slot(self, question: str) -> str | None:
        """The slot of the statement that would answer: "Where do I live?"."""
        return asked_slot(question)

    def replacements(self, said: Sequence[str]) -> Mapping[int, int]:
        """By the same frames, as the person who is spoken of would put it."""
        return replacements(said)

    def as_statement(self, question: str) -> str:
        """Without the words that ask."""
        return as_statement(question)

    def asked(self, question: str, asked_on: date | None) -> Asked:
        """By turns of phrase, frames, and the grammar of dates."""
        question = question[:LONGEST_READ]
        asked = replace(asked_in(question), slot=asked_slot(question))
        return asked.within(self.time_range(question, asked_on), question) if asked_on else asked

    def event_days(self, statement: str, said_on: datetime | date) -> tuple[Days, ...]:
        """By a grammar of dates, and dateparser on what it leaves."""
        return event_dates_of(statement, said_on)

    def counted_days(self, text: str, said_on: datetime | date) -> Sequence[tuple[str, Days]]:
        """By the same grammar, as far as it does not guess."""
        return counted_days_of(text, said_on)

    def time_range(self, question: str, asked_on: date) -> TimeRange | None:
        """By the same grammar."""
        return time_range_of(question, asked_on)
