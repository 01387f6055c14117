"""HaluMem's questions: users whose dated sessions hold facts, changes and traps.

The layout is that of MemTensor/HaluMem (IAAR-Shanghai/HaluMem on the hub): a line for each user
with `uuid` and `sessions`; a session has `start_time`, `dialogue`, `memory_points` and `questions`.
As in its own evaluation a question is asked when its session has ended: it sees the sessions up to
there, so that every session with questions makes a history. Evidence is told by the words of memory
points: the sessions that list one of them are labelled, but no turns. Extraction and updating are
not measured here. The question types are the file's. The file does not tell which of them ask for
what was never said, so no question counts as abstention.
"""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

from harness.datasets.benchmark import Benchmark, reader
from harness.datasets.entries import Entry, Sessions, entries_of
from harness.datasets.questions import HaystackSession, Question, Turn


def questions(file: Path) -> Iterator[Question]:
    for user in entries_of(file):
        told: list[HaystackSession] = []
        points: list[set[str]] = []
        for number, session in enumerate(user.entries("sessions")):
            told.append(_session(session, number))
            points.append(_contents(session, "memory_points"))
            if session.has("questions"):
                yield from _asked(user, session, tuple(told), points)


def _session(session: Entry, number: int) -> HaystackSession:
    turns = tuple(Turn(t.role("role"), t.text("content")) for t in session.entries("dialogue"))
    return HaystackSession(number, f"session-{number + 1}", session.date("start_time"), turns)


def _contents(entry: Entry, name: str) -> set[str]:
    if not entry.has(name):
        return set()
    return {point.text("memory_content").strip() for point in entry.entries(name)}


def _asked(
    user: Entry, session: Entry, told: Sessions, points: list[set[str]]
) -> Iterator[Question]:
    history = f"{user.text('uuid')}:{len(told)}"
    for number, asked in enumerate(session.entries("questions")):
        wanted = _contents(asked, "evidence")
        answer, is_number = asked.answer("answer")
        held = (s.session_id for s, here in zip(told, points, strict=True) if here & wanted)
        yield Question(
            question_id=f"{history}:{number}",
            question_type=asked.text("question_type"),
            question=asked.text("question"),
            answer=answer,
            answer_is_number=is_number,
            question_date=told[-1].session_date + timedelta(seconds=len(told[-1].turns)),
            sessions=told,
            evidence_session_ids=tuple(held),
            shared_history=history,
        )


HALUMEM = Benchmark("halumem", reader(questions))
