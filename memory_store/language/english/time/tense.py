"""Does a sentence look back or ahead where it names a day? "on Friday" alone does not say."""

import re
from bisect import bisect_left, bisect_right
from functools import cached_property

from memory_store.language.english.time.vocabulary import any_of
from memory_store.language.word_lists import word_list

_PAST = word_list("english", "time.past")
_NOT_PAST = word_list("english", "time.not_past")
_AHEAD = word_list("english", "time.ahead")
# "a customized mug" tells of no past.
_ADJECTIVE = r"(?<!\ba\s)(?<!\ban\s)(?<!\bthe\s)(?<!\bmy\s)(?<!\bsome\s)"
# "is getting married" either.
_NOT_YET = r"(?<!\bbe\s)(?<!\bget\s)(?<!\bgets\s)(?<!\bgetting\s)"
# "We move on Friday": what goes by plan is told in the present.
_PLANNED = r"move|fly|leave|start|travel|meet|marry"
_BY_PLAN = rf"(?:(?<=\bi\s)|(?<=\bwe\s)|(?<=\bthey\s))(?:{_PLANNED})"
# "did I have" is past though "have" is not; "did I plan" asks for what lies ahead.
_DID = rf"did(?:n't)?\s+(?:\w+\s+){{1,2}}(?:have|need|want|{_PLANNED})"
# Verbs whose past is their present: past only right after who did it.
_SAME_FORM = (
    r"(?:(?<=\bi\s)|(?<=\bwe\s)|(?<=\bhe\s)|(?<=\bshe\s)|(?<=\bthey\s))"
    r"(?:set|put|read|cut|hit|quit|let|shut|hurt|cost)"
)
_CUE = re.compile(
    rf"\b(?:(?P<got>(?:have|has|\w+'ve)\s+got)|(?P<past>{_NOT_YET}(?!{any_of(_NOT_PAST)}\b)"
    rf"(?:{_DID}|{any_of(_PAST)}|{_ADJECTIVE}[a-z]{{2,}}ed|{_SAME_FORM})\b)|(?:{any_of(_AHEAD)}|\w+'ll"
    rf"|turns(?=\s+\d)|due(?!\s+to)|{_BY_PLAN})\b)",
    re.I,
)
_PLAIN = re.compile(
    r"\b(?:will|won't|\w+'ll|going\s+to|gonna|i'm|we're|am|is|are|planning|plan\s+to"
    r"|ends|starts|leaves|begins|arrives|expires)\b",
    re.I,
)
_CLAUSE = re.compile(r"[,;:.?!–—]|\s-\s")
_SENTENCE = re.compile(r"[.?!…]+(?=\s|$)|\n")
# "I booked the hall for June 12" tells of the past, and nothing of that day; "moved to June 12"
# neither.
_ARRANGED = re.compile(rf"{any_of(word_list('english', 'time.arranged'))}\b", re.I)
_PUT_OFF = re.compile(
    r"\b(?:moved|pushed|put|shifted|changed|brought|rescheduled|postponed|delayed)\b"
    r"[^.;!?]{0,20}?\b(?:to|till|until|for)\s+(?:the\s+)?$",
    re.I,
)
# How far before a day such words may begin, in characters: the text before is not read again.
_PUT_OFF_WINDOW = 64
_HABIT = re.compile(
    r"\b(?:usually|always|normally|typically|often|regularly|generally|sometimes|weekly|daily"
    r"|routine|tend\s+to|(?:once|twice|times)\s+(?:a|per|each|every)|(?:every|each)\s+(?:\w+\s+)?(?:year|month|week|day))\b",
    re.I,
)


_Marks = tuple[list[int], list[int]]


class Cues:
    """What of a text tells how its days are meant. Looked for once, however many days it names."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._habits: dict[int, bool] = {}

    def looks_ahead(self, position: int) -> bool:
        """Whether the verb nearest before the position (else the first after it) looks ahead.

        No verb: it looks back, since people mostly tell what happened.
        """
        starts, ahead = self._verbs
        return bool(starts) and ahead[max(0, bisect_left(starts, position) - 1)]

    def tense(self, position: int) -> bool | None:
        """Whether the clause around the position looks ahead (else back), by the verb nearest
        before it, else the first after it; None where it has none, or tells of a change of
        dates."""
        if _PUT_OFF.search(self._text, max(0, position - _PUT_OFF_WINDOW), position):
            return None
        told = self._told(*_around(self._clauses, position, len(self._text)))
        before = [ahead for start, ahead in told if start < position]
        if before:
            return before[-1]
        return told[0][1] if told else None

    def tense_around(self, position: int) -> bool | None:
        """Whether the sentence looks ahead (else back), where all of its verbs agree."""
        told = self._told(*_around(self._sentences, position, len(self._text)))
        ways = {ahead for _, ahead in told}
        return ways.pop() if len(ways) == 1 else None

    def _told(self, begin: int, end: int) -> list[tuple[int, bool]]:
        """Where the verbs of a part begin, but for those that only arrange something, and whether
        each looks ahead."""
        starts, ahead = self._verbs
        places = range(bisect_left(starts, begin), bisect_left(starts, end))
        return [(starts[n], ahead[n]) for n in places if not _ARRANGED.match(self._text, starts[n])]

    def announces(self, position: int) -> bool:
        """Whether the words before the position plainly announce: "in two weeks" is then a date."""
        return self._plain_end <= position and self.looks_ahead(position)

    def is_habit(self, position: int) -> bool:
        """Whether the clause around the position tells what happens again and again."""
        begin, end = _around(self._clauses, position, len(self._text))
        if begin not in self._habits:
            self._habits[begin] = _HABIT.search(self._text, begin, end) is not None
        return self._habits[begin]

    @cached_property
    def _verbs(self) -> tuple[list[int], list[bool]]:
        """Where each verb begins, and whether it looks ahead."""
        found = [(cue.start(), cue["past"] is None) for cue in _CUE.finditer(self._text)]
        return [start for start, _ in found], [ahead for _, ahead in found]

    @cached_property
    def _plain_end(self) -> int:
        """Where the first plain announcement ends; behind the text without one."""
        found = _PLAIN.search(self._text)
        return found.end() if found else len(self._text) + 1

    @cached_property
    def _clauses(self) -> _Marks:
        """Where each mark between two clauses begins and ends."""
        return _marks(_CLAUSE, self._text)

    @cached_property
    def _sentences(self) -> _Marks:
        """The same of two sentences."""
        return _marks(_SENTENCE, self._text)


def _marks(pattern: re.Pattern[str], text: str) -> _Marks:
    marks = list(pattern.finditer(text))
    return [mark.start() for mark in marks], [mark.end() for mark in marks]


def _around(marks: _Marks, position: int, length: int) -> tuple[int, int]:
    """Where the part around a position begins and ends."""
    starts, ends = marks
    before, after = bisect_right(ends, position), bisect_left(starts, position)
    return ends[before - 1] if before else 0, starts[after] if after < len(starts) else length
