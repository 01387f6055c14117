"""A message in units: its sentences, and lines that are none. Pure, linear in its length."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

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
        if is_number or _ABBREVIATED.search(before) or end.end() == len(line):
            continue
        yield line[start : end.end()].strip()
        start = end.end()
    yield line[start:].strip()
