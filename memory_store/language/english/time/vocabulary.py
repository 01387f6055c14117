"""The words of the grammar: numbers, units, weekdays, months, and the patterns made of them.

"may", "march" and the short names are words of other kinds too: as months and weekdays they count
only with a capital letter, unless a rule says otherwise.
"""

import re
from collections.abc import Iterable

from memory_store.language.word_lists import word_list

NUMBERS = {word: number for number, word in enumerate(word_list("english", "numbers"), 1)}
NUMBERS |= {"a": 1, "an": 1, "the": 1, "thirty": 30, "forty": 40, "fifty": 50}
# What people mean by a vague number, in units: least and most.
VAGUE = {"couple": (1, 3), "few": (2, 5), "several": (3, 7)}

ORDINALS = {word: number for number, word in enumerate(word_list("english", "ordinals"), 1)}
ORDINALS |= {"last": -1, "final": -1, "1st": 1, "2nd": 2, "3rd": 3, "4th": 4, "5th": 5}


def _numbered(groups: Iterable[str], first: int) -> dict[str, int]:
    return {name: number for number, group in enumerate(groups, first) for name in group.split()}


WEEKDAYS = _numbered(word_list("english", "time.weekdays"), 0)
MONTHS = _numbered(word_list("english", "time.months"), 1)


def any_of(words: Iterable[str]) -> str:
    """A pattern for any of the words, the longest first."""
    return "(?:" + "|".join(sorted(map(re.escape, words), key=len, reverse=True)) + ")"


def _capital(words: Iterable[str]) -> str:
    return "(?-i:" + any_of(word.capitalize() for word in words) + ")"


COUNT = (
    r"(?:\d{1,3}|(?:a\s+)?couple(?:\s+of)?|(?:a\s+)?few|several|"
    + any_of(word for word in NUMBERS if word != "the")
    + ")"
)
DAY_UNITS = {"day": 1, "night": 1, "week": 7, "fortnight": 14}
MONTH_UNITS = {"month": 1, "quarter": 3, "year": 12, "decade": 120}
UNIT = any_of([*DAY_UNITS, *MONTH_UNITS])
ORDINAL = any_of(ORDINALS)
DAY_NUMBER = r"(?:3[01]|[12]\d|0?[1-9])"
DAY_ORDINAL = r"(?:3[01]|[12]\d|0?[1-9])(?:st|nd|rd|th)"
YEAR = r"(?:(?:19|20)\d\d)"

# A dot that ends the sentence is not part of a short name.
_DOT = r"(?:\.(?=\s*(?-i:[\da-z])))?"
_FULL_WEEKDAYS = [name for name in WEEKDAYS if name.endswith("day")]
_SHORT_WEEKDAYS = set(WEEKDAYS) - set(_FULL_WEEKDAYS)
WEEKDAY = f"(?:{any_of(_FULL_WEEKDAYS)}|{_capital(_SHORT_WEEKDAYS)}\\b{_DOT})"
# A weekday name beside a date or a preposition, in any case.
ANY_WEEKDAY = f"(?:{any_of(WEEKDAYS)}\\b{_DOT})"
_AMBIGUOUS = {"may", "march"}
_FULL_MONTHS = {name for name in MONTHS if len(name) > 4 or name in ("june", "july")} - _AMBIGUOUS
_SHORT_MONTHS = set(MONTHS) - _FULL_MONTHS
# A month name that needs no digit beside it to be one.
MONTH = f"(?:{any_of(_FULL_MONTHS)}|{_capital(_SHORT_MONTHS)}\\b{_DOT})"
# A month name beside an ordinal or a year, in any case.
ANY_MONTH = f"(?:{any_of(MONTHS)}\\b{_DOT})"

TIME_OF_DAY = r"(?:morning|afternoon|evening|night|noon|lunchtime)"

# Nothing follows that the date could be an adjective of: "on the 15th" but not "the 15th floor".
_AFTER = any_of(word_list("english", "time.after_a_date"))
CLEAR_AFTER = rf"(?=\s*(?:$|[^\w\s'’$€£%]|'s\b)|\s+{_AFTER}(?![\w-]))"


def month_number(name: str) -> int:
    """The number of a month by full or short name, with or without a dot."""
    return MONTHS[name.lower().rstrip(".")]


def weekday_number(name: str) -> int:
    """The number of a weekday by full or short name; Monday is 0."""
    return WEEKDAYS[name.lower().rstrip(".")]


def count_of(words: str) -> tuple[int, int]:
    """Least and most of a number in digits or words: "2" → (2, 2), "a few" → (2, 5)."""
    for word in words.lower().split():
        if word in VAGUE:
            return VAGUE[word]
    number = int(words) if words.isdigit() else NUMBERS[words.lower()]
    return number, number
