"""The questions of any data set as LongMemEval instances: what compiled files are written from."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from harness.datasets.dataset import Dataset
from harness.datasets.files import read_records
from harness.datasets.longmemeval import Instance, date_text, iterate_instances
from harness.datasets.questions import HaystackSession, Question, Turn
from harness.datasets.registry import sample_json


def instances_of(dataset: Dataset, file: Path | None) -> Iterator[Instance]:
    """Every question with its record, in file order; records of the format itself stay as they
    are.
    """
    if dataset.name == "sample":
        return iterate_instances(json.loads(sample_json()), source="sample")
    if dataset.name == "longmemeval" and file is not None:
        return iterate_instances(read_records(file), source=str(file))
    ids = {outline.question_id for outline in dataset.outlines}
    return iterate_instances(map(as_record, dataset.read(ids)), source=dataset.name)


def as_record(question: Question) -> dict[str, Any]:
    """A question in LongMemEval's format, speakers' names beside the roles.

    There an abstention question is told by its id, and a session by an id that is its own in the
    whole file.
    """
    suffix = "_abs" if question.is_abstention and not question.question_id.endswith("_abs") else ""
    names = {s.session_id: f"{question.history_id}_{s.session_id}" for s in question.sessions}
    return {
        "question_id": question.question_id + suffix,
        "question_type": question.question_type,
        "question": question.question,
        "answer": question.answer,
        "question_date": date_text(question.question_date),
        "haystack_session_ids": [names[s.session_id] for s in question.sessions],
        "haystack_dates": [date_text(s.session_date) for s in question.sessions],
        "haystack_sessions": [_turns(session) for session in question.sessions],
        "answer_session_ids": [names[name] for name in question.evidence_session_ids],
    }


def _turns(session: HaystackSession) -> list[dict[str, Any]]:
    return [_turn(turn) for turn in session.turns]


def _turn(turn: Turn) -> dict[str, Any]:
    name = {} if turn.name is None else {"name": turn.name}
    return {"role": turn.role, **name, "content": turn.content, "has_answer": turn.has_answer}
