"""Whose words a message is: the user's own, or quoted, pasted, made up, or a text to be worked on.

Only words that are surely the user's own may replace what the user said before. This needs positive
evidence: every sentence and every line of the message must look like somebody's own talk or like an
ordinary question. A unit that may ask for work on a text, begin a game, or introduce words of
somebody else leaves the whole message in doubt. A missed update, which shows as a conflict, costs
less than a memory that strangers can rewrite.

A linear model over the features of a unit (a sentence or a line) says how foreign it looks;
`benchmarks/authorship` holds the labelled examples and makes its weights. The features are words,
pairs of words and beginnings of words, if the model knows them, and the shape: how a unit begins
and ends, and whether it stands on a line of its own. Languages are not told apart; all words that
the model does not know count as one unknown word.
"""

import json
import math
import re
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from itertools import pairwise

from memory_store.by_digest import ByDigest
from memory_store.language.kinds import TELLING, kinds_of, most_of
from memory_store.language.languages import NAMES, languages_of, wording
from memory_store.language.sentences import TextUnit, units_of

# A quotation without a closing mark reaches to the end of its paragraph.
_PARAGRAPH = r"\n[ \t]*+\n|\Z"
_QUOTED = re.compile(
    r"```(?:[^`]|`(?!``))*+(?:```|\Z)"
    r"|^[ \t]*+>[^\n]*+"
    + "".join(
        rf"|{opens}(?:[^{closes}\n]|\n(?![ \t]*\n))*+(?:[{closes}]|{_PARAGRAPH})"
        for opens, closes in (
            ("[“„]", "”“"),
            ("«", "»"),
            ("»", "«"),
            ("‹", "›"),
            ("「", "」"),
            ("『", "』"),
            ('"', '"'),
        )
    )
    # An apostrophe is no quotation mark: a single mark only opens before a word and closes after.
    + r"|(?<![\w'’])['‘](?=\w)(?:[^'’\n]|(?<=\w)['’](?=\w))*+(?:['’]|(?=\n)|\Z)",
    re.M,
)


def quotations(text: str) -> Iterator[tuple[int, int]]:
    """Beginning and end of each quotation, its marks included; in order."""
    return (match.span() for match in _QUOTED.finditer(text))


# Nobody writes this much about themselves at once, so a longer message is never surely the user's
# own, and only its beginning and its end are judged.
_LONGEST = 6000
# Stands for a quotation, so that the text around it is judged without it.
QUOTE = "qqq"
_CLOSING = " \"'”’»)]:;-"
_ASIDES_OF = ("english", *NAMES.values(), "chinese", "japanese")
_INTRODUCES = re.compile(r"[:：?？\"“„«「]")


@dataclass(frozen=True, slots=True)
class Authorship:
    """Which part of a message is the user's own: `own` is the text, of the same length, with all
    else blanked out; `is_sure` says whether that is sure."""

    own: str
    is_sure: bool


@dataclass(frozen=True, slots=True)
class Judgement:
    """The linear model: the words it knows, and what each feature adds to the log odds."""

    known: frozenset[str]
    weights: Mapping[str, float]
    bias: float

    def foreignness(self, unit: TextUnit) -> float:
        """How foreign a unit looks, from 0 to 1."""
        odds = self.bias + sum(
            self.weights.get(f, 0.0) for f in dict.fromkeys(features(unit, self.known))
        )
        return 1 / (1 + math.exp(-max(-60.0, min(60.0, odds))))


@dataclass(frozen=True, slots=True)
class AuthorshipRule:
    """How foreign the most foreign unit of a message may look. Parts of the rule can be turned off,
    to measure what each of them does (`benchmarks/authorship`)."""

    sure: float = 0.25
    """The limit up to which a message is surely the user's own."""
    sure_alone: float = 0.5
    """The same limit for a single sentence, which has no room for a request and a text."""
    sure_elsewhere: float = 0.05
    """The same limit for a message that is not English, as there are fewer labelled examples."""
    foreign: float = 0.8
    """From this limit on, the message counts as somebody else's words."""
    one_language: bool = True
    """Whether a request in one language and a text in another leave the message in doubt."""
    questions_last: bool = True
    """Whether a question before a statement leaves the message in doubt, as it may be about the
    text that follows. An aside ("By the way, ...") does not."""
    marks: bool = True
    """Whether a text between quotation marks counts as somebody else's words."""


# A quotation counts as a text if it is at least this part of a message and longer than a title.
_MOST_OF_IT, _LONGER_THAN_TITLES = 0.5, 8
# An apostrophe may look like the beginning of a quotation, and code is nobody's statement.
_NO_QUOTES = frozenset("'‘`")
# A request to work on a text stands before or behind that. It looks at least this foreign, and it
# is less certain than this to tell something.
_REQUEST, _TELLS = 0.9, 0.5

RULE = AuthorshipRule()
AMONG_PEOPLE = AuthorshipRule(foreign=math.inf)
"""The rule for speakers with names, who talk to each other. They address each other by name and
show each other things. If this looks like a letter, it only leaves a message in doubt."""


def authorship(text: str, rule: AuthorshipRule = RULE) -> Authorship:
    """Judge how much of the text is the user's own."""
    spans = list(quotations(text)) if rule.marks else []
    units = _units(_filled(text, spans, lambda _: f" {QUOTE} ") if spans else text)
    doubt = max(map(judgement().foreignness, units), default=0.0)
    if doubt >= rule.foreign:
        return Authorship(_blank(text), False)
    return Authorship(_filled(text, spans, _blank), doubt <= _allowed(text, units, rule))


def quotes_a_text(text: str) -> bool:
    """Whether most of a message surely is somebody else's words, or a text to be worked on. A
    title, a saying or a piece of code is not enough."""
    return _QUOTING.of(text, lambda: _quotes_a_text(text))


# The same rounds are read for question after question.
_QUOTING = ByDigest[bool](20_000)


def _quotes_a_text(text: str) -> bool:
    spans = [one for one in quotations(text) if text[slice(*one)].lstrip()[0] not in _NO_QUOTES]
    longest = max((len(text[first:end].split()) for first, end in spans), default=0)
    length = sum(end - first for first, end in spans)
    if longest >= _LONGER_THAN_TITLES and length >= _MOST_OF_IT * len(text):
        return True
    units = [] if "```" in text else _units(_filled(text, spans, lambda _: f" {QUOTE} "))
    return len(units) > 1 and any(
        judgement().foreignness(unit) >= _REQUEST and most_of(kinds_of(unit.text), TELLING) < _TELLS
        for unit in (units[0], units[-1])
    )


def _allowed(text: str, units: Sequence[TextUnit], rule: AuthorshipRule) -> float:
    """How foreign the units of a sure message may look at most; below 0 it cannot be sure."""
    if len(text) > _LONGEST:
        return -1.0
    languages = {name for unit in units for name in languages_of(unit.text)}
    if rule.one_language and len(languages) > 1:
        return -1.0
    if len(units) == 1 and not _INTRODUCES.search(text):
        return rule.sure_alone
    if rule.questions_last and _asks_first(units):
        return -1.0
    return rule.sure if languages == {"en"} else rule.sure_elsewhere


def _asks_first(units: Sequence[TextUnit]) -> bool:
    aside = wording("aside", *_ASIDES_OF)
    asks = [unit.text.rstrip(_CLOSING).endswith(("?", "？")) for unit in units]
    return any(
        asked and not asks_too and not aside.match(after.text)
        for asked, asks_too, after in zip(asks, asks[1:], units[1:], strict=False)
    )


def _units(text: str) -> list[TextUnit]:
    """The units of a text; of a very long one those at its beginning and at its end."""
    if len(text) <= _LONGEST:
        return units_of(text)
    return [*units_of(text[: _LONGEST // 2]), *units_of(text[-_LONGEST // 2 :])]


def _blank(text: str) -> str:
    return "\n".join(" " * len(line) for line in text.split("\n"))


def _filled(text: str, spans: Sequence[tuple[int, int]], by: Callable[[str], str]) -> str:
    """The text with each span replaced by what `by` makes of it."""
    parts, start = list[str](), 0
    for first, end in spans:
        parts += (text[start:first], by(text[first:end]))
        start = end
    return "".join([*parts, text[start:]])


@lru_cache(maxsize=1)
def judgement() -> Judgement:
    """The model that comes with the package."""
    read = json.loads(files(__package__).joinpath("authorship.json").read_text("utf-8"))
    return Judgement(frozenset(read["known"]), read["weights"], read["bias"])


UNKNOWN = "¿"
"""Stands for a word that the model does not know."""
# Chinese, Japanese and Korean are written without spaces: each character is a word.
_TOKEN = re.compile(
    r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]"
    r"|[^\W\d_\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+(?:'[^\W\d_]+)?"
    r"|\d+|[@#<>/|*\[\]{}()=_:;,+~$%&^\\★☆>»→-]"
)
_ENDS = {"？": "?", "。": ".", "！": "!", "：": ":", "…": ".", "，": ",", "、": ","}
_STEM, _LONG = 5, 7
_MOST = 600
_LENGTHS = (1, 2, 3, 5, 8, 12, 20)


def features(unit: TextUnit, known: Container[str]) -> Iterator[str]:
    """The names of the features of the unit; words that are not `known` all count as one."""
    text = _shortened(unit.text.strip()).replace("’", "'").replace("‘", "'").replace("`", "'")
    end = _end_of(text)
    tokens = words_of(text)
    if tokens and tokens[-1] == end:
        tokens.pop()
    words = [token if token in known else UNKNOWN for token in tokens]
    framed = ["^", *words, f"${end}"]
    yield from {f"w {word}" for word in words}
    yield from {f"b {one} {two}" for one, two in pairwise(framed)}
    yield from {f"p {token[:_STEM]}" for token in tokens if len(token) >= _LONG}
    if len(words) > 1:
        yield f"t {framed[1]} {framed[2]} {framed[3]}"
    yield f"end {end} {unit.breaks}"
    yield f"long {sum(len(words) > most for most in _LENGTHS)}"
    yield f"unknown {_tenths(words)}"
    yield from _shapes(text)


def words_of(text: str) -> list[str]:
    """The words and marks of a text; all numbers are one word."""
    return ["0" if token.isdigit() else token for token in _TOKEN.findall(text.lower())]


def _shortened(text: str) -> str:
    """The text of a unit; of a very long one only its beginning and its end."""
    return text if len(text) <= _MOST else f"{text[: _MOST // 2]} {text[-_MOST // 2 :]}"


def _end_of(text: str) -> str:
    last = text.rstrip("\"')]} »”*_")[-1:]
    last = _ENDS.get(last, last)
    return last if last and last in ".?!:,;-" else "none"


def _tenths(words: list[str]) -> int:
    """The share of unknown words, rounded to thirds: 0 to 3."""
    return round(3 * words.count(UNKNOWN) / len(words)) if words else 3


def _shapes(text: str) -> Iterator[str]:
    letters = [character for character in text[:80] if character.isalpha()]
    if not letters:
        yield "shape: no letters"
    if text[:1] in "@#<>/|{}[]=~_+\\★☆%$&":
        yield "shape: mark first"
    if text[:1] in "-*•–—·":
        yield "shape: bullet"
    if text[:1].isdigit():
        yield "shape: digit first"
    if len(letters) > 3 and "".join(letters).isupper():
        yield "shape: capitals"
    label = re.match(r"[^\n:：]{1,30}[:：]", text)
    if label and len(text) > label.end() and len(_TOKEN.findall(label[0])) < 5:
        yield "shape: label"
    written = text.split()[:8]
    if len(written) > 1 and all(word[:1].isupper() or not word[:1].isalpha() for word in written):
        yield "shape: title"
    if text[:1].islower():
        yield "shape: small first"
