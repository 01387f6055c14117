"""The public layout of LoCoMo-Refined: questions in one file, conversations in another.

`questions.jsonl` alone is enough to score predictions; with `conversations.jsonl` beside it the
histories can be replayed as well. The raw file has the layout of LoCoMo and is read as such.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from harness.datasets.files import read_records
from harness.datasets.questions import LOCOMO_CATEGORIES
from harness.errors import DatasetError
from harness.records.digest import QuestionDigest
from harness.text import encodable

CONVERSATIONS = "conversations.jsonl"
Record = Mapping[str, Any]


def is_public(record: Record) -> bool:
    """Whether a file's first record is a question of the public layout."""
    return "qa_id" in record


def samples_of(questions: Sequence[Record], conversations: Path) -> Iterator[dict[str, Any]]:
    """Both files put together into samples of the LoCoMo layout."""
    by_sample: dict[str, list[Record]] = {}
    for question in questions:
        by_sample.setdefault(str(question.get("sample_id")), []).append(question)
    for number, record in enumerate(read_records(conversations)):
        sample_id = str(record.get("sample_id"))
        if sample_id in by_sample:
            content = _conversation(record, f"{conversations}: record {number}")
            yield {"sample_id": sample_id, "conversation": content, "qa": by_sample.pop(sample_id)}
    if by_sample:
        raise DatasetError(f"{conversations}: has no conversation {', '.join(sorted(by_sample))}")


def digests_of(questions: Iterable[Record], source: str) -> list[QuestionDigest]:
    """The questions without their histories: enough to judge and score."""
    return [_digest(record, f"{source}: record {i}") for i, record in enumerate(questions)]


def _conversation(record: Record, where: str) -> dict[str, Any]:
    sessions = record.get("sessions")
    if not isinstance(sessions, list):
        raise DatasetError(f"{where}: sessions: expected a list")
    content = {key: record[key] for key in ("speaker_a", "speaker_b") if key in record}
    for place, session in enumerate(sessions, start=1):
        number = _session_number(session, place)
        content[f"session_{number}"] = session.get("messages")
        content[f"session_{number}_date_time"] = session.get("date_time")
    return content


def _session_number(session: Record, place: int) -> int:
    """The number in its turn ids, by which evidence names it; else its place."""
    for message in session.get("messages") or []:
        head = str(message.get("dia_id", "")).partition(":")[0].removeprefix("D")
        if head.isdigit():
            return int(head)
    return place


def _digest(record: Record, where: str) -> QuestionDigest:
    answers = record.get("answer")
    answers = answers if isinstance(answers, list) else [answers]
    try:
        kind = LOCOMO_CATEGORIES[int(record["category"])]
        question_id, question = record["qa_id"], record["question"]
    except (KeyError, ValueError, TypeError) as error:
        raise DatasetError(f"{where}: qa_id, question or category is not right: {error}") from error
    if not answers or answers[0] is None:
        raise DatasetError(f"{where}: answer: missing")
    first, *others = (encodable(str(answer)) for answer in answers)
    return QuestionDigest(
        question_id=str(question_id),
        question_type=kind,
        is_abstention=kind == LOCOMO_CATEGORIES[5],
        question=encodable(str(question)),
        answer=first,
        question_date="",
        evidence_session_ids=(),
        evidence_rounds=(),
        official_session_targets=(),
        official_turn_targets=(),
        history_id=str(record.get("sample_id") or str(question_id).partition("#")[0]),
        alternatives=tuple(others),
        evidence_ids=tuple(str(item) for item in record.get("evidence") or ()),
    )
