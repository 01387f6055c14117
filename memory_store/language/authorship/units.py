"""A message in units (its sentences, and lines that are none), and what each looks like.

The features are words, pairs of words and beginnings of words, as far as the judgement knows them,
and the shape: how a unit begins and ends, and whether it stands on a line of its own. No language
is told from another; what is not known counts as unknown. Pure, linear in the length.
"""

import re
from collections.abc import Container, Iterator
from dataclasses import dataclass
from itertools import pairwise

# What ends a sentence inside a line: punctuation and space; in Chinese and Japanese without space.
# What stands before a colon (in French behind a space) is a unit of its own: it may introduce what
# stands behind it.
_END = re.compile(
    r"(?<![.!?…])[.!?…]++[\"'”’»)\]]*+\s++|[。！？：]++[\"”」』）]*+\s*+"
    r"|(?<=\w)[ \u00a0\u202f]?:\s++"
)
_ABBREVIATED = re.compile(
    r"(?:^|[\s(])(?:dr|mr|mrs|ms|prof|st|mt|ft|vs|e\.g|i\.e|approx|no|z\.b|bzw|sr|sra|mme|m)\.$",
    re.I,
)
_LONGEST_ABBREVIATION = 8
# German writes ordinals with a full stop: "am 3. März", "vom 3. bis 10. August".
_ORDINAL = re.compile(
    r"(?:^|\D)\d{1,2}\.\s+(?:bis|und|jan|feb|mär|apr|mai|jun|jul|aug|sep|okt|nov|dez)$", re.I
)
# Longer lines were wrapped, as e-mails are, where the next one goes on in lower case.
_WRAPPED = 40
_CLOSING = frozenset('.!?:;…。！？："”»')


@dataclass(frozen=True, slots=True)
class Unit:
    """A sentence, or a line that is none. `breaks` is how many line ends follow: 0, 1 or 2, and
    3 where nothing follows at all."""

    text: str
    breaks: int = 3


def units_of(text: str) -> list[Unit]:
    """The units in order, without those that hold no character but spaces."""
    lines = list(_lines(text))
    units: list[Unit] = []
    for number, (line, gap) in enumerate(lines):
        parts = list(_sentences(line))
        behind = 3 if number == len(lines) - 1 else gap
        units += [Unit(part, 0) for part in parts[:-1]]
        units.append(Unit(parts[-1], behind))
    return units


def _lines(text: str) -> Iterator[tuple[str, int]]:
    """The lines that hold something, each with the line ends behind it; wrapped ones as one."""
    waiting: list[str] = []
    gap = 1
    for line in (raw.strip() for raw in text.split("\n")):
        if not line:
            gap += 1
            continue
        if waiting and not (gap == 1 and _goes_on(waiting[-1], line)):
            yield " ".join(waiting), min(gap, 2)
            waiting = []
        waiting.append(line)
        gap = 1
    if waiting:
        yield " ".join(waiting), 2


def _goes_on(line: str, following: str) -> bool:
    return len(line) >= _WRAPPED and line[-1] not in _CLOSING and following[0].islower()


def _sentences(line: str) -> Iterator[str]:
    start = 0
    for end in _END.finditer(line):
        before = line[max(start, end.start() - _LONGEST_ABBREVIATION) : end.start() + 1]
        is_number = line[start : end.start()].strip().isdigit()
        goes_on = _ORDINAL.search(line[max(start, end.start() - 3) : end.end() + 3])
        if is_number or goes_on or _ABBREVIATED.search(before) or end.end() == len(line):
            continue
        yield line[start : end.end()].strip()
        start = end.end()
    yield line[start:].strip()


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
_MOST = 600
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
    return text if len(text) <= _MOST else f"{text[: _MOST // 2]} {text[-_MOST // 2 :]}"


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
