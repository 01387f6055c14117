"""What an answer without a language model is worth, by its words alone.

The reply is read from the top, as people do: what stands first counts most, and a wrong statement
is worse than a quote that does not help.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum


class AnswerGrade(StrEnum):
    """What became of a question."""

    FIRST = "right, first"
    """The first line holds the answer; or what was never told is not known."""
    SOMEWHERE = "right, below"
    """A later line holds it."""
    BESIDE = "beside it"
    """Quotes that do not answer, and nothing wrong claimed."""
    WRONG = "wrong"
    """What was claimed, or stood first as if it still held, is not so."""
    REFUSED = "refused"
    """Said not to know what was told."""
    MADE_UP = "made up"
    """Claimed what was never told."""


@dataclass(frozen=True, slots=True)
class DiaryQuestion:
    """A question, with the texts of which one of each group is in a right answer, and those that
    mark a wrong one. No group: it was never told."""

    text: str
    kind: str
    right: Sequence[Sequence[str]]
    wrong: Sequence[str]


# What introduces quotes, and no claim.
_OPENING = re.compile(r"^[^“”]*:$")
_QUOTE = re.compile(r"^\s*(?:[-*•]|\d+\.)\s")
_UNKNOWN = re.compile(
    r"\b(?:I don['’]t know|never came up|you (?:have|['’]ve) not told me)\b", re.I
)
_OLDER = re.compile(r"\((?:no longer|older|before|until|replaced)\b", re.I)


def outcome(asked: DiaryQuestion, answer: str) -> AnswerGrade:
    """What the answer is worth."""
    lines = [line for line in answer.splitlines() if line.strip() and not _OPENING.match(line)]
    unknown = bool(_UNKNOWN.search(lines[0])) if lines else True
    claims = [line for line in lines if not _QUOTE.match(line) and not _UNKNOWN.search(line)]
    first = next((line for line in lines if not _UNKNOWN.search(line)), "")
    misleading = _holds_any(asked.wrong, first) and not _OLDER.search(first)
    if not asked.right:
        if unknown:
            return AnswerGrade.FIRST
        return (
            AnswerGrade.MADE_UP
            if claims
            else AnswerGrade.WRONG
            if misleading
            else AnswerGrade.BESIDE
        )
    if all(_holds_any(group, answer) for group in asked.right):
        leads = any(_holds_any(group, first) for group in asked.right)
        if leads and not unknown:
            return AnswerGrade.FIRST
        return AnswerGrade.WRONG if misleading and claims else AnswerGrade.SOMEWHERE
    if unknown:
        return AnswerGrade.REFUSED
    return AnswerGrade.WRONG if claims or misleading else AnswerGrade.BESIDE


def _holds_any(texts: Sequence[str], answer: str) -> bool:
    return any(re.search(rf"(?<!\w){re.escape(text)}(?!\w)", answer, re.I) for text in texts)
