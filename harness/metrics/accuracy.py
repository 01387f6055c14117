"""Accuracy from verdicts, with every denominator explicit and an interval. Pure functions."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from harness.datasets.categories import ABILITIES, ABSTENTION
from harness.records.lines import Outcome
from harness.statistics.bootstrap import bootstrap_mean
from harness.statistics.intervals import proportion


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
    history_id: str


def accuracy_table(items: Sequence[Scored]) -> dict[str, Any]:
    """Every accuracy of a report, all over the selected questions.

    Missing and unscored questions lower all of them except `scored`, which leaves both out.
    `by_ability` is None for data whose types are not LongMemEval's.
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
        "by_ability": _by_ability(items),
        "false_refusals": _false_refusals(answerable),
    }


def _by_type(items: Sequence[Scored]) -> dict[str, Any]:
    types = sorted({item.question_type for item in items})
    return {name: _cell([i for i in items if i.question_type == name]) for name in types}


def _by_ability(items: Sequence[Scored]) -> dict[str, Any] | None:
    if not {item.question_type for item in items} <= ABILITIES.keys():
        return None
    members: dict[str, list[Scored]] = {name: [] for name in (*ABILITIES.values(), ABSTENTION)}
    for item in items:
        ability = ABSTENTION if item.is_abstention else ABILITIES[item.question_type]
        members[ability].append(item)
    return {name: _cell(group) for name, group in members.items() if group}


def _cell(items: Sequence[Scored]) -> dict[str, Any]:
    """A share with Wilson bounds; with bounds by history too where questions share histories."""
    right = [item.outcome == "yes" for item in items]
    histories = [item.history_id for item in items]
    cell = proportion(sum(right), len(items))
    clusters = len(set(histories))
    if clusters == len(items):
        return cell
    bounds = bootstrap_mean(right, histories)
    low, high = bounds or (None, None)
    return cell | {"clustered": {"low": low, "high": high, "clusters": clusters}}


def _false_refusals(answerable: Sequence[Scored]) -> dict[str, Any]:
    answered = [item for item in answerable if item.outcome != "missing"]
    return proportion(sum(item.refused for item in answered), len(answered))
