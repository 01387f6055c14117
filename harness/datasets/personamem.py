"""PersonaMem v1 and v2: what an assistant should say to a person it knows, by multiple choice.

v1, as bowen-upenn/PersonaMem describes it: a table `questions_32k.csv` and beside it
`shared_contexts_32k.jsonl`, whose lines map an id to messages; a question sees the messages before
`end_index_in_shared_context`. Tables in its repository call the question `question`. In 17 of the
589 questions of 32k the right option stands under two letters: either is right. v2, as
bowen-upenn/PersonaMem-v2's inference.py reads it: a table whose `chat_history_32k_link` names a
JSON file with `chat_history`. Neither has dates or labels of evidence. A system message holds the
persona: it is left out, and a new session begins there. The order of v2's options is ours and
depends on the texts alone.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from harness.datasets.benchmark import Benchmark, reader
from harness.datasets.entries import (
    Entry,
    Sessions,
    a_day_each,
    beside,
    checked_options,
    entries_of,
    just_after,
    put_options,
    rows_of,
    shuffled,
    together,
)
from harness.datasets.questions import Question, Turn
from harness.errors import DatasetError

_LETTERED = re.compile(r"\(([a-j])\)\s*(.*)", re.DOTALL)
_TABLE = re.compile(r"questions_(\w+)\.csv(\.gz|\.xz)?")
_LINK = "chat_history_32k_link"


def v1_files(file: Path) -> list[Path]:
    match = _TABLE.fullmatch(file.name)
    if match is None:
        raise DatasetError(f"{file}: expected the table, named like questions_32k.csv")
    return [file, beside(file, f"shared_contexts_{match[1]}.jsonl", "the contexts")]


def v1_questions(file: Path) -> Iterator[Question]:
    """Questions in file order, those of one history together."""
    contexts = _contexts(v1_files(file)[1])
    for row in together(rows_of(file), _seen):
        context, end = _seen(row)
        if context not in contexts:
            raise row.error("shared_context_id", f"{context!r} is not among the contexts")
        messages, where = contexts[context]
        if not 0 < end <= len(messages):
            raise row.error("end_index_in_shared_context", f"1 to {len(messages)}, found {end}")
        letters = [_lettered(row, option) for option in _options(row)]
        answer = dict(letters).get(row.text("correct_answer").strip().strip("()"))
        if answer is None:
            raise row.error("correct_answer", f"no such option: {row.text('correct_answer')!r}")
        texts = [text for _, text in letters]
        options = checked_options(row, "all_options", texts, answer, answer_twice=True)
        asked = row.text("question" if row.has("question") else "user_question_or_message")
        sessions = sessions_of(messages[:end], where)
        key = (row.text("question_id"), row.text("question_type"), f"{context}:{end}")
        yield _question(key, asked, options, answer, sessions)


def _seen(row: Entry) -> tuple[str, int]:
    return row.text("shared_context_id"), row.whole("end_index_in_shared_context")


def v2_files(file: Path) -> list[Path]:
    links = dict.fromkeys(row.text(_LINK) for row in rows_of(file))
    return [file, *(_linked(file, link) for link in links)]


def v2_questions(file: Path) -> Iterator[Question]:
    """Questions in file order, those of one history together; ids are made of the row's number."""
    for number, row in together(enumerate(rows_of(file)), lambda numbered: numbered[1].text(_LINK)):
        link = row.text(_LINK)
        path = _linked(file, link)
        records = list(entries_of(path))
        if len(records) != 1:
            raise DatasetError(f"{path}: expected one history, found {len(records)}")
        (record,) = records
        wrong = row.literal("incorrect_answers")
        answer = row.text("correct_answer").strip()
        if not isinstance(wrong, list):
            raise row.error("incorrect_answers", "expected a list")
        options = checked_options(row, "incorrect_answers", [answer, *wrong], answer)
        query = Entry(row.literal("user_query"), f"{row.where}: user_query").text("content")
        sessions = sessions_of(record.items("chat_history"), f"{path}: chat_history")
        key = (f"q{number:05d}", row.text("pref_type"), link)
        yield _question(key, query, tuple(shuffled(options, query)), answer, sessions)


def sessions_of(messages: list[Any], where: str) -> Sessions:
    """Cut messages into sessions at system messages; drops these, and `User:` before the words."""
    parts: list[list[Turn]] = [[]]
    for number, message in enumerate(messages):
        entry = Entry(message, f"{where}[{number}]")
        if entry.text("role") == "system":
            parts.append([])
            continue
        role, text = entry.role("role"), entry.text("content")
        parts[-1].append(Turn(role, text.removeprefix(f"{role.title()}:").strip()))
    sessions = a_day_each(tuple(part) for part in parts)
    if not sessions:
        raise DatasetError(f"{where}: holds no messages of user or assistant")
    return sessions


def _question(
    key: tuple[str, str, str],
    asked: str,
    options: tuple[str, ...],
    answer: str,
    sessions: Sessions,
) -> Question:
    question_id, question_type, history = key
    return Question(
        question_id=question_id,
        question_type=question_type,
        question=put_options(asked, options),
        answer=answer,
        answer_is_number=False,
        question_date=just_after(sessions),
        sessions=sessions,
        shared_history=history,
        options=options,
    )


def _contexts(path: Path) -> dict[str, tuple[list[Any], str]]:
    found = {}
    for entry in entries_of(path):
        for name in entry.fields:
            found[name] = (entry.items(name), f"{entry.where}: {name}")
    return found


def _options(row: Entry) -> list[Any]:
    options = row.literal("all_options")
    if not isinstance(options, list):
        raise row.error("all_options", "expected a list")
    return options


def _lettered(row: Entry, option: Any) -> tuple[str, str]:
    match = _LETTERED.fullmatch(option.strip()) if isinstance(option, str) else None
    if match is None:
        raise row.error("all_options", f"expected texts like '(a) …', found {option!r}")
    return match[1], match[2].strip()


def _linked(file: Path, link: str) -> Path:
    """Find the history by its path, under the table's folder or a folder above that."""
    if Path(link).is_absolute() or ".." in Path(link).parts:
        raise DatasetError(f"{file}: {_LINK}: expected a path below the data's folder: {link!r}")
    for folder in file.absolute().parents:
        if (path := folder / link).is_file():
            return path
    raise DatasetError(f"{file}: {_LINK}: no such file in its folder or above it: {link}")


PERSONAMEM = Benchmark("personamem", reader(v1_questions, v1_files), judge="choice")
PERSONAMEM_V2 = Benchmark("personamem-v2", reader(v2_questions, v2_files), judge="choice")
