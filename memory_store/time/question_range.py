"""The days a question asks about. Conservative: a wrong range is worse than none."""

import re
from collections.abc import Callable
from datetime import date, timedelta

from memory_store.time.expressions import time_expressions
from memory_store.time.tense import is_habit
from memory_store.time.types import Precision, Relation, TimeExpression, TimeRange

_DAY = timedelta(days=1)
# Nobody is asked about their own days before that.
_LIFETIME = timedelta(days=36525)
_UNIT = r"(?:second|minute|hour|day|night|week|weekend|month|year|decade)s?"
# The answer is a length of time or an age: the dates in it are ends, not where to look.
_DURATION = re.compile(
    rf"\bhow\s+(?:long|much\s+time)\s+(?:ago|have|has|had|since|until|till|before|after|between|is\s+it"
    rf"|was\s+it|it\s+has|do\s+i\s+have|does\s+it|did\s+it\s+take|passed|will|would|until|left)\b"
    rf"|\bhow\s+long\b.*\b(?:since|between|before|after|until)\b"
    rf"|\b(?:how\s+many|how\s+much|number\s+of)\s+(?:\w+\s+)?{_UNIT}\s+(?:\w+\s+){{0,2}}"
    rf"(?:ago|passed|elapsed|between|since|before|after|until|till|from|left|older|younger|old"
    rf"|earlier|later|apart|did\s+it\s+take|does\s+it\s+take|has\s+it|had\s+it|is\s+it|was\s+it|have\s+i\s+been"
    rf"|has\s+\w+\s+been|had\s+i)\b"
    rf"|\bhow\s+many\s+{_UNIT}\b.*\b(?:between|since|have\s+passed|had\s+passed|passed|elapsed)\b"
    rf"|\bhow\s+old\b|\bhow\s+(?:far\s+apart|soon)\b"
    rf"|\b(?:difference|gap|interval|time)\s+(?:in\s+{_UNIT}\s+)?between\b|\bwhat\s+age\b",
    re.I | re.S,
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
    """The range of days a question is about, or None where it names none or asks for a length.

    `today` is the question date. "since", "after" and "before" give ranges that end today, or are
    open at one end; several expressions give the days from the first to the last of them where
    these lie side by side or name single days, else None.
    """
    if _DURATION.search(question):
        return None
    expressions = [e for e in time_expressions(question, today) if _asked(e, question, today)]
    ranges = [_RANGE_OF[e.relation](e, today) for e in _in_question(expressions, question, today)]
    if len(ranges) <= 1:
        return ranges[0] if ranges else None
    return _combined(ranges)


def _asked(expression: TimeExpression, question: str, today: date) -> bool:
    if expression.relation is Relation.FOR or today - expression.first > _LIFETIME:
        return False
    future = expression.first > today
    if future and _ASKS_PAST.search(question) and not _ASKS_PLANS.search(question):
        return False
    named = re.search(r"\b(?:last|this|next|past|coming|ago|\d)\b|\d", expression.text, re.I)
    coming_again = expression.precision in (Precision.DAY, Precision.SEASON) and named is None
    if coming_again and re.search(r"(?i)day\b|spring|summer|fall|autumn|winter", expression.text):
        return not (is_habit(question, expression.start) or _is_present(question, expression))
    return True


def _is_present(question: str, expression: TimeExpression) -> bool:
    if re.search(r"(?i)yesterday|today|holiday|christmas", expression.text):
        return False
    return _PRESENT.search(question) is not None and not _ASKS_PAST.search(question)


def _in_question(expressions: list[TimeExpression], text: str, today: date) -> list[TimeExpression]:
    """Expressions of the sentences that ask; else those of the past in the other sentences."""
    asking = [m.span() for m in _SENTENCE.finditer(text) if m[0].rstrip().endswith("?")]
    inside = [e for e in expressions if any(a <= e.start < b for a, b in asking)]
    if inside or not asking:
        return inside or expressions
    return [e for e in expressions if e.last <= today]


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
    bounded = sorted(own for own in bounded if not any(_inside(other, own) for other in bounded))
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


def _inside(inner: tuple[date, date], outer: tuple[date, date]) -> bool:
    return inner != outer and outer[0] <= inner[0] and inner[1] <= outer[1]
