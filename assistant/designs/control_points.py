"""The control points of a memory (LongMemEval, section 4), and what can be chosen at each."""

from dataclasses import dataclass, fields, replace
from enum import StrEnum
from typing import Any

from assistant.answering.plan import Layout, Mode
from memory_store import TimeUse

AIDE_MEMOIRE = "aide-memoire"
"""The product's own design."""


class ValueKind(StrEnum):
    """What is ranked and read."""

    ROUND = "round"
    """What the user said, with the answer."""
    SESSION = "session"
    """All rounds of a session."""
    SUMMARY = "summary"
    """A summary of a session."""
    FACT = "fact"
    """What the user stated in a round, without the round."""


class KeySource(StrEnum):
    """What a value is found by."""

    VALUE = "value"
    """The user's words in it."""
    FACT = "fact"
    """What the user stated in it."""
    KEYPHRASE = "keyphrase"
    """Its key phrases."""
    SUMMARY = "summary"
    """A summary of it."""


class QueryKind(StrEnum):
    """What of a question is searched for."""

    QUESTION = "question"
    KEYPHRASES = "keyphrases"


class Retrieval(StrEnum):
    """How values are found."""

    DENSE = "dense"
    """By the nearest key."""
    WORDS = "words"
    """By the words of the question (BM25)."""
    BOTH = "both"
    """By the weighted sum of both."""
    PAGERANK = "pagerank"
    """Along the things that values have in common."""
    TREE = "tree"
    """Among summaries of summaries and the rounds below them, all at once."""
    WALK = "walk"
    """From the root of such a tree downwards."""


def with_values(chosen: ValueKind, added: ValueKind) -> str:
    """How a design describes its values if it adds a kind to the chosen one."""
    return chosen if chosen is added else f"{chosen} + {added}"


def fading(time: TimeUse) -> str:
    """How a design describes its use of time if values count less the older they are."""
    return "decay" if time is TimeUse.OFF else f"decay + {time}"


@dataclass(frozen=True, slots=True)
class Choices:
    """What a design does at each control point."""

    value: ValueKind = ValueKind.ROUND
    keys: tuple[KeySource, ...] = (KeySource.VALUE,)
    merged: bool = False
    """Whether all of `keys` make one text to be found by, rather than one each."""
    query: QueryKind = QueryKind.QUESTION
    time: TimeUse = TimeUse.OFF
    retrieval: Retrieval = Retrieval.DENSE
    mode: Mode = Mode.DIRECT
    layout: Layout = Layout.JSON

    def with_chosen(self, chosen: dict[str, Any]) -> "Choices":
        """These choices, each replaced by the one in `chosen` where that is not None."""
        made = {name: choice for name, choice in chosen.items() if choice is not None}
        return replace(self, **made)

    def described(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}
