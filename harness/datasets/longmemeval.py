"""LongMemEval files: every instance checked, cleaned of its oddities and turned into a `Question`.

The format is the benchmark's own (xiaowu0162/LongMemEval): three parallel lists describe the
haystack, evidence is labelled per turn and per session, and `_abs` at the end of an id marks an
abstention question.
"""

import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from harness.datasets.files import read_records
from harness.datasets.questions import (
    LOCOMO_CATEGORIES,
    LONGMEMEVAL_TYPES,
    HaystackSession,
    Question,
    Turn,
)
from harness.errors import DatasetError
from harness.text import encodable

WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
# Histories compiled from LoCoMo are written in this format and keep their types.
QUESTION_TYPES = (*LONGMEMEVAL_TYPES, *LOCOMO_CATEGORIES.values())
_DATE = re.compile(r"(\d{4})/(\d{1,2})/(\d{1,2})(?: \(\w+\))? (\d{1,2}):(\d{2})")


Turns = tuple[Turn, ...]


class Instance(NamedTuple):
    """A record as it stands in the file, beside the question that was read from it."""

    record: dict[str, Any]
    question: Question


def load_longmemeval(path: Path) -> list[Question]:
    """All questions of a file in file order; raises `DatasetError` naming instance and field."""
    return parse_instances(read_records(path), source=str(path))


def parse_instances(instances: Iterable[dict[str, Any]], *, source: str) -> list[Question]:
    """Questions from instances already read; `source` opens every error message."""
    return [instance.question for instance in iterate_instances(instances, source=source)]


def question_of(record: dict[str, Any], number: int, source: str) -> Question:
    """One instance as a question; `number` is its place in the file, for messages."""
    return _Instance(record, number, source).question()


def iterate_instances(records: Iterable[dict[str, Any]], *, source: str) -> Iterator[Instance]:
    """Instances one by one, for who need not hold them all; checked like `parse_instances`."""
    seen: set[str] = set()
    for number, record in enumerate(records):
        question = _Instance(record, number, source).question()
        if question.question_id in seen:
            raise DatasetError(f"{source}: question_id {question.question_id!r} occurs twice")
        seen.add(question.question_id)
        yield Instance(record, question)
    if not seen:
        raise DatasetError(f"{source}: holds no questions")


def date_text(when: datetime) -> str:
    """A date as the format writes it, whatever the locale."""
    return f"{when:%Y/%m/%d} ({WEEKDAYS[when.weekday()]}) {when:%H:%M}"


class _Instance:
    """One raw record, with the context an error message needs."""

    def __init__(self, record: dict[str, Any], number: int, source: str) -> None:
        self._record = record
        self._where = f"{source}: instance {number}"
        self._where += f" ({self._text('question_id')!r})"

    def question(self) -> Question:
        question_id = self._text("question_id")
        question_type = self._text("question_type")
        if question_type not in QUESTION_TYPES:
            raise self._error("question_type", f"unknown type {question_type!r}")
        answer = self._answer()
        sessions = self._sessions()
        return Question(
            question_id=question_id,
            question_type=question_type,
            question=self._text("question"),
            answer=str(answer),
            answer_is_number=not isinstance(answer, str),
            question_date=self._date("question_date", self._text("question_date")),
            sessions=sessions,
            evidence_session_ids=self._evidence(sessions),
            is_abstention=question_id.endswith("_abs"),
        )

    def _answer(self) -> str | int | float:
        answer = self._field("answer")
        if isinstance(answer, bool) or not isinstance(answer, str | int | float):
            kind = type(answer).__name__
            raise self._error("answer", f"expected a string or a number, found {kind}")
        return answer

    def _sessions(self) -> tuple[HaystackSession, ...]:
        ids = self._list("haystack_session_ids")
        dates = self._list("haystack_dates")
        sessions = self._list("haystack_sessions")
        if not len(ids) == len(dates) == len(sessions):
            lengths = f"{len(ids)} ids, {len(dates)} dates, {len(sessions)} sessions"
            raise self._error("haystack_sessions", f"lists of unequal length: {lengths}")
        return tuple(
            HaystackSession(
                position=position,
                session_id=self._str(f"haystack_session_ids[{position}]", ids[position]),
                session_date=self._date(f"haystack_dates[{position}]", dates[position]),
                turns=self._turns(f"haystack_sessions[{position}]", sessions[position]),
            )
            for position in range(len(ids))
        )

    def _turns(self, field: str, value: Any) -> Turns:
        if not isinstance(value, list):
            raise self._error(field, f"expected a list of turns, found {type(value).__name__}")
        return tuple(self._turn(f"{field}[{i}]", turn) for i, turn in enumerate(value))

    def _turn(self, field: str, value: Any) -> Turn:
        if not isinstance(value, dict):
            raise self._error(field, f"expected a turn object, found {type(value).__name__}")
        role = value.get("role")
        if role not in ("user", "assistant"):
            raise self._error(f"{field}.role", f"expected user or assistant, found {role!r}")
        label = value.get("has_answer", False)
        if label is not None and not isinstance(label, bool):
            raise self._error(f"{field}.has_answer", f"expected true or false, found {label!r}")
        content = self._str(f"{field}.content", value.get("content"))
        name = value.get("name")
        speaker = None if name is None else self._str(f"{field}.name", name)
        return Turn(role, content, has_answer=bool(label), name=speaker)

    def _evidence(self, sessions: tuple[HaystackSession, ...]) -> tuple[str, ...]:
        known = {session.session_id for session in sessions}
        ids = [self._str("answer_session_ids", item) for item in self._list("answer_session_ids")]
        for session_id in ids:
            if session_id not in known:
                raise self._error("answer_session_ids", f"{session_id!r} is not in the haystack")
        return tuple(dict.fromkeys(ids))

    def _field(self, name: str) -> Any:
        if name not in self._record:
            raise self._error(name, "missing")
        return self._record[name]

    def _text(self, name: str) -> str:
        return self._str(name, self._field(name))

    def _list(self, name: str) -> list[Any]:
        value = self._field(name)
        if not isinstance(value, list):
            raise self._error(name, f"expected a list, found {type(value).__name__}")
        return value

    def _str(self, field: str, value: Any) -> str:
        if not isinstance(value, str):
            raise self._error(field, f"expected a string, found {type(value).__name__}")
        return encodable(value)

    def _date(self, field: str, value: Any) -> datetime:
        match = _DATE.fullmatch(value.strip()) if isinstance(value, str) else None
        try:
            if match:
                year, month, day, hour, minute = (int(part) for part in match.groups())
                return datetime(year, month, day, hour, minute, tzinfo=UTC)
        except ValueError:
            pass
        raise self._error(field, f"expected YYYY/MM/DD (Ddd) HH:MM, found {value!r}")

    def _error(self, field: str, problem: str) -> DatasetError:
        return DatasetError(f"{self._where}: {field}: {problem}")
