"""Figures that describe a data set, as the papers of benchmarks give them.

They take one pass over the histories, which keeps only numbers, and a hash of each session's words.
Tokens are an estimate of four characters each. Depth is the share of a history's tokens, by date,
before an evidence session: 0 is its beginning.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from statistics import fmean, median
from typing import Any

from harness.datasets.dataset import Dataset
from harness.datasets.questions import HaystackSession, Question
from harness.text import tokens_of

POOL = "pool"
Figures = dict[str, float]


@dataclass(slots=True)
class _Numbers:
    by_name: dict[str, list[float]] = field(default_factory=dict)

    def add(self, name: str, value: float) -> None:
        self.by_name.setdefault(name, []).append(value)


def describe(dataset: Dataset) -> dict[str, Any]:
    """Return counts, and `measures` with the `figures` of each quantity."""
    ids = {outline.question_id for outline in dataset.outlines}
    types: Counter[str] = Counter()
    asked: Counter[str] = Counter()
    sessions: Counter[bytes] = Counter()
    numbers = _Numbers()
    counts = Counter(histories=0, questions=0, abstention=0, shared_histories=0)
    days: list[str] = []
    for history in dataset.histories(ids):
        counts["histories"] += 1
        counts["shared_histories"] += len(history) > 1
        _measure_history(history[0], numbers, sessions, counts)
        days += [f"{s.session_date:%Y-%m-%d}" for s in history[0].sessions]
        days = [min(days), max(days)] if days else []
        for question in history:
            if question.question_type == POOL:
                continue
            counts["questions"] += 1
            counts["abstention"] += question.is_abstention
            types[question.question_type] += 1
            asked[question.question] += 1
            _measure_question(question, numbers)
    counts["questions_asked_again"] = sum(n - 1 for n in asked.values())
    counts["sessions"] = sum(sessions.values())
    counts["distinct_sessions"] = len(sessions)
    return {
        "dataset": dataset.name,
        "file": dataset.file,
        "sha256": dataset.fingerprint.sha256(),
        "counts": dict(counts),
        "types": dict(sorted(types.items())),
        "dates": days,
        "measures": {name: figures(values) for name, values in numbers.by_name.items()},
    }


def figures(values: Sequence[float]) -> Figures:
    """n, mean, least, median, 90th percentile (nearest rank) and most; `values` is not empty."""
    ordered = sorted(values)
    rank = -(-9 * len(ordered) // 10) - 1
    return {
        "n": len(ordered),
        "mean": fmean(ordered),
        "least": ordered[0],
        "median": median(ordered),
        "p90": ordered[rank],
        "most": ordered[-1],
    }


def _measure_history(
    question: Question, numbers: _Numbers, seen: Counter[bytes], counts: Counter[str]
) -> None:
    told = question.sessions
    numbers.add("sessions per history", len(told))
    numbers.add("turns per history", sum(len(session.turns) for session in told))
    numbers.add("tokens per history", tokens_of(sum(map(_characters, told))))
    dates = [session.session_date for session in told]
    if dates:
        numbers.add("days per history", (max(dates) - min(dates)).total_seconds() / 86400)
    for session in told:
        numbers.add("turns per session", len(session.turns))
    keys = [_key(session) for session in told]
    counts["repeated_in_a_history"] += len(keys) - len(set(keys))
    seen.update(keys)


def _measure_question(question: Question, numbers: _Numbers) -> None:
    held = set(question.evidence_session_ids)
    turns = sum(turn.has_answer for session in question.sessions for turn in session.turns)
    numbers.add("evidence sessions per question", len(held))
    numbers.add("evidence turns per question", turns)
    before, total = 0, sum(map(_characters, question.sessions))
    for session in question.sessions_by_date():
        if session.session_id in held:
            numbers.add("depth of evidence (0 to 1)", before / total if total else 0.0)
            away = question.question_date - session.session_date
            numbers.add("days from evidence to question", away.total_seconds() / 86400)
        before += _characters(session)


def _characters(session: HaystackSession) -> int:
    return sum(len(turn.content) for turn in session.turns)


def _key(session: HaystackSession) -> bytes:
    said = "\0".join(turn.role + turn.content for turn in session.turns)
    return sha256(said.encode("utf-8", "replace")).digest()[:12]
