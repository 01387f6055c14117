"""Accuracy from verdicts, with every denominator explicit and an interval: overall, by the length
of the prompt, and as the official LongMemEval scripts count it. Pure functions.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NotRequired, TypedDict

from harness.datasets.longmemeval import official_label
from harness.datasets.questions import (
    ABILITIES,
    ABSTENTION,
    LONGMEMEVAL_TYPES,
    is_official_abstention,
)
from harness.datasets.selection import by_type
from harness.records.digest import QuestionDigest
from harness.records.run_dir import Outcome, RunLines, outcome_of
from harness.statistics.intervals import Mean, Share, bootstrap_mean, mean_of, proportion


@dataclass(frozen=True, slots=True)
class Scored:
    """A selected question with its outcome; `refused` says that its hypothesis is a refusal."""

    question_id: str
    question_type: str
    is_abstention: bool
    outcome: Outcome
    refused: bool
    history_id: str


class Clustered(TypedDict):
    low: float | None
    high: float | None
    clusters: int


class AccuracyCell(Share):
    """The share of right answers; `clustered` has bounds where questions share conversations."""

    clustered: NotRequired[Clustered]


class PromptGroup(TypedDict):
    """Questions whose prompts are about as long."""

    low_tokens: int
    high_tokens: int
    accuracy: Share


class AccuracyTable(TypedDict):
    overall: AccuracyCell
    scored: AccuracyCell
    task_averaged: Mean
    abstention: AccuracyCell
    answerable: AccuracyCell
    by_type: dict[str, AccuracyCell]
    by_type_answerable: dict[str, AccuracyCell]
    by_ability: dict[str, AccuracyCell] | None
    false_refusals: Share


class OfficialAccuracy(TypedDict):
    """Accuracy as LongMemEval's own scripts print it."""

    overall: Mean
    task_averaged: Mean
    abstention: Mean
    by_type: dict[str, Mean]
    skipped: list[str]


def accuracy_table(items: Sequence[Scored]) -> AccuracyTable:
    """Every accuracy of a report, all over the selected questions.

    Missing and unscored questions lower all of them except `scored`, which leaves both out.
    `by_ability` is None for data whose types are not LongMemEval's.
    """
    answerable = [item for item in items if not item.is_abstention]
    cells = _by_type(items)
    present = [cell["value"] for cell in cells.values() if cell["value"] is not None]
    return {
        "overall": _cell(items),
        "scored": _cell([item for item in items if item.outcome in ("yes", "no")]),
        "task_averaged": mean_of(present),
        "abstention": _cell([item for item in items if item.is_abstention]),
        "answerable": _cell(answerable),
        "by_type": cells,
        "by_type_answerable": _by_type(answerable),
        "by_ability": _by_ability(items),
        "false_refusals": _false_refusals(answerable),
    }


def _by_type(items: Sequence[Scored]) -> dict[str, AccuracyCell]:
    return {name: _cell(members) for name, members in by_type(items).items()}


def _by_ability(items: Sequence[Scored]) -> dict[str, AccuracyCell] | None:
    if not {item.question_type for item in items} <= ABILITIES.keys():
        return None
    members: dict[str, list[Scored]] = {name: [] for name in (*ABILITIES.values(), ABSTENTION)}
    for item in items:
        ability = ABSTENTION if item.is_abstention else ABILITIES[item.question_type]
        members[ability].append(item)
    return {name: _cell(group) for name, group in members.items() if group}


def _cell(items: Sequence[Scored]) -> AccuracyCell:
    """A share with Wilson bounds; with bounds by history too where questions share histories."""
    right = [item.outcome == "yes" for item in items]
    histories = [item.history_id for item in items]
    share = proportion(sum(right), len(items))
    cell = AccuracyCell(value=share["value"], low=share["low"], high=share["high"], n=share["n"])
    clusters = len(set(histories))
    if clusters == len(items):
        return cell
    bounds = bootstrap_mean(right, histories)
    low, high = bounds or (None, None)
    return cell | {"clustered": {"low": low, "high": high, "clusters": clusters}}


def _false_refusals(answerable: Sequence[Scored]) -> Share:
    answered = [item for item in answerable if item.outcome != "missing"]
    return proportion(sum(item.refused for item in answered), len(answered))


# The most groups of questions, and the fewest questions of a group.
_GROUPS, _SMALLEST = 5, 10


def accuracy_by_prompt(lines: RunLines) -> list[PromptGroup]:
    """Accuracy of answered questions in groups of about equal number, by prompt tokens.

    Questions whose tokens the server did not count are left out; [] where all prompts are alike.
    """
    counted = [
        (tokens, outcome_of(question, lines) == "yes")
        for question in lines.questions
        if (line := lines.hypotheses.get(question.question_id))
        and (tokens := line.get("prompt_tokens")) is not None
    ]
    counted.sort(key=lambda item: item[0])
    groups = [group for group in _split(counted) if group]
    if len({tokens for tokens, _ in counted}) < 2:
        return []
    return [
        {
            "low_tokens": group[0][0],
            "high_tokens": group[-1][0],
            "accuracy": proportion(sum(right for _, right in group), len(group)),
        }
        for group in groups
    ]


def _split(items: Sequence[tuple[int, bool]]) -> list[Sequence[tuple[int, bool]]]:
    groups = max(1, min(_GROUPS, len(items) // _SMALLEST))
    bounds = [round(i * len(items) / groups) for i in range(groups + 1)]
    return [items[low:high] for low, high in pairwise(bounds)]


Lines = Mapping[str, Mapping[str, Any]]


def official_accuracy(
    questions: Sequence[QuestionDigest], hypotheses: Lines, verdicts: Lines
) -> OfficialAccuracy | None:
    """The official figures, each with its n; None for data that is not LongMemEval's."""
    if not {question.question_type for question in questions} <= set(LONGMEMEVAL_TYPES):
        return None
    labels = [
        (question, label)
        for question in questions
        if question.question_id in hypotheses
        and (label := official_label(verdicts.get(question.question_id))) is not None
        for _ in range(int(hypotheses[question.question_id].get("lines", 1)))
    ]
    cells = {
        kind: mean_of(label for question, label in labels if question.question_type == kind)
        for kind in LONGMEMEVAL_TYPES
    }
    values = [cell["value"] for cell in cells.values()]
    known = [value for value in values if value is not None]
    average = sum(known) / len(values) if len(known) == len(values) else None
    return {
        "overall": mean_of(label for _, label in labels),
        "task_averaged": {"value": average, "n": len(values)},
        "abstention": mean_of(
            label for q, label in labels if is_official_abstention(q.question_id)
        ),
        "by_type": cells,
        "skipped": [q.question_id for q in questions if q.question_id not in hypotheses],
    }
