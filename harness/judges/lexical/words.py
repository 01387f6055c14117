"""Text as the lexical judge sees it: folded, cut into sentences and stemmed words; and wording that
declines to answer.
"""

import re
import unicodedata
from collections.abc import Iterable, Sequence
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
    """The words and numbers of the folded text as they stand."""
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
    """Whether any of these sentences declines to answer."""
    said = fold(" ".join(parts))
    return bool(_NO_KNOWLEDGE.search(said) or _NO_RECORD.search(said))
