"""Coherent lives: one person each, months of chats, and questions in other words.

All distractors of a question are the person's own. `NAME.jsonl` holds a session a line (`date`,
`rounds` of what the user and the assistant said), `NAME.questions.jsonl` a question a line (`type`,
`q`, `a`, `date`, and the `evidence`: SESSION.ROUND counted from 1, with an `a` behind it where the
assistant's side holds it). README.md tells who wrote them and how they were made.
"""

import json
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

from harness.datasets.benchmark import Benchmark, Given
from harness.datasets.dataset import ContentHash, Dataset, held, size_of
from harness.datasets.questions import ABSTENTION, HaystackSession, Question, Turn, with_evidence
from harness.errors import DatasetError

LIVES = Path(__file__).parent
LONG_LIVES = LIVES / "long"
_QUESTIONS = ".questions.jsonl"
# As in LongMemEval, an abstention question has the type of what it seems to ask for.
_TYPE_OF_ABSTENTION = "single-session-user"


def read_lives(folder: Path) -> list[Question]:
    """All questions of the lives in a folder, life by life; those of one share its history.

    Raises `DatasetError` for a life that cannot be read.
    """
    found = sorted(file for file in folder.glob(f"*{_QUESTIONS}"))
    return [question for file in found for question in _life(file)]


def _life(questions: Path) -> Iterator[Question]:
    name = questions.name.removesuffix(_QUESTIONS)
    file = questions.with_name(f"{name}.jsonl")
    try:
        sessions = [_session(name, n, line) for n, line in enumerate(_lines(file))]
        for number, line in enumerate(_lines(questions), start=1):
            yield _question(name, number, line, sessions)
    except (ValueError, KeyError, IndexError, TypeError) as error:
        raise DatasetError(f"{questions}: {type(error).__name__}: {error}") from error


def _lines(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()]


def _session(name: str, position: int, line: dict[str, Any]) -> HaystackSession:
    said = (
        turn
        for user, assistant in line["rounds"]
        for turn in (Turn("user", user), Turn("assistant", assistant))
    )
    date = datetime.fromisoformat(line["date"])
    return HaystackSession(position, f"{name}-{position + 1}", date, tuple(said))


def _question(
    name: str, number: int, line: dict[str, Any], sessions: list[HaystackSession]
) -> Question:
    places = set[tuple[int, int]]()
    for named in line["evidence"]:
        session, _, round = named.removesuffix("a").partition(".")
        turn = 2 * (int(round) - 1) + named.endswith("a")
        if not 0 <= turn < len(sessions[int(session) - 1].turns):
            raise ValueError(f"question {number}: there is no round {named}")
        places.add((int(session) - 1, turn))
    is_abstention = line["type"] == ABSTENTION
    positions = sorted({position for position, _ in places})
    return Question(
        question_id=f"{name}-q{number}{'_abs' * is_abstention}",
        question_type=_TYPE_OF_ABSTENTION if is_abstention else line["type"],
        question=line["q"],
        answer=line["a"],
        answer_is_number=False,
        question_date=datetime.fromisoformat(line["date"]),
        sessions=with_evidence(sessions, places),
        evidence_session_ids=tuple(sessions[position].session_id for position in positions),
        is_abstention=is_abstention,
        shared_history=name,
    )


def open_lives(given: Given) -> Dataset:
    """The lives of a folder, by default the short ones that come with the harness."""
    folder = LONG_LIVES if given.name == "long-lives" else given.file or LIVES
    questions, files = read_lives(folder), sorted(folder.glob("*.jsonl"))
    if not questions:
        raise DatasetError(f"{folder}: holds no lives")
    size = sum(map(size_of, files))
    return held(given.name, given.file, size, ContentHash.of_files(files), questions)


SHORT = Benchmark("lives", open_lives, file="optional")
LONG = Benchmark("long-lives", open_lives, file="built in")
