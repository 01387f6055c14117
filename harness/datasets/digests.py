"""From a loaded question to what judging and reporting need of it."""

from collections.abc import Iterator

from harness.datasets.official_ids import official_session_targets, official_turn_targets
from harness.datasets.questions import Question, evidence_rounds, evidence_turn_ids, rounds_of
from harness.records.digest import QuestionDigest, round_name
from harness.text import beginning, rfc3339


def digest_of(question: Question) -> QuestionDigest:
    """The question without its history."""
    return QuestionDigest(
        question_id=question.question_id,
        question_type=question.question_type,
        is_abstention=question.is_abstention,
        question=question.question,
        answer=question.answer,
        question_date=rfc3339(question.question_date),
        evidence_session_ids=question.evidence_session_ids,
        evidence_rounds=tuple(round_name(*place) for place in evidence_rounds(question)),
        official_session_targets=tuple(official_session_targets(question)),
        official_turn_targets=tuple(official_turn_targets(question)),
        history_id=question.history_id,
        alternatives=question.alternatives,
        trap=question.trap,
        evidence_ids=question.evidence_ids,
        evidence_turn_ids=evidence_turn_ids(question),
        evidence_begins=tuple(_evidence_begins(question)),
    )


def _evidence_begins(question: Question) -> Iterator[str]:
    sessions = {session.position: session for session in question.sessions}
    for position, index in evidence_rounds(question):
        session = sessions[position]
        labelled = (session.turns[i] for i in rounds_of(session.turns)[index].turns)
        turn = next(turn for turn in labelled if turn.has_answer)
        day = rfc3339(session.session_date)[:10]
        yield f"{day} {turn.name or turn.role}: {beginning(turn.content)}"
