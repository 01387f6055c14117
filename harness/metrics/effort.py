"""What a run cost: latencies, tokens and rounds per second, from the lines of the run."""

import math
from collections.abc import Iterable, Sequence
from typing import TypedDict

from harness.records.schema import HypothesisLine, IngestLine, RankedLine
from harness.text import tokens_of


class Spread(TypedDict):
    p50: float | None
    p95: float | None
    n: int


# Milliseconds by step.
LatencyTable = dict[str, Spread]


class IngestTable(TypedDict):
    sessions: int
    rounds: int
    turns: int
    enrichment_failed: int
    seconds: float
    barrier_seconds: float
    rounds_per_second: float | None


class TokenTable(TypedDict):
    prompt: int
    completion: int
    prompt_per_question: float | None
    completion_per_question: float | None
    n: int
    not_counted: int
    ingested_estimate: int


class LookingTable(TypedDict):
    """The model's own searches of memory. `looked` is for how many of `n` questions it searched;
    tokens and times are None where answers do not report them.
    """

    calls: int
    calls_per_question: float
    looked: int
    n: int
    tokens_per_question: float | None
    ms_per_question: float | None


def percentile(values: Sequence[float], share: float) -> float | None:
    """The nearest-rank percentile, None for no values."""
    if not values:
        return None
    ordered = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]


def latency_table(
    hypotheses: Iterable[HypothesisLine],
    retrieval: Iterable[RankedLine],
    ingests: Iterable[IngestLine],
) -> LatencyTable:
    """p50 and p95 in milliseconds. There is one ingest sample for each round; each question has two
    searches and one answer.
    """
    return {
        "ingest_round_ms": _spread(ms for line in ingests for ms in line["round_ms"]),
        "search_ms": _spread(ms for line in retrieval for ms in line["search_ms"].values()),
        "answer_ms": _spread(line["answer_ms"] for line in hypotheses if "answer_ms" in line),
    }


def ingest_table(ingests: Iterable[IngestLine]) -> IngestTable:
    """Sums over histories; `seconds` adds up each user's own time, so it exceeds the wall time when
    users overlap.
    """
    lines = list(ingests)
    rounds = sum(line["rounds"] for line in lines)
    seconds = sum(line["seconds"] for line in lines)
    waited = sum(line["barrier_seconds"] for line in lines)
    rate = rounds / seconds if seconds else None
    return {
        "sessions": sum(line["sessions"] for line in lines),
        "rounds": rounds,
        "turns": sum(line["turns"] for line in lines),
        "enrichment_failed": sum(line["enrichment_failed"] for line in lines),
        "seconds": round(seconds, 3),
        "barrier_seconds": round(waited, 3),
        "rounds_per_second": None if rate is None else round(rate, 2),
    }


def token_table(hypotheses: Iterable[HypothesisLine], ingests: Iterable[IngestLine]) -> TokenTable:
    """Tokens as the server counted them, and an estimate of the ingested tokens, at four characters
    a token.
    """
    asked = list(hypotheses)
    counted = [line for line in asked if line.get("prompt_tokens") is not None]
    prompt = sum(line["prompt_tokens"] or 0 for line in counted)
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


def looking_table(hypotheses: Iterable[HypothesisLine]) -> LookingTable | None:
    """The model's own searches, over the answers that report them; None where no answer does."""
    told = [line for line in hypotheses if "looks" in line]
    if not told:
        return None
    timed = [line for line in told if "look_ms" in line]
    return {
        "calls": sum(line["looks"] for line in told),
        "calls_per_question": round(sum(line["looks"] for line in told) / len(told), 2),
        "looked": sum(line["looks"] > 0 for line in told),
        "n": len(told),
        "tokens_per_question": _mean(line["look_tokens"] for line in timed),
        "ms_per_question": _mean(line["look_ms"] for line in timed),
    }


def _mean(values: Iterable[float]) -> float | None:
    known = list(values)
    return round(sum(known) / len(known), 1) if known else None


def _spread(values: Iterable[float]) -> Spread:
    known = list(values)
    return {"p50": percentile(known, 0.5), "p95": percentile(known, 0.95), "n": len(known)}
