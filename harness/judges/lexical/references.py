"""Matchers that compare a hypothesis with a reference answer, one for each kind of answer.

Every matcher gives a grade from 0 (the reference is absent) to 1 (it is there in full), and says
whether a rival of the reference is named instead: another number, the opposite, the other option.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from harness.judges.lexical.words import (
    Day,
    Quantity,
    content_words,
    days,
    declines,
    fold,
    quantities,
    recall,
    sentences,
    tokens,
    unit_asked,
)

_QUANTITY_QUESTION = re.compile(
    r"\bhow (?:many|much|long|old|often|far|big|tall|fast|soon)\b|\bincrease in\b"
    r"|\bwhat (?:percentage|speed)|\b(?:total|average) (?:number|cost|amount)\b"
)
_ORDER_QUESTION = re.compile(r"\b(?:the|in what|in which) (?:\w+ )?order\b")
_STEP = re.compile(r"[.;,]|\b(?:first|then|next|finally|lastly|followed by|after that)\b")
_ACCEPTABLE = re.compile(r"(?:\([^)]*\) *)?(?:is|are|would be) also acceptable\.?", re.IGNORECASE)
_POLARITY = re.compile(r"(yes|no)\b(?! \w)", re.IGNORECASE)
_SAID_POLARITY = re.compile(r"(?:^|[:*(\"]\s*)(yes|no)\b(?=\W*$|[,.!:;*-])", re.IGNORECASE)
_NEGATIVE = re.compile(r"\bnot\b|n't\b|\bnever\b|\bno longer\b")
_NONE = re.compile(r"\b(?:no|none|nothing|any)\b|\b0\b")
_SPAN = re.compile(r"\d\s?(?:-|to)\s?\d")
_COMPARING = frozenset(
    content_words("first last earlier later before after more less most least recently sooner")
)
_OPPOSITES = tuple(
    (content_words(a)[0], content_words(b)[0])
    for a, b in (
        pair.split("/")
        for pair in "more/less more/fewer increase/decrease higher/lower earlier/later "
        "faster/slower longer/shorter older/younger bigger/smaller".split()
    )
)
_NAME = re.compile(r"(?<=[\w,;] )[#'\"(]*([A-Z][\w'&-]*)")
_NAME_WEIGHT = 2
# Grades of weaker evidence: a number among others, and a yes or no that is only implied.
_NOT_LEADING = 0.6
_INFERRED = 0.8
_ON_TOPIC = 0.25
_MOSTLY = 0.6


class Match(NamedTuple):
    """How far a text says what the reference says, 0 to 1, and whether it names a rival of it."""

    grade: float
    rival: bool = False


class Reference(NamedTuple):
    """A reference answer taken apart for one question."""

    asked: str
    answer: str
    kind: str
    slack: float

    def match(self, parts: Sequence[str]) -> Match:
        """Compare sentences with the reference; the most telling sentences come first."""
        return _MATCHERS[self.kind](self, parts)


def references(question: str, answer: str, *, tolerant: bool) -> list[Reference]:
    """The reference answer, and the alternatives that its text names as acceptable.

    `tolerant` lets a count of days, weeks or months be one off, unless the answer lists its own
    alternatives.
    """
    accepted = accepted_answers(answer)
    slack = 1.0 if tolerant and len(accepted) == 1 else 0.0
    asked = fold(question)
    return [Reference(asked, item, _kind(asked, item), slack) for item in accepted]


def accepted_answers(answer: str) -> list[str]:
    """The main answer, then the alternatives that the reference's text names as acceptable."""
    parts = sentences(answer)
    alternatives = [_ACCEPTABLE.sub("", part) for part in parts if _ACCEPTABLE.search(part)]
    main = " ".join(part for part in parts if not _ACCEPTABLE.search(part))
    return [item for item in (main, *alternatives) if item.strip()] or [answer]


def _kind(asked: str, answer: str) -> str:
    others = [word for word in content_words(answer) if not word[0].isdigit()]
    if _POLARITY.match(answer):
        return "polarity"
    if days(answer) and len(others) <= 3:
        return "day"
    if quantities(answer) and (_QUANTITY_QUESTION.search(asked) or len(others) <= 1):
        return "quantity"
    if _ORDER_QUESTION.search(asked):
        return "order"
    if " or " in asked and _options(asked, answer):
        return "choice"
    return "words"


def _quantity(reference: Reference, parts: Sequence[str]) -> Match:
    asked = unit_asked(reference.asked)
    wanted = [replace(found, unit=found.unit or asked) for found in quantities(reference.answer)]
    # A span ("2-3 eggs") asks for both numbers, any other answer only for its first number.
    span = wanted[: 2 if _SPAN.search(fold(reference.answer)) else 1]
    said = [found for part in parts if (found := quantities(part))]
    everything = [quantity for found in said for quantity in found]
    if not everything or not all(_said(number, everything, reference.slack) for number in span):
        implied = _implied(span, said, parts)
        return Match(implied, rival=bool(everything) and not implied)
    leads = _said(span[0], [*said[0], *said[-1]], reference.slack)
    return Match(1.0 if leads else _NOT_LEADING, rival=not leads)


def _said(wanted: Quantity, said: Sequence[Quantity], slack: float) -> bool:
    return any(wanted.agrees(quantity, slack=slack) for quantity in said)


def _implied(
    span: Sequence[Quantity], said: Sequence[list[Quantity]], parts: Sequence[str]
) -> float:
    """The grade of an implied number: a zero in words, or terms that add up to the number."""
    if span[0].value == 0:
        return float(any(_NONE.search(fold(part)) for part in parts))
    # A span ("2-3 eggs") is no sum.
    terms = said[0] if said and not any(_SPAN.search(fold(part)) for part in parts) else []
    alike = 2 <= len(terms) <= 4 and len({term.unit for term in terms}) == 1
    adds_up = alike and sum(term.value for term in terms) == span[0].value
    return _NOT_LEADING if adds_up and len(span) == 1 else 0.0


def _day(reference: Reference, parts: Sequence[str]) -> Match:
    wanted: list[Day] = days(reference.answer)
    said = [day for part in parts for day in days(part)]
    share = sum(any(w.agrees(s) for s in said) for w in wanted) / len(wanted)
    return Match(share, rival=bool(said) and not any(w.agrees(said[0]) for w in wanted))


def _polarity(reference: Reference, parts: Sequence[str]) -> Match:
    match = _POLARITY.match(reference.answer)
    wanted = match[1].lower() if match else "yes"
    found = [m[1].lower() for part in parts if (m := _SAID_POLARITY.search(part))]
    if found:
        return Match(float(found[0] == wanted), rival=found[0] != wanted)
    asked = set(content_words(reference.asked))
    telling = next((part for part in parts if _takes_up(asked, part)), None)
    if telling is None or declines([telling]):
        return Match(0.0)
    turned = any(
        (a in asked and b in tokens(telling)) or (b in asked and a in tokens(telling))
        for a, b in _OPPOSITES
    )
    said = "no" if turned != bool(_NEGATIVE.search(fold(telling))) else "yes"
    return Match(_INFERRED * (said == wanted), rival=said != wanted)


def _takes_up(asked: set[str], part: str) -> bool:
    """Whether a sentence is about the question, or adds no words of its own ("You have not.")."""
    own = set(content_words(part)) - asked - {"not"}
    return not own or recall(asked, tokens(part)) >= _ON_TOPIC


def _order(reference: Reference, parts: Sequence[str]) -> Match:
    """Whether the steps of the reference occur in its order. A step is found by the words that no
    other step has."""
    steps = [set(content_words(step)) for step in _STEP.split(fold(reference.answer)) if step]
    steps = [step for step in steps if step]
    own = [step - set().union(*(s for s in steps if s is not step)) for step in steps]
    own = [step for step in own if step]
    # Numbers are left out where a step has other words, since they also occur in dates.
    own = [{word for word in step if not word[0].isdigit()} or step for step in own]
    places = [_place(step, [tokens(part) for part in parts]) for step in own]
    known = [place for place in places if place is not None]
    if not own or len(known) < len(own):
        return Match(0.0)
    in_order = known == sorted(known)
    return Match(float(in_order), rival=not in_order)


def _place(step: set[str], said: Sequence[Sequence[str]]) -> tuple[int, int] | None:
    """The place of a step: the index of the sentence with most of the step's words, and the index
    of the first such word in the sentence."""
    shares = [len(step.intersection(words)) for words in said]
    if not any(shares):
        return None
    sentence = shares.index(max(shares))
    return sentence, next(i for i, word in enumerate(said[sentence]) if word in step)


class _Options(NamedTuple):
    mine: set[str]
    theirs: set[str]


def _options(asked: str, answer: str) -> _Options | None:
    """For `A or B`: the words of the expected and of the other option, None where this is unclear.

    The words next to `or` decide; if they do not, all words of each side.
    """
    before, _, after = asked.rpartition(" or ")
    left = content_words(re.split(r"[,:?]", before)[-1])
    right = content_words(re.split(r"[,:?.]", after)[0])
    wanted = set(content_words(answer))
    in_question = recall(wanted, left + right) >= _MOSTLY
    for near in (1, max(len(left), len(right))):
        mine, theirs = set(left[-near:]), set(right[:near])
        mine, theirs = mine - theirs, theirs - mine
        if len(mine & wanted) < len(theirs & wanted):
            mine, theirs = theirs, mine
        clear = bool(mine & wanted) and bool(theirs) and not theirs & wanted
        if clear and (near == 1 or in_question):
            return _Options(mine & wanted, theirs)
    return None


def _choice(reference: Reference, parts: Sequence[str]) -> Match:
    """Match by the option named first in the sentence that shares most words with the question."""
    options = _options(reference.asked, reference.answer)
    if options is None:
        return _words(reference, parts)
    rest = set(content_words(reference.asked)) - options.mine - options.theirs
    said = [tokens(part) for part in parts if not _repeats_choice(part, options)]
    for words in sorted(said, key=lambda words: -_overlap(rest, words)):
        named = [word for word in words if word in options.mine or word in options.theirs]
        if named:
            return Match(float(named[0] in options.mine), rival=named[0] in options.theirs)
    return Match(0.0)


def _overlap(asked: set[str], words: Sequence[str]) -> int:
    shared = asked.intersection(words)
    return len(shared) + 2 * len(shared & _COMPARING)


def _repeats_choice(part: str, options: _Options) -> bool:
    before, found, after = fold(part).partition(" or ")
    left, right = set(tokens(before)), set(tokens(after))
    return bool(found) and bool(
        (left & options.mine and right & options.theirs)
        or (left & options.theirs and right & options.mine)
    )


def _words(reference: Reference, parts: Sequence[str]) -> Match:
    wanted = content_words(reference.answer) or tokens(reference.answer)
    # Words of the question prove nothing: an answer may simply repeat them.
    asked = set(content_words(reference.asked))
    new = {word for word in wanted if word not in asked} or set(wanted)
    said = set(tokens("\n".join(parts)))
    names = new & _names(reference.answer)
    numbers = {word for word in new if word[0].isdigit()}
    total = len(new) + _NAME_WEIGHT * len(names)
    grade = (len(new & said) + _NAME_WEIGHT * len(names & said)) / total
    return Match(grade, rival=bool(numbers - said))


def _names(answer: str) -> set[str]:
    return {word for name in _NAME.findall(answer) for word in tokens(name)}


_MATCHERS = {
    "quantity": _quantity,
    "day": _day,
    "polarity": _polarity,
    "order": _order,
    "choice": _choice,
    "words": _words,
}
