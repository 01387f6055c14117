"""The official LongMemEval corpus ids, for figures that can be laid beside published ones.

The official scripts carry the label inside the id: `answer…` is evidence, and `answer` becomes
`noans` where no user turn is labelled. Only user text is in that corpus. These ids stay on the
harness's side.
"""

from harness.datasets.questions import HaystackSession, Question


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
