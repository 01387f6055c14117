"""The two parts of LongMemEval's questions: those that this project's assistant was developed on,
and the rest.

Of each type, and of its questions on abstention, development has the first by ascending SHA-256 of
the question's id: so many as `docs/benchmark.md` says. The hash of the last of them stands here, so
that each question tells its part also in a file that holds only some of them.
"""

import hashlib
from typing import Literal, get_args

from harness.errors import UsageError

Part = Literal["dev", "rest"]
PARTS: tuple[Part, ...] = get_args(Part)
_LAST = {
    ("knowledge-update", False): "4c580fe4",
    ("knowledge-update", True): "2529395c",
    ("multi-session", False): "3485807b",
    ("multi-session", True): "20f87c8d",
    ("single-session-assistant", False): "1a258a6b",
    ("single-session-preference", False): "60f816ff",
    ("single-session-user", False): "404d8b00",
    ("single-session-user", True): "12f884ee",
    ("temporal-reasoning", False): "2558ed7d",
    ("temporal-reasoning", True): "71aa768a",
}


def part_of(question_id: str, question_type: str, is_abstention: bool) -> Part:
    """Raises `UsageError` for a type that LongMemEval does not have."""
    if question_type not in {kind for kind, _ in _LAST}:
        raise UsageError(f"--split is for LongMemEval, which has no type {question_type}")
    last = _LAST.get((question_type, is_abstention), "")
    return "dev" if hashlib.sha256(question_id.encode()).hexdigest()[:8] <= last else "rest"
