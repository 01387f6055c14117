"""The finds of rules in a line, before their surroundings are read, and the tense around them."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property
from itertools import accumulate
from typing import Any

from memory_store._spans import Precision, Recurring, Relation, Span, Which
from memory_store.language.dates.line import Line
from memory_store.language.languages import word_list


def _words(name: str) -> frozenset[str]:
    return frozenset(word_list("english", f"time.{name}"))


_PAST, _NOT_PAST, _AHEAD = _words("past"), _words("not_past"), _words("ahead")
_PLANNED, _SAME_FORM, _PLAIN = _words("planned"), _words("same_form"), _words("plain")
_ARRANGED, _PUT_OFF, _HABIT = _words("arranged"), _words("put_off"), _words("habit")
_OF_A_NOUN, _NOT_YET, _DOERS = _words("of_a_noun"), _words("not_yet"), _words("doers")
_PLANNERS, _WOULD, _SHORT_IS = _words("planners"), _words("would"), _words("short_is")
_WAYS = _words("ways")
_DONE = _PLANNED | _words("done")
# A word for putting off may stand this many tokens before the day.
_PUT_OFF_WINDOW = 6
# Days up to a season away are close.
_CLOSE = timedelta(days=92)
# Kinds of words that make a date of the day, or the longer span, behind them.
_BOUNDS = frozenset("since until before after by from around".split())
ANCHORS_OF_DAYS = _BOUNDS | {"on", "for"}
ANCHORS_OF_SPANS = _BOUNDS | {"in", "during", "throughout", "over"}
ANCHORS_OF_WEEKENDS = (_BOUNDS - {"by", "from", "around"}) | {"over", "on", "at", "during", "for"}
ANCHORS_OF_OCCASIONS = (_BOUNDS - {"from"}) | {"on", "at", "over", "during", "for", "celebrate"}
NEVER: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class FoundDays:
    """A stretch of a line and the days it names.

    `span` is None for words that only look like a date (a habit, a title): they keep other rules
    from matching there. `recurring` is set if the span was chosen among recurring days; the
    surroundings may still narrow it ("March" by "of last year"). `needs` are the kinds of words
    ("in", "since") of which one must stand before it, or it names no days; None if it needs none.
    `occasion` marks holidays.
    """

    start: int
    end: int
    span: Span | None
    recurring: Recurring | None = None
    needs: frozenset[str] | None = None
    occasion: bool = False
    rolling: bool = False
    relation: Relation = Relation.ON
    looks_back: bool = False


class ReadLine:
    """A line with its verbs and clauses, which tell how its days are meant. They are read once,
    however many days it names, and only in English. Places are numbers of tokens.
    """

    def __init__(self, line: Line) -> None:
        self.line, self.today = line, line.today
        self._words: list[str] = line.words
        self._habits: dict[int, bool] = {}

    def which(self, place: int) -> Which:
        """Whether the text looks back or ahead at the place."""
        return Which.FUTURE if self._looks_ahead(place) else Which.PAST

    def chosen(self, recurring: Recurring, place: int) -> Which:
        """Which occurrence the text means at the place. Yearly days without a year mean the nearest
        ones, unless a verb of their clause says otherwise; verbs of other clauses only count if the
        nearest is far away. For days of any month, verbs of other clauses never count."""
        if recurring.period is Precision.MONTH and self._verbs[0] and self.tense(place) is None:
            return Which.NEAREST
        if recurring.period is not Precision.YEAR:
            return self.which(place)
        ahead = self.tense(place)
        if ahead is None:
            nearest = recurring.which(Which.NEAREST, self.today)
            if (
                nearest is None
                or max(nearest.first - self.today, self.today - nearest.last) > _CLOSE
            ):
                ahead = self._tense_around(place)
        return Which.NEAREST if ahead is None else Which.FUTURE if ahead else Which.PAST

    def told(self, item: FoundDays) -> Span | None:
        """The days of a find in a statement. A note without a verb, such as "party on the 20th",
        means the nearest day, as it may well lie ahead."""
        is_noted = item.recurring and item.recurring.period is Precision.MONTH
        if not (is_noted and self.line.pack.is_english) or self._verbs[0]:
            return item.span
        return item.recurring.which(Which.NEAREST, self.today) if item.recurring else None

    def picked(
        self,
        start: int,
        end: int,
        recurring: Recurring,
        needs: frozenset[str] | None = None,
        occasion: bool = False,
    ) -> FoundDays | None:
        """One of some recurring days, chosen by the tense of the text."""
        span = recurring.which(self.chosen(recurring, start), self.today)
        return FoundDays(start, end, span, recurring, needs, occasion) if span else None

    def _looks_ahead(self, place: int) -> bool:
        """Whether the verb nearest before the place (else the first after it) looks ahead.

        Without a verb the text looks back, since people mostly tell what happened.
        """
        places, ahead = self._verbs
        return bool(places) and ahead[max(0, bisect_left(places, place) - 1)]

    def tense(self, place: int) -> bool | None:
        """Whether the clause around the place looks ahead (else back), by the verb nearest before
        it, else the first after it. None if it has no verb or tells of a change of dates."""
        if self._is_put_off(place):
            return None
        begin, end = _around(self._clauses, place, len(self._words))
        places, ahead = self._telling
        n = bisect_left(places, place)
        if n and places[n - 1] >= begin:
            return ahead[n - 1]
        return ahead[n] if n < len(places) and places[n] < end else None

    def _tense_around(self, place: int) -> bool | None:
        """Whether the sentence looks ahead (else back); None unless all its verbs agree."""
        begin, end = _around(self._sentences, place, len(self._words))
        places = self._telling[0]
        first, last = bisect_left(places, begin), bisect_left(places, end)
        ahead = self._sums[last] - self._sums[first]
        return None if first == last or 0 < ahead < last - first else ahead > 0

    def announces(self, place: int) -> bool:
        """Whether the words before the place announce something: "in two weeks" is then a date."""
        return self._plain_end <= place and self._looks_ahead(place)

    def is_habit(self, place: int) -> bool:
        """Whether the clause around the place tells what happens again and again."""
        begin, end = _around(self._clauses, place, len(self._words))
        if not self.line.pack.is_english:
            return False
        if begin not in self._habits:
            self._habits[begin] = any(map(self._tells_a_habit, range(begin, end)))
        return self._habits[begin]

    def _is_put_off(self, place: int) -> bool:
        """Whether the words before a day move something to it: "moved to June 12"."""
        last = place - 1 - (self._word(place - 1) == "the")
        if not self.line.kind(last, "to", "until", "for"):
            return False
        for n in range(last - 1, max(-1, last - _PUT_OFF_WINDOW), -1):
            if self.line.kind(n, "stop"):
                return False
            if self._words[n] in _PUT_OFF:
                return True
        return False

    def _tells_a_habit(self, place: int) -> bool:
        if self._words[place] in _HABIT:
            return True
        line, word = self.line, self._word(place + 1)
        if self._words[place] in ("once", "twice", "times"):
            return word in ("a", "per", "each", "every")
        if self._words[place] not in ("each", "every"):
            return False
        return any(line.kind(n, "unit") for n in (place + 1, place + 2))

    @cached_property
    def _verbs(self) -> tuple[list[int], list[bool]]:
        """The place of each verb, and whether it looks ahead."""
        places: list[int] = []
        ahead: list[bool] = []
        if not self.line.pack.is_english:
            return places, ahead
        after = 0
        for place in range(len(self._words)):
            way = self._way(place) if place >= after else None
            if way is not None:
                places.append(place)
                ahead.append(way)
                after = place + self._length(place)
        return places, ahead

    def _way(self, place: int) -> bool | None:
        """Whether the word at the place looks ahead (else back); None if it tells nothing."""
        word, before, after = self._words[place], self._word(place - 1), self._word(place + 1)
        if after == "got" and (word in ("have", "has") or word.endswith("'ve")):
            return True
        if before not in _NOT_YET and word not in _NOT_PAST and self._is_past(word, before, place):
            return False
        if word in _AHEAD or word.endswith("'ll"):
            return True
        return (
            (word in _SHORT_IS and self.line.kind(place + 1, "possessive"))
            or (word == "turns" and after.isdecimal())
            or (word == "like" and before in _WOULD)
            or (word == "due" and after != "to")
            or (word in _PLANNED and before in _PLANNERS)
        ) or None

    def _is_past(self, word: str, before: str, place: int) -> bool:
        if word in _PAST or self._length(place) > 1:
            return True
        if len(word) > 3 and word.endswith("ed") and word.isalpha():
            return before not in _OF_A_NOUN
        return word in _SAME_FORM and before in _DOERS

    def _length(self, place: int) -> int:
        """How many words a verb takes: "have got" and "did I have" are one."""
        if self._word(place + 1) == "got":
            return 2
        if self._words[place] in ("did", "didn't"):
            for n in (place + 3, place + 2):
                if self._word(n) in _DONE:
                    return n + 1 - place
        return 1

    def _word(self, place: int) -> str:
        return self._words[place] if 0 <= place < len(self._words) else ""

    @cached_property
    def _telling(self) -> tuple[list[int], list[bool]]:
        """Like `_verbs`, without verbs that only arrange something: "I booked the hall for June 12"
        does not tell whether that day is past."""
        verbs = [v for v in zip(*self._verbs, strict=True) if not self._arranges(v[0])]
        return [place for place, _ in verbs], [ahead for _, ahead in verbs]

    def _arranges(self, place: int) -> bool:
        """Whether a verb only arranges something. In "I moved to Lyon" it tells what was done."""
        word, before, after = self._words[place], self._word(place - 1), self._word(place + 1)
        is_who = not before or before in _DOERS or self.line.kind(place - 1, "stop")
        return word in _ARRANGED and not (is_who and word in _PUT_OFF and after in _WAYS)

    @cached_property
    def _sums(self) -> list[int]:
        """At n: how many of the first n verbs of `_telling` look ahead."""
        return [0, *accumulate(self._telling[1])]

    @cached_property
    def _plain_end(self) -> int:
        """The place after the first plain announcement; behind the text if there is none."""
        for n, word in enumerate(self._words):
            if word in _PLAIN or word.endswith("'ll"):
                return n + 1
            if (word, self._word(n + 1)) in (("going", "to"), ("plan", "to")):
                return n + 2
        return len(self._words) + 1

    @cached_property
    def _clauses(self) -> Sequence[int]:
        """The places of marks between two clauses."""
        line = self.line
        marks = ("comma", "stop", "dash")
        return [
            n
            for n, word in enumerate(self._words)
            if line.kind(n, *marks) or (word in (":", ";") and not line.kind(n, "clock"))
        ]

    @cached_property
    def _sentences(self) -> Sequence[int]:
        """The places of marks between two sentences."""
        line = self.line
        ends = (n for n in range(len(self._words)) if line.kind(n, "stop"))
        return [n for n in ends if n + 1 == len(self._words) or not line.adjoins(n + 1)]


def _around(marks: Sequence[int], place: int, length: int) -> tuple[int, int]:
    """The beginning and the end of the part between two marks around a place."""
    before, after = bisect_right(marks, place - 1), bisect_left(marks, place)
    return marks[before - 1] + 1 if before else 0, marks[after] if after < len(marks) else length


class RuleMatch:
    """A match of a rule: the kinds and values of its groups."""

    def __init__(self, match: re.Match[str], reading: ReadLine) -> None:
        self.start, self.end = match.span()
        self.reading, self.line, self.today = reading, reading.line, reading.today
        self._match = match
        # If a pattern has two alternatives, the groups of the second end in a number.
        self._places = {
            name.rstrip("123"): match.start(name)
            for name, text in match.groupdict().items()
            if text
        }

    def at(self, group: str) -> int:
        """The place of a group; -1 if it did not match."""
        return self._places.get(group, -1)

    def last(self, group: str) -> int:
        """The place of the last token of a group."""
        return self._places[group] + len(self._match.groupdict()[group]) - 1

    def has(self, group: str) -> bool:
        """Whether a group matched anything."""
        return group in self._places

    def value(self, group: str) -> Any:
        """The value that the first word of a group stands for."""
        return self.line.values[self.at(group)] if self.has(group) else None

    def fixed(
        self, span: Span | None, start: int | None = None, rolling: bool = False
    ) -> FoundDays:
        """Days that nothing around the words can change."""
        return FoundDays(self.start if start is None else start, self.end, span, rolling=rolling)

    def picked(self, recurring: Recurring, needs: frozenset[str] | None = None) -> FoundDays | None:
        """One of some recurring days: see `ReadLine.picked`."""
        return self.reading.picked(self.start, self.end, recurring, needs)


Build = Callable[[RuleMatch], FoundDays | None]
Rule = tuple[re.Pattern[str], Build]
"""A pattern over lines, and a function for the days that a match means, or None for none."""
