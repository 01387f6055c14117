"""What a sentence or a line looks like, for the judgement whose words it is. Pure, linear.

Words, pairs of words and beginnings of words, as far as the judgement knows them, and the shape:
how it begins and ends, and whether it stands on a line of its own. No language is told from
another; what is not known counts as unknown.
"""

import re
from collections.abc import Container, Iterator
from itertools import pairwise

from memory_store.updates.units import Unit

UNKNOWN = "¿"
"""Stands for a word that the judgement does not know."""
# Chinese, Japanese and Korean are written without spaces: each character is a word.
_TOKEN = re.compile(
    r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]"
    r"|[^\W\d_\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+(?:'[^\W\d_]+)?"
    r"|\d+|[@#<>/|*\[\]{}()=_:;,+~$%&^\\★☆>»→-]"
)
_ENDS = {"？": "?", "。": ".", "！": "!", "：": ":", "…": ".", "，": ",", "、": ","}
_STEM, _LONG = 5, 7
_LONGEST = 600
_LENGTHS = (1, 2, 3, 5, 8, 12, 20)


def features(unit: Unit, known: Container[str]) -> Iterator[str]:
    """The names of what is true of the unit; words that are not `known` are all alike."""
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
    yield from _shapes(text, tokens)


def words_of(text: str) -> list[str]:
    """The words and marks of a text; all numbers are one word."""
    return ["0" if token.isdigit() else token for token in _TOKEN.findall(text.lower())]


def _shortened(text: str) -> str:
    """How a very long unit begins and ends."""
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST // 2]} {text[-_LONGEST // 2 :]}"


def _end_of(text: str) -> str:
    last = text.rstrip("\"')]} »”*_")[-1:]
    last = _ENDS.get(last, last)
    return last if last and last in ".?!:,;-" else "none"


def _tenths(words: list[str]) -> int:
    """How much of it is unknown, in thirds."""
    return round(3 * words.count(UNKNOWN) / len(words)) if words else 3


def _shapes(text: str, tokens: list[str]) -> Iterator[str]:
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
