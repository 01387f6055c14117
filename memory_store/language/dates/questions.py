"""The days a question asks about. Conservative: a wrong range is worse than none."""

from bisect import bisect_left
from collections.abc import Iterable
from datetime import date, timedelta

from memory_store._spans import DAY, Precision, Relation, TimeExpression, TimeRange
from memory_store.language.dates.found import FoundDays
from memory_store.language.dates.pack import KINDS, Pack
from memory_store.language.dates.reading import ReadText, read
from memory_store.language.languages import word_list, wording
from memory_store.language.sentences import LONGEST_READ

# Questions are about days of the user's life, so none is longer ago than this.
_LIFETIME = timedelta(days=36525)
_PAST, _PLANS, _PRESENT = (
    frozenset(word_list("english", f"time.asks_{name}")) for name in ("past", "plans", "of")
)
_ENDS = frozenset(".?!…")


def time_range(question: str, today: date, pack: Pack) -> TimeRange | None:
    """The range of days a question is about, or None if it names none or asks for a length.

    `today` is the question date. "since", "after" and "before" give ranges that end today or are
    open at one end. Several expressions that lie near to each other give the days from the first to
    the last of them, else None; in other languages than English, different ones give None.
    """
    question = question[:LONGEST_READ]
    found = read(question, today, pack)
    if found is None or _asks_length(question, found):
        return None
    meant = _Asked(found).meant() if pack.is_english else found.found
    expressions = [found.expression(item) for item in meant]
    ranges = [_range_of(e, today) for e in expressions]
    if pack.is_english:
        return _combined(ranges) if len(ranges) > 1 else next(iter(ranges), None)
    are_one = len({(e.first, e.last) for e in expressions}) == 1
    return ranges[0] if are_one else None


def _asks_length(question: str, found: ReadText) -> bool:
    """Whether the question asks for a length of time or an age: its dates then say nothing of where
    to look."""
    line = found.reading.line
    if not line.pack.is_english:
        return KINDS["length"] in line.letters
    if wording("time.asks_length").search(question):
        return True
    # The same, in two parts of which the second may come anywhere after the first.
    firsts = ((wording(f"time.{one}").search(question), one) for one in ("long", "many"))
    return any(
        found and wording(f"time.{one}_then").search(question, found.end()) for found, one in firsts
    )


_SINGLED_OUT = frozenset("last this next past coming ago".split())
_RECURS = frozenset("weekday weekday_plural holiday single season".split())
_SINGLE = frozenset("single holiday".split())


class _Asked:
    """A question, with the words that decide which of its expressions it asks about."""

    def __init__(self, found: ReadText) -> None:
        self._found = found
        self._words = found.reading.line.words
        words = set(self._words)
        asks_past = not words.isdisjoint(_PAST)
        self._only_past = asks_past and words.isdisjoint(_PLANS)
        self._is_present = not asks_past and any(map(self._asks_now, range(len(self._words))))
        # The places where sentences end.
        self._ends = [n for n, word in enumerate(self._words) if word in _ENDS]

    def _asks_now(self, place: int) -> bool:
        """Whether the present tense asks for a habit: "What do I do on Fridays"."""
        do, who, what, *_ = [*self._words[place : place + 3], "", ""]
        return do in ("do", "does") and who in _PRESENT and what != "have"

    def meant(self) -> list[FoundDays]:
        """The finds in sentences that ask; if there are none, finds of the past in the others."""
        meant = [item for item in self._found.found if self._may_mean(item)]
        inside = [item for item in meant if self._is_asked(item)]
        if inside or "?" not in self._words:
            return inside or meant
        today = self._found.reading.today
        return [item for item in meant if item.span and item.span.last <= today]

    def _may_mean(self, item: FoundDays) -> bool:
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
        return not is_usual and not self._found.reading.is_habit(item.start)

    def _is_asked(self, item: FoundDays) -> bool:
        """Whether the sentence of a find ends in a question mark."""
        n = bisect_left(self._ends, item.start)
        return n < len(self._ends) and "?" in self._words[self._ends[n] : self._ends[n] + 3]


def _range_of(e: TimeExpression, today: date) -> TimeRange:
    """The range that an expression means with its preposition."""
    ends: dict[Relation, tuple[date | None, date | None]] = {
        Relation.SINCE: (e.first, max(today, e.last)),
        Relation.UNTIL: (None, e.last),
        Relation.BEFORE: (None, e.first - DAY if e.first > date.min else e.first),
        Relation.AFTER: _after(e.last, today),
    }
    if e.relation not in ends:
        return TimeRange(e.first, e.last, e.precision, e.text)
    return TimeRange(*ends[e.relation], Precision.SPAN, e.text)


def _after(last: date, today: date) -> tuple[date, date | None]:
    first = last + DAY if last < date.max else last
    return first, today if first <= today else None


def _combined(ranges: list[TimeRange]) -> TimeRange | None:
    """The days from the first to the last of ranges that lie near to each other, else None."""
    bounded = [(r.first, r.last) for r in ranges if r.first is not None and r.last is not None]
    if len(bounded) < len(ranges):
        return _crossed(ranges)
    bounded = _narrowest(bounded)
    reach = bounded[0][1]
    longest = max((last - first for first, last in bounded), default=DAY)
    for first, last in bounded:
        if first - reach > max(longest, 14 * DAY) + DAY:
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
    # Sorted by the latest beginning, then by the earliest end.
    for first, last in sorted(set(ranges), key=lambda days: (-days[0].toordinal(), days[1])):
        if not found or last < found[-1][1]:
            found.append((first, last))
    return found[::-1]
