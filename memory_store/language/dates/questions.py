"""The days a question asks about. Conservative: a wrong range is worse than none."""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from datetime import date, timedelta

from memory_store.language.dates.found import Found
from memory_store.language.dates.pack import KINDS, pack_of
from memory_store.language.dates.reading import Read, pack_for, read
from memory_store.language.languages import ENGLISH
from memory_store.language.sentences import LONGEST_READ
from memory_store.time.types import Precision, Relation, TimeExpression, TimeRange

_DAY = timedelta(days=1)
# Nobody is asked about their own days before that.
_LIFETIME = timedelta(days=36525)
_UNIT = r"(?:second|minute|hour|day|night|week|weekend|month|year|decade)s?"
# The answer is a length of time or an age: the dates in it are ends, not where to look.
_DURATION = re.compile(
    rf"\bhow\s+(?:long|much\s+time)\s+(?:ago|have|has|had|since|until|till|before|after|between|is\s+it"
    rf"|was\s+it|it\s+has|do\s+i\s+have|does\s+it|did\s+it\s+take|passed|will|would|until|left)\b"
    rf"|\b(?:how\s+many|how\s+much|number\s+of)\s+(?:\w+\s+)?{_UNIT}\s+(?:\w+\s+){{0,2}}"
    rf"(?:ago|passed|elapsed|between|since|before|after|until|till|from|left|older|younger|old"
    rf"|earlier|later|apart|did\s+it\s+take|does\s+it\s+take|has\s+it|had\s+it|is\s+it|was\s+it|have\s+i\s+been"
    rf"|has\s+\w+\s+been|had\s+i)\b"
    rf"|\bhow\s+old\b|\bhow\s+(?:far\s+apart|soon)\b"
    rf"|\b(?:difference|gap|interval|time)\s+(?:in\s+{_UNIT}\s+)?between\b|\bwhat\s+age\b",
    re.I,
)
# The same, told by two things of which one comes anywhere after the other.
_DURATION_BETWEEN = (
    (
        re.compile(r"\bhow\s+long\b", re.I),
        re.compile(r"\b(?:since|between|before|after|until)\b", re.I),
    ),
    (
        re.compile(rf"\bhow\s+many\s+{_UNIT}\b", re.I),
        re.compile(r"\b(?:between|since|passed|elapsed)\b", re.I),
    ),
)
# "What do I do on Fridays" without the s: the present tense asks for a habit.
_PRESENT = re.compile(r"\b(?:do|does)\s+(?:i|you|we|my|our|the|it|usually)\b(?!\s+have\b)", re.I)
_ASKS_PAST = re.compile(
    r"\b(?:did|was|were|had|remind|recommended|suggested|mentioned|told|said|discussed|talked)\b",
    re.I,
)
_ASKS_PLANS = re.compile(r"\b(?:plan|plans|planned|planning|schedule|scheduled|booked)\b", re.I)
_SENTENCE = re.compile(r"[^.?!]*(?:[.](?=\d)[^.?!]*)*[.?!]*\s*")


def time_range_of(question: str, today: date) -> TimeRange | None:
    """The range of days an English question is about, or None where it names none or asks for a
    length.

    `today` is the question date. "since", "after" and "before" give ranges that end today, or are
    open at one end; several expressions give the days from the first to the last of them where
    these lie side by side or name single days, else None.
    """
    question = question[:LONGEST_READ]
    if _asks_duration(question):
        return None
    found = read(question, today, pack_of(ENGLISH))
    if found is None:
        return None
    asked = _Asked(question, found)
    meant = [found.expression(item) for item in found.found if asked.may_mean(item)]
    ranges = [_RANGE_OF[e.relation](e, today) for e in _in_question(meant, question, today)]
    if len(ranges) <= 1:
        return ranges[0] if ranges else None
    return _combined(ranges)


def time_range(question: str, asked_on: date) -> TimeRange | None:
    """The same in the language of the question; None where that is not clear. In other languages
    than English also where it names several stretches of days."""
    pack = pack_for(question)
    if pack is None:
        return None
    if pack.is_english:
        return time_range_of(question, asked_on)
    found = read(question, asked_on, pack)
    if found is None or KINDS["length"] in found.reading.line.letters:
        return None
    expressions = [found.expression(item) for item in found.found]
    if len({(e.first, e.last) for e in expressions}) != 1:
        return None
    return _on(expressions[0], asked_on)


def _asks_duration(question: str) -> bool:
    if _DURATION.search(question):
        return True
    firsts = ((first.search(question), then) for first, then in _DURATION_BETWEEN)
    return any(found and then.search(question, found.end()) for found, then in firsts)


_SINGLED_OUT = frozenset("last this next past coming ago".split())
_RECURS = frozenset("weekday weekday_plural holiday single season".split())
_SINGLE = frozenset("single holiday".split())


class _Asked:
    """A question, and what of it decides whether its expressions are what it asks for."""

    def __init__(self, question: str, found: Read) -> None:
        self._found = found
        asks_past = _ASKS_PAST.search(question) is not None
        self._only_past = asks_past and not _ASKS_PLANS.search(question)
        self._is_present = not asks_past and _PRESENT.search(question) is not None

    def may_mean(self, item: Found) -> bool:
        """Whether the days of a find may be those asked about."""
        today, span = self._found.reading.today, item.span
        if span is None or item.relation is Relation.FOR or today - span.first > _LIFETIME:
            return False
        if span.first > today and self._only_past:
            return False
        if span.precision not in (Precision.DAY, Precision.SEASON):
            return True
        if self._found.has(item, _SINGLED_OUT) or not self._found.has(item, _RECURS):
            return True
        is_usual = self._is_present and not self._found.has(item, _SINGLE)
        return not is_usual and not self._found.reading.cues.is_habit(item.start)


def _in_question(expressions: list[TimeExpression], text: str, today: date) -> list[TimeExpression]:
    """Expressions of the sentences that ask; else those of the past in the other sentences."""
    asking = [m.span() for m in _SENTENCE.finditer(text) if m[0].rstrip().endswith("?")]
    starts = [start for start, _ in asking]
    inside = [e for e in expressions if _is_within(e.start, asking, starts)]
    if inside or not asking:
        return inside or expressions
    return [e for e in expressions if e.last <= today]


def _is_within(position: int, stretches: Sequence[tuple[int, int]], starts: Sequence[int]) -> bool:
    """Whether a position lies in one of the stretches, which are in order."""
    place = bisect_right(starts, position) - 1
    return place >= 0 and position < stretches[place][1]


def _on(e: TimeExpression, today: date) -> TimeRange:
    return TimeRange(e.first, e.last, e.precision, e.text)


def _since(e: TimeExpression, today: date) -> TimeRange:
    return TimeRange(e.first, max(today, e.last), Precision.SPAN, e.text)


def _until(e: TimeExpression, today: date) -> TimeRange:
    return TimeRange(None, e.last, Precision.SPAN, e.text)


def _before(e: TimeExpression, today: date) -> TimeRange:
    return TimeRange(None, e.first - _DAY, Precision.SPAN, e.text)


def _after(e: TimeExpression, today: date) -> TimeRange:
    first = e.last + _DAY
    return TimeRange(first, today if first <= today else None, Precision.SPAN, e.text)


_RANGE_OF: dict[Relation, Callable[[TimeExpression, date], TimeRange]] = {
    Relation.ON: _on,
    Relation.SINCE: _since,
    Relation.UNTIL: _until,
    Relation.BEFORE: _before,
    Relation.AFTER: _after,
}


def _combined(ranges: list[TimeRange]) -> TimeRange | None:
    """From the first day to the last of ranges that belong together, else None."""
    bounded = [(r.first, r.last) for r in ranges if r.first is not None and r.last is not None]
    if len(bounded) < len(ranges):
        return _crossed(ranges)
    bounded = _narrowest(bounded)
    reach = bounded[0][1]
    longest = max((last - first for first, last in bounded), default=_DAY)
    for first, last in bounded:
        if first - reach > max(longest, 14 * _DAY) + _DAY:
            return None
        reach = max(reach, last)
    same = {r.precision for r in ranges}
    precision = same.pop() if len(same) == 1 and len(set(bounded)) == 1 else Precision.SPAN
    return TimeRange(bounded[0][0], reach, precision, " … ".join(r.text for r in ranges))


def _crossed(ranges: list[TimeRange]) -> TimeRange | None:
    """The days all ranges share ("after March 5 and before April"), if they share any."""
    firsts = [r.first for r in ranges if r.first is not None]
    lasts = [r.last for r in ranges if r.last is not None]
    first, last = max(firsts, default=None), min(lasts, default=None)
    if first is not None and last is not None and first > last:
        return None
    return TimeRange(first, last, Precision.SPAN, " … ".join(r.text for r in ranges))


def _narrowest(ranges: Iterable[tuple[date, date]]) -> list[tuple[date, date]]:
    """The ranges that have no other one in them, in order."""
    found: list[tuple[date, date]] = []
    # Those that begin no earlier come first: of them the one that ends first decides.
    for first, last in sorted(set(ranges), key=lambda days: (-days[0].toordinal(), days[1])):
        if not found or last < found[-1][1]:
            found.append((first, last))
    return found[::-1]
