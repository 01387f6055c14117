"""Time expressions in a text, read against a reference day, and the days a statement talks about.

Own rules come first; dateparser reads what they leave of English. Precise words give precise days;
words that people round give all days they may mean. All functions are pure; "today" is always an
argument.
"""

import re
import threading
from bisect import bisect_left
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from functools import cache
from itertools import islice

from memory_store._spans import Precision, Relation, Span, TimeExpression, one_day
from memory_store._types import Days
from memory_store.language.dates.around import composed
from memory_store.language.dates.found import FoundDays, ReadLine
from memory_store.language.dates.line import line_of
from memory_store.language.dates.named import named
from memory_store.language.dates.pack import FILES, Pack, pack_of, pattern, split
from memory_store.language.dates.parts import AROUND
from memory_store.language.languages import ENGLISH, languages_of, word_table, wording
from memory_store.language.sentences import LONGEST_READ

# Quoted titles, which may look like dates.
_QUOTED = re.compile(
    r"\"[^\"\n]{1,80}\"|“[^”\n]{1,80}”|(?<![\w])['‘](?!\d0s)(?=\w)[^\n]{0,80}?\w?[?!.]?['’](?!\w)"
)
_KANA = re.compile(r"[\u3040-\u30ff]")
# Texts of other languages are read up to here.
_LONGEST_OTHER = 2000
# "2023", "5/3", "4th", "'22", "1980s": numbers that may name a day without a word.
_NUMERIC = re.compile(r"\d(?:\d{3}|\d?[-/.]\d|\d?(?:st|nd|rd|th)|0'?s)|\d[’']?s\b|\bq\d\b", re.I)
_WORD = re.compile(r"[^\W\d_]+")
_NAMES = frozenset("single holiday weekday weekday_plural month season decade quarter ago".split())
_UNITS = frozenset("unit units weekend weekends hour night nights time_of_day".split())
_BESIDE_UNITS = frozenset("last past this next coming previous in from the".split())


@dataclass(frozen=True, slots=True)
class ReadText:
    """A text as it was read: its line, and the finds that name days, in order."""

    text: str
    reading: ReadLine
    found: tuple[FoundDays, ...]

    def expression(self, item: FoundDays) -> TimeExpression:
        """A find as an expression of the text. Raises `ValueError` for a find without days."""
        line, span = self.reading.line, item.span
        if span is None:
            raise ValueError("a find without days is no expression")
        start, end = line.starts[item.start], line.ends[item.end - 1]
        words = self.text[start:end]
        return TimeExpression(
            span.first, span.last, span.precision, words, start, item.relation, item.rolling
        )

    def has(self, item: FoundDays, kinds: frozenset[str]) -> bool:
        """Whether a word of one of the kinds, or a digit, is in a find."""
        line = self.reading.line
        return any(
            line.kind(place, *kinds) or any(map(str.isdecimal, line.words[place]))
            for place in range(item.start, item.end)
        )


def read(text: str, today: date, pack: Pack) -> ReadText | None:
    """Read the days that a text names; None if a fast check of its words finds no hint of any."""
    text = text[: LONGEST_READ if pack.is_english else _LONGEST_OTHER]
    if pack.is_english and not _may_name_a_day(text, pack):
        return None
    plain = text.replace("’", "'")
    if any(mark in text for mark in "\"“'‘"):
        plain = _QUOTED.sub(lambda match: " " * len(match[0]), plain)
    reading = ReadLine(line_of(plain, today, pack))
    selected = named(reading)
    try:
        found = composed(selected, reading)
    except (OverflowError, ValueError):
        found = []  # "this March" in the last year of the calendar
    if pack.is_english:
        found += _left_over(reading, selected)
    return ReadText(text, reading, tuple(sorted(found, key=lambda item: item.start)))


def _may_name_a_day(text: str, pack: Pack) -> bool:
    names, units, beside = _hints(pack)
    words = set(_WORD.findall(text.lower()))
    if not words.isdisjoint(names) or _NUMERIC.search(text):
        return True
    return not words.isdisjoint(units) and not words.isdisjoint(beside)


@cache
def _hints(pack: Pack) -> tuple[frozenset[str], frozenset[str], frozenset[str]]:
    """Words of which a text that names a day has some: a name, or a unit and a word beside it. The
    longest word of a phrase stands for the phrase."""

    def some(kinds: frozenset[str]) -> frozenset[str]:
        phrases = (
            (word, *one.rest)
            for word, meanings in pack.phrases.items()
            for one in meanings
            if one.kind in kinds
        )
        return frozenset(max(words, key=len) for words in phrases)

    beside = some(_BESIDE_UNITS)
    return some(_NAMES), some(_UNITS), beside


def _left_over(reading: ReadLine, found: list[FoundDays]) -> list[FoundDays]:
    line = reading.line
    rest = list(line.text)
    for item in found:
        start, end = line.starts[item.start], line.ends[item.end - 1]
        rest[start:end] = " " * (end - start)
    return [
        FoundDays(bisect_left(line.starts, start), bisect_left(line.starts, end), span)
        for start, end, span in _search_rest("".join(rest), reading.today)
    ]


# dateparser knows forms that the grammar does not, but reads "may", "sat", "second", "we" and "now"
# as dates. So it only gets stretches with a number beside the name of a month or before "ago", and
# its finds must have a number and a word. Each takes 20 ms, so only the first ones are tried.
_MONTH_NAMES = split("|".join(word_table("english", "days")["months"]))
_MONTH = (
    "(?:" + "|".join(sorted(map(str.capitalize, _MONTH_NAMES), key=len, reverse=True)) + r")\b\.?"
)
# The lengths are limited, as longer words and stretches are no dates.
_CANDIDATE = re.compile(
    rf"\b\d\w{{0,9}}[\s-]+{_MONTH}(?:[\s,'-]{{1,3}}\d\w{{0,9}})?|\b{_MONTH}(?:[\s,'-]{{1,3}}\d\w{{0,9}}){{1,2}}"
    r"|\b\d{1,4}\s?(?:d|w|mo|m|y|yr)s?\s+ago\b"
)
_MOST_CANDIDATES = 16
# dateparser keeps settings and languages for all calls, and texts are read in more than one thread.
_one_at_a_time = threading.Lock()
# The days of a long life. People do not talk of dates further back, or over a sixth of it ahead.
_LIFE = 45_000


def _search_rest(text: str, today: date) -> list[tuple[int, int, Span]]:
    """Start, end and days of what dateparser finds in text the grammar left over."""
    candidates = list(islice(_CANDIDATE.finditer(text), _MOST_CANDIDATES))
    if not candidates:
        return []
    from dateparser.search import search_dates  # 0.1 s, and few texts need it

    base = {"RELATIVE_BASE": datetime.combine(today, time(12)), "PREFER_DATES_FROM": "past"}
    settings = base | {"RETURN_AS_TIMEZONE_AWARE": False}
    found = []
    for candidate in candidates:
        with _one_at_a_time:
            hits = search_dates(candidate[0], languages=["en"], settings=settings, add_period=True)
        for words, moment, period in hits or []:
            day = moment.date()
            named = any(map(str.isdecimal, words)) and any(map(str.isalpha, words))
            if named and period != "time" and -_LIFE < (day - today).days < _LIFE // 6:
                start = candidate.start() + max(0, candidate[0].find(words))
                found.append((start, start + len(words), AROUND.get(period, one_day)(day)))
    return found


# "before Friday" and "after Friday" do not say on which day something happened.
_NO_DAY = (Relation.BEFORE, Relation.AFTER)
_SINGLED_OUT = frozenset("last this next past coming ago single".split())


def event_days(statement: str, said_on: datetime | date, pack: Pack) -> tuple[Days, ...]:
    """The days named in a statement, in its order, each once; plans count like events.

    "since March" and "until Friday" give the day named. Habits ("every Monday"), lengths ("for
    the past two weeks"), ages, clock times and whole decades give none. An instant counts by the
    day of its own zone.
    """
    found = read(statement, _day(said_on), pack)
    if found is None:
        return ()
    events = (found.reading.told(item) for item in found.found if _names_an_event(item, found))
    return tuple(dict.fromkeys(Days(span.first, span.last) for span in events if span))


def pack_for(text: str) -> Pack | None:
    """The words of the language of a text; None if its language is not clear or cannot be read."""
    languages = languages_of(text)
    if "CJK" in languages:
        return pack_of("ja" if _KANA.search(text) else "zh")
    read_too = languages & FILES.keys()
    if ENGLISH in languages and len(languages) > 1:
        return None
    return pack_of(read_too.pop()) if read_too else None


def _names_an_event(item: FoundDays, found: ReadText) -> bool:
    if item.relation in _NO_DAY or item.span is None or item.span.precision is Precision.DECADE:
        return False
    reading, line = found.reading, found.reading.line
    if not found.has(item, _SINGLED_OUT) and reading.is_habit(item.start):
        return False
    for_how_long = line.kind(item.start - 1, "for") or line.kind(item.start, "for")
    return not (item.rolling and for_how_long)


def expression_at(
    text: str, start: int, end: int, said_on: datetime | date
) -> TimeExpression | None:
    """The expression at these characters of an English text or right behind them, if any."""
    found = read(text, _day(said_on), pack_of(ENGLISH))
    behind = end + len(text[end:]) - len(text[end:].lstrip())
    expressions = [found.expression(one) for one in found.found if one.span] if found else []
    near = (one for one in expressions if one.start <= behind < one.start + len(one.text))
    return next(near, None)


# Expressions that count from the day they were said on, whatever the sentence is about.
_COUNTED = pattern(
    "(?:on|since|until|by|for|during|over|in|from|before|after|around)? the?"
    "(?: (?P<single>single) | counted (?P<days>unit|units) ago"
    "| last (?:weekend|weekday|(?P<last>unit)) | next (?P<next>unit)) any_time?"
)
_CALENDAR = ("week", "month", "year")
# Every such text has one of these words, and looking for them is a thousand times as fast.
_MAY_COUNT = wording("time.may_count")


def counted_days(text: str, said_on: datetime | date) -> list[tuple[str, Days]]:
    """The words of an English text that count from the day they were said on, with their days.

    Left out are days that depend on a verb ("on Friday"), days that people count in two ways ("next
    Friday"), rounded numbers ("two weeks ago"), and words that name the day itself ("today").
    """
    found = read(text, _day(said_on), pack_of(ENGLISH)) if _MAY_COUNT.search(text) else None
    if found is None:
        return []
    expressions = [found.expression(item) for item in found.found if _counts(item, found)]
    return [(e.text, Days(e.first, e.last)) for e in expressions]


# Expressions such as "this Friday" and "next Friday".
_PICKED = pattern(
    "(?:on|since|until|by|for|from|before|after)? the? (?:(?P<next>next)|this|coming)"
    " any_weekday any_time?"
)
_MAY_PICK = wording("time.before_weekday")
_WEEK = timedelta(days=7)


def picked_weekdays(text: str, said_on: datetime | date) -> list[tuple[str, tuple[date, ...]]]:
    """The words of an English text that name a weekday ahead ("next Friday"), each with its day. If
    the weekday is still to come in the current week, "next" means that one to some people and the
    one after to others, so both are given. Days that may be past ("this Monday") are left out."""
    today = _day(said_on)
    found = read(text, today, pack_of(ENGLISH)) if _MAY_PICK.search(text) else None
    if found is None:
        return []
    picked: list[tuple[str, tuple[date, ...]]] = []
    for item in found.found:
        match = _PICKED.fullmatch(found.reading.line.letters, item.start, item.end)
        if match is None or item.span is None or item.span.first <= today:
            continue
        day = item.span.first
        is_near = bool(match["next"]) and day - _WEEK > today
        picked.append((found.expression(item).text, (day - _WEEK, day) if is_near else (day,)))
    return picked


def _counts(item: FoundDays, found: ReadText) -> bool:
    line, span = found.reading.line, item.span
    match = _COUNTED.fullmatch(line.letters, item.start, item.end)
    if match is None or span is None or item.rolling:
        return False
    if span.precision is Precision.DAY and span.first != span.last:
        return False
    if match["single"]:
        return bool(line.values[match.start("single")] != (0, "day"))
    if match["days"]:
        return bool(line.values[match.start("days")] == "day")
    units = [line.values[match.start(name)] for name in ("last", "next") if match[name]]
    return all(unit in _CALENDAR for unit in units)


def _day(instant: datetime | date) -> date:
    return instant.date() if isinstance(instant, datetime) else instant
