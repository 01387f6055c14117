"""Quotes of replies in their context. Pure.

A sentence out of a reply is seldom understood by itself: "This trail offers panoramic views." needs
the sentence before it, "I recommend these five:" the list after it. What people say of themselves
stands alone more often, and is quoted as it is.
"""

from collections.abc import Sequence
from dataclasses import replace

from assistant.reading.quoting.lists import lists_in
from assistant.reading.statements import Statement
from memory_store import Speaker, sentences

# Characters of a passage; a sentence that is longer is one by itself.
_LONGEST = 320


def passages(statements: Sequence[Statement], most: int) -> list[Statement]:
    """The first of these statements that are in no passage before them; what was replied in its
    passage."""
    found: list[Statement] = []
    for statement in statements:
        if len(found) == most:
            break
        if not any(is_in_passage(statement, other) for other in found):
            replied = statement.speaker is Speaker.ASSISTANT
            found.append(in_passage(statement) if replied else statement)
    return found


def in_passage(statement: Statement) -> Statement:
    """A reply's statement with its neighbours in the same line, and the list that they lead to."""
    reply = statement.source.record.round.assistant_text
    for line in reply.split("\n"):
        parts = sentences(line)
        if statement.text in parts:
            passage = _around(parts, parts.index(statement.text))
            return replace(statement, passage=_with_list(passage, reply))
    return statement


def is_in_passage(statement: Statement, other: Statement) -> bool:
    """Whether the other's passage has the statement in it."""
    return (
        statement.source.record.id == other.source.record.id
        and statement.speaker is other.speaker
        and statement.text in other.passage
    )


def _around(parts: Sequence[str], at: int) -> str:
    """What follows and what comes before in turn, as far as it fits."""
    first = last = at
    left = _LONGEST - len(parts[at])
    growing = True
    while growing:
        growing = False
        for place in (last + 1, first - 1):
            if 0 <= place < len(parts) and len(parts[place]) < left:
                left -= len(parts[place]) + 1
                first, last = min(first, place), max(last, place)
                growing = True
    return " ".join(parts[first : last + 1])


def _with_list(passage: str, reply: str) -> str:
    for listed in lists_in(reply):
        if listed.lead and passage.endswith(listed.lead):
            return passage.removesuffix(listed.lead) + listed.in_short
    return passage
