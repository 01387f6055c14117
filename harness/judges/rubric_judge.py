"""A judge for answers that are scored by the points of a rubric, as in BEAM: a language model is
asked about one point at a time, or for the order in which events are told.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, median_low
from typing import Any

from harness.datasets.questions import EVENT_ORDERING
from harness.errors import JudgeCallFailed, UsageError
from harness.judges import Decision, Verdict
from harness.judges.model_judge import ModelJudge, tokens_of
from harness.judges.openai_chat import ModelReply
from harness.judges.rubrics import json_objects, without_thoughts
from harness.records.digest import QuestionDigest
from harness.statistics.paired_tests import kendall_tau_b

WORTHS = (0.0, 0.5, 1.0)
# The lowest fractional score that passes.
PASSES = 0.5


@dataclass(frozen=True, slots=True)
class Scores:
    """The scores of one answer, 0 to 1, with the figures they were computed from."""

    fractional: float
    official: float
    details: dict[str, Any]

    @property
    def verdict(self) -> Decision:
        """Yes from half of the possible fractional score."""
        return "yes" if self.fractional >= PASSES else "no"

    def to_json(self) -> dict[str, Any]:
        rounded = {"fractional": round(self.fractional, 4), "official": round(self.official, 4)}
        return {"rubric": rounded | self.details}


def scores_of_points(points: Sequence[float]) -> Scores:
    """The fractional and the official mean of the points of one rubric."""
    fractional = fmean(points)
    official = fmean(int(point) for point in points)
    return Scores(fractional, official, {"points": list(points)})


def scores_of_order(said: Sequence[int], expected: int) -> Scores:
    """How well an answer orders events: Kendall's tau-b, scaled to [0, 1], times F1. The official
    score leaves out F1.

    `said` are the answer's events in its order: each is the number (from 1) of one of the
    `expected` events, or 0 for any other event. A repeated event counts once, at its first place.
    F1 compares the answer's events with the expected events. Tau compares the ranks of the union
    of both lists; events that one list lacks share the last rank there. Without events the score
    is 0.
    """
    told = [number for i, number in enumerate(said) if not number or number not in said[:i]]
    shared = sum(number > 0 for number in told)
    f1 = 2 * shared / (len(told) + expected)
    order = (_tau(told, expected) + 1) / 2 if told else 0.0
    details = {"order": list(said), "expected": expected, "tau": round(order, 4)}
    return Scores(order * f1, order, details | {"f1": round(f1, 4)})


def _tau(told: Sequence[int], expected: int) -> float:
    """Kendall's tau-b over the union of both lists; 1 where it is undefined, as for one event."""
    others = sum(not number for number in told)
    last = expected + others + 1
    wanted = [*range(1, expected + 1), *([last] * others)]
    places = {number: place for place, number in enumerate(told, start=1) if number}
    strange = [place for place, number in enumerate(told, start=1) if not number]
    found = [*(places.get(number, last) for number in range(1, expected + 1)), *strange]
    tau = kendall_tau_b(wanted, found)
    return 1.0 if tau is None else tau


_LIST = re.compile(r"\[[\d,\s]*\]")
_ORDERS = re.compile(rf'"order"\s*:\s*({_LIST.pattern})')
_NUMBER = re.compile(r"[^\w-]*(\d*\.?\d+)\D*$")
_AGAIN = 'Your score alone, please: {"score": 0}, {"score": 0.5} or {"score": 1}.'
_ORDER_AGAIN = 'The order alone, please, as in {"order": [2, 0, 1]}.'


class RubricJudge(ModelJudge):
    """A judge that makes one call for each point and vote. The median vote counts, and of an even
    number of votes the lower median. A point without a readable vote leaves the question unscored.
    """

    def prompts(self, question: QuestionDigest, hypothesis: str) -> list[int]:
        """One length for each point and vote; for an order of events, one for each vote."""
        if not hypothesis.strip():
            return []
        texts = [self._text(question, item, hypothesis) for item in self._asked(question)]
        return [len(text) for text in texts for _ in range(self._votes)]

    async def judge(self, question: QuestionDigest, hypothesis: str) -> Verdict:
        """Score by the question's rubric; raises `JudgeUnavailable`, and `UsageError` for a
        question without one.
        """
        require_rubric(question)
        if not hypothesis.strip():
            nothing = nothing_said(question)
            return Verdict(nothing.verdict, "empty answer, not asked", details=nothing.to_json())
        replies: list[ModelReply] = []
        prompt = self._rubric.prompt(question)
        asked = {"prompt": prompt.name, "prompt_hash": prompt.hash}
        try:
            if question.question_type == EVENT_ORDERING:
                scores, raw = await self._order(question, hypothesis, replies)
            else:
                scores, raw = await self._points(question, hypothesis, replies)
        except JudgeCallFailed as error:
            failed = {"error": type(error).__name__, **tokens_of(replies)}
            return Verdict(None, str(error), details=asked | failed)
        details = asked | tokens_of(replies)
        if scores is None:
            return Verdict(None, raw, details=details)
        return Verdict(scores.verdict, raw, details=details | scores.to_json())

    def _asked(self, question: QuestionDigest) -> Sequence[str]:
        if question.question_type != EVENT_ORDERING:
            return question.rubric
        return [_numbered(question.rubric)]

    async def _points(
        self, question: QuestionDigest, hypothesis: str, replies: list[ModelReply]
    ) -> tuple[Scores | None, str]:
        points: list[float] = []
        said: list[str] = []
        for item in question.rubric:
            text = self._text(question, item, hypothesis)
            votes = []
            for number in range(self._votes):
                worth, raw = await self._ask(text, number, replies, read_worth, _AGAIN)
                said.append(raw)
                votes += [] if worth is None else [worth]
            if not votes:
                return None, "\n".join(said)
            points.append(median_low(votes))
        return scores_of_points(points), "\n".join(said)

    async def _order(
        self, question: QuestionDigest, hypothesis: str, replies: list[ModelReply]
    ) -> tuple[Scores | None, str]:
        expected = len(question.rubric)
        text = self._text(question, _numbered(question.rubric), hypothesis)
        found: list[Scores] = []
        said: list[str] = []
        for number in range(self._votes):
            order, raw = await self._ask(
                text, number, replies, lambda reply: read_order(reply, expected), _ORDER_AGAIN
            )
            said.append(raw)
            found += [] if order is None else [scores_of_order(order, expected)]
        found.sort(key=lambda scores: scores.fractional)
        middle = found[(len(found) - 1) // 2] if found else None
        return middle, "\n".join(said)


def require_rubric(question: QuestionDigest) -> None:
    if not question.rubric:
        raise UsageError(
            f"question {question.question_id} has no rubric: choose another --judge than beam"
        )


def nothing_said(question: QuestionDigest) -> Scores:
    if question.question_type == EVENT_ORDERING:
        return scores_of_order([], len(question.rubric))
    return scores_of_points([0.0] * len(question.rubric))


def read_worth(reply: str) -> float | None:
    """The 0, 0.5 or 1 that a reply states; None where it states none of them.

    The last JSON object with a score counts, else a leading number that no other number follows.
    """
    said = without_thoughts(reply)
    scores = [found["score"] for found in json_objects(said) if "score" in found]
    if any(isinstance(score, bool) for score in scores):
        return None
    if not scores:
        match = _NUMBER.match(said)
        scores = [match[1]] if match else []
    try:
        worth = float(scores[-1]) if scores else None
    except (TypeError, ValueError):
        return None
    return worth if worth in WORTHS else None


def read_order(reply: str, expected: int) -> list[int] | None:
    """The last list under `order` in a reply, else its last list of numbers; None where there is no
    list, or where a number exceeds `expected`.
    """
    said = without_thoughts(reply)
    lists = _ORDERS.findall(said) or _LIST.findall(said)
    try:
        numbers: list[int] = json.loads(lists[-1]) if lists else [-1]
    except ValueError:
        return None
    return numbers if all(0 <= number <= expected for number in numbers) else None


def _numbered(items: Sequence[str]) -> str:
    return "\n".join(f"{number}. {item}" for number, item in enumerate(items, start=1))
