"""The built-in sample: a small data set in the LongMemEval format, composed from two data files
written by hand for this project.

`questions.json` holds each question with its dated evidence sessions and, where wanted, near
misses of its own (`distractors`), fillers that would contradict it (`avoid`) and how many fillers
come twice (`repeats`). `pool.json` holds the fillers all questions share. Fillers and their dates
are drawn from a seed and the question id, so an instance does not change when a question is added.
Like LongMemEval-S, a haystack is sorted by day only: one day's sessions may be in the wrong order.
"""

import json
from datetime import UTC, date, datetime, time, timedelta
from importlib.resources import files
from random import Random
from typing import Any, NamedTuple

from harness.datasets.benchmark import Benchmark, Given
from harness.datasets.dataset import ContentHash, Dataset, held
from harness.datasets.longmemeval import date_text, iterate_instances

SEED = 20250214
MIN_SESSIONS, MAX_SESSIONS = 12, 30
MIN_LEAD_DAYS, MAX_LEAD_DAYS = 30, 60

Turns = list[dict[str, Any]]


class DatedSession(NamedTuple):
    session_id: str
    session_date: str
    turns: Turns


def build_sample() -> list[dict[str, Any]]:
    pool = {filler["session_id"]: filler["turns"] for filler in _read("pool.json")}
    return [_compose(question, pool) for question in _read("questions.json")]


def sample_json() -> str:
    return json.dumps(build_sample(), ensure_ascii=False, indent=1) + "\n"


def open_sample(given: Given) -> Dataset:
    text = sample_json()
    instances = iterate_instances(json.loads(text), source="sample")
    questions = [instance.question for instance in instances]
    return held("sample", None, len(text), ContentHash.of_text(text), questions)


def _read(name: str) -> list[dict[str, Any]]:
    text = files(__package__).joinpath(name).read_text(encoding="utf-8")
    entries: list[dict[str, Any]] = json.loads(text)
    return entries


def _compose(question: dict[str, Any], pool: dict[str, Turns]) -> dict[str, Any]:
    own = _sessions(question["evidence"], has_answer=False)
    own += _sessions(question.get("distractors", []))
    haystack = sorted(own + _fillers(question, own, pool), key=_day)
    copied = ("question_id", "question_type", "question", "answer", "question_date")
    return {field: question[field] for field in copied} | {
        "haystack_session_ids": [session.session_id for session in haystack],
        "haystack_dates": [session.session_date for session in haystack],
        "haystack_sessions": [session.turns for session in haystack],
        "answer_session_ids": [session["session_id"] for session in question["evidence"]],
    }


def _sessions(entries: list[dict[str, Any]], **labels: bool) -> list[DatedSession]:
    """The sessions as written down; turns that lack one of these labels are given it."""

    def labelled(turn: dict[str, Any]) -> dict[str, Any]:
        return turn | {name: turn.get(name, label) for name, label in labels.items()}

    return [
        DatedSession(entry["session_id"], entry["date"], [labelled(t) for t in entry["turns"]])
        for entry in entries
    ]


def _fillers(
    question: dict[str, Any], own: list[DatedSession], pool: dict[str, Turns]
) -> list[DatedSession]:
    random = Random(f"{SEED} {question['question_id']}")
    repeats = question.get("repeats", 0)
    missing = random.randint(MIN_SESSIONS, MAX_SESSIONS) - len(own)
    allowed = sorted(set(pool) - set(question.get("avoid", [])))
    drawn = random.sample(allowed, missing - repeats)
    lead = timedelta(days=random.randint(MIN_LEAD_DAYS, MAX_LEAD_DAYS))
    first = min(_day(session) for session in own) - lead
    last = _day_of(question["question_date"]) - timedelta(days=1)
    days = _distinct_days(random, first, last, missing)
    return [
        DatedSession(session_id, _stamp(random, day), list(map(dict, pool[session_id])))
        for session_id, day in zip(drawn + drawn[:repeats], days, strict=True)
    ]


def _distinct_days(random: Random, first: date, last: date, count: int) -> list[date]:
    """Draw days without repetition, so that a filler used twice has two dates."""
    offsets = random.sample(range((last - first).days + 1), count)
    return [first + timedelta(days=offset) for offset in offsets]


def _stamp(random: Random, day: date) -> str:
    clock = time(random.randint(6, 22), random.randint(0, 59))
    return date_text(datetime.combine(day, clock, tzinfo=UTC))


def _day(session: DatedSession) -> date:
    return _day_of(session.session_date)


def _day_of(session_date: str) -> date:
    return date.fromisoformat(session_date[:10].replace("/", "-"))


SAMPLE = Benchmark("sample", open_sample, file="built in", is_compiled=True)
