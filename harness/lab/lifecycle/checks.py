"""Decides whether an answer is right, by words, dates and a few rules, the same way every time.

README.md has the rules. Phrases are compared as stemmed words in a row, with numbers, months and
accents written alike.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date

from harness.judges.lexical.words import (
    MONTHS,
    declines,
    fold,
    is_refusal,
    raw_tokens,
    sentences,
    tokens,
)
from harness.text import names_day


@dataclass(frozen=True, slots=True)
class On:
    """A day, in any usual notation."""

    day: date

    def __str__(self) -> str:
        return self.day.isoformat()


@dataclass(frozen=True, slots=True)
class DayCount:
    """A number of days; an answer may also give it in weeks, if they are whole."""

    number: int

    def __str__(self) -> str:
        return f"{self.number} days"


@dataclass(frozen=True, slots=True)
class Number:
    """A number that the answer itself says, in digits or words, not in a quotation or a date."""

    number: int

    def __str__(self) -> str:
        return str(self.number)


Wanted = str | On | DayCount | Number


@dataclass(frozen=True, slots=True)
class Expected:
    """What an answer is checked against. It must have one item of each group in `must`, and nothing
    of `must_not`. Values that were right before (`former`) or became so afterwards (`later`) may be
    named if the answer says which value holds. `admit`: it must say that it does not know.
    """

    must: tuple[tuple[Wanted, ...], ...] = ()
    must_not: tuple[str, ...] = ()
    former: tuple[str, ...] = ()
    later: tuple[str, ...] = ()
    admit: bool = False

    @property
    def names_time(self) -> bool:
        """Whether only a day or a length of time is right."""
        return any(isinstance(one, On | DayCount) for group in self.must for one in group)

    def phrases(self) -> Iterator[str]:
        for group in self.must:
            yield from (one for one in group if isinstance(one, str))
        yield from (*self.must_not, *self.former, *self.later)


# Words that mark a value as one that held before, and the right value as one that holds now. They
# are words of time, change and mistake that fit any subject, not verbs of single cases ("sold").
FORMER = (
    "was|were|had|been|used to|before|previous|previously|former|formerly|earlier|original|"
    "originally|initial|initially|first|old|until|from|changed|moved|switched|replaced|instead|"
    "rather than|not|no longer|any longer|anymore|any more|corrected|correction|mistake|mistaken|"
    "mistakenly|wrong|wrongly"
)
NOW = (
    "now|current|currently|nowadays|these days|today|at the moment|latest|most recent|"
    "most recently|new|newest|since"
)
# Words that mark a value as one that came to hold on a later day, and the right value as the one
# that held on the day that is asked about.
LATER = (
    "later|since|now|then|after|afterwards|subsequently|moved|changed|switched|became|eventually|"
    "currently|today|these days|nowadays|not yet|until|next"
)
THEN = "then|at the time|at that time|on that day|on that date|still"
_MARKS = {
    "former": re.compile(rf"\b(?:{fold(FORMER)})\b|n't\b"),
    "later": re.compile(rf"\b(?:{fold(LATER)})\b"),
}
_MARKS_OF_RIGHT = {
    "former": re.compile(rf"\b(?:{fold(NOW)})\b"),
    "later": re.compile(rf"\b(?:{fold(THEN)})\b"),
}
_CLAUSE_ENDS = re.compile(r"[,;:()–—]|\s-\s|\b(?:and|but|or|not)\b", re.IGNORECASE)
# Words of not knowing yet ("you had not told me", "nothing yet"), for a past day. "Nothing special"
# is no such word.
_NOT_YET = re.compile(
    r"\b(?:you|we|i|it|that|this) (?:had not|hadn't|has not|hasn't)\b|\bnot yet\b"
    r"|(?:^|[.!?:;–—]\s*)(?:\W*)nothing\b"
    r"|\b(?:know|knew|have|had|has|find|found|see|recall|remember|told|said|say|says|mention|"
    r"mentioned|there is|there was|there's) (?:me )?nothing\b"
)
_MONTH = rf"(?:{'|'.join(MONTHS)})"
_DATED = re.compile(
    rf"\b(?:{_MONTH} \d{{1,2}}|\d{{1,2}}(?: of)? {_MONTH}|\d{{1,4}}[-/.]\d{{1,2}}[-/.]\d{{1,4}})\b"
)
_FULL_DATE = re.compile(
    rf"\b(?:(?P<month>{_MONTH}) (?P<day>\d{{1,2}})|(?P<day_before>\d{{1,2}})(?: of)? "
    rf"(?P<month_after>{_MONTH})),? (?P<year>\d{{4}})\b"
)
_QUOTED = re.compile(r"“[^”\n]*”|\"[^\"\n]*\"")
_ENDS = re.compile(r"[.!?]+(?=\s|[”\"])")


def faults(expected: Expected, answer: str) -> list[str]:
    """The faults of an answer, in words; nothing for a right one."""
    if not answer.strip():
        return ["the answer is empty"]
    return [*_missing(expected, answer), *_unwanted(expected, answer)]


def says(text: str, phrase: str) -> bool:
    """Whether the words of the phrase stand in the text, in a row."""
    words, wanted = tokens(text), tokens(phrase)
    return any(words[i : i + len(wanted)] == wanted for i in range(len(words) - len(wanted) + 1))


def _missing(expected: Expected, answer: str) -> Iterator[str]:
    unquoted = _QUOTED.sub("…", answer)
    if expected.admit and not (is_refusal(unquoted) or _NOT_YET.search(fold(unquoted))):
        yield "does not say that it does not know"
    if expected.must and _begins_not_knowing(expected, unquoted):
        yield "begins by saying that it does not know"
    for group in expected.must:
        if not any(_has(answer, one) for one in group):
            yield f"missing: {' / '.join(map(str, group))}"


def _begins_not_knowing(expected: Expected, unquoted: str) -> bool:
    first = sentences(unquoted)[:1]
    return declines(first) and not any(_names_right(part, expected) for part in first)


def _has(answer: str, wanted: Wanted) -> bool:
    if isinstance(wanted, On):
        return names_day(answer, wanted.day, with_year=False)
    if isinstance(wanted, DayCount):
        weeks, rest = divmod(wanted.number, 7)
        found = says(answer, f"{wanted.number} days")
        return found or (not rest and says(answer, f"{weeks} weeks"))
    if isinstance(wanted, Number):
        return str(wanted) in raw_tokens(_DATED.sub(" ", fold(_QUOTED.sub(" ", answer))))
    return says(answer, wanted)


def _unwanted(expected: Expected, answer: str) -> Iterator[str]:
    yield from (f"must not be there: {one}" for one in expected.must_not if says(answer, one))
    parts = _whole_sentences(answer)
    for time, phrases in (("former", expected.former), ("later", expected.later)):
        for phrase in phrases:
            unmarked = [
                i
                for i, part in enumerate(parts)
                if says(_without_changes(part, phrase, expected), phrase)
                and not _MARKS[time].search(fold(part))
                and not (time == "former" and _is_outdated(i, parts, expected))
            ]
            if unmarked and not _marks_right(_MARKS_OF_RIGHT[time], phrase, parts, expected):
                yield f"named without a word that it was {time}: {phrase}"


def _without_changes(sentence: str, other: str, expected: Expected) -> str:
    """A sentence without the quotations that name both the right and the other value: in these the
    quoted person tells of the change, in whatever words.
    """
    return _QUOTED.sub(
        lambda quote: (
            "…" if says(quote[0], other) and _names_right(quote[0], expected) else quote[0]
        ),
        sentence,
    )


def _marks_right(
    marks: re.Pattern[str], other: str, parts: Sequence[str], expected: Expected
) -> bool:
    """Whether a clause in the answer's own words names the right value and not the other one, and
    says that the right value holds.
    """
    clauses = [one for part in parts for one in _CLAUSE_ENDS.split(_QUOTED.sub(" … ", part))]
    return any(
        marks.search(fold(clause)) and not says(clause, other) and _names_right(clause, expected)
        for clause in clauses
    )


def _names_right(text: str, expected: Expected) -> bool:
    return any(_has(text, one) for group in expected.must for one in group)


def _is_outdated(place: int, parts: Sequence[str], expected: Expected) -> bool:
    """Whether a sentence names its day, and an earlier sentence names a later day together with the
    right value."""
    said_on = _day_of(parts[place])
    if said_on is None:
        return False
    return any(
        (day := _day_of(part)) is not None and day > said_on and _names_right(part, expected)
        for part in parts[:place]
    )


def _day_of(sentence: str) -> date | None:
    """The first full date in a sentence, outside its quotations."""
    found = _FULL_DATE.search(fold(_QUOTED.sub(" ", sentence)))
    if found is None:
        return None
    month, day = found["month"] or found["month_after"], found["day"] or found["day_before"]
    try:
        return date(int(found["year"]), MONTHS.index(month) + 1, int(day))
    except ValueError:  # no such day
        return None


def _whole_sentences(answer: str) -> list[str]:
    """The sentences of an answer; a quotation belongs to the sentence around it."""
    return sentences(_QUOTED.sub(lambda quote: _ENDS.sub(",", quote[0]), answer))
