"""Accuracy from verdicts, with every denominator explicit and Wilson intervals. Pure functions."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

Outcome = Literal["yes", "no", "unscored", "missing"]
_Z95 = 1.959963984540054


class Interval(NamedTuple):
    """Bounds of a proportion."""

    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Scored:
    """One selected question with what became of it; `refused` tells that the hypothesis declines to
    answer.
    """

    question_id: str
    question_type: str
    is_abstention: bool
    outcome: Outcome
    refused: bool


def wilson_interval(successes: int, n: int, z: float = _Z95) -> Interval:
    """Wilson's interval for `successes` out of `n`, 95 % by default; (0, 1) for n = 0."""
    if n == 0:
        return Interval(0.0, 1.0)
    share = successes / n
    centre = share + z * z / (2 * n)
    spread = z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    scale = 1 + z * z / n
    return Interval(max(0.0, (centre - spread) / scale), min(1.0, (centre + spread) / scale))


def accuracy_table(items: Sequence[Scored]) -> dict[str, Any]:
    """Every accuracy of a report, all over the selected questions.

    Missing and unscored questions lower all of them except `scored`, which leaves both out.
    """
    answerable = [item for item in items if not item.is_abstention]
    by_type = _by_type(items)
    present = [cell["value"] for cell in by_type.values()]
    return {
        "overall": _cell(items),
        "scored": _cell([item for item in items if item.outcome in ("yes", "no")]),
        "task_averaged": {
            "value": sum(present) / len(present) if present else None,
            "n": len(present),
        },
        "abstention": _cell([item for item in items if item.is_abstention]),
        "answerable": _cell(answerable),
        "by_type": by_type,
        "by_type_answerable": _by_type(answerable),
        "false_refusals": _false_refusals(answerable),
    }


def proportion(successes: int, n: int) -> dict[str, Any]:
    """A share with its Wilson bounds and denominator; the value is None for n = 0."""
    low, high = wilson_interval(successes, n)
    return {"value": successes / n if n else None, "low": low, "high": high, "n": n}


def _by_type(items: Sequence[Scored]) -> dict[str, Any]:
    types = sorted({item.question_type for item in items})
    return {name: _cell([i for i in items if i.question_type == name]) for name in types}


def _cell(items: Sequence[Scored]) -> dict[str, Any]:
    return proportion(sum(item.outcome == "yes" for item in items), len(items))


def _false_refusals(answerable: Sequence[Scored]) -> dict[str, Any]:
    answered = [item for item in answerable if item.outcome != "missing"]
    return proportion(sum(item.refused for item in answered), len(answered))
