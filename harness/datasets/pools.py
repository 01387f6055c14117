"""Chats of which nothing is asked: MSC and DuLeMon, and MSC with MemGPT's question about each.

MSC (ParlAI's task `msc`; a JSON object a line): `previous_dialogs`, each with a `dialog` of `text`,
and the `dialog` of today. DuLeMon (PaddlePaddle/Research, ACL2022-DuLeMon): a `conversation` of
`Usr: …` and `Bot: …` with the number of a persona's sentence after a tab, which is cut off. Both
train the next utterance; a harness that asks for facts has no question to put, so they are pools:
described, not run. MSC-Self-Instruct (MemGPT) adds `self_instruct`, `B` a question and `A` its
answer. MSC's speakers are people, told by name, in turn; no dates: its `time_back` counts from
another day in each entry and is not read.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from harness.datasets.benchmark import Benchmark, reader
from harness.datasets.entries import Entry, Sessions, a_day_each, entries_of, just_after
from harness.datasets.questions import Question, Turn

_SPEAKERS = ("Speaker 1", "Speaker 2")


def pool(name: str, sessions: Sessions) -> Question:
    """A history without a question."""
    return Question(
        question_id=name,
        question_type="pool",
        question="",
        answer="",
        answer_is_number=False,
        question_date=just_after(sessions),
        sessions=sessions,
        evidence_session_ids=(),
        is_abstention=False,
    )


def msc(file: Path) -> Iterator[Question]:
    """MSC's chats."""
    for number, entry in enumerate(entries_of(file)):
        yield pool(f"chat-{number:05d}", _msc_sessions(entry))


def msc_self_instruct(file: Path) -> Iterator[Question]:
    """One question about each chat."""
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
            evidence_session_ids=(),
            is_abstention=False,
        )


def dulemon(file: Path) -> Iterator[Question]:
    """DuLeMon's chats."""
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
