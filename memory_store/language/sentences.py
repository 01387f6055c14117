"""Sentences, and how much of a text is read for them; linear in the length of the text.

English has a splitter of its own, which facts, quotes and questions share. The other splitter works
for any language and gives units: sentences, and lines that are no sentences.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from memory_store.language.languages import word_list

LONGEST_READ = 65_536
"""How many characters rules read: for facts, their days and slots, for what a question asks, and
for the sentences that answer it. The longest message of the known histories has 42,000; a search
may have half as many. All of a text is stored, shown, and found by its words."""

LONGEST_QUERY = 2000
"""Characters of a question that are embedded: text beyond this adds nothing to a query."""

# The full stop of an abbreviation before a name or an example does not end a sentence.
_NO_ABBREVIATION = "".join(
    rf"(?<!\b{re.escape(word)}\.)" for word in word_list("english", "abbreviations")
)
# A line of this length that goes on in lower case was wrapped, as e-mails are. Shorter ones are
# lists, or the statements of somebody who writes no capitals, not even "I".
_LONG_LINE = 40
_WRAPPED = rf"(?<=[^\n]{{{_LONG_LINE - 1}}}[\w,]\n)(?!i\b)[a-z]"
# A sentence ends with closing punctuation followed by space, or at the end of a line. The pattern
# begins with a class of single characters, as the search for these is fast.
_SENTENCE_END = re.compile(rf"[.!?\n](?:(?<=\n)(?!{_WRAPPED})\n*|{_NO_ABBREVIATION}[\"')\]]*\s+)")


def sentences(text: str) -> list[str]:
    """Split text into trimmed, non-empty sentences."""
    ends = list(_SENTENCE_END.finditer(text))
    starts = [0, *(end.end() for end in ends)]
    stops = [*(end.start() + 1 for end in ends), len(text)]
    parts = (text[start:stop].strip() for start, stop in zip(starts, stops, strict=True))
    return [part for part in parts if part]


def read_sentences(text: str) -> list[str]:
    """The sentences of the first `LONGEST_READ` characters, without one that is cut off there."""
    parts = sentences(text[:LONGEST_READ])
    return parts if len(text) <= LONGEST_READ else parts[:-1]


# Inside a line a sentence ends with punctuation and space; in Chinese and Japanese without space. A
# lead before a colon (in French with a space) is a unit of its own, as it may introduce the rest.
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
_CLOSES = frozenset('.!?:;…。！？："”»')


@dataclass(frozen=True, slots=True)
class TextUnit:
    """A sentence, or a line that is no sentence. `breaks` is how many line ends follow: 0, 1 or 2,
    or 3 at the end of the text."""

    text: str
    breaks: int = 3


def units_of(text: str) -> list[TextUnit]:
    """The units of a text in order, without blank ones."""
    lines = list(_lines(text))
    units: list[TextUnit] = []
    for number, (line, gap) in enumerate(lines):
        parts = list(_sentences_of(line))
        behind = 3 if number == len(lines) - 1 else gap
        units += [TextUnit(part, 0) for part in parts[:-1]]
        units.append(TextUnit(parts[-1], behind))
    return units


def _lines(text: str) -> Iterator[tuple[str, int]]:
    """The lines that are not blank, each with the number of line ends behind it; wrapped lines are
    joined."""
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
    return len(line) >= _LONG_LINE and line[-1] not in _CLOSES and following[0].islower()


def _sentences_of(line: str) -> Iterator[str]:
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
