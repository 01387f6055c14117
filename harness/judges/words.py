"""Text as the lexical judge sees it: folded words, numbers with units, sentences. Pure."""

import re
import unicodedata
from dataclasses import dataclass

_UNITS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen"
).split()
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
NUMBER_WORDS = {word: i for i, word in enumerate(_UNITS)} | {
    word: 10 * i for i, word in enumerate(_TENS, start=2)
}
STOP_WORDS = frozenset(
    "a about also am an and any are as at be been but by can could did do does for from had has "
    "have he her his how i if in into is it its just me mentioned my of on or our said she so some "
    "than that the their them then there they this to told too was we were what when where which "
    "while who will with would you your yours".split()
)
_TOKEN = re.compile(r"\d+(?:[.:]\d+)*|[^\W\d_]+(?:'[^\W\d_]+)?")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}\b)")
_ORDINAL = re.compile(r"\b(\d+)(?:st|nd|rd|th)\b")
_COMPOUND = re.compile(rf"\b({'|'.join(_TENS)})[- ]({'|'.join(_UNITS[1:10])})\b")
_LIST_NUMBER = re.compile(r"^\s*(?:\d+[.)]|[-*•])\s+", re.MULTILINE)
_SENTENCE_END = re.compile(r"(?<=[.!?])[\"')\]*]*\s+|\n+")
_DATE = re.compile(r"\b\d{4}[-/](\d{1,2})[-/](\d{1,2})\b")
_MONTHS = (
    "january february march april may june july august september october november december".split()
)
_MONTH_SHORT = {month[:3]: month for month in _MONTHS} | {"sept": "september"}
_UNIT = {
    name: unit
    for unit, names in {
        "minute": "minute minutes min mins",
        "hour": "hour hours hr hrs",
        "day": "day days",
        "week": "week weeks",
        "month": "month months",
        "year": "year years",
    }.items()
    for name in names.split()
}


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number with the time unit that follows it, None for any other number."""

    value: float
    unit: str | None


def fold(text: str) -> str:
    """Lower case, plain quotes, no accents or markup, digits for number words, words for numeric
    dates.
    """
    plain = unicodedata.normalize("NFKD", text)
    plain = "".join(c for c in plain if not unicodedata.combining(c)).lower()
    plain = plain.translate(str.maketrans("’‘“”–—", "''\"\"--")).replace("*", "").replace("`", "")
    plain = _LIST_NUMBER.sub("", plain)
    plain = _THOUSANDS.sub("", plain)
    plain = _DATE.sub(_spelled_date, plain)
    plain = _ORDINAL.sub(r"\1", plain)
    plain = _COMPOUND.sub(lambda m: str(NUMBER_WORDS[m[1]] + NUMBER_WORDS[m[2]]), plain)
    return re.sub(
        r"\b[a-z]+\b", lambda m: str(NUMBER_WORDS.get(m[0], _MONTH_SHORT.get(m[0], m[0]))), plain
    )


def tokens(text: str) -> list[str]:
    """Stemmed words and numbers of a text, in order, stop words included."""
    return [_stem(token) for token in _TOKEN.findall(fold(text))]


def content_words(text: str) -> list[str]:
    """`tokens` without stop words."""
    raw = _TOKEN.findall(fold(text))
    return [_stem(token) for token in raw if token.partition("'")[0] not in STOP_WORDS]


def quantities(text: str) -> list[Quantity]:
    """Every number of a text in order, with its time unit; a half after a unit counts (3.5, 3 and a
    half).
    """
    found = []
    words = _TOKEN.findall(fold(text).replace(" and a half", ".5"))
    for i, word in enumerate(words):
        if not word[0].isdigit() or ":" in word or word.count(".") > 1:
            continue
        unit = _UNIT.get(words[i + 1]) if i + 1 < len(words) else None
        found.append(Quantity(float(word), unit))
    return found


def sentences(text: str) -> list[str]:
    """A text cut at sentence ends and line ends; blank pieces dropped."""
    return [piece.strip() for piece in _SENTENCE_END.split(text) if piece.strip(" *-#\t")]


def recall(wanted: list[str], text_words: set[str]) -> float:
    """The share of distinct wanted words that occur in the text; 0 where nothing is wanted."""
    distinct = set(wanted)
    return len(distinct & text_words) / len(distinct) if distinct else 0.0


def _spelled_date(match: re.Match[str]) -> str:
    month = int(match[1])
    return f"{_MONTHS[month - 1]} {int(match[2])}" if 1 <= month <= 12 else match[0]


def _stem(word: str) -> str:
    word = word.removesuffix("'s")
    if len(word) <= 3 or word[0].isdigit():
        return word
    if word.endswith("ies"):
        return word[:-3] + "y"
    for suffix in ("ing", "ed", "es", "s", "e"):
        if word.endswith(suffix) and len(word) - len(suffix) >= 3 and not word.endswith("ss"):
            stem = word[: -len(suffix)]
            return stem[:-1] if len(stem) > 3 and stem[-1] == stem[-2] else stem
    return word
