"""Statements of a known frame: what they give a value for, and the value.

"My favourite colour is green" gives the slot "favourite colour" the value "green". The frames are
few and narrow on purpose: a statement that rules do not surely understand replaces nothing. They
are in the words of English (`[statements.frames]`), as how people type is: what they open with,
names without capitals, statements without a subject.
"""

import re
from functools import cache
from typing import NamedTuple

from memory_store.language.kinds import TELLING, kinds_of, likeliest
from memory_store.language.language import Stated
from memory_store.language.languages import spelled, word_list, word_table, wording
from memory_store.language.words import stem

# What stands before a statement whose subject is left out.
_LEFT_OUT = ("i", "i am", "i was", "my")
# Whoever leaves it out writes briefly.
_LONGEST_WITHOUT = 160
# A capital that does not merely open a sentence, and an "I" without its own.
_CAPITAL = re.compile(r"(?<![.!?]\s)(?<!\A)(?!I\b)\b[A-Z]")
_SMALL_I = re.compile(r"\bi(?:m|['’]m|['’]ve)?\b")
# What stands for a name in text that writes no capitals.
_SMALL = {"proper": "small", "titled": "titled_small"}


class _Frame(NamedTuple):
    """The words, or groups of the pattern, that name what it gives a value for; and the pattern for
    text with names in capitals, and for text without."""

    slot: list[str]
    capitalised: re.Pattern[str]
    uncapitalised: re.Pattern[str]


@cache
def _frames(table: str) -> list[_Frame]:
    def compiled(pattern: str, **instead: str) -> re.Pattern[str]:
        return re.compile(spelled(f"{{opening}}{pattern}", "statements", instead=instead), re.I)

    return [
        _Frame(slot.split(), compiled(pattern), compiled(pattern, **_SMALL))
        for slot, patterns in word_table("english", "statements")[table].items()
        for pattern in patterns
    ]


def writes_capitals(text: str) -> bool:
    """Whether names of a text are told by their capitals: not where it has none, or writes "i"."""
    return _SMALL_I.search(text) is None and _CAPITAL.search(text) is not None


def lacks_subject(sentence: str) -> bool:
    """Whether it tells something of whoever wrote it, and says neither "I" nor anybody else."""
    return (
        len(sentence) <= _LONGEST_WITHOUT
        and not sentence.endswith("?")
        and wording("statements.no_subject").match(sentence) is not None
        and likeliest(kinds_of(sentence)) in TELLING
    )


def stated(statement: str) -> Stated | None:
    """What a first-person statement gives a value for; None where no frame surely fits.

    "The landlord called, my rent is now $1,100" says so in its second clause.
    """
    text = " ".join(statement.split())
    if wording("statements.speaks").match(text) or not lacks_subject(text):
        return _by_frames(text)
    opening = wording("statements.opening").match(text)
    cut = opening.end() if opening else 0
    completed = (f"{text[:cut]}{subject} {text[cut:]}" for subject in _LEFT_OUT)
    return next((known for known in map(_by_frames, completed) if known), None)


def _by_frames(text: str) -> Stated | None:
    capitals = writes_capitals(text)
    clauses = wording("statements.clause").finditer(text)
    starts = [0, *(boundary.end() for boundary in clauses)]
    for start, end in zip(starts, [*starts[1:], len(text)], strict=True):
        if not wording("statements.speaks").match(text, start):
            continue
        for table, holds in (("frames", True), ("ended", False)):
            for slot, capitalised, uncapitalised in _frames(table):
                if match := (capitalised if capitals else uncapitalised).match(text, start):
                    said = text[: max(end, match.end())]
                    return _checked(slot, match, said, holds)
    return None


def _checked(slot: list[str], match: re.Match[str], text: str, holds: bool) -> Stated | None:
    groups = match.groupdict("")
    name = " ".join(groups.get(word, word) for word in slot)
    counted = name.partition(" ")[0] in word_list("english", "statements.counted")
    if wording("statements.unreal").search(text):
        return None
    if counted and (
        wording("statements.no_thing").search(name)
        or wording("statements.rate").match(text, match.end())
    ):
        return None
    changed = wording("statements.changed").search(text) is not None
    replaces = changed or not holds or wording("statements.single").search(name) is not None
    return Stated(_normal_slot(name), _normal(groups["value"]), replaces, holds, changed)


def _normal_slot(slot: str) -> str:
    """Plurals and spellings of one slot are one."""
    return " ".join(map(stem, re.sub(r"\b(fav|col)o(?=r)", r"\1ou", slot.lower()).split()))


def _normal(value: str) -> str:
    lowered = value.lower().strip(" '\"’.")
    lowered = re.sub(r"^(?:the|an?|my)\s+", "", lowered)
    numbers = word_list("english", "numbers")
    return str(numbers.index(lowered) + 1) if lowered in numbers else lowered
