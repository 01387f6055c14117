"""English: first-person statements, slots they fill, questions, and days by rules.

Facts are kept as they were said: "I fixed the mountain bike on Saturday". The question about them,
"Which bike did I fix the past weekend?", opens with words that no statement has and names a time
that the statement names otherwise; both pull its vector away from the fact. Without them it lies
nearer, and the mean of both vectors finds more than either (measured in benchmarks/LOG.md).
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from functools import cache

from memory_store._spans import TimeRange
from memory_store._types import Days
from memory_store.language.asked import Asked, asked_in
from memory_store.language.dates import counted_days_of, event_dates_of, time_range_of
from memory_store.language.language import Language, Stated
from memory_store.language.languages import spelled, word_table, wording
from memory_store.language.sentences import LONGEST_READ, read_sentences
from memory_store.language.statements import (
    is_question,
    replacements,
    slot_of,
    stated,
    statements,
)

# Whoever asks for a value asks for nothing else.
_LONGEST = 300
# A shorter sentence that asks means little without what leads up to it.
_SHORTEST = 25


@dataclass(frozen=True, slots=True)
class English(Language):
    """`Language` by rules."""

    name: str = "english"
    has_rules: bool = True

    def sentences(self, text: str) -> list[str]:
        """Sentences end by closing punctuation and at the ends of lines."""
        return read_sentences(text)

    def statements(self, user_text: str) -> Sequence[str]:
        """The first-person statements, each also apart from one that it is joined to by "and"."""
        return statements(user_text)

    def is_question(self, sentence: str) -> bool:
        """A question is known by its mark, or without any by how it begins."""
        return is_question(sentence)

    def stated(self, statement: str) -> Stated | None:
        """Facts are known by a few narrow frames: "My favourite colour is green"."""
        return stated(statement)

    def slot_of(self, statement: str) -> str | None:
        """The slot that a fact fills; None also for "My name is Sofia and I live in Lyon."."""
        return slot_of(statement)

    def asked_slot(self, question: str) -> str | None:
        """The slot of the statement that would answer: "Where do I live?"."""
        if len(question) > _LONGEST:
            return None
        for pattern, answers in _frames():
            if match := pattern.fullmatch(" ".join(question.split())):
                known = (stated(answer.format(**match.groupdict())) for answer in answers)
                return next((one.slot for one in known if one), None)
        return None

    def replacements(self, said: Sequence[str]) -> Mapping[int, int]:
        """The same frames, as the person who is spoken of would put it."""
        return replacements(said)

    def as_statement(self, question: str) -> str:
        """The question said as by the one who knows: 'How many bikes do I own?' → 'I bikes I own'.

        Not a sentence to read, a text to embed. What has none of these openings (a statement,
        another language), and a wish for advice, come back unchanged.
        """
        bare = _asking(question)
        if wording("questions.wish").search(bare):
            return question
        for asks in ("polite", "opening", "auxiliary"):
            bare = wording(f"questions.{asks}").sub("", bare).strip()
        if bare == _asking(question):
            return question
        for differs in ("inversion", "named_time"):
            bare = wording(f"questions.{differs}").sub(" ", bare)
        bare = " ".join(bare.split()).strip(" ?.!,")
        if not bare:
            return question
        return bare if wording("questions.first_person").match(bare) else f"I {bare}"

    def asked(self, question: str, asked_on: date | None) -> Asked:
        """Turns of phrase, frames, and the grammar of dates say what is asked."""
        question = question[:LONGEST_READ]
        asked = replace(asked_in(question), slot=self.asked_slot(question))
        return asked.within(self.time_range(question, asked_on), question) if asked_on else asked

    def event_days(self, statement: str, said_on: datetime | date) -> tuple[Days, ...]:
        """A grammar of dates finds the days, and dateparser in what it leaves."""
        return event_dates_of(statement, said_on)

    def counted_days(self, text: str, said_on: datetime | date) -> Sequence[tuple[str, Days]]:
        """The same grammar finds the days, as far as it does not guess."""
        return counted_days_of(text, said_on)

    def time_range(self, question: str, asked_on: date) -> TimeRange | None:
        """The same grammar finds the range."""
        return time_range_of(question, asked_on)


@cache
def _frames() -> list[tuple[re.Pattern[str], list[str]]]:
    """Questions, and the statements of which one may answer each."""
    return [
        (re.compile(spelled(one["question"], "questions"), re.I), one["answers"])
        for one in word_table("english", "questions")["asked"]
    ]


def _asking(text: str) -> str:
    """The sentence that asks, without what leads up to it; a short one means little alone."""
    last = re.split(r"(?<=[.!?])\s+", text.strip())[-1]
    return last if len(last) >= _SHORTEST else text.strip()
