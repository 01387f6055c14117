"""The step at which each wrong answer went wrong, from the run's files: LongMemEval's analysis of
errors.

A memory can lose an answer at four steps: the evidence was not recorded, not retrieved, retrieved
but not delivered to the reader, or delivered and misread.
"""

from collections import Counter
from collections.abc import Sequence
from enum import StrEnum
from typing import TypedDict

from harness.datasets.selection import by_type
from harness.metrics.retrieval_metrics import tells_rounds
from harness.records.digest import QuestionDigest, round_name
from harness.records.run_dir import RunLines, outcome_of
from harness.records.schema import RankedLine


class ErrorPlace(StrEnum):
    """The outcome of a question: right, or the step at which it failed."""

    RIGHT = "right"
    NOT_RECORDED = "not recorded"
    """The question's history was not ingested."""
    NOT_RETRIEVED = "not retrieved"
    """The ranking lacked some of the evidence."""
    NOT_DELIVERED = "not delivered"
    """All evidence was ranked, but the prompt lacked some of it."""
    MISREAD = "misread"
    """The answer is wrong although the prompt held all evidence, or there was none to find."""
    RETRIEVED = "retrieved, wrong"
    """All evidence was ranked and the answer is wrong; the reader's prompt was not recorded."""
    NOT_SEARCHED = "wrong, not searched"
    """The answer is wrong, and neither a ranking nor a prompt was recorded."""
    NO_ANSWER = "no answer"
    UNSCORED = "unscored"


class ErrorsTable(TypedDict):
    all: dict[str, int]
    by_type: dict[str, dict[str, int]]


def errors_apart(questions: Sequence[QuestionDigest], lines: RunLines) -> ErrorsTable:
    """The number of questions with each outcome that occurs, over all and by type."""

    def counts(members: Sequence[QuestionDigest]) -> dict[str, int]:
        counted = Counter(place_of(question, lines) for question in members)
        return {place.value: counted[place] for place in ErrorPlace if counted[place]}

    by_kind = {kind: counts(members) for kind, members in by_type(questions).items()}
    return {"all": counts(questions), "by_type": by_kind}


def place_of(question: QuestionDigest, lines: RunLines) -> ErrorPlace:
    outcome = outcome_of(question, lines)
    if outcome == "yes":
        return ErrorPlace.RIGHT
    if outcome == "unscored":
        return ErrorPlace.UNSCORED
    if lines.ingests and question.history_id not in lines.ingests:
        return ErrorPlace.NOT_RECORDED
    if outcome == "missing":
        return ErrorPlace.NO_ANSWER
    if question.is_abstention or not question.evidence_session_ids:
        return ErrorPlace.MISREAD
    return _of_wrong(question, lines)


def _of_wrong(question: QuestionDigest, lines: RunLines) -> ErrorPlace:
    ranked = lines.retrieval.get(question.question_id)
    prompt = lines.prompts.get(question.question_id)
    if prompt is not None and all(turn["found"] for turn in prompt["evidence_turns"]):
        return ErrorPlace.MISREAD
    if ranked is None:
        return ErrorPlace.NOT_SEARCHED if prompt is None else ErrorPlace.NOT_DELIVERED
    if not _all_ranked(question, ranked):
        return ErrorPlace.NOT_RETRIEVED
    return ErrorPlace.RETRIEVED if prompt is None else ErrorPlace.NOT_DELIVERED


def _all_ranked(question: QuestionDigest, line: RankedLine) -> bool:
    """Whether all evidence is ranked: its rounds where they are labelled, else its sessions."""
    if question.evidence_rounds and tells_rounds(line):
        rounds = {round_name(one["position"], one["round_index"]) for one in line["ranked_rounds"]}
        return rounds >= set(question.evidence_rounds)
    sessions = {one["session_id"] for one in line["ranked_sessions"]}
    return sessions >= set(question.evidence_session_ids)
