"""What guessing reaches where a question has options: a figure that stands beside every accuracy of
such questions. Pure functions of the questions alone.
"""

from collections.abc import Sequence
from typing import TypedDict

from harness.records.digest import QuestionDigest
from harness.statistics.intervals import Mean, Share, mean_of, proportion


class Guesses(TypedDict):
    """Right answers of who always takes the longest option, and what drawing lots is worth."""

    longest_option: Share
    any_option: Mean


def longest(options: Sequence[str]) -> str:
    """The option of most characters, the first of several."""
    return max(options, key=len)


def guess_table(questions: Sequence[QuestionDigest]) -> Guesses | None:
    """Over the questions with options; None where there are none."""
    chosen = [question for question in questions if question.options]
    if not chosen:
        return None
    right = sum(longest(question.options) == question.answer for question in chosen)
    return {
        "longest_option": proportion(right, len(chosen)),
        "any_option": mean_of([q.options.count(q.answer) / len(q.options) for q in chosen]),
    }
