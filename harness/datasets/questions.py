"""The types that every data file is read into: questions, haystack sessions, turns and rounds; and
the digest of a question that judging and reporting need, official corpus ids included.

The official LongMemEval scripts carry the label inside the id: `answer…` is evidence, and `answer`
becomes `noans` where no user turn is labelled. Only user text is in that corpus. These ids are
never sent to the assistant.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from datetime import datetime
from typing import Any, Literal

from harness.records.digest import QuestionDigest, round_name
from harness.text import beginning, rfc3339

LONGMEMEVAL_TYPES = (
    "single-session-user",
    "single-session-assistant",
    "single-session-preference",
    "multi-session",
    "knowledge-update",
    "temporal-reasoning",
)
# LongMemEval's names for what its types measure; abstention is measured across them.
ABILITIES = {
    "single-session-user": "information extraction",
    "single-session-assistant": "information extraction",
    "single-session-preference": "information extraction",
    "multi-session": "multi-session reasoning",
    "knowledge-update": "knowledge updates",
    "temporal-reasoning": "temporal reasoning",
}
ABSTENTION = "abstention"
# The numbers do not follow the order of the paper's list; the data decides.
LOCOMO_CATEGORIES = {
    1: "multi-hop",
    2: "temporal",
    3: "open-domain",
    4: "single-hop",
    5: "adversarial",
}
BEAM_ABSTENTION = "abstention"
EVENT_ORDERING = "event_ordering"
BEAM_ABILITIES = (
    BEAM_ABSTENTION,
    "contradiction_resolution",
    EVENT_ORDERING,
    "information_extraction",
    "instruction_following",
    "knowledge_update",
    "multi_session_reasoning",
    "preference_following",
    "summarization",
    "temporal_reasoning",
)
LOCOMO_PLUS_RELATIONS = ("causal", "goal", "state", "value")
# References of these types describe a good answer and are not answers themselves.
DESCRIBED_TYPES = frozenset(
    (
        "single-session-preference",
        "instruction_following",
        "preference_following",
        *LOCOMO_PLUS_RELATIONS,
    )
)


Role = Literal["user", "assistant"]


@dataclass(frozen=True, slots=True)
class Turn:
    """One message by one role. `has_answer` is an evidence label and never leaves the harness.

    `name` is the speaker's where the data names speakers; `turn_id` is the data's own id of the
    turn where it has one (a label too: evidence is told by it).
    """

    role: Role
    content: str
    has_answer: bool = False
    name: str | None = None
    turn_id: str | None = None


@dataclass(frozen=True, slots=True)
class HaystackSession:
    """One dated conversation of a question's history.

    `position` is its place in the file: session ids may repeat inside one question, positions do
    not.
    """

    position: int
    session_id: str
    session_date: datetime
    turns: tuple[Turn, ...]


@dataclass(frozen=True, slots=True)
class Round:
    """A user turn with the assistant turns that answer it; `turns` are indices into the session."""

    index: int
    turns: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Question:
    """One benchmark question with its history in file order and its labels parsed into plain
    fields.

    `answer` is always text; `answer_is_number` tells that the file held a number. Questions with
    the same `shared_history` are asked of one history, which is brought in once. `alternatives` are
    further complete answers, `trap` is what a question without an answer tempts one to say, and
    `evidence_ids` are the turn ids that the file names as evidence, as they stand there. `rubric`
    are the points of a good answer, in data that is scored by points. With `options` the
    answer is the text of one of them; the question names them by letter. `grader` is what judges
    an answer without a model, as JSON (`harness.datasets.cases`).
    """

    question_id: str
    question_type: str
    question: str
    answer: str
    answer_is_number: bool
    question_date: datetime
    sessions: tuple[HaystackSession, ...]
    evidence_session_ids: tuple[str, ...] = ()
    is_abstention: bool = False
    shared_history: str | None = None
    alternatives: tuple[str, ...] = ()
    trap: str | None = None
    evidence_ids: tuple[str, ...] = ()
    rubric: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    grader: str | None = None

    @property
    def history_id(self) -> str:
        """Names the history: the question's own id where no other question shares it."""
        return self.shared_history or self.question_id

    def sessions_by_date(self) -> list[HaystackSession]:
        """The history oldest first; sessions of the same minute keep their file order."""
        return sorted(self.sessions, key=lambda session: session.session_date)


def rounds_of(turns: Sequence[Turn]) -> list[Round]:
    """Group turns into rounds by role, never by parity.

    A user turn opens a round and an assistant turn joins the open one; a leading assistant turn is
    a round without user text.
    """
    groups: list[list[int]] = []
    for i, turn in enumerate(turns):
        if turn.role == "user" or not groups:
            groups.append([i])
        else:
            groups[-1].append(i)
    return [Round(index, tuple(group)) for index, group in enumerate(groups)]


def with_evidence(
    sessions: Sequence[HaystackSession], places: Collection[tuple[int, int]]
) -> tuple[HaystackSession, ...]:
    """The sessions with the turns at (position, index) labelled; the others are shared, not
    copied.
    """
    held = {position for position, _ in places}
    return tuple(_labelled(s, places) if s.position in held else s for s in sessions)


def _labelled(session: HaystackSession, places: Collection[tuple[int, int]]) -> HaystackSession:
    turns = (
        replace(turn, has_answer=(session.position, i) in places)
        for i, turn in enumerate(session.turns)
    )
    return replace(session, turns=tuple(turns))


def evidence_rounds(question: Question) -> list[tuple[int, int]]:
    """(session position, round index) of every round that holds a turn labelled `has_answer`."""
    return [
        (session.position, round_.index)
        for session in question.sessions
        # A shortcut: few sessions hold evidence, and hundreds of questions may share them.
        if any(turn.has_answer for turn in session.turns)
        for round_ in rounds_of(session.turns)
        if any(session.turns[i].has_answer for i in round_.turns)
    ]


def evidence_turn_ids(question: Question) -> tuple[str, ...]:
    return tuple(
        turn.turn_id
        for session in question.sessions
        for turn in session.turns
        if turn.has_answer and turn.turn_id is not None
    )


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


# The fields that a digest copies from its question unchanged.
_IN_BOTH = {one.name for one in fields(Question)} & {one.name for one in fields(QuestionDigest)}
_IN_BOTH -= {"question_date"}


def digest_of(question: Question) -> QuestionDigest:
    """The question without its history."""
    same: dict[str, Any] = {name: getattr(question, name) for name in _IN_BOTH}
    return QuestionDigest(
        **same,
        question_date=rfc3339(question.question_date),
        evidence_rounds=tuple(round_name(*place) for place in evidence_rounds(question)),
        official_session_targets=tuple(official_session_targets(question)),
        official_turn_targets=tuple(official_turn_targets(question)),
        history_id=question.history_id,
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
