"""LoCoMo-Refined's own rules for an answer: what of it counts, and how far it shares its words with
a reference. Punctuation marks are words, and nothing is stemmed.
"""

import math
import re
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

_BOXED = re.compile(r"\\box(?:ed)?\{([^{}]*)\}")
_FINAL = re.compile(r"final answer:", re.IGNORECASE)
_THOUGHT = "</think>"
_TOKEN = re.compile(r"\w+|[^\w\s]")


class Overlap(NamedTuple):
    """How far a prediction and an answer share their words, 0 to 1 each."""

    f1: float
    bleu1: float


def final_answer(prediction: str) -> str:
    """The answer proper: in the last box, else after `final answer:`, then after `</think>`."""
    boxes = _BOXED.findall(prediction)
    if boxes:
        text = str(boxes[-1])
    else:
        final = _FINAL.search(prediction)
        text = prediction[final.end() :] if final else prediction
    _, thought, answer = text.partition(_THOUGHT)
    return (answer if thought else text).strip()


def overlap(said: str, answer: str) -> Overlap:
    """Of a final answer and one reference; 1 where they are equal, 0 where nothing was said."""
    if said and said == answer.strip():
        return Overlap(1.0, 1.0)
    ours, wanted = _tokens(said), _tokens(answer)
    shared = sum((Counter(ours) & Counter(wanted)).values())
    if not shared:
        return Overlap(0.0, 0.0)
    precision, recall = shared / len(ours), shared / len(wanted)
    brevity = math.exp(min(0.0, 1 - len(wanted) / len(ours)))
    return Overlap(2 * precision * recall / (precision + recall), precision * brevity)


def best_first(said: str, answers: Sequence[str]) -> list[str]:
    """The references, those that a final answer overlaps most with first.

    The benchmark judges every one and takes that with the largest (verdict, F1, BLEU): in this
    order it is the first that passes, else the first of all.
    """
    return sorted(answers, key=lambda answer: overlap(said, answer), reverse=True)


def refined_scores(prediction: str, answers: Sequence[str]) -> Overlap:
    """Scores against the reference that fits best."""
    said = final_answer(prediction)
    return max(overlap(said, answer) for answer in answers)


def _tokens(text: str) -> list[str]:
    return _TOKEN.findall(text.lower())
