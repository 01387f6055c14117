"""The accuracy of guessing among a question's options. Reports show it beside every accuracy of
questions with options. Pure functions of the questions alone.
"""

from collections.abc import Sequence
from typing import TypedDict

from harness.records.digest import QuestionDigest
from harness.statistics.intervals import Mean, Share, mean_of, proportion


class Guesses(TypedDict):
    """The accuracy of always taking the longest option, and of drawing an option at random."""

    longest_option: Share
    any_option: Mean


def longest(options: Sequence[str]) -> str:
    """The option of most characters, the first of several."""
    return max(options, key=len)


def guess_table(questions: Sequence[QuestionDigest]) -> Guesses | None:
    """The accuracies of guessing, over the questions with options; None where there are none."""
    chosen = [question for question in questions if question.options]
    if not chosen:
        return None
    right = sum(longest(question.options) == question.answer for question in chosen)
    return {
        "longest_option": proportion(right, len(chosen)),
        "any_option": mean_of([q.options.count(q.answer) / len(q.options) for q in chosen]),
    }
