"""Questions with the messages that answer them, and messages that only look as if they did.

There are two sources, both of our own writing. Pairs (`benchmarks/memory_pairs`) have hard
negatives of their own; in a life (`lives/`) every other message of the same person is a negative.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from harness.datasets.lives import read_lives
from harness.datasets.questions import HaystackSession

PAIRS = Path(__file__).parents[1] / "memory_pairs"
LIVES = Path(__file__).parent / "lives"
HELD_OUT = PAIRS / "held_out"
"""Pairs of people and topics that nothing is trained on."""
UNANSWERED = PAIRS / "unanswered"
"""Questions that no message answers, with messages that are only similar."""


class Example(NamedTuple):
    """A question, every message that holds a part of its answer, and others that do not."""

    question: str
    positives: tuple[str, ...]
    negatives: tuple[str, ...]
    kind: str


def pairs(folder: Path = PAIRS) -> list[Example]:
    """The examples of a folder's files, in the order of the files' names."""
    return [
        Example(line["q"], tuple(line["pos"]), tuple(line["neg"]), line["kind"])
        for file in sorted(folder.glob("*.jsonl"))
        for line in map(json.loads, file.read_text("utf-8").splitlines())
    ]


def of_lives(folder: Path = LIVES) -> list[Example]:
    """The questions of lives whose evidence the user said."""
    return list(_of_lives(folder))


def _of_lives(folder: Path) -> Iterator[Example]:
    for question in read_lives(folder):
        told = [turn for one in question.sessions for turn in one.turns if turn.role == "user"]
        positives = tuple(turn.content for turn in told if turn.has_answer)
        if positives and not _has_reply(question.sessions):
            others = tuple(turn.content for turn in told if not turn.has_answer)
            yield Example(question.question, positives, others, "life")


def _has_reply(sessions: tuple[HaystackSession, ...]) -> bool:
    turns = (turn for session in sessions for turn in session.turns)
    return any(turn.has_answer and turn.role == "assistant" for turn in turns)
