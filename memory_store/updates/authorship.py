"""Whose words a message is: the user's own, or quoted, pasted, made up, or asked to be worked on.

Only what is surely the user's own may replace what the user said before. That is decided
positively: every sentence and every line of the message must look like somebody's own talk or like
an ordinary question. One that may ask for work on a text, begin a game, or introduce another's
words leaves the whole message in doubt. A missed update costs less than a memory that strangers can
rewrite, and shows as a conflict.

How foreign a unit looks is a linear judgement over its features; `benchmarks/authorship` holds the
labelled examples and makes the numbers.
"""

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files

from memory_store.updates.languages import language_of
from memory_store.updates.quotations import quotations
from memory_store.updates.unit_features import features
from memory_store.updates.units import Unit, units_of

# How foreign a message may look at most to be surely the user's own, and from where on it is taken
# for another's.
SURE, FOREIGN = 0.1, 0.7
# One sentence alone has no room for a request and a text.
_SURE_ALONE = 0.5
# Most labelled examples are English: elsewhere the judgement must be surer.
_SURE_ELSEWHERE = 0.05
# Units that are looked at from the beginning and from the end; more are never surely one's own.
_MOST_UNITS = 40
# Stands for a quotation: what is said about it is judged without it.
QUOTE = "qqq"
_INTRODUCES = re.compile(r"[:：?？\"“„«「]")


@dataclass(frozen=True, slots=True)
class Authorship:
    """What of a message is the user's: the text with everything else blanked out, of the same
    length, and whether that is sure."""

    own: str
    is_sure: bool


@dataclass(frozen=True, slots=True)
class Judgement:
    """The numbers: words that are known, and what each feature adds to the log odds."""

    known: frozenset[str]
    weights: Mapping[str, float]
    bias: float

    def foreignness(self, unit: Unit) -> float:
        """How foreign a unit looks, from 0 to 1."""
        odds = self.bias + sum(self.weights.get(f, 0.0) for f in set(features(unit, self.known)))
        return 1 / (1 + math.exp(-max(-60.0, min(60.0, odds))))


def authorship(text: str) -> Authorship:
    """What of the text is the user's own."""
    spans = list(quotations(text))
    own = _filled(text, spans, lambda quoted: re.sub(r"[^\n]", " ", quoted))
    units = units_of(_filled(text, spans, lambda _: f" {QUOTE} ") if spans else text)
    doubt = _doubt(units)
    if doubt >= FOREIGN:
        return Authorship(re.sub(r"[^\n]", " ", text), False)
    return Authorship(own, doubt <= _allowed(text, units))


def _allowed(text: str, units: Sequence[Unit]) -> float:
    """How foreign the units may look at most."""
    if len(units) == 1 and not _INTRODUCES.search(text):
        return _SURE_ALONE
    languages = {name for unit in units if (name := language_of(unit.text))}
    if len(languages) > 1:  # a request in one language, a text in another
        return -1.0
    return SURE if languages == {"en"} else _SURE_ELSEWHERE


def _doubt(units: Sequence[Unit]) -> float:
    """How foreign the most foreign unit looks."""
    if not units:
        return 0.0
    if len(units) > 2 * _MOST_UNITS:
        ends = [*units[:_MOST_UNITS], *units[-_MOST_UNITS:]]
        return max(_doubt(ends), math.nextafter(SURE, 1))
    return max(map(judgement().foreignness, units))


def _filled(text: str, spans: Sequence[tuple[int, int]], by: Callable[[str], str]) -> str:
    """The text with something else in place of each span."""
    parts, start = list[str](), 0
    for first, end in spans:
        parts += (text[start:first], by(text[first:end]))
        start = end
    return "".join([*parts, text[start:]])


@lru_cache(maxsize=1)
def judgement() -> Judgement:
    """The numbers that the package carries."""
    read = json.loads(files(__package__).joinpath("authorship.json").read_text("utf-8"))
    return Judgement(frozenset(read["known"]), read["weights"], read["bias"])
