"""A text as a line of letters, one for the kind of each word, phrase, number and mark."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date
from functools import cache
from typing import Any, NamedTuple

from memory_store.language.dates.pack import KINDS, Pack, PhraseMeaning, fold

# Numbers come first, so that none is read in part: "5/3", "3.11", "$5", "20%", "9:30".
_NUMBERS = (
    r"(?P<other>[$€£#]\w+|\d+\s?%)"
    r"|(?P<iso>(?:19|20)\d\d(?P<iso_mark>[-/.])\d\d?(?P=iso_mark)\d\d?"
    r"(?:t\d\d:\d\d[\d:.]*z?)?(?![-/\w]))"
    r"|(?P<full>(?<![/\d-])\d\d?(?P<full_mark>[{marks}])\d\d?(?P=full_mark)"
    r"(?:(?:19|20)\d\d|(?<={short}\d\d{short})\d\d|(?<={short}\d{short})\d\d)(?![-/\w]))"
    r"|(?P<month_day>(?<![/\d-])\d\d?{short}\d\d?(?![-/\w]|\s?%|\.\d))"
    r"|(?P<clock>\d\d?(?:[:.]\d\d)?\s?[ap]\.?m\b\.?|\d\d?[:.]\d\d(?![.:]?\d))"
    r"|(?P<decade>'?(?:19|20)?[1-9]0'?s(?!\w))|(?P<short_year>'\d\d(?!\w))"
    r"|(?P<more>(?!\d\d?,(?:19|20)\d\d\b)\d+(?:[.,:]\d+)+)"
)
_SPACED = r"|(?P<word>\w+(?:'(?!s\b)\w+)*)|(?P<possessive>'s\b)|(?P<mark>[^\w\s]|\n)"
_UNSPACED = r"|(?P<word>{names})|(?P<digits>\d+|[{numerals}]{{1,3}})|(?P<mark>\S)"
_MARKS = {",": "comma", "(": "opening", "–": "dash", "—": "dash"}
_ENDS = frozenset(".?!…\n。?！")
_NOT_CLEAR = frozenset("'$€£%")


class _Raw(NamedTuple):
    start: int
    end: int
    kind: str
    word: str


@dataclass(slots=True)
class Line:
    """The tokens of a text and their kinds as letters. Places are numbers of tokens."""

    text: str
    today: date
    pack: Pack
    starts: list[int] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)
    words: list[str] = field(default_factory=list)
    values: list[Any] = field(default_factory=list)
    letters: str = ""

    def kind(self, place: int, *kinds: str) -> bool:
        """Whether the token there is of one of the kinds."""
        return 0 <= place < len(self.letters) and self.letters[place] in [KINDS[k] for k in kinds]

    def is_clear(self, place: int) -> bool:
        """Whether no noun at the place makes the number before it an adjective: "on the 15th" is
        clear, "the 15th floor" is not."""
        if place >= len(self.words) or self.kind(place, "possessive"):
            return True
        word = self.words[place].partition(" ")[0]
        if not word[0].isalnum():
            return word not in _NOT_CLEAR
        return word in self.pack.after_a_date and not self.kind(place + 1, "hyphen")

    def adjoins(self, place: int) -> bool:
        """Whether no space stands before a token."""
        return 0 < place < len(self.starts) and self.starts[place] == self.ends[place - 1]


def line_of(text: str, today: date, pack: Pack) -> Line:
    """Read a text as tokens. Its apostrophes must be straight."""
    line = Line(text, today, pack)
    letters: list[str] = []
    raw = list(_raw(text, pack))
    place = 0
    while place < len(raw):
        kind, word = raw[place].kind, raw[place].word
        length, value = 1, None
        if kind == "word":
            kind, value, length = _word(raw, place, text, pack)
        elif kind == "mark":
            kind = _mark(text, raw[place].start)
        elif kind != "possessive":
            kind, value = _number(kind, word, pack)
        last = place + length - 1
        if _has_dot(raw, last, kind, text, pack):
            last += 1
        line.starts.append(raw[place].start)
        line.ends.append(raw[last].end)
        line.words.append(word if length == 1 else " ".join(r.word for r in raw[place : last + 1]))
        line.values.append(value)
        letters.append(KINDS[kind])
        place = last + 1
    line.letters = "".join(letters)
    return line


@cache
def _tokens(pack: Pack) -> re.Pattern[str]:
    numbers = _NUMBERS.format(marks="-/" if pack.is_english else "./", short="/")
    if pack.spaced:
        return re.compile(numbers + _SPACED, re.I)
    names = sorted(map(re.escape, pack.phrases), key=len, reverse=True)
    numerals = "".join(name for name in pack.numbers if len(name) == 1)
    return re.compile(numbers + _UNSPACED.format(names="|".join(names), numerals=numerals), re.I)


def _raw(text: str, pack: Pack) -> Iterator[_Raw]:
    for match in _tokens(pack).finditer(text):
        kind, word, (start, end) = match.lastgroup or "mark", fold(match[0]), match.span()
        if pack.elides and "'" in word and word not in pack.phrases and kind == "word":
            cut = word.index("'") + 1
            yield _Raw(start, start + cut, kind, word[:cut])
            start, word = start + cut, word[cut:]
        yield _Raw(start, end, kind, word)


def _word(raw: list[_Raw], place: int, text: str, pack: Pack) -> tuple[str, Any, int]:
    """The kind and the value of the longest phrase that begins at the place, and how many words it
    has."""
    start, end, word = raw[place].start, raw[place].end, raw[place].word
    for rest, kind, value in pack.phrases.get(word, ()):
        if _follows(raw, place, rest):
            if word in pack.with_capital and not rest and text[start:end] != word.capitalize():
                kind = f"weak_{kind}"
            return kind, value, 1 + len(rest)
    if word[0].isdecimal():
        return *_digits(word, pack), 1
    return "word", None, 1


def _follows(raw: list[_Raw], place: int, rest: tuple[str, ...]) -> bool:
    return all(
        place + n < len(raw) and raw[place + n].word == word for n, word in enumerate(rest, 1)
    )


def _digits(word: str, pack: Pack) -> tuple[str, Any]:
    if word.isdecimal():
        number = int(word) if len(word) < 5 else 0
        if len(word) <= 2 and 1 <= number <= 31:
            return "day_number", number
        if len(word) == 4 and 1900 <= number < 2100:
            return "year", number
        return ("number", number) if len(word) <= 3 else ("word", None)
    digits = word.rstrip("abcdefghijklmnopqrstuvwxyzºª")
    if digits.isdecimal() and word[len(digits) :] in pack.suffixes and 1 <= int(digits[:3]) <= 31:
        return "ordinal_number", int(digits)
    return "word", None


def _number(kind: str, word: str, pack: Pack) -> tuple[str, Any]:
    """The kind and the value of a number that is not only digits."""
    if word in pack.phrases:
        meaning: PhraseMeaning = pack.phrases[word][0]
        return meaning.kind, meaning.value
    if kind == "digits":
        return _digits(word, pack) if word.isdecimal() else _numeral(word, pack)
    if kind == "decade":
        return "decade", int("".join(filter(str.isdecimal, word)))
    if kind == "short_year":
        return "year" if pack.is_english else "word", 2000 + int(word[1:])
    parts = [int(part) for part in re.findall(r"\d+", word.partition("t")[0])]
    if kind in ("iso", "full"):
        return "date", _ordered(parts, pack)
    if kind == "month_day":
        return "month_day" if pack.is_english else "word", (parts[0], parts[1])
    return "clock" if kind == "clock" else "word", None


def _ordered(parts: list[int], pack: Pack) -> tuple[int, int, int]:
    """Year, month and day. The month comes first in English, unless it cannot be one."""
    if parts[0] > 31:
        return parts[0], parts[1], parts[2]
    first, second, year = parts
    if first > 12 or not pack.is_english:
        first, second = second, first
    return year + 2000 if year < 100 else year, first, second


def _numeral(word: str, pack: Pack) -> tuple[str, Any]:
    """The kind and the value of a Chinese number below a hundred."""
    number = pack.numbers.get(word, 0)
    if not number and "十" in word:
        tens, _, ones = word.partition("十")
        number = 10 * pack.numbers.get(tens, 1) + pack.numbers.get(ones, 0)
    return ("day_number" if 1 <= number <= 31 else "number", number) if number else ("word", None)


def _mark(text: str, start: int) -> str:
    mark = text[start]
    if mark == "-":
        around = text[max(0, start - 1) : start] + text[start + 1 : start + 2]
        return "dash" if around.isspace() else "hyphen"
    if mark in _ENDS:
        return "stop"
    return _MARKS.get(mark, "mark")


def _has_dot(raw: list[_Raw], place: int, kind: str, text: str, pack: Pack) -> bool:
    """Whether a dot belongs to the token: "Jan. 5", "3. März"."""
    if (
        place + 2 >= len(raw)
        or raw[place + 1].word != "."
        or raw[place + 1].start != raw[place].end
    ):
        return False
    follows = text[raw[place + 2].start]
    if pack.is_english:
        is_short = kind in ("month", "weekday") and raw[place].word in pack.with_capital
        return is_short and (follows.isdecimal() or follows.islower())
    return kind == "day_number" and follows.isalpha()
