"""Labelled rounds: of made-up people of ours, and drawn from chats that are not ours.

Of the foreign chats only digests and labels are kept (`drawn.json`); their texts come from the
files that a command names.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from hashlib import blake2b
from pathlib import Path
from typing import Any

from harness.datasets.questions import Question
from harness.datasets.registry import open_dataset
from memory_store import Round

HERE = Path(__file__).parent
PEOPLE = sorted(HERE.glob("people/*.jsonl"))
"""The people that thresholds were chosen with."""
HELD_OUT = sorted(HERE.glob("held_out/*.jsonl"))
"""The people that are only measured."""
_DRAWN = HERE / "drawn.json"

Pair = tuple[str, str]
"""The digests of a replaced or contradicted message, and of the later message."""


def digest(text: str) -> str:
    """The digest of a message or sentence, by which labels name it."""
    return blake2b(" ".join(text.split()).encode("utf-8"), digest_size=6).hexdigest()


@dataclass(frozen=True, slots=True)
class Labelled:
    """A message and its labels."""

    round: Round
    quoting: bool | None = False
    """Whether the message is another's words; None where about half of it is."""
    standing: frozenset[str] = frozenset()
    """Digests of the sentences that say how to answer from now on."""
    days: Mapping[str, str] = field(default_factory=dict)
    """Words that name a weekday relative to the message's day, with the day, or the two possible
    days."""


@dataclass(frozen=True, slots=True)
class LabelledHistory:
    """The messages of one person, or of several people of a data set, and the pairs at odds."""

    name: str
    rounds: Sequence[Labelled]
    replaced: frozenset[Pair] = frozenset()
    contradicted: frozenset[Pair] = frozenset()
    questions: Sequence[tuple[str, datetime]] = ()
    """Questions whose answers show pairs at odds; without any, all rounds are read at once."""


def person(file: Path) -> LabelledHistory:
    """The history of one of our people: a message a line."""
    lines = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    rounds = [
        Labelled(
            Round(file.stem, f"{number}", 0, datetime.fromisoformat(line["at"]), line["say"]),
            line.get("quoting", False),
            frozenset(map(digest, line.get("standing", ()))),
            line.get("days", {}),
        )
        for number, line in enumerate(lines)
    ]

    def pairs(mark: str) -> frozenset[Pair]:
        return frozenset(
            (digest(lines[older]["say"]), digest(line["say"]))
            for line in lines
            for older in line.get(mark, ())
        )

    return LabelledHistory(file.stem, rounds, pairs("replaces"), pairs("contradicts"))


def drawn(half: str, name: str, file: Path) -> Iterator[LabelledHistory]:
    """The labelled rounds of a data set together, and each chat whose pairs are labelled."""
    labels = json.loads(_DRAWN.read_text("utf-8"))[half]
    dataset = open_dataset(name, file)
    said: dict[str, Labelled] = {}
    chats: dict[str, list[Question]] = {}
    for question in dataset.read([outline.question_id for outline in dataset.outlines]):
        for round in _rounds(question):
            known = labels["rounds"].get(digest(round.user_text))
            if known is not None:
                said[digest(round.user_text)] = _labelled(round, known)
        if question.question_type in labels["asked"]:
            chats.setdefault(str(question.shared_history), []).append(question)
    yield LabelledHistory(name, list(said.values()))
    for chat, questions in chats.items():
        rounds = [*_rounds(questions[0])]
        texts = {digest(round.user_text) for round in rounds}
        if not texts & {newer for _, newer in labels["replaced"] + labels["contradicted"]}:
            continue
        yield LabelledHistory(
            f"{name} {chat}",
            [Labelled(round) for round in rounds],
            _within(labels["replaced"], texts),
            _within(labels["contradicted"], texts),
            [(one.question, one.question_date) for one in questions],
        )


def _labelled(round: Round, known: Mapping[str, Any]) -> Labelled:
    return Labelled(round, known.get("quoting", False), frozenset(known.get("standing", ())))


def _within(pairs: Sequence[Sequence[str]], texts: set[str]) -> frozenset[Pair]:
    return frozenset((older, newer) for older, newer in pairs if newer in texts)


def _rounds(question: Question) -> Iterator[Round]:
    """The messages of users, in the order of the chat that a question is about."""
    for session in question.sessions:
        for number, turn in enumerate(session.turns):
            if turn.name or turn.role == "user":
                yield Round(
                    str(question.shared_history or question.question_id),
                    session.session_id,
                    number,
                    session.session_date + timedelta(seconds=number),
                    turn.content,
                    user_name=turn.name,
                )
