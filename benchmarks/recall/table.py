"""Variants of recall as weights over signals (baselines, ours, and ours without each part), and the
figures of each variant, also as a table."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.recall.histories import QUESTION_ONLY, VALUE_ONLY, RecallQuestion, Values
from harness.metrics.retrieval_metrics import ndcg_at_k, recall_all_at_k, recall_any_at_k
from memory_store import Weights

Variant = Callable[[RecallQuestion], Values]
"""From a question to the similarity of each of its sessions."""
# The gain from neighbouring rounds changes no session's rank. It is left out here, because it would
# bring a signal back into the variant without this signal.
OURS = {name: weight for name, weight in asdict(Weights()).items() if name != "neighbours"}


def weighted(weights: Mapping[str, float]) -> Variant:
    """A variant that rates sessions by their best round, and rounds by weighted sums of signals."""

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


METRICS = ("recall_all@5", "recall_all@10", "recall_any@5", "ndcg@5")
_SHORT = {
    "single-session-user": "SSU",
    "single-session-assistant": "SSA",
    "single-session-preference": "SSP",
    "knowledge-update": "KU",
    "temporal-reasoning": "TR",
    "multi-session": "MS",
}


def figures_of(asked: RecallQuestion, variant: Variant) -> dict[str, float]:
    """All metrics of one question. Equal similarities rank by place: the oldest first."""
    found = variant(asked)
    order = [index for index in np.argsort(-found, kind="stable") if np.isfinite(found[index])]
    ranked = list(dict.fromkeys(asked.sessions[index] for index in order))
    return {
        "recall_all@5": recall_all_at_k(ranked, asked.evidence, 5),
        "recall_all@10": recall_all_at_k(ranked, asked.evidence, 10),
        "recall_any@5": recall_any_at_k(ranked, asked.evidence, 5),
        "ndcg@5": ndcg_at_k(ranked, asked.evidence, 5, discount="longmemeval"),
    }


def figures_by_variant(questions: Sequence[RecallQuestion]) -> dict[str, Any]:
    """For each variant the means over all questions, and `recall_all@5` by type."""
    return {name: _means(questions, variant) for name, variant in VARIANTS.items()}


def _means(questions: Sequence[RecallQuestion], variant: Variant) -> dict[str, Any]:
    rows = [figures_of(asked, variant) for asked in questions]
    by_type: dict[str, list[float]] = {}
    for asked, row in zip(questions, rows, strict=True):
        by_type.setdefault(asked.question_type, []).append(row["recall_all@5"])
    means = {metric: float(np.mean([row[metric] for row in rows])) for metric in METRICS}
    return means | {
        "n": len(rows),
        "recall_all@5 by type": {
            kind: {"value": float(np.mean(found)), "n": len(found)}
            for kind, found in sorted(by_type.items())
        },
    }


def print_table(console: Console, title: str, figures: Mapping[str, Any]) -> None:
    """One line a variant; the types show `recall_all@5`."""
    first = next(iter(figures.values()))
    kinds = list(first["recall_all@5 by type"])
    heads = [f"{_SHORT.get(k, k)} ({first['recall_all@5 by type'][k]['n']})" for k in kinds]
    table = Table("variant", *METRICS, *heads, title=f"{title}, n = {first['n']}")
    for name, row in figures.items():
        cells = [f"{row[metric]:.3f}" for metric in METRICS]
        types = [f"{row['recall_all@5 by type'][kind]['value']:.3f}" for kind in kinds]
        table.add_row(name, *cells, *types)
    console.print(table)


def print_folds(console: Console, folds: Mapping[str, Any]) -> None:
    """The weights each fold chose, and what they found on its held-out questions."""
    table = Table("fold", "chosen on the other folds", "n", *METRICS, title="cross-validation")
    for number, fold in enumerate(folds["folds"], start=1):
        chosen = ", ".join(f"{name} {weight}" for name, weight in fold["weights"].items())
        cells = [f"{fold[metric]:.3f}" for metric in METRICS]
        table.add_row(str(number), chosen, str(fold["n"]), *cells)
    for row in ("held out", "in use"):
        cells = [f"{folds[row][metric]:.3f}" for metric in METRICS]
        table.add_row(row, "", str(folds[row]["n"]), *cells)
    console.print(table)
