"""Pairs: a question about one's own past, the messages that hold its answer, and others near it.

A JSON object a line: `q`, `pos` (messages that hold a part of the answer, oldest first), `neg`
(messages of the same person that hold none) and `kind`. Every 25 lines in a row share a history, in
which each message is a session of its own, one a day. The messages of all its lines are mixed, so
that the answers to one question stand among the distractors of all. The order depends on the texts
alone. There are no worded answers: the messages themselves are the reference, and what counts is
whether they are found. A question without `pos` has no answer.
"""

from collections.abc import Iterator, Sequence
from hashlib import sha256
from itertools import islice
from pathlib import Path

from harness.datasets.benchmark import Benchmark, reader
from harness.datasets.entries import Entry, Sessions, a_day_each, entries_of, just_after
from harness.datasets.questions import Question, Turn, with_evidence

_SHARING = 25
_UNANSWERED = "You did not mention this."


def questions(file: Path) -> Iterator[Question]:
    """Questions in file order, those of one history together."""
    entries = entries_of(file)
    first = 0
    while lines := list(islice(entries, _SHARING)):
        yield from _of_history(first, lines)
        first += len(lines)


def _of_history(first: int, lines: Sequence[Entry]) -> Iterator[Question]:
    told = _mixed(lines)
    sessions = a_day_each((Turn("user", text),) for _, _, text in told)
    for number, line in enumerate(lines):
        held = [i for i, (owner, answers, _) in enumerate(told) if owner == number and answers]
        name = f"pair-{first + number:05d}"
        yield _question(name, f"history-{first:05d}", line, sessions, held)


def _mixed(lines: Sequence[Entry]) -> list[tuple[int, bool, str]]:
    """The messages of all lines, mixed, each with the number of its line and whether it answers;
    the answers of one line keep their order among themselves.
    """
    pool = [
        (number, name == "pos", text)
        for number, line in enumerate(lines)
        for name in ("pos", "neg")
        for text in _messages(line, name)
    ]
    pool.sort(key=lambda owned: sha256(owned[2].encode()).digest())
    answers = [iter(_messages(line, "pos")) for line in lines]
    return [
        (number, is_answer, next(answers[number]) if is_answer else text)
        for number, is_answer, text in pool
    ]


def _messages(line: Entry, name: str) -> list[str]:
    texts = enumerate(line.items(name))
    return [Entry({"text": text}, f"{line.where}: {name}[{i}]").text("text") for i, text in texts]


def _question(
    name: str, history: str, line: Entry, sessions: Sessions, held: Sequence[int]
) -> Question:
    return Question(
        question_id=name,
        question_type=line.text("kind"),
        question=line.text("q"),
        answer="\n".join(sessions[i].turns[0].content for i in held) or _UNANSWERED,
        answer_is_number=False,
        question_date=just_after(sessions),
        sessions=with_evidence(sessions, {(i, 0) for i in held}),
        evidence_session_ids=tuple(sessions[i].session_id for i in held),
        is_abstention=not held,
        shared_history=history,
    )


PAIRS = Benchmark("pairs", reader(questions))
