"""The built-in sample taken apart for its tests: questions, sessions, the evidence among them."""

import json
from datetime import UTC, date, datetime
from importlib.resources import files
from typing import Any, NamedTuple

from harness.datasets.sample import build_sample

Instance = dict[str, Any]
Session = list[dict[str, Any]]

SAMPLE = build_sample()
BY_ID = {instance["question_id"]: instance for instance in SAMPLE}
POOL: dict[str, Session] = {
    filler["session_id"]: filler["turns"]
    for filler in json.loads(
        files("harness.datasets.sample").joinpath("pool.json").read_text("utf-8")
    )
}
TYPES = {f"single-session-{kind}" for kind in ("user", "assistant", "preference")}
TYPES |= {"temporal-reasoning", "knowledge-update", "multi-session"}
HAYSTACK = ("haystack_session_ids", "haystack_dates", "haystack_sessions")
FIELDS = {"question_id", "question_type", "question", "answer", "question_date", *HAYSTACK}
FIELDS |= {"answer_session_ids"}


class Dated(NamedTuple):
    """One session of a haystack."""

    session_id: str
    session_date: str
    turns: Session

    @property
    def day(self) -> date:
        return day_of(self.session_date)

    @property
    def text(self) -> str:
        return text_of(self.turns)

    @property
    def evidence_text(self) -> str:
        return text_of([turn for turn in self.turns if turn.get("has_answer")])


def haystack(instance: Instance) -> list[Dated]:
    rows = zip(*(instance[column] for column in HAYSTACK), strict=True)
    return [Dated(*row) for row in rows]


def evidence(instance: Instance) -> list[Dated]:
    """The evidence sessions, oldest first."""
    found = [s for s in haystack(instance) if s.session_id in instance["answer_session_ids"]]
    return sorted(found, key=lambda session: session.session_date)


def session_of(question_id: str, session_id: str) -> Dated:
    return next(s for s in haystack(BY_ID[question_id]) if s.session_id == session_id)


def text_of(turns: Session) -> str:
    return "\n".join(turn["content"] for turn in turns)


def instant_of(session_date: str) -> datetime:
    return datetime.strptime(session_date, "%Y/%m/%d (%a) %H:%M").replace(tzinfo=UTC)


def day_of(session_date: str) -> date:
    return instant_of(session_date).date()


def is_abstention(instance: Instance) -> bool:
    return str(instance["question_id"]).endswith("_abs")


def of_type(question_type: str) -> list[Instance]:
    """The answerable questions of one type."""
    return [i for i in SAMPLE if i["question_type"] == question_type and not is_abstention(i)]
