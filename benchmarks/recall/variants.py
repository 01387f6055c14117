"""Variants of recall as weights over signals: baselines, ours, and ours without each part."""

from collections.abc import Callable, Mapping
from dataclasses import asdict

import numpy as np

from benchmarks.recall.histories import QUESTION_ONLY, VALUE_ONLY, RecallQuestion, Values
from memory_store import Weights

Variant = Callable[[RecallQuestion], Values]
"""From a question to the similarity of each of its sessions."""
# What a round gains from its neighbours changes no session's place, and would carry a signal into
# the variant without it.
OURS = {name: weight for name, weight in asdict(Weights()).items() if name != "neighbours"}


def weighted(weights: Mapping[str, float]) -> Variant:
    """Sessions by their best round, rounds by the weighted sum of their signals."""

    def similarities(asked: RecallQuestion) -> Values:
        rounds = sum(
            (weight * asked.signals[name] for name, weight in weights.items() if weight),
            np.zeros(len(asked.session_of)),
        )
        sessions = np.full(len(asked.sessions), -np.inf)
        np.maximum.at(sessions, asked.session_of, rounds)
        return sessions

    return similarities


def without(*signals: str) -> dict[str, float]:
    """Our weights, less those of some signals."""
    return {name: weight for name, weight in OURS.items() if name not in signals}


VARIANTS: dict[str, Variant] = {
    "value as only key (dense)": weighted({VALUE_ONLY: 1.0}),
    "dense only": weighted({QUESTION_ONLY: 1.0}),
    "BM25 only, rounds": weighted({"words": 1.0}),
    "BM25 only, sessions": weighted({"session_words": 1.0}),
    "official flat-bm25": lambda asked: asked.official,
    "ours": weighted(OURS),
    "ours, no fact keys": weighted(without("dense") | {VALUE_ONLY: OURS["dense"]}),
    "ours, no statement": weighted(without("dense") | {QUESTION_ONLY: OURS["dense"]}),
    "ours, no dense keys": weighted(without("dense")),
    "ours, no words of rounds": weighted(without("words")),
    "ours, no words of sessions": weighted(without("session_words")),
    "ours, no lift for speakers": weighted(without("speaker")),
    "ours, no time": weighted(without("said_then", "happened_then")),
}
