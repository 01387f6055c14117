"""Chats of which nothing is asked, MSC and DuLeMon; MSC with MemGPT's question about each; and
MemoryBank: people's chats of ten days with a companion, and questions that probe its memory.

MSC (ParlAI's task `msc`; a JSON object a line): `previous_dialogs`, each with a `dialog` of `text`,
and the `dialog` of today. DuLeMon (PaddlePaddle/Research, ACL2022-DuLeMon): a `conversation` of
`Usr: …` and `Bot: …` with the number of a persona's sentence after a tab, which is cut off. Both
train the next utterance; a harness that asks for facts has no question to put, so they are pools:
described, not run. MSC-Self-Instruct (MemGPT) adds `self_instruct`, `B` a question and `A` its
answer. MSC's speakers are people, told by name, in turn. It has no dates: its `time_back` counts
from another day in each entry and is not read.

MemoryBank's layout is that of zhongwanjun/MemoryBank-SiliconFriend (eval_data):
`memory_bank_en.json` maps a name to `history`, a list of `query` and `response` for each day; days
on which nothing was said are left out. A line of `probing_questions_en.jsonl` maps the name to
questions. The published questions have no answers, as people graded the replies, and are refused;
once each is written as an object with `question` and `answer`, they can be asked. Evidence is not
told. Questions are asked after the last day.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from harness.datasets.benchmark import Benchmark, reader
from harness.datasets.entries import Entry, Sessions, a_day_each, beside, entries_of, just_after
from harness.datasets.questions import HaystackSession, Question, Turn
from harness.errors import DatasetError

_SPEAKERS = ("Speaker 1", "Speaker 2")


def pool(name: str, sessions: Sessions) -> Question:
    return Question(
        question_id=name,
        question_type="pool",
        question="",
        answer="",
        answer_is_number=False,
        question_date=just_after(sessions),
        sessions=sessions,
    )


def msc(file: Path) -> Iterator[Question]:
    for number, entry in enumerate(entries_of(file)):
        yield pool(f"chat-{number:05d}", _msc_sessions(entry))


def msc_self_instruct(file: Path) -> Iterator[Question]:
    for number, entry in enumerate(entries_of(file)):
        sessions = _msc_sessions(entry)
        asked = entry.entry("self_instruct")
        answer, is_number = asked.answer("A")
        yield Question(
            question_id=f"chat-{number:05d}",
            question_type="deep-memory",
            question=asked.text("B"),
            answer=answer,
            answer_is_number=is_number,
            question_date=just_after(sessions),
            sessions=sessions,
        )


def dulemon(file: Path) -> Iterator[Question]:
    for number, entry in enumerate(entries_of(file)):
        turns = tuple(_dulemon_turn(entry, line) for line in entry.items("conversation"))
        if not turns:
            raise entry.error("conversation", "empty")
        yield pool(f"chat-{number:05d}", a_day_each([turns]))


def _msc_sessions(entry: Entry) -> Sessions:
    before = entry.entries("previous_dialogs")
    sessions = a_day_each(_msc_turns(session) for session in (*before, entry))
    if not sessions:
        raise entry.error("dialog", "nobody says anything")
    return sessions


def _msc_turns(session: Entry) -> tuple[Turn, ...]:
    turns = enumerate(session.entries("dialog"))
    return tuple(
        Turn(
            "user", turn.text("text"), name=turn.text("id") if turn.has("id") else _SPEAKERS[i % 2]
        )
        for i, turn in turns
    )


def _dulemon_turn(entry: Entry, line: Any) -> Turn:
    speaker, colon, said = line.partition(":") if isinstance(line, str) else ("", "", "")
    if not colon or speaker not in ("Usr", "Bot"):
        raise entry.error("conversation", f"expected 'Usr: …' or 'Bot: …', found {line!r}")
    words = said.rpartition("\t")[0] or said
    return Turn("user" if speaker == "Usr" else "assistant", words.strip())


MSC_SELF_INSTRUCT = Benchmark("msc-self-instruct", reader(msc_self_instruct))
MSC = Benchmark("msc", reader(msc), is_pool=True)
DULEMON = Benchmark("dulemon", reader(dulemon), is_pool=True)


def memorybank_files(file: Path) -> list[Path]:
    if not file.name.startswith("probing_questions"):
        raise DatasetError(f"{file}: expected a file named like probing_questions_en.jsonl")
    name = file.name.removesuffix(".gz").removesuffix(".xz")
    bank = name.replace("probing_questions", "memory_bank", 1).replace(".jsonl", ".json")
    return [file, beside(file, bank, "the chats")]


def memorybank_questions(file: Path) -> Iterator[Question]:
    people = dict(_people(memorybank_files(file)[1]))
    for line in entries_of(file):
        for name in line.fields:
            if name not in people:
                raise line.error(name, "no chats of this person")
            for number, item in enumerate(line.items(name)):
                asked = _asked(line, name, item)
                yield _question(f"{name}:{number}", asked, name, people[name])


def memorybank_chats(file: Path) -> Iterator[Question]:
    for name, sessions in _people(file):
        yield pool(name, sessions)


def _people(file: Path) -> Iterator[tuple[str, Sessions]]:
    for bank in entries_of(file):
        for name, person in bank.members():
            days = person.entry("history")
            told = (day for day in days.fields if days.items(day))
            sessions = tuple(_day(days, day, i) for i, day in enumerate(told))
            if not sessions:
                raise person.error("history", "empty")
            yield name, sessions


def _day(days: Entry, day: str, position: int) -> HaystackSession:
    date = Entry({"day": day}, days.where).date("day")
    turns: list[Turn] = []
    for number, said in enumerate(days.items(day)):
        if isinstance(said, list) and len(said) == 2:
            said = dict(zip(("query", "response"), said, strict=True))
        entry = Entry(said, f"{days.where}: {day}[{number}]")
        turns += [Turn("user", entry.text("query")), Turn("assistant", entry.text("response"))]
    return HaystackSession(position, f"session-{position + 1}", date, tuple(turns))


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
        shared_history=person,
    )


MEMORYBANK = Benchmark("memorybank", reader(memorybank_questions, memorybank_files))
MEMORYBANK_CHATS = Benchmark("memorybank-chats", reader(memorybank_chats), is_pool=True)
