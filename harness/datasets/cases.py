"""Users' own cases: one a line, with a history, a question, and a grader that needs no model.

    {"id": "bees", "question": "How many hives do I have?", "grader": {"number": 3}, "history": [
        {"date": "2024-05-01", "messages": [{"role": "user", "content": "I have three hives."}]}]}

A grader is `{"exact": "Ghent"}` or a list of such answers; `{"number": 3}`, perhaps with `"within":
0.5`; or `{"program": "check.py"}`, a file beside the cases; such a case also needs a right
`answer` to show. `type`, `date`, `evidence` (ids of sessions) and the `id` of a session may be left
out.
"""

import json
from collections.abc import Iterator
from pathlib import Path

from harness.datasets.benchmark import Benchmark, reader
from harness.datasets.entries import Entry, Sessions, entries_of, just_after
from harness.datasets.questions import HaystackSession, Question, Turn

_KINDS = ("exact", "number", "program")


def questions(file: Path) -> Iterator[Question]:
    for case in entries_of(file):
        told = enumerate(case.entries("history"))
        sessions = tuple(_session(place, session) for place, session in told)
        if not sessions:
            raise case.error("history", "holds no sessions")
        answers, grader = _grader(case, file.absolute().parent)
        asked = case.date("date") if case.has("date") else just_after(sessions)
        yield Question(
            question_id=case.text("id"),
            question_type=case.text("type") if case.has("type") else "case",
            question=case.text("question"),
            answer=answers[0],
            answer_is_number="number" in grader,
            question_date=asked,
            sessions=sessions,
            evidence_session_ids=_evidence(case, sessions),
            alternatives=tuple(answers[1:]),
            grader=json.dumps(grader, sort_keys=True),
        )


def _session(place: int, session: Entry) -> HaystackSession:
    turns = tuple(
        Turn(one.role("role"), one.text("content")) for one in session.entries("messages")
    )
    name = session.text("id") if session.has("id") else f"session-{place + 1}"
    return HaystackSession(place, name, session.date("date"), turns)


def _evidence(case: Entry, sessions: Sessions) -> tuple[str, ...]:
    named = tuple(map(str, case.items("evidence") if case.has("evidence") else ()))
    known = {session.session_id for session in sessions}
    if unknown := set(named) - known:
        raise case.error("evidence", f"no such session: {', '.join(sorted(unknown))}")
    return named


def _grader(case: Entry, folder: Path) -> tuple[list[str], dict[str, object]]:
    """The answers that a report shows, and the grader in full."""
    grader = case.entry("grader")
    kinds = [kind for kind in _KINDS if grader.has(kind)]
    if len(kinds) != 1:
        raise case.error("grader", f"expected one of {', '.join(_KINDS)}")
    if kinds == ["exact"]:
        given = grader.fields["exact"]
        answers = [given] if isinstance(given, str) else grader.items("exact")
        if not all(isinstance(answer, str) and answer.strip() for answer in answers):
            raise grader.error("exact", "expected text, or a list of texts")
        return answers, {"exact": answers}
    if kinds == ["number"]:
        number, within = grader.number("number"), 0.0
        if grader.has("within"):
            within = grader.number("within")
        return [f"{number:g}"], {"number": number, "within": within}
    program = folder / grader.text("program")
    if not program.is_file():
        raise grader.error("program", f"no such file beside the cases: {program}")
    return [case.text("answer")], {"program": str(program)}


CASES = Benchmark("cases", reader(questions), judge="graders")
