"""Text as the lexical judge sees it: folded, cut into sentences and stemmed words. It also finds
refusals, numbers and dates.
"""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import snowballstemmer

_UNITS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen"
).split()
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
_NUMBER_WORDS = {word: i for i, word in enumerate(_UNITS)} | {
    word: 10 * i for i, word in enumerate(_TENS, start=2)
}
_NUMBER_WORDS |= {"once": 1, "twice": 2, "dozen": 12}
MONTHS = (
    "january february march april may june july august september october november december".split()
)
_MONTH_SHORT = {month[:3]: month for month in MONTHS} | {"sept": "september"}
STOP_WORDS = frozenset(
    "a about all also am an and any are as at be been both but by can could did do does for from "
    "had has have he her hers him his how i if in into is it its just me mentioned my of on or our "
    "she so some than that the their them then there these they this those to told too us was we "
    "were what when where which while who whom will with would you your yours".split()
)
_TOKEN = re.compile(r"\d+(?:[.:]\d+)*|[^\W\d_]+(?:'[^\W\d_]+)?")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}\b)")
_ORDINAL = re.compile(r"\b(\d+)(?:st|nd|rd|th)\b")
_FULL_HOUR = re.compile(r"\b(\d{1,2}):00\b")
_COMPOUND = re.compile(rf"\b({'|'.join(_TENS)})[- ]({'|'.join(_UNITS[1:10])})\b")
_LIST_NUMBER = re.compile(r"^\s*(?:\d+[.)]|[-*+•])\s+", re.MULTILINE)
_SENTENCE_END = re.compile(r"(?<=[.!?])[\"')\]*]*\s+|\n+")
_NAMED_DATE = re.compile(r"\b(\d{4})[-/](\d{1,2})[-/](\d{1,2})\b")
_PLAIN = str.maketrans("’‘“”–—−", "''\"\"---")
_stemmer = snowballstemmer.stemmer("english")


@lru_cache(maxsize=1 << 14)
def fold(text: str) -> str:
    """Lower case, plain quotes, no accents or markup, digits for number words, month names for
    short months and numeric dates.
    """
    plain = unicodedata.normalize("NFKD", text)
    plain = "".join(c for c in plain if not unicodedata.combining(c)).lower().translate(_PLAIN)
    plain = _LIST_NUMBER.sub("", plain.replace("*", "").replace("`", ""))
    plain = _THOUSANDS.sub("", plain)
    plain = _NAMED_DATE.sub(_spelled_date, plain)
    plain = _FULL_HOUR.sub(r"\1", _ORDINAL.sub(r"\1", plain))
    plain = _COMPOUND.sub(lambda m: str(_NUMBER_WORDS[m[1]] + _NUMBER_WORDS[m[2]]), plain)
    return re.sub(
        r"\b[a-z]+\b", lambda m: str(_NUMBER_WORDS.get(m[0], _MONTH_SHORT.get(m[0], m[0]))), plain
    )


def tokens(text: str) -> list[str]:
    """Stemmed words and numbers of a text, in order, stop words included."""
    return [stem(token) for token in raw_tokens(text)]


def content_words(text: str) -> list[str]:
    """`tokens` without stop words."""
    return [stem(t) for t in raw_tokens(text) if t.partition("'")[0] not in STOP_WORDS]


def raw_tokens(text: str) -> list[str]:
    return _TOKEN.findall(fold(text))


def sentences(text: str) -> list[str]:
    """A text cut at sentence ends and line ends; blank pieces dropped."""
    return [piece.strip() for piece in _SENTENCE_END.split(text) if piece.strip(" *-#\t")]


def recall(wanted: Iterable[str], said: Iterable[str]) -> float:
    """The share of distinct wanted words that were said; 0 where nothing is wanted."""
    distinct = set(wanted)
    return len(distinct.intersection(said)) / len(distinct) if distinct else 0.0


def _spelled_date(match: re.Match[str]) -> str:
    month = int(match[2])
    if not 1 <= month <= 12:
        return match[0]
    return f"{MONTHS[month - 1]} {int(match[3])} {match[1]}"


@lru_cache(maxsize=1 << 15)
def stem(word: str) -> str:
    """The stem of a folded word; numbers stay as they are."""
    word = word.removesuffix("'s")
    return word if word[:1].isdigit() else str(_stemmer.stemWord(word))


_NO_KNOWLEDGE = re.compile(
    r"\b(?:i|we) (?:do not|don't|cannot|can't|could not|couldn't|am not|have no|didn't|did not) "
    r"(?:actually |currently |seem to |yet |really )?(?:know|have|find|see|able|recall|remember|"
    r"determine|answer|tell|sure|say|provide|information|record|any|come)"
    r"|\bi'm (?:not able|unable|not sure|sorry)|\b(?:unable|impossible) to\b|insufficient"
    r"|\bplease provide\b|\bneed (?:some|more|additional) (?:information|detail|context)"
    r"|\b(?:cannot|can't|could not|couldn't) (?:\w+ )?(?:be )?(?:determin|answer|confirm|tell|find)"
    r"|\b(?:unknown|unspecified|unclear)\b|\bno way to (?:know|tell|say|determine)\b"
)
_NO_RECORD = re.compile(
    r"\b(?:you|user) (?:have not|haven't|did not|didn't|never)(?: \w+)? (?:mention|specif|provid|"
    r"said|say|tell|told|share|stat|discuss|talk|record)"
    r"|\bno (?:\w+ ){0,2}(?:information|record|mention|evidence|detail|data|indication|reference|"
    r"memory|memories|answer|confirmation)s?\b"
    r"|\bnot (?:\w+ )?(?:enough|sufficient|mentioned|specified|provided|available|stated|clear|"
    r"recorded|possible|definitive)"
    r"|\b(?:information|history|record|context|conversation|chat|memor)\w*(?: \w+){0,4} "
    r"(?:does not|doesn't|do not|don't|did not|didn't|is not|isn't|are not|aren't|lacks?)\b"
    r"|\b(?:isn't|aren't|wasn't|weren't) (?:any|in|mentioned|specified|provided|recorded|enough)\b"
)


def is_refusal(hypothesis: str) -> bool:
    """Whether the answer says, early or at its end, that the question cannot be answered."""
    parts = sentences(hypothesis)
    return declines([*parts[:2], *parts[-3:]] if len(parts) > 5 else parts)


def declines(parts: Sequence[str]) -> bool:
    said = fold(" ".join(parts))
    return bool(_NO_KNOWLEDGE.search(said) or _NO_RECORD.search(said))


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
        """Whether the other quantity says the same. In equal units of time the values may differ by
        `slack`, and a compound by half a unit, which is its rounding to whole units.
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
