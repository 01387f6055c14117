"""Any language without rules of its own: whole sentences are keys, and nothing is concluded.

No sentence is taken for a question but by its mark, and no fact replaces another. Days are read in
the languages of `dates`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime

from memory_store.language.asked import Asked, asked_in
from memory_store.language.authorship.units import units_of
from memory_store.language.dates import event_days, time_range
from memory_store.language.language import Stated
from memory_store.language.languages import ENGLISH, languages_of
from memory_store.language.reading import Reading, read
from memory_store.language.sentences import LONGEST_READ
from memory_store.time import TimeRange
from memory_store.types import Days

_SHORTEST, _LONGEST = 4, 400
# A pasted document must not turn one round into hundreds of keys.
_MOST_STATEMENTS = 32
_QUESTION_MARKS = ("?", "？", "؟", ";")  # the last one is the Greek question mark


@dataclass(frozen=True, slots=True)
class Plain:
    """`Language` for text that no rule is written for."""

    name: str = "plain"
    has_rules: bool = False

    def sentences(self, text: str) -> list[str]:
        """Sentences, and lines that are none; Chinese and Japanese ones, too."""
        return [unit.text for unit in units_of(text[:LONGEST_READ])]

    def statements(self, user_text: str) -> Sequence[str]:
        """The first sentences that are no questions and not too short or long to be found by."""
        fitting = (
            sentence
            for sentence in self.sentences(user_text)
            if _SHORTEST <= len(sentence) <= _LONGEST and not self.is_question(sentence)
        )
        return [*dict.fromkeys(fitting)][:_MOST_STATEMENTS]

    def is_question(self, sentence: str) -> bool:
        """Whether it ends in a question mark."""
        return sentence.rstrip("\"'”’»」』) ").endswith(_QUESTION_MARKS)

    def stated(self, statement: str) -> Stated | None:
        """None: no frame is known."""

    def slot_of(self, statement: str) -> str | None:
        """None: no frame is known."""

    def asked_slot(self, question: str) -> str | None:
        """None: no frame is known."""

    def replacements(self, said: Sequence[str]) -> Mapping[int, int]:
        """Nothing is replaced."""
        return {}

    def as_statement(self, question: str) -> str:
        """The question itself."""
        return question

    def read(self, text: str) -> Reading:
        """By the model of kinds, which knows five languages."""
        return read(text, self.sentences)

    def asked(self, question: str, asked_on: date | None) -> Asked:
        """By English turns of phrase where the question is English; else its days alone."""
        question = question[:LONGEST_READ]
        asked = asked_in(question) if languages_of(question) == {ENGLISH} else Asked()
        return asked.within(self.time_range(question, asked_on), question) if asked_on else asked

    def event_days(self, statement: str, said_on: datetime | date) -> tuple[Days, ...]:
        """By the language of the statement; none where that is not clear."""
        return event_days(statement, said_on)

    def counted_days(self, text: str, said_on: datetime | date) -> Sequence[tuple[str, Days]]:
        """None: a wrong day is worse than none."""
        return ()

    def time_range(self, question: str, asked_on: date) -> TimeRange | None:
        """By the language of the question; None where that is not clear."""
        return time_range(question, asked_on)
