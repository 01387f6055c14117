"""How much of each question a page can show, so that it stays a page. Pure."""

from dataclasses import dataclass
from typing import Self

_PAGE_CHARACTERS = 1_000_000
_MOST, _LEAST = 8_000, 400


@dataclass(frozen=True, slots=True)
class Clipping:
    """Characters of an answer, of a judge's reply and of a round; rounds of a ranking."""

    answer: int
    reply: int
    excerpt: int
    rounds: int

    @classmethod
    def for_questions(cls, n: int) -> Self:
        """Shares of about a megabyte of text, whatever the number of questions."""
        room = max(_LEAST, min(_MOST, _PAGE_CHARACTERS // max(n, 1)))
        return cls(
            answer=room // 3, reply=room // 8, excerpt=min(160, room // 25), rounds=_rounds(room)
        )


def _rounds(room: int) -> int:
    return max(3, min(15, room // 250))


def clipped(text: str, length: int) -> str:
    """A text, or its beginning and how much of it is missing."""
    if len(text) <= length:
        return text
    return f"{text[:length]} […{len(text) - length:,} more characters in the run's files]"
