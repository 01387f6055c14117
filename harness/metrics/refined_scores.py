"""LoCoMo-Refined's official metrics without a judge: token F1 and BLEU-1 with the best answer.

As mem-eval-suite/LoCoMo_refined defines them: punctuation marks are tokens, nothing is stemmed, and
what a model thought aloud before its final answer does not count. Pure.
"""

import math
import re
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from harness.datasets.refined import final_answer

_TOKEN = re.compile(r"\w+|[^\w\s]")


class Overlap(NamedTuple):
    """How far a prediction and an answer share their words, 0 to 1 each."""

    f1: float
    bleu1: float


def refined_scores(prediction: str, answers: Sequence[str]) -> Overlap:
    """Scores against the answer that fits best; nothing predicted scores 0."""
    said = final_answer(prediction)
    if not said:
        return Overlap(0.0, 0.0)
    if any(said == answer.strip() for answer in answers):
        return Overlap(1.0, 1.0)
    return max(overlap(said, answer) for answer in answers)


def overlap(prediction: str, answer: str) -> Overlap:
    """F1 over bags of tokens; BLEU-1 as clipped precision with a penalty for brevity."""
    said, wanted = _tokens(prediction), _tokens(answer)
    shared = sum((Counter(said) & Counter(wanted)).values())
    if not shared:
        return Overlap(0.0, 0.0)
    precision, recall = shared / len(said), shared / len(wanted)
    brevity = math.exp(min(0.0, 1 - len(wanted) / len(said)))
    return Overlap(2 * precision * recall / (precision + recall), precision * brevity)


def _tokens(text: str) -> list[str]:
    return _TOKEN.findall(text.lower())
