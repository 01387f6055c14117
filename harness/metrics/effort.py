"""What a run cost: latencies, tokens and rounds per second, from the lines of the run. Pure."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from harness.text import tokens_of

Line = Mapping[str, Any]


def percentile(values: Sequence[float], share: float) -> float | None:
    """The nearest-rank percentile, None for no values."""
    if not values:
        return None
    ordered = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]


def latency_table(
    hypotheses: Iterable[Line], retrieval: Iterable[Line], ingests: Iterable[Line]
) -> dict[str, Any]:
    """p50 and p95 in milliseconds: one ingest sample for each round, two searches and one answer a
    question.
    """
    return {
        "ingest_round_ms": _spread(ms for line in ingests for ms in line["round_ms"]),
        "search_ms": _spread(ms for line in retrieval for ms in line["search_ms"].values()),
        "answer_ms": _spread(line["answer_ms"] for line in hypotheses if "answer_ms" in line),
    }


def ingest_table(ingests: Iterable[Line]) -> dict[str, Any]:
    """Sums over histories; `seconds` adds up each user's own time, so it exceeds the wall time when
    users overlap.
    """
    lines = list(ingests)
    table = {
        name: sum(line[name] for line in lines)
        for name in ("sessions", "rounds", "turns", "enrichment_failed")
    }
    seconds = sum(line["seconds"] for line in lines)
    waited = sum(line["barrier_seconds"] for line in lines)
    rate = table["rounds"] / seconds if seconds else None
    return table | {
        "seconds": round(seconds, 3),
        "barrier_seconds": round(waited, 3),
        "rounds_per_second": round(rate, 2) if rate else None,
    }


def token_table(hypotheses: Iterable[Line], ingests: Iterable[Line]) -> dict[str, Any]:
    """Tokens as the server counted them, and the size of what was ingested at four characters a
    token.
    """
    asked = list(hypotheses)
    counted = [line for line in asked if line.get("prompt_tokens") is not None]
    prompt = sum(line["prompt_tokens"] for line in counted)
    completion = sum(line.get("completion_tokens") or 0 for line in counted)
    return {
        "prompt": prompt,
        "completion": completion,
        "prompt_per_question": round(prompt / len(counted), 1) if counted else None,
        "completion_per_question": round(completion / len(counted), 1) if counted else None,
        "n": len(counted),
        "not_counted": len(asked) - len(counted),
        "ingested_estimate": tokens_of(sum(line["characters"] for line in ingests)),
    }


def _spread(values: Iterable[float]) -> dict[str, Any]:
    known = list(values)
    return {"p50": percentile(known, 0.5), "p95": percentile(known, 0.95), "n": len(known)}
