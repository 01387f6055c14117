"""What judging and reporting need of a question, without its history; one line of
`questions.jsonl`.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Self


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionDigest:
    """A question with its answer and labels. Stays on the harness's side.

    `evidence_rounds` are `position:index` names (`round_name`); the official targets are ids of the
    official corpus, one for each relevant item. `alternatives`, `trap`, `evidence_ids`, `rubric`,
    `options` and `grader` are those of `Question`; `evidence_turn_ids` are the ids of labelled
    turns, where turns have ids.
    `evidence_begins` says for each of `evidence_rounds` when it was and how its evidence begins.

    Of a large file only ids and types are known at first: `is_read` tells that the rest is there
    too.
    """

    question_id: str
    question_type: str
    is_abstention: bool
    question: str = ""
    answer: str = ""
    question_date: str = ""
    evidence_session_ids: tuple[str, ...] = ()
    evidence_rounds: tuple[str, ...] = ()
    official_session_targets: tuple[str, ...] = ()
    official_turn_targets: tuple[str, ...] = ()
    history_id: str
    alternatives: tuple[str, ...] = ()
    trap: str | None = None
    evidence_ids: tuple[str, ...] = ()
    evidence_turn_ids: tuple[str, ...] = ()
    evidence_begins: tuple[str, ...] = ()
    rubric: tuple[str, ...] = ()
    is_read: bool = True
    options: tuple[str, ...] = ()
    grader: str | None = None

    @property
    def answers(self) -> tuple[str, ...]:
        """Every complete answer; any one suffices."""
        return (self.answer, *self.alternatives)

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> Self:
        """Read a line back; lists become tuples."""
        fields: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value
            for name, value in record.items()
        }
        return cls(**fields)

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def round_name(position: int, round_index: int) -> str:
    """One round of a history, by the position of its session and its index in it."""
    return f"{position}:{round_index}"
