"""Numbers, durations and days in text, and when two of them agree."""

import re
from dataclasses import dataclass

from harness.judges.lexical.words import MONTHS, fold, raw_tokens

_DAYS = {
    "second": 1 / 86400,
    "minute": 1 / 1440,
    "hour": 1 / 24,
    "day": 1.0,
    "week": 7.0,
    "month": 30.4,
    "year": 365.0,
}
_UNIT = {
    name: unit
    for unit, names in {
        "second": "second seconds sec secs",
        "minute": "minute minutes min mins",
        "hour": "hour hours hr hrs",
        "day": "day days",
        "week": "week weeks",
        "month": "month months",
        "year": "year years yr yrs",
    }.items()
    for name in names.split()
}
_TIMES = {"hundred": 1e2, "thousand": 1e3, "k": 1e3, "million": 1e6, "billion": 1e9}
# A month has 28 to 31 days, a year 52.1 weeks.
_ROUNDING = 0.04
_LABEL = re.compile(r"\b(?:session|step|chat|turn|round|note|entry|option)s? \d+\b")
_A_UNIT = re.compile(
    r"\b(?:a|an) (?:single |full |whole )?(?=(?:second|minute|hour|day|week|month|year)\b)"
)
_HALF_A_UNIT = re.compile(r"\bhalf (?:a|an|of an?) (?=(?:minute|hour|day|week|month|year)\b)")
_AND_A_HALF = re.compile(r"\b(\d+)((?: [a-z]+)?) and a half\b")
_MONTH = "|".join(MONTHS)
_DATE = re.compile(
    rf"\b(?P<m1>{_MONTH}) (?P<d1>\d{{1,2}})\b(?!:)(?:,? (?P<y1>\d{{4}}))?"
    rf"|\b(?P<d2>\d{{1,2}}) (?:of )?(?P<m2>{_MONTH})\b(?:,? (?P<y2>\d{{4}}))?"
    rf"|\b(?P<m3>{_MONTH}),? (?:of )?(?P<y3>\d{{4}})\b"
)


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number with the unit of time that it counts, None for any other number.

    `is_compound` tells that smaller units were added ("4 weeks and 3 days").
    """

    value: float
    unit: str | None
    is_compound: bool = False

    def agrees(self, other: "Quantity", *, slack: float = 0.0) -> bool:
        """Whether the other says the same; of equal units of time, up to `slack` apart passes, and
        so does what a compound comes to in whole units.
        """
        if self.unit is None or other.unit is None or self.unit == other.unit:
            is_time = self.unit is not None and self.unit == other.unit
            allowed = max(slack, 0.5 if other.is_compound else 0.0) if is_time else 0.0
            return abs(self.value - other.value) <= allowed + 1e-9
        mine, theirs = self.value * _DAYS[self.unit], other.value * _DAYS[other.unit]
        return abs(mine - theirs) <= _ROUNDING * max(mine, theirs)


@dataclass(frozen=True, slots=True)
class Day:
    """A calendar day as far as the text names it; at least the month."""

    month: int
    day: int | None
    year: int | None

    def agrees(self, other: "Day") -> bool:
        """Whether the other names this day no less precisely, and contradicts nothing."""
        return (
            self.month == other.month
            and (self.day is None or self.day == other.day)
            and (self.year is None or other.year is None or self.year == other.year)
        )


def unit_asked(question: str) -> str | None:
    """The unit of time that a question asks to count, None where it asks for none."""
    match = re.search(r"\bhow many (?:\w+ )?(\w+)", fold(question))
    return (
        None
        if match is None
        else next((_UNIT[w] for w in match[0].split()[2:] if w in _UNIT), None)
    )


def days(text: str) -> list[Day]:
    """Every day or month that a text names, in order."""
    return [_day(match) for match in _DATE.finditer(fold(text))]


def quantities(text: str) -> list[Quantity]:
    """Every number of a text in order with its unit of time; dates and labels ("session 3") are
    not numbers.
    """
    folded = _LABEL.sub(" ", _DATE.sub(" ", fold(text)))
    folded = _AND_A_HALF.sub(r"\1.5\2", _HALF_A_UNIT.sub("0.5 ", folded))
    words = raw_tokens(_A_UNIT.sub("1 ", folded))
    found: list[Quantity] = []
    joins = False
    for i, word in enumerate(words):
        value = _number(word)
        if value is None:
            # "1 year and 2 months" is one quantity.
            joins = joins and (word in _UNIT or word == "and")
            continue
        following = words[i + 1 : i + 3]
        value *= _TIMES.get(following[0], 1.0) if following else 1.0
        unit = next((_UNIT[name] for name in following if name in _UNIT), None)
        previous = found[-1] if found and joins else None
        if previous and unit and previous.unit and _DAYS[unit] < _DAYS[previous.unit]:
            value = previous.value * _DAYS[previous.unit] + value * _DAYS[unit]
            found[-1] = Quantity(value / _DAYS[previous.unit], previous.unit, is_compound=True)
            continue
        found.append(Quantity(value, unit))
        joins = unit is not None
    return found


def _number(word: str) -> float | None:
    if not word[0].isdigit() or ":" in word or word.count(".") > 1:
        return None
    return float(word)


def _day(match: re.Match[str]) -> Day:
    named = match.groupdict()
    month = named["m1"] or named["m2"] or named["m3"]
    day, year = named["d1"] or named["d2"], named["y1"] or named["y2"] or named["y3"]
    return Day(MONTHS.index(month) + 1, int(day) if day else None, int(year) if year else None)
