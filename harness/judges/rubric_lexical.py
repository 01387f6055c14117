"""The rubric judge without a model: it counts how many words of a rubric's point an answer has.

It compares words, not meanings: an answer that says the opposite in the same words passes, a good
paraphrase fails. benchmarks/LOG.md says how often it is right on answers of known correctness.
"""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources
from typing import Any

from harness.datasets.questions import EVENT_ORDERING
from harness.judges import Verdict
from harness.judges.lexical.judge import code_outline, rules_hash
from harness.judges.lexical.references import references
from harness.judges.lexical.words import content_words, fold, is_refusal, recall, sentences, tokens
from harness.judges.rubric_judge import (
    Scores,
    nothing_said,
    require_rubric,
    scores_of_order,
    scores_of_points,
)
from harness.records.digest import QuestionDigest

# The lowest grades (0 to 1) that earn a whole point and half a point.
_WHOLE, _HALF = 0.7, 0.4
# The least share of an event's words that an entry must have to count as this event.
_SAME_EVENT = 0.4
# A refusal of at most this many sentences says nothing else.
_SHORT = 2
_LEAD = re.compile(
    r"^\s*(?:the )?(?:llm )?(?:response|answer)s? should (?:\w+ ){0,2}?"
    r"(?:state|mention|contain|include|say|note|acknowledge)\w*(?: that)?\s*:?\s*",
    re.IGNORECASE,
)
# Phrases like "you said that", which occur in an answer about any contradiction.
_TOLD = re.compile(
    r"^(?:that )?you (?:\w+ ){0,2}?(?:said|mentioned|stated|told|noted|claimed)(?: that)?\s+",
    re.IGNORECASE,
)
_NEVER = frozenset(content_words("never not no also"))
_CONTRADICTION = re.compile(r"\bcontradict|\binconsisten|\bconflict|\bdiscrepan|\bmismatch")
_ASKS = re.compile(
    r"\bclarif|\bwhich (?:\w+ ){0,3}(?:is|was|are|of)\b|\bcould you confirm|\bplease confirm"
)
_ENTRY = re.compile(r"(?:^|(?<=[\s:;,]))(?:\(?\d{1,2}[.)]|[-*•])\s+", re.MULTILINE)


class LexicalRubricJudge:
    """Needs no key and no network, and decides the same way every time."""

    id = "beam-lexical-1"
    account: Mapping[str, Any] = {"kind": "lexical", "rubric": "beam"}
    meter = None

    def __init__(self) -> None:
        self.hash = _rules()

    def prompts(self, question: QuestionDigest, hypothesis: str) -> list[int]:
        return []

    async def judge(self, question: QuestionDigest, hypothesis: str) -> Verdict:
        """Score by the question's rubric; raises `UsageError` for a question without one."""
        require_rubric(question)
        if not hypothesis.strip():
            nothing = nothing_said(question)
            return Verdict(nothing.verdict, "empty answer", details=nothing.to_json())
        scores = score(question, hypothesis)
        return Verdict(scores.verdict, json.dumps(scores.details), details=scores.to_json())

    async def close(self) -> None:
        """There is nothing to close."""


def score(question: QuestionDigest, hypothesis: str) -> Scores:
    if question.question_type == EVENT_ORDERING:
        return scores_of_order(order_of(question.rubric, hypothesis), len(question.rubric))
    if question.is_abstention:
        return scores_of_points([float(is_refusal(hypothesis))] * len(question.rubric))
    if is_refusal(hypothesis) and len(sentences(hypothesis)) <= _SHORT:
        return nothing_said(question)
    return scores_of_points(_worths(question, hypothesis))


def _worths(question: QuestionDigest, hypothesis: str) -> list[float]:
    """The worth of every point. Some points ask for a manner: to note a contradiction, or to ask
    back. Such a point counts only if the answer also has words of a factual point, where the rubric
    has one. An answer in none of the wanted manners has taken one side and gets 0 for all points.
    """
    points = [_TOLD.sub("", _LEAD.sub("", item).strip(" \"'.")) for item in question.rubric]
    manners = [_manner(point) for point in points]
    said = fold(hypothesis)
    if any(manners) and not any(manner.search(said) for manner in manners if manner):
        return [0.0] * len(points)
    # An answer about two contradicting statements repeats the question's own words.
    grade = _repeated if any(manners) else worth
    worths = [
        grade(question, point, hypothesis) if manner is None else None
        for point, manner in zip(points, manners, strict=True)
    ]
    known = [value for value in worths if value is not None]
    is_on_subject = not known or any(known)
    return [
        float(is_on_subject and bool(manner and manner.search(said))) if value is None else value
        for value, manner in zip(worths, manners, strict=True)
    ]


def _manner(point: str) -> re.Pattern[str] | None:
    """The pattern to look for if a point asks for a manner of answering; None if it asks a fact."""
    plain = fold(point)
    if _CONTRADICTION.search(plain):
        return _CONTRADICTION
    return _ASKS if point.endswith("?") or _ASKS.match(plain) else None


def worth(question: QuestionDigest, point: str, hypothesis: str) -> float:
    """0, 0.5 or 1 for one point, by its words that the question lacks; 0 if the answer lacks one of
    its numbers or names a rival."""
    parts = sentences(hypothesis)
    matches = [
        reference.match(parts) for reference in references(question.question, point, tolerant=False)
    ]
    best = max(matches, key=lambda match: (not match.rival, match.grade))
    return 0.0 if best.rival else _rounded(best.grade)


def _repeated(_: QuestionDigest, point: str, hypothesis: str) -> float:
    words = set(content_words(point)) - _NEVER
    return _rounded(recall(words, tokens(hypothesis)))


def _rounded(grade: float) -> float:
    return 1.0 if grade >= _WHOLE else 0.5 if grade >= _HALF else 0.0


def order_of(rubric: Sequence[str], hypothesis: str) -> list[int]:
    """The number of the event that each entry of an answer's list means, 0 for none. An answer
    without a list is read by sentences, and only sentences that mean an event count.
    """
    wanted = [set(content_words(_LEAD.sub("", item))) for item in rubric]
    pieces = [piece for piece in _ENTRY.split(hypothesis)[1:] if piece.strip()]
    is_list = len(pieces) > 1
    told = [_event(piece, wanted) for piece in (pieces if is_list else sentences(hypothesis))]
    return told if is_list else [number for number in told if number]


def _event(piece: str, wanted: Sequence[set[str]]) -> int:
    said = set(tokens(piece))
    shares = [len(words & said) / len(words) if words else 0.0 for words in wanted]
    best = max(range(len(shares)), key=lambda i: shares[i])
    return best + 1 if shares[best] >= _SAME_EVENT else 0


@cache
def _rules() -> str:
    text = resources.files("harness.judges").joinpath("rubric_lexical.py").read_text("utf-8")
    rules = json.dumps([code_outline(text), rules_hash()])
    return hashlib.sha256(rules.encode()).hexdigest()[:12]
