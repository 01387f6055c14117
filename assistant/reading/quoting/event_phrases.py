"""The events that a question about time names, as phrases to look for one by one."""

import re
from dataclasses import dataclass
from typing import Literal

Unit = Literal["day", "week", "month", "year"]

_UNIT = re.compile(r"\bhow many (day|week|month|year)s?\b", re.I)
_LONG = re.compile(r"\bhow long\b", re.I)
_AGO = re.compile(r"\bago\b", re.I)


def _in_a_line(opening: str, rest: str) -> re.Pattern[str]:
    """What opens first in a line, and the rest of it. Where that has not the rest, no later opening
    in the line has it either, so that none is tried."""
    return re.compile(rf"^(?>.*?{opening}){rest}", re.I | re.M)


_BETWEEN = _in_a_line(r"\bbetween ", "(.+?) and (.+)")
_FROM_TO = _in_a_line(r"\bfrom ", "(.+?) (?:to|until) (.+)")
# "before A did I B": the second event opens with its verb.
_FRONTED = _in_a_line(r"\b(?:before|after|since) ", "(.+?),? (?:did|had|have|when|until) (.+)")
_JOINED = _in_a_line("", r"(.+?),? \b(?:before|after|since|until|when)\b (.+)")
_SINCE = re.compile(r"\bsince (.+)", re.I)
_CHOICE = _in_a_line("[,:]", " ?(?:the )?(.+?),? or (?:the )?(.+)")
_PLAIN_CHOICE = _in_a_line(r"\b(?:first|last|earlier|later|more recently)\b ", "(.+?) or (.+)")
_FIRST = re.compile(r"\b(?:first|earlier|earliest|before)\b", re.I)
_LAST = re.compile(r"\b(?:last|later|latest|most recent(?:ly)?|more recently)\b", re.I)
_HEAD = re.compile(
    r"^(?:how (?:many \w+|long)\b|(?:had|have|has) (?:passed|it been|i|been)\b|did (?:it take|i)\b"
    r"|passed\b|elapsed\b|(?:is|was) it\b|it\b|take\b|the (?:day|time|date) (?:that |when )?"
    r"|for me to\b|\W)+\s*",
    re.I,
)
_WORD = re.compile(r"\w{2,}")


@dataclass(frozen=True, slots=True)
class EventPhrases:
    """Two events, or one and today (`second` empty). `unit` is what the span is asked in."""

    first: str
    second: str = ""
    unit: Unit | None = None


def asked_span(question: str) -> EventPhrases | None:
    """The events between which a length of time is asked; None where it is not asked."""
    unit = _UNIT.search(question)
    if not unit and not _LONG.search(question):
        return None
    text = question.strip().rstrip("?")
    named = unit[1].lower() if unit else None
    if _AGO.search(text):
        return _phrases(_AGO.sub("", text), "", named)
    for pattern in (_BETWEEN, _FROM_TO, _FRONTED, _JOINED):
        match = pattern.search(text)
        if match and (found := _phrases(match[1], match[2], named)) and found.second:
            return found
    if match := _SINCE.search(text):
        return _phrases(match[1], "", named)
    return None


def asked_choice(question: str) -> tuple[str, str, bool] | None:
    """The two things of which the first or the last is asked, and whether it is the last."""
    last = bool(_LAST.search(question))
    if not last and not _FIRST.search(question):
        return None
    text = question.strip().rstrip("?")
    match = _CHOICE.search(text) or _PLAIN_CHOICE.search(text)
    if match is None:
        return None
    first, second = _cleaned(match[1]), _cleaned(match[2])
    return (first, second, last) if first and second else None


def _phrases(first: str, second: str, unit: str | None) -> EventPhrases | None:
    cleaned = _cleaned(first)
    if not cleaned:
        return None
    known: dict[str, Unit] = {"day": "day", "week": "week", "month": "month", "year": "year"}
    return EventPhrases(cleaned, _cleaned(second), known.get(unit or ""))


def _cleaned(phrase: str) -> str:
    """Without the words that only ask; empty when nothing else is left."""
    phrase = _HEAD.sub("", phrase).strip(" ,.?")
    return phrase if _WORD.search(phrase) else ""
