"""From a loaded question to what judging and reporting need of it, official corpus ids included.

The official LongMemEval scripts carry the label inside the id: `answer…` is evidence, and `answer`
becomes `noans` where no user turn is labelled. Only user text is in that corpus. These ids stay on
the harness's side.
"""

from collections.abc import Iterator

from harness.datasets.questions import (
    HaystackSession,
    Question,
    evidence_rounds,
    evidence_turn_ids,
    rounds_of,
)
from harness.records.digest import QuestionDigest, round_name
from harness.text import beginning, rfc3339


def official_session_id(session: HaystackSession) -> str | None:
    """The session's id in the official corpus, or None for a session without user turns."""
    users = [turn for turn in session.turns if turn.role == "user"]
    if not users:
        return None
    return _masked(session.session_id, labelled=any(turn.has_answer for turn in users))


def official_turn_id(session: HaystackSession, turn: int) -> str | None:
    """The id of one turn (1-based, both roles counted), or None for an assistant turn."""
    if session.turns[turn].role != "user":
        return None
    masked = _masked(session.session_id, labelled=session.turns[turn].has_answer)
    return f"{masked}_{turn + 1}"


def official_session_targets(question: Question) -> list[str]:
    """Ids of the relevant items of the session corpus, one entry for each item."""
    ids = (official_session_id(session) for session in question.sessions)
    return [item for item in ids if item and "answer" in item]


def official_turn_targets(question: Question) -> list[str]:
    """Ids of the relevant items of the turn corpus, one entry for each item."""
    ids = (
        official_turn_id(session, turn)
        for session in question.sessions
        for turn in range(len(session.turns))
    )
    return [item for item in ids if item and "answer" in item]


def is_official_abstention(question_id: str) -> bool:
    """Whether the official scripts take a question for one that cannot be answered: they look for
    `_abs` anywhere in its id.
    """
    return "_abs" in question_id


def _masked(session_id: str, *, labelled: bool) -> str:
    return session_id if labelled else session_id.replace("answer", "noans")


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
        rubric=question.rubric,
        options=question.options,
    )


def _evidence_begins(question: Question) -> Iterator[str]:
    sessions = {session.position: session for session in question.sessions}
    for position, index in evidence_rounds(question):
        session = sessions[position]
        labelled = (session.turns[i] for i in rounds_of(session.turns)[index].turns)
        turn = next(turn for turn in labelled if turn.has_answer)
        day = rfc3339(session.session_date)[:10]
        yield f"{day} {turn.name or turn.role}: {beginning(turn.content)}"
