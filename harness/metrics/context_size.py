"""How the size of what a reader got goes with being right. Pure."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from harness.records.lines import RunLines, outcome_of
from harness.statistics.intervals import proportion

# At most so many groups of questions, each of at least so many.
_GROUPS, _SMALLEST = 5, 10


def accuracy_by_prompt(lines: RunLines) -> list[dict[str, Any]]:
    """Accuracy of answered questions in groups of about equal number, by prompt tokens.

    Questions whose tokens the server did not count are left out; [] where all prompts are alike.
    """
    counted = [
        (line["prompt_tokens"], outcome_of(question, lines) == "yes")
        for question in lines.questions
        if (line := lines.hypotheses.get(question.question_id))
        and line.get("prompt_tokens") is not None
    ]
    counted.sort(key=lambda item: item[0])
    groups = [group for group in _split(counted) if group]
    if len({tokens for tokens, _ in counted}) < 2:
        return []
    return [
        {"low_tokens": group[0][0], "high_tokens": group[-1][0]}
        | {"accuracy": proportion(sum(right for _, right in group), len(group))}
        for group in groups
    ]


def _split(items: Sequence[tuple[int, bool]]) -> list[Sequence[tuple[int, bool]]]:
    groups = max(1, min(_GROUPS, len(items) // _SMALLEST))
    bounds = [round(i * len(items) / groups) for i in range(groups + 1)]
    return [items[low:high] for low, high in pairwise(bounds)]
