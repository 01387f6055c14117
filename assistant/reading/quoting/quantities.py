"""Numbers in statements: how many of something, amounts of money."""

import re
from collections.abc import Iterable, Sequence

_NUMBER_WORDS = {
    word: number
    for number, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve".split()
    )
}
_HOW_MANY = re.compile(
    r"\bhow many ((?:(?!(?:have|has|had|did|do|does|am|are|is|was|were|will|can|could|would|should"
    r"|in|on|of|from|i|my|we|that|there|it|for|to|with|at)\b)[\w'’-]+ ?){1,5})",
    re.I,
)
_NUMBER = r"(\d{1,3}(?:,\d{3}){1,4}|\d{1,15}|" + "|".join(_NUMBER_WORDS) + r")"
_OWNED = r"\b(?:my|our|have|own|keep|got|['’]ve)\s+(?:\w+\s+){0,3}?"
_HOW_MANY_OWNED = re.compile(
    r"\bhow many .{0,200}?(?:\bdo (?:i|we) (?:\w+ )?(?:have|own|keep)\b(?! (?:left|to)\b)"
    r"|\bhave (?:i|we) got\b)",
    re.I,
)
_BETWEEN = r"(?:(?!(?:and|or)\b)[\w'’-]+ ){0,3}?"
_EMPTY_WORDS = frozenset(["different", "of", "them", "total", "new", "other", "more"])
_AMOUNT = r"\d+(?:[.,]\d+)*"
_PLAIN = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d\d?)?|\d+(?:\.\d\d?)?")
# As most of those who pay in euros write it: "1.200,50".
_DECIMAL_COMMA = re.compile(r"\d+,\d\d")
_THOUSANDS_DOT = re.compile(r"\d{1,3}(?:\.\d{3})+(?:,\d\d)?")
_CURRENCIES = {"dollar": "$", "euro": "€"}
_MONEY = re.compile(
    rf"(?P<sign>[$€£]) ?(?P<signed>{_AMOUNT})"
    rf"|(?<![.,])\b(?P<named>{_AMOUNT}) ?(?:(?P<name>dollar|euro)s?\b|(?P<after>[€£]))",
    re.I,
)


def counted_phrase(question: str) -> tuple[str, ...]:
    """What "how many" asks to count, word for word, the last one in the singular.

    Empty where nothing is counted.
    """
    match = _HOW_MANY.search(question)
    if not match:
        return ()
    words = [word for word in match[1].lower().split() if word not in _EMPTY_WORDS]
    return (*words[:-1], _singular(words[-1])) if words else ()


def counts_owned(question: str) -> bool:
    """Whether it asks how many of something one has."""
    return _HOW_MANY_OWNED.search(question) is not None


def count_of(phrase: Sequence[str], statement: str, *, owned: bool = False) -> int | None:
    """The number that the statement itself gives for all of the phrase ("three road bikes", "my 5th
    project"), None where it gives none. With `owned` only of what one says to have: "our two kids",
    and not "a party with 11 kids".
    """
    *before, noun = phrase
    counted = rf"\b{_NUMBER}(?:st|nd|rd|th)? {_BETWEEN}{_forms(noun)}"
    for match in re.finditer(rf"{_OWNED}{counted}" if owned else counted, statement, re.I):
        said = match[0].lower().split()
        if all(word in said for word in before):
            return _value(match[1])
    return None


def names(noun: str, statement: str) -> bool:
    """Whether the statement uses the noun, in the singular or the plural."""
    return re.search(rf"\b{_forms(noun)}", statement, re.I) is not None


def amounts(statements: Iterable[str]) -> list[tuple[str, float]]:
    """Every amount of money with the sign of its currency, in order; an amount that two statements
    repeat counts once."""
    found = [_amount(match) for text in statements for match in _MONEY.finditer(text)]
    return list(dict.fromkeys((sign, amount) for sign, amount in found if amount is not None))


def _amount(match: re.Match[str]) -> tuple[str, float | None]:
    """The sign of the currency and how much, None where the marks in it can be read either way."""
    sign = match["sign"] or match["after"] or _CURRENCIES[match["name"].lower()]
    text = match["signed"] or match["named"]
    if _PLAIN.fullmatch(text):
        return sign, float(text.replace(",", ""))
    if _DECIMAL_COMMA.fullmatch(text) or (sign == "€" and _THOUSANDS_DOT.fullmatch(text)):
        return sign, float(text.replace(".", "").replace(",", "."))
    return sign, None


def _forms(noun: str) -> str:
    stem = re.escape(noun.removesuffix("y"))
    return rf"{stem}(?:y|ies)\b" if noun.endswith("y") else rf"{stem}(?:s|es)?\b"


def _value(text: str) -> int:
    return _NUMBER_WORDS.get(text.lower()) or int(text.replace(",", "").replace("zero", "0"))


def _singular(word: str) -> str:
    for ending, instead in (("ies", "y"), ("sses", "ss"), ("s", "")):
        if word.endswith(ending) and len(word) > len(ending) + 2:
            return word.removesuffix(ending) + instead
    return word
