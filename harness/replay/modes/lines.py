"""The lines that all modes write."""

import time
from typing import Any

from harness.assistants.wire import Answer
from harness.datasets.questions import Question
from harness.replay.ingest import Ingested
from harness.text import rfc3339


def ingest_line(history_id: str, user_id: str, ingested: Ingested) -> dict[str, Any]:
    """What was sent of one history."""
    return {
        "history_id": history_id,
        "user_id": user_id,
        "sessions": ingested.sessions,
        "rounds": len(ingested.round_ms),
        "turns": ingested.turns,
        "characters": ingested.characters,
        "seconds": round(ingested.seconds, 3),
        "barrier_seconds": round(ingested.barrier_seconds, 3),
        "enrichment_failed": ingested.enrichment_failed,
        "round_ms": ingested.round_ms,
    }


def hypothesis_line(question: Question, answer: Answer, started: float) -> dict[str, Any]:
    """An answer to a question that was sent at `started` (`time.perf_counter`)."""
    return {
        "question_id": question.question_id,
        "hypothesis": answer.text,
        "question_date": rfc3339(question.question_date),
        "answer_ms": ms_since(started),
        "prompt_tokens": answer.prompt_tokens,
        "completion_tokens": answer.completion_tokens,
    }


def ms_since(started: float) -> float:
    """Milliseconds since a reading of `time.perf_counter`."""
    return round((time.perf_counter() - started) * 1000, 2)
