"""Figure 3a, online: people type short histories into a web chat and write down its answers.

For every question a sheet says what to type. The chat's answers go into `answers.csv`, and are
judged beside the models that read the same histories offline. A web chat knows only the present
day, so every conversation begins with its own day. Where the question is about a reply of the
assistant, the chat is told the history's reply.
"""

import csv
import json
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path

from harness.datasets.questions import HaystackSession, Question
from harness.errors import UsageError
from harness.lab.experiments.cells import Cell
from harness.lab.experiments.experiment import Laboratory, finish_cell
from harness.pipeline.judging import judge_run, take_hypotheses
from harness.pipeline.run import Run
from harness.records.run_dir import RunDir

ANSWERS = "answers.csv"
# Nobody types longer histories.
MOST_SESSIONS = 6
ONLINE = Cell("online", "typed into a web chat", asks=True, mode="online")
_FIELDS = ("question_id", "answer")


def write_sheets(laboratory: Laboratory) -> int:
    """Write a sheet for every selected question with a short history; returns how many."""
    folder = RunDir(laboratory.out / "sheets")
    run = Run(laboratory.source, laboratory.folder(ONLINE), laboratory.console)
    wanted = {question.question_id for question in run.selected}
    short = [q for q in run.dataset.read(wanted) if 0 < len(q.sessions) <= MOST_SESSIONS]
    if not short:
        return 0
    folder.create()
    for question in short:
        folder.replace(f"{question.question_id}.md", "\n".join(_lines(question)) + "\n")
    if not (folder.path / ANSWERS).exists():
        empty = "".join(f"{question.question_id},\n" for question in short)
        folder.replace(ANSWERS, ",".join(_FIELDS) + "\n" + empty)
    return len(short)


def judge_answers(laboratory: Laboratory) -> bool:
    """Judge the answers that were written down; returns False if there are none yet."""
    answers = list(_answers(laboratory.out / "sheets" / ANSWERS))
    if not answers:
        return False
    folder = RunDir(laboratory.folder(ONLINE))
    run = Run(laboratory.source, folder.path, laboratory.console)
    lines = (json.dumps({"question_id": id, "hypothesis": text}) for id, text in answers)
    folder.replace("answers.jsonl", "".join(f"{line}\n" for line in lines))
    take_hypotheses(run, folder.path / "answers.jsonl")
    judge_run(run, laboratory.judge)
    run.report()
    finish_cell(laboratory, ONLINE, 0, 0.0)
    return True


def _answers(file: Path) -> Iterator[tuple[str, str]]:
    if not file.exists():
        return
    with file.open(encoding="utf-8", newline="") as opened:
        rows = csv.DictReader(opened)
        if tuple(rows.fieldnames or ())[: len(_FIELDS)] != _FIELDS:
            raise UsageError(f"{file}: its first line must be {','.join(_FIELDS)}")
        yield from (
            (row["question_id"], row["answer"].strip())
            for row in rows
            if (row["answer"] or "").strip()
        )


def _lines(question: Question) -> Iterator[str]:
    told = question.sessions_by_date()
    yield f"# {question.question_id}"
    yield ""
    yield (
        f"Type {len(told)} conversations into the chat, each as a new one and in this order. Send "
        f"every message by itself and wait for the reply. {_about_replies(told)}"
    )
    for number, session in enumerate(told, start=1):
        yield ""
        yield f"## Conversation {number} of {len(told)} ({session.session_date:%Y-%m-%d})"
        yield from _typed(session)
    yield ""
    yield "## A new conversation: the question"
    yield ""
    yield f"> {_today(question.question_date)}"
    yield f"> {question.question}"
    yield ""
    yield f"Write what the chat answers into `{ANSWERS}`, in the line of {question.question_id}."


def _about_replies(told: Sequence[HaystackSession]) -> str:
    """What to do with the chat's own replies: ignore them, but correct one that is asked about."""
    if any(turn.has_answer and turn.role == "assistant" for s in told for turn in s.turns):
        return (
            "The question is about a reply. Where the sheet gives one, send it as a message of "
            "your own, whatever the chat replied; its other replies do not matter."
        )
    return "What the chat replies does not matter."


def _typed(session: HaystackSession) -> Iterator[str]:
    """The lines to type for a session: its day, the user's messages, and replies that the question
    is about."""
    is_first = True
    for turn in session.turns:
        if turn.role == "user":
            yield ""
            if is_first:
                yield f"> {_today(session.session_date)}"
            yield from (f"> {line}" for line in turn.content.splitlines())
            is_first = False
        elif turn.has_answer:
            yield ""
            yield "The reply that the question is about:"
            yield ""
            yield "> Let us go by this reply instead of yours:"
            yield from (f"> {line}" for line in turn.content.splitlines())


def _today(at: datetime) -> str:
    return f"(Today is {at:%A, %Y-%m-%d}.)"
