"""LongMemEval files: every instance checked, cleaned of its oddities and turned into a `Question`.

The format is the benchmark's own (xiaowu0162/LongMemEval): three parallel lists describe the
haystack, evidence is labelled per turn and per session, and `_abs` at the end of an id marks an
abstention question.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from harness.datasets.benchmark import (
    Answered,
    Benchmark,
    Given,
    KnownFile,
    OfficialFormat,
    RubricRules,
)
from harness.datasets.dataset import CHECKED_WHOLE, ContentHash, Dataset, Gradual, size_of
from harness.datasets.files import read_records
from harness.datasets.questions import (
    LOCOMO_CATEGORIES,
    LONGMEMEVAL_TYPES,
    HaystackSession,
    Question,
    Turn,
    digest_of,
)
from harness.datasets.scan import found_in, read_extent, unread, wanted
from harness.errors import DatasetError, UsageError
from harness.records.digest import QuestionDigest
from harness.records.schema import JudgeRecord
from harness.text import encodable

WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
# Histories compiled from LoCoMo are written in this format and keep their types.
QUESTION_TYPES = (*LONGMEMEVAL_TYPES, *LOCOMO_CATEGORIES.values())
_DATE = re.compile(r"(\d{4})/(\d{1,2})/(\d{1,2})(?: \(\w+\))? (\d{1,2}):(\d{2})")
_PACKED = (".gz", ".xz")
_BY_TYPE = {
    "single-session-user": "contain",
    "single-session-assistant": "contain",
    "multi-session": "contain",
    "temporal-reasoning": "temporal",
    "knowledge-update": "update",
    "single-session-preference": "preference",
}
# Judges named so give a raw reply that the official scripts could read.
_REPLYING = "longmemeval"
_HUB = "https://huggingface.co/datasets"
_ORIGINAL = f"{_HUB}/xiaowu0162/longmemeval/resolve/2ec2a557f339b6c0369619b1ed5793734cc87533"
_CLEANED = f"{_HUB}/xiaowu0162/longmemeval-cleaned/resolve/98d7416c24c778c2fee6e6f3006e7a073259d48f"

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
    """Yield instances one by one, without holding all; checked like `parse_instances`."""
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


def open_longmemeval(given: Given) -> Dataset:
    """Open a file: read whole, or, if it is very large and not compressed, with the places of its
    questions found gradually."""
    file = given.path
    size = size_of(file)
    found = found_in(file) if size > CHECKED_WHOLE and file.suffix not in _PACKED else None
    listed: list[QuestionDigest] | Gradual[QuestionDigest]
    if found is None:
        instances = iterate_instances(read_records(file), source=str(file))
        listed = [digest_of(instance.question) for instance in instances]

        def read(ids: Collection[str]) -> Iterator[Question]:
            for number, record in enumerate(read_records(file)):
                if record.get("question_id") in ids:
                    yield question_of(record, number, str(file))
    else:
        extents = Gradual(found)
        listed = Gradual(unread(extent) for extent in extents)

        def read(ids: Collection[str]) -> Iterator[Question]:
            for number, extent in wanted(extents, ids):
                yield question_of(read_extent(file, extent, number), number, str(file))

    return Dataset("longmemeval", file.name, size, ContentHash.of_file(file), listed, read)


def prompt_for(question: QuestionDigest) -> str:
    if question.is_abstention:
        return "abstention"
    try:
        return _BY_TYPE[question.question_type]
    except KeyError:
        raise UsageError(
            f"question {question.question_id}: the longmemeval judge knows no type "
            f"{question.question_type!r}; choose another --judge"
        ) from None


def official_label(verdict: Mapping[str, Any] | None) -> bool | None:
    """The label that the official scorer reads from the first reply of a `longmemeval` judge; for
    other judges, their verdict. None where there was no reply.
    """
    if verdict is None or "error" in verdict:
        return None
    if str(verdict.get("judge", "")).startswith(_REPLYING):
        return "yes" in str(verdict.get("first_reply", verdict.get("raw", ""))).lower()
    return bool(verdict.get("verdict") == "yes")


def export_lines(run: Answered) -> Iterator[dict[str, str]]:
    """A line for each answered question and, with `fill`, an empty one for each other question.

    The official scorer divides by the number of lines, so only with `fill` does a missing answer
    count as wrong.
    """
    for question_id, text in run.answers():
        yield {"question_id": question_id, "hypothesis": text}


def export_log(run: Answered) -> Iterator[dict[str, Any]]:
    """The result file of the official scorer: every answer that the judge gave a verdict on, as
    often as it was handed in, with the label that the scorer would have read from the reply.

    `judge` and `judge_hash` say whose rubric it was; the printing script does not look at them.
    """
    return _log_lines(run, run.require_judge("longmemeval-log"))


def _log_lines(run: Answered, judge: JudgeRecord) -> Iterator[dict[str, Any]]:
    model = judge.get("model", judge["id"])
    for question in run.questions:
        line = run.hypotheses.get(question.question_id)
        label = official_label(run.verdicts.get(question.question_id))
        if line is None or label is None:
            continue
        for _ in range(int(line.get("lines", 1))):
            yield {
                "question_id": question.question_id,
                "hypothesis": line["hypothesis"],
                "autoeval_label": {"model": model, "label": label},
                "judge": judge["id"],
                "judge_hash": judge["hash"],
            }


LONGMEMEVAL = Benchmark(
    "longmemeval",
    open_longmemeval,
    is_compiled=True,
    rubrics=(
        RubricRules(
            "longmemeval",
            1,
            ("contain", "temporal", "update", "preference", "abstention"),
            prompt_for,
        ),
    ),
    exports=(
        OfficialFormat("longmemeval", export_lines),
        OfficialFormat("longmemeval-log", export_log, "LongMemEval", LONGMEMEVAL_TYPES),
    ),
    files=(
        KnownFile(
            key="longmemeval-oracle",
            dataset="longmemeval",
            edition="oracle",
            file="longmemeval_oracle.json",
            url=f"{_CLEANED}/longmemeval_oracle.json",
            licence="MIT",
            sha256="821a2034d219ab45846873dd14c14f12cfe7776e73527a483f9dac095d38620c",
            size=15_388_478,
        ),
        KnownFile(
            key="longmemeval-s",
            dataset="longmemeval",
            edition="S, cleaned",
            file="longmemeval_s_cleaned.json",
            url=f"{_CLEANED}/longmemeval_s_cleaned.json",
            licence="MIT",
            sha256="d6f21ea9d60a0d56f34a05b609c79c88a451d2ae03597821ea3d5a9678c3a442",
            size=277_383_467,
        ),
        KnownFile(
            key="longmemeval-m",
            dataset="longmemeval",
            edition="M, cleaned",
            file="longmemeval_m_cleaned.json",
            url=f"{_CLEANED}/longmemeval_m_cleaned.json",
            licence="MIT",
            sha256="9d79e5524794a2e6900a3aa9cb7d9152c5a3e8319c9a87c25494ba1eacee495f",
            size=2_737_100_077,
        ),
        KnownFile(
            key="longmemeval-s-original",
            dataset="longmemeval",
            edition="S, original",
            file="longmemeval_s.json",
            url=f"{_ORIGINAL}/longmemeval_s",
            licence="MIT",
            sha256="08d8dad4be43ee2049a22ff5674eb86725d0ce5ff434cde2627e5e8e7e117894",
            size=278_025_796,
        ),
        KnownFile(
            key="longmemeval-m-original",
            dataset="longmemeval",
            edition="M, original",
            file="longmemeval_m.json",
            url=f"{_ORIGINAL}/longmemeval_m",
            licence="MIT",
        ),
    ),
)
