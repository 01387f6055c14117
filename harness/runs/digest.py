"""What judging and reporting need of a question, without its history; one line of
`questions.jsonl`.
"""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Self

from harness.assistants.wire import rfc3339
from harness.datasets.official_ids import official_session_targets, official_turn_targets
from harness.datasets.questions import Question, evidence_rounds, evidence_turn_ids, rounds_of

_BEGINNING = 160


@dataclass(frozen=True, slots=True)
class QuestionDigest:
    """A question with its answer and labels. Stays on the harness's side.

    `evidence_rounds` are `position:index` names (`round_name`); the official targets are ids of the
    official corpus, one for each relevant item. `alternatives`, `trap` and `evidence_ids` are those
    of `Question`; `evidence_turn_ids` are the ids of labelled turns, where turns have ids.
    `evidence_begins` says for each of `evidence_rounds` when it was and how its evidence begins.

    Of a large file only ids and types are known at first: `is_read` tells that the rest is there
    too.
    """

    question_id: str
    question_type: str
    is_abstention: bool
    question: str
    answer: str
    question_date: str
    evidence_session_ids: tuple[str, ...]
    evidence_rounds: tuple[str, ...]
    official_session_targets: tuple[str, ...]
    official_turn_targets: tuple[str, ...]
    history_id: str
    alternatives: tuple[str, ...] = ()
    trap: str | None = None
    evidence_ids: tuple[str, ...] = ()
    evidence_turn_ids: tuple[str, ...] = ()
    evidence_begins: tuple[str, ...] = ()
    is_read: bool = True

    @property
    def answers(self) -> tuple[str, ...]:
        """Every complete answer; any one suffices."""
        return (self.answer, *self.alternatives)

    @classmethod
    def of(cls, question: Question) -> Self:
        """Digest a loaded question."""
        return cls(
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

    @classmethod
    def unread(cls, question_id: str, question_type: str, *, is_abstention: bool) -> Self:
        """What is known of a question before its history has been read."""
        return cls(
            question_id=question_id,
            question_type=question_type,
            is_abstention=is_abstention,
            question="",
            answer="",
            question_date="",
            evidence_session_ids=(),
            evidence_rounds=(),
            official_session_targets=(),
            official_turn_targets=(),
            history_id=question_id,
            is_read=False,
        )

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> Self:
        """Read a line back; lists become tuples."""
        fields: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value
            for name, value in record.items()
        }
        return cls(**fields)

    def to_json(self) -> dict[str, Any]:
        """The line to write."""
        return asdict(self)


def beginning(text: str) -> str:
    """As much of a text as it takes to recognize it, on one line."""
    return " ".join(text[: 2 * _BEGINNING].split())[:_BEGINNING]


def _evidence_begins(question: Question) -> Iterator[str]:
    sessions = {session.position: session for session in question.sessions}
    for position, index in evidence_rounds(question):
        session = sessions[position]
        labelled = (session.turns[i] for i in rounds_of(session.turns)[index].turns)
        turn = next(turn for turn in labelled if turn.has_answer)
        day = rfc3339(session.session_date)[:10]
        yield f"{day} {turn.name or turn.role}: {beginning(turn.content)}"


def round_name(position: int, round_index: int) -> str:
    """One round of a history, by the position of its session and its index in it."""
    return f"{position}:{round_index}"
