"""Days that a text names in German, Spanish, French, Portuguese, Chinese or Japanese.

The names of days, weekdays, months and units are those of dateparser's tables, and this is the one
module that reads them. Its parser is not asked: it takes milliseconds for each stretch of a text,
knows "vor zwei wochen" and not "la semana pasada" without its article, and takes words for dates.
What goes around the names ("pasado", "vor … wochen") is in the word lists. Where it is not sure,
nothing is read: a weekday alone, a day that only begins or ends something ("seit gestern").
"""

import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cache
from typing import Any

from memory_store.language.languages import NAMES, languages_of
from memory_store.language.word_lists import word_table
from memory_store.time import TimeRange
from memory_store.time.calendar import (
    DAY,
    Which,
    add_months,
    month_of,
    one_day,
    week_of,
    weekly,
    year_of,
    yearly,
)
from memory_store.time.types import Precision, Span

_FILES = {
    **{code: NAMES[code] for code in ("de", "es", "fr", "pt")},
    "zh": "chinese",
    "ja": "japanese",
}
_UNSPACED = ("zh", "ja")
_KANA = re.compile(r"[\u3040-\u30ff]")
_UNITS = ("day", "week", "month", "year")
_MONTHS = (
    "january february march april may june july august september october november december"
).split()
_WEEKDAYS = "monday tuesday wednesday thursday friday saturday sunday".split()
_AROUND = {"day": one_day, "week": week_of, "month": month_of, "year": year_of}
# "Two weeks ago" need not be the same weekday.
_ABOUT = {"day": 0, "week": 3, "month": 15, "year": 182}
_RELATIVE = re.compile(r"(in )?(\d+) (day|week|month|year)( ago)?")
# Names of fewer letters are abbreviations, and words of their own ("mar", "so", "do").
_SHORTEST = 4
_LONGEST = 2000

_Read = Callable[[re.Match[str], date], Span | None]


@dataclass(frozen=True, slots=True)
class Named:
    """Days, and the words that name them."""

    span: Span
    text: str
    start: int


def days_in(text: str, today: date) -> list[Named]:
    """The days that a text names, in its order; `today` is when it was said."""
    return [named for reader in _readers(text) for named in reader.read(text[:_LONGEST], today)]


def range_in(question: str, today: date) -> TimeRange | None:
    """The days that a question asks about; None where it names none or several, or asks for a
    length of time."""
    question = question[:_LONGEST]
    readers = _readers(question)
    if any(reader.asks_length(question) for reader in readers):
        return None
    found = [named for reader in readers for named in reader.read(question, today)]
    if len({named.span for named in found}) != 1:
        return None
    span = found[0].span
    return TimeRange(span.first, span.last, span.precision, found[0].text)


def _readers(text: str) -> "list[_Reader]":
    languages = languages_of(text)
    if "CJK" in languages:
        return [_reader("ja" if _KANA.search(text) else "zh")]
    return [_reader(code) for code in languages & _FILES.keys()]


@cache
def _reader(code: str) -> "_Reader":
    return _Reader(code)


class _Reader:
    """How one language names days."""

    def __init__(self, code: str) -> None:
        self._words = word_table(_FILES[code], "days")
        # Imported here because it takes 0.1 s, and English needs none of it.
        from dateparser.languages.loader import default_loader

        self._info: Mapping[str, Any] = default_loader.get_locale(code).info
        self._spaced = code not in _UNSPACED
        self._numbers = {
            self._folded(name): number
            for number, names in enumerate(self._words["numbers"], 1)
            for name in names.split("|")
        }
        self._length = self._compiled("|".join(self._words.get("length", ["(?!)"])))
        self._no_days = [self._compiled(one) for one in self._words["no_days"]]
        article = r"(?:\s+\w{1,3})?\s+"
        up_to = self._bare(_or(self._list("up_to")))
        self._up_to = re.compile(
            rf"(?<!\w)(?:{up_to}){article}$" if self._spaced else rf"(?:{up_to})$", re.I
        )
        self._months = self._names(_MONTHS)
        self._weekdays = self._names(_WEEKDAYS)
        self._units = self._unit_names()
        self._single = self._single_days()
        self._rules: list[tuple[re.Pattern[str], _Read]] = list(self._all_rules())

    def asks_length(self, question: str) -> bool:
        """Whether a question asks for a length of time."""
        return bool(self._length.search(self._folded(question)))

    def read(self, text: str, today: date) -> Iterator[Named]:
        """The days named in a text."""
        left = self._folded(text.replace("’", "'"))
        for pattern in self._no_days:
            left = pattern.sub(_blanked, left)
        found = []
        for pattern, read in self._rules:
            for match in list(pattern.finditer(left)):
                span = read(match, today)
                if span and not self._up_to.search(
                    left[max(0, match.start() - 20) : match.start()]
                ):
                    found.append(Named(span, text[match.start() : match.end()], match.start()))
            left = pattern.sub(lambda match: " " * len(match[0]), left)
        yield from sorted(found, key=lambda named: named.start)

    def _all_rules(self) -> Iterator[tuple[re.Pattern[str], _Read]]:
        number = rf"(?P<number>\d{{1,3}}|{_any(self._numbers)})"
        unit = rf"(?P<unit>{_any(self._units)})"
        month, weekday = _any(self._months), rf"(?P<weekday>{_any(self._weekdays)})"
        yield re.compile(r"(?<!\d)(?P<year>\d{4})-(?P<month>\d\d)-(?P<day>\d\d)(?!\d)"), self._date
        if self._spaced:
            numeric = r"(?<!\d)(?P<day>\d{1,2})[./](?P<month>\d{1,2})[./](?P<year>\d{4})(?!\d)"
            year = r"(?:\.?\s+(?:de\s+|del\s+)?(?P<year>(?:19|20)\d\d)(?!\d))?"
            yield re.compile(numeric), self._date
            written = rf"(?P<day>\d{{1,2}})(?:er|\.|º)?\s+(?:de\s+)?(?P<month>{month}){year}"
            yield self._compiled(written), self._date
            yield self._compiled(rf"{self._words['in_month']} (?P<month>{month}){year}"), self._date
        else:
            digits = r"\d{1,2}|[一二三四五六七八九十]{1,3}"
            year = r"(?:(?P<year>(?:19|20)\d\d)\s*年\s*)?"
            day = rf"(?P<day>{digits})\s*[日号號]"
            yield (
                re.compile(rf"{year}(?<![\d一-十])(?P<month>{digits})\s*月\s*(?:{day})?"),
                self._date,
            )
        for name, sign in (("ago", -1), ("ahead", 1)):
            for template in self._words.get(name, ()):
                pattern = template.replace("NUMBER", number).replace("UNIT", unit)
                yield self._compiled(pattern), self._counted(sign)
        space = " " if self._spaced else ""
        for name, step in (("last", -1), ("this", 0), ("next", 1)):
            before, after = _or(self._list(name)), _or(self._list(f"after_{name}"))
            for other, read in ((weekday, self._weekday(step)), (unit, self._unit(step))):
                yield self._compiled(rf"(?:{before}){space}{other}"), read
                yield self._compiled(rf"{other}{space}(?:{after})"), read
        yield self._compiled(rf"(?P<single>{_any(self._single)})"), self._single_day

    def _date(self, match: re.Match[str], today: date) -> Span | None:
        given = match.groupdict()
        month = self._months.get(given["month"]) or self._number(given["month"])
        day = self._number(given.get("day") or "")
        if not 1 <= month <= 12:
            return None

        def of_year(year: int) -> Span | None:
            try:
                first = date(year, month, day or 1)
            except ValueError:
                return None
            return one_day(first) if day else month_of(first)

        if given.get("year"):
            return of_year(int(given["year"]))
        return min(
            yearly(of_year).near(today), key=lambda span: abs(span.first - today), default=None
        )

    def _counted(self, sign: int) -> _Read:
        def read(match: re.Match[str], today: date) -> Span | None:
            number = sign * self._number(match["number"])
            unit = self._units[match["unit"]]
            about = timedelta(days=_ABOUT[unit])
            day = _moved(today, unit, number)
            return Span(day - about, day + about, Precision(unit)) if day else None

        return read

    def _unit(self, step: int) -> _Read:
        def read(match: re.Match[str], today: date) -> Span | None:
            unit = self._units[match["unit"]]
            if unit == "day" or (unit == "year" and not self._spaced):
                return None
            day = _moved(today, unit, step)
            return _AROUND[unit](day) if day else None

        return read

    def _weekday(self, step: int) -> _Read:
        """In Chinese of the week before or after; elsewhere the nearest before or after."""

        def read(match: re.Match[str], today: date) -> Span | None:
            days = weekly(self._weekdays[match["weekday"]])
            if step == 0 or not self._spaced:
                return days.within(week_of(today + timedelta(weeks=step)))
            which = Which.LAST if step < 0 else Which.FUTURE
            return days.which(which, today if step < 0 else today + DAY)

        return read

    def _single_day(self, match: re.Match[str], today: date) -> Span | None:
        number, unit = self._single[match["single"]]
        day = _moved(today, unit, number)
        return _AROUND[unit](day) if day else None

    def _names(self, keys: list[str]) -> dict[str, int]:
        return {
            self._folded(name): number
            for number, key in enumerate(keys, 1 if keys is _MONTHS else 0)
            for name in self._info[key]
            if (not self._spaced and len(name) > 1)
            or len(name) >= _SHORTEST
            or name == max(self._info[key], key=len)
        }

    def _unit_names(self) -> dict[str, str]:
        own = self._words.get("units", {})
        return {
            self._folded(name): unit
            for unit in _UNITS
            for name in (own[unit].split("|") if unit in own else self._info[unit])
            if not self._spaced or len(name) > 1
        }

    def _single_days(self) -> dict[str, tuple[int, str]]:
        """What one word names, such as "gestern": how many units from now."""
        found: dict[str, tuple[int, str]] = {}
        for key, phrases in self._info["relative-type"].items():
            told = _RELATIVE.fullmatch(key)
            for phrase in phrases if told else ():
                if " " not in phrase and told:
                    number = int(told[2]) if told[1] else -int(told[2])
                    found[self._folded(phrase)] = number, told[3]
        for one in self._words.get("more_days", ()):
            phrase, _, number = one.partition(" = ")
            found[self._folded(phrase)] = int(number), "day"
        return found

    def _number(self, written: str) -> int:
        """A number in digits, as a word, or in Chinese below a hundred; 0 where it is none."""
        if written.isdecimal():
            return int(written)
        if written in self._numbers or self._spaced or "十" not in written:
            return self._numbers.get(written, 0)
        tens, _, ones = written.partition("十")
        return 10 * self._numbers.get(tens, 1) + self._numbers.get(ones, 0)

    def _folded(self, text: str) -> str:
        """In lower case and bare, as long as it was."""
        lower = "".join(low if len(low := letter.lower()) == 1 else letter for letter in text)
        return self._bare(lower)

    def _bare(self, text: str) -> str:
        """Without the marks of letters, which many leave out; as long as it was."""
        if not self._spaced or text.isascii():
            return text
        return "".join(unicodedata.normalize("NFD", letter)[0] for letter in text)

    def _list(self, name: str) -> list[str]:
        found = self._words.get(name, ())
        return found.split() if isinstance(found, str) else list(found)

    def _compiled(self, pattern: str) -> re.Pattern[str]:
        if not self._spaced:
            return re.compile(pattern)
        spaced = self._bare(pattern).replace(" ", r"\s+")
        return re.compile(rf"(?<!\w)(?:{spaced})(?!\w)")


def _moved(day: date, unit: str, number: int) -> date | None:
    try:
        if unit in ("day", "week"):
            return day + timedelta(days=number * (7 if unit == "week" else 1))
        return add_months(day, number * (12 if unit == "year" else 1))
    except (OverflowError, ValueError):
        return None


def _blanked(match: re.Match[str]) -> str:
    """Spaces for the match, or for its part that is no day."""
    start, end = match.span("rest") if "rest" in match.re.groupindex else match.span()
    whole = match[0]
    start, end = start - match.start(), end - match.start()
    return whole[:start] + " " * (end - start) + whole[end:]


def _any(names: Mapping[str, Any]) -> str:
    return _or(map(re.escape, sorted(names, key=len, reverse=True)))


def _or(patterns: Any) -> str:
    return "|".join(patterns) or "(?!)"
