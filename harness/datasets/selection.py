"""Which questions of a data set a run is about."""

import hashlib
import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, zip_longest
from pathlib import Path
from typing import Literal, Protocol, TypeVar, get_args

from harness.errors import UsageError

Part = Literal["dev", "rest"]
"""The two parts of LongMemEval's questions: those that this project's assistant was developed on,
and the rest."""
PARTS: tuple[Part, ...] = get_args(Part)
# `dev` has the first questions of each type, abstention apart, by ascending SHA-256 of the id; how
# many, `docs/benchmark.md` says. Here stands the hash of the last of them, so that the part of a
# question can be told even in a file that holds only some of the questions.
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
    """Return a question's part; `UsageError` for a type that LongMemEval does not have."""
    if question_type not in {kind for kind, _ in _LAST}:
        raise UsageError(f"--split is for LongMemEval, which has no type {question_type}")
    last = _LAST.get((question_type, is_abstention), "")
    return "dev" if hashlib.sha256(question_id.encode()).hexdigest()[:8] <= last else "rest"


class Selectable(Protocol):
    @property
    def question_id(self) -> str:
        """The name of the question."""

    @property
    def question_type(self) -> str:
        """The type of the question."""

    @property
    def is_abstention(self) -> bool:
        """Whether the history cannot answer it."""


ABSTENTION = "abstention"
Q = TypeVar("Q", bound=Selectable)


@dataclass(frozen=True, slots=True)
class Filters:
    """The filters of the command line; part of the run's identity. With `spread` a limit is spread
    over the types, and abstention is a type of its own in draws and limits; runs of earlier
    versions had neither.
    """

    types: tuple[str, ...] = ()
    ids: tuple[str, ...] = ()
    per_type: int | None = None
    seed: int = 0
    limit: int | None = None
    spread: bool = True
    split: Part | None = None

    @property
    def draws(self) -> bool:
        """Whether all questions must be known before any is chosen."""
        return self.per_type is not None or (self.limit is not None and self.spread)


@dataclass(frozen=True, slots=True)
class QuestionSource:
    """Which questions of which data; `gold` is a file that corrects the data's labels,
    `conversations` one with the histories that the questions are set in.
    """

    dataset: str
    file: Path | None
    filters: Filters
    gold: Path | None = None
    conversations: Path | None = None


def select(questions: Sequence[Q], filters: Filters) -> list[Q]:
    """Types, ids and split first, then `per_type` drawn with `seed`, then `limit`; in file order.

    Raises `UsageError` for a type or id that the data does not have, and when nothing is left.
    """
    _refuse_unknown("type", filters.types, {q.question_type for q in questions})
    _refuse_unknown("id", filters.ids, {q.question_id for q in questions})
    chosen = [question for question in questions if _passes(question, filters)]
    if filters.per_type is not None:
        chosen = _draw_per_type(chosen, filters)
    if filters.limit is not None:
        ordered = _types_in_turn(chosen) if filters.spread else chosen
        taken = {question.question_id for question in ordered[: filters.limit]}
        chosen = [question for question in chosen if question.question_id in taken]
    if not chosen:
        raise UsageError("no question matches the filters")
    return chosen


def select_gradually(questions: Iterable[Q], filters: Filters) -> Iterator[Q]:
    """Yield what `select` chooses, one by one, before all questions are known. Unknown types and
    ids are not refused here. Raises `ValueError` for filters that draw.
    """
    if filters.draws:
        raise ValueError("a draw needs all questions")
    return islice((q for q in questions if _passes(q, filters)), filters.limit)


def by_type(questions: Iterable[Q]) -> dict[str, list[Q]]:
    """The questions of each type, the types by name."""
    found: dict[str, list[Q]] = {}
    for question in questions:
        found.setdefault(question.question_type, []).append(question)
    return dict(sorted(found.items()))


def by_type_or_abstention(questions: Iterable[Q]) -> dict[str, list[Q]]:
    """The answerable questions of each type, and the unanswerable ones under `ABSTENTION`."""
    known = list(questions)
    groups = by_type(question for question in known if not question.is_abstention)
    abstention = [question for question in known if question.is_abstention]
    return groups | ({ABSTENTION: abstention} if abstention else {})


def _passes(question: Selectable, filters: Filters) -> bool:
    return (
        (not filters.types or question.question_type in filters.types)
        and (not filters.ids or question.question_id in filters.ids)
        and (filters.split is None or filters.split == _part(question))
    )


def _part(question: Selectable) -> Part:
    return part_of(question.question_id, question.question_type, question.is_abstention)


def _draw_per_type(questions: Sequence[Q], filters: Filters) -> list[Q]:
    count, drawn = filters.per_type or 0, set[str]()
    groups = by_type_or_abstention(questions) if filters.spread else by_type(questions)
    for name, members in groups.items():
        ids = [question.question_id for question in members]
        draw = random.Random(f"{filters.seed}:{name}")
        drawn.update(draw.sample(ids, min(count, len(ids))))
    return [question for question in questions if question.question_id in drawn]


def _types_in_turn(questions: Iterable[Q]) -> list[Q]:
    """The first question of each type and of abstention, then the second of each, and so on."""
    rows = zip_longest(*by_type_or_abstention(questions).values())
    return [question for row in rows for question in row if question is not None]


def _refuse_unknown(kind: str, wanted: Sequence[str], known: set[str]) -> None:
    unknown = [item for item in wanted if item not in known]
    if unknown:
        hint = f"; it has {', '.join(sorted(known))}" if kind == "type" else ""
        raise UsageError(f"the data has no question of {kind} {', '.join(unknown)}{hint}")
