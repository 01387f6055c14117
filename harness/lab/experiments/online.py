"""Figure 3a, online: people type short histories into a web chat and write down its answers.

For every question a sheet says what to type; what the chat answered goes into `answers.csv`, and is
judged beside the models that read the same histories offline.
"""

import csv
import json
from collections.abc import Iterator
from pathlib import Path

from harness.datasets.questions import Question
from harness.errors import UsageError
from harness.lab.experiments.cells import Cell
from harness.lab.experiments.experiment import Laboratory, finish_cell
from harness.pipeline.judging import judge_run, take_hypotheses
from harness.pipeline.run import Run
from harness.records.run_dir import RunDir

ANSWERS = "answers.csv"
# Longer histories nobody types.
MOST_SESSIONS = 6
ONLINE = Cell("online", "typed into a web chat", asks=True, mode="online")
_FIELDS = ("question_id", "answer")


def write_sheets(laboratory: Laboratory) -> int:
    """A sheet for every selected question with a short history; how many there are."""
    folder = RunDir(laboratory.out / "sheets")
    run = Run(laboratory.source, laboratory.folder(ONLINE), laboratory.console)
    wanted = {question.question_id for question in run.selected}
    short = [q for q in run.dataset.read(wanted) if 0 < len(q.sessions) <= MOST_SESSIONS]
    if not short:
        return 0
    folder.create()
    for question in short:
        folder.replace(f"{question.question_id}.md", _sheet(question))
    if not (folder.path / ANSWERS).exists():
        empty = "".join(f"{question.question_id},\n" for question in short)
        folder.replace(ANSWERS, ",".join(_FIELDS) + "\n" + empty)
    return len(short)


def judge_answers(laboratory: Laboratory) -> bool:
    """Judge the answers that were written down; False where there is none yet."""
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


def _sheet(question: Question) -> str:
    return "\n".join(_lines(question)) + "\n"


def _lines(question: Question) -> Iterator[str]:
    told = question.sessions_by_date()
    yield f"# {question.question_id}"
    yield ""
    yield (
        f"Type {len(told)} conversations into the chat, each as a new one and in this order. Send "
        "every message by itself and wait for the reply. What the chat replies does not matter."
    )
    for number, session in enumerate(told, start=1):
        yield ""
        yield f"## Conversation {number} of {len(told)} ({session.session_date:%Y-%m-%d})"
        for turn in session.turns:
            if turn.role == "user":
                yield ""
                yield from (f"> {line}" for line in turn.content.splitlines())
    yield ""
    yield "## A new conversation: the question"
    yield ""
    yield f"> {question.question}"
    yield ""
    yield f"Write what the chat answers into `{ANSWERS}`, in the line of {question.question_id}."
