"""MemoryBank: people's chats of ten days with a companion, and questions that probe its memory.

The layout is that of zhongwanjun/MemoryBank-SiliconFriend (eval_data): `memory_bank_en.json` maps
a name to `history`, a list of `query` and `response` for each day; a line of
`probing_questions_en.jsonl` maps the name to questions. The published questions have no answers:
people graded the replies. So they are refused; write each as an object with `question` and
`answer`, then they can be asked. Evidence is not told. Questions are asked after the last day.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from harness.datasets.benchmark import Benchmark, reader
from harness.datasets.entries import Entry, Sessions, beside, entries_of, just_after
from harness.datasets.pools import pool
from harness.datasets.questions import HaystackSession, Question, Turn
from harness.errors import DatasetError


def files(file: Path) -> list[Path]:
    """The questions and the chats."""
    if not file.name.startswith("probing_questions"):
        raise DatasetError(f"{file}: expected a file named like probing_questions_en.jsonl")
    name = file.name.removesuffix(".gz").removesuffix(".xz")
    bank = name.replace("probing_questions", "memory_bank", 1).replace(".jsonl", ".json")
    return [file, beside(file, bank, "the chats")]


def questions(file: Path) -> Iterator[Question]:
    """Questions in file order."""
    people = dict(_people(files(file)[1]))
    for line in entries_of(file):
        for name in line.fields:
            if name not in people:
                raise line.error(name, "no chats of this person")
            for number, item in enumerate(line.items(name)):
                asked = _asked(line, name, item)
                yield _question(f"{name}:{number}", asked, name, people[name])


def chats(file: Path) -> Iterator[Question]:
    """The chats alone, as a pool."""
    for name, sessions in _people(file):
        yield pool(name, sessions)


def _people(file: Path) -> Iterator[tuple[str, Sessions]]:
    for bank in entries_of(file):
        for name, person in bank.members():
            days = person.entry("history")
            sessions = tuple(_day(days, day, i) for i, day in enumerate(days.fields))
            if not sessions:
                raise person.error("history", "empty")
            yield name, sessions


def _day(days: Entry, day: str, position: int) -> HaystackSession:
    date = Entry({"day": day}, days.where).date("day")
    turns: list[Turn] = []
    for number, said in enumerate(days.items(day)):
        pair = dict(zip(("query", "response"), said, strict=False)) if _is_pair(said) else said
        entry = Entry(pair, f"{days.where}: {day}[{number}]")
        turns += [Turn("user", entry.text("query")), Turn("assistant", entry.text("response"))]
    return HaystackSession(position, f"session-{position + 1}", date, tuple(turns))


def _is_pair(said: Any) -> bool:
    return isinstance(said, list) and len(said) == 2


def _asked(line: Entry, name: str, item: Any) -> Entry:
    if isinstance(item, str):
        problem = (
            "this question has no answer, as none of the published ones has: write "
            '{"question": …, "answer": …} in its place'
        )
        raise line.error(name, problem)
    return Entry(item, f"{line.where}: {name}")


def _question(name: str, asked: Entry, person: str, sessions: Sessions) -> Question:
    answer, is_number = asked.answer("answer")
    return Question(
        question_id=name,
        question_type="probing",
        question=asked.text("question"),
        answer=answer,
        answer_is_number=is_number,
        question_date=just_after(sessions),
        sessions=sessions,
        evidence_session_ids=(),
        is_abstention=False,
        shared_history=person,
    )


MEMORYBANK = Benchmark("memorybank", reader(questions, files))
MEMORYBANK_CHATS = Benchmark("memorybank-chats", reader(chats), is_pool=True)
