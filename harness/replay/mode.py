"""What every mode can do with one question and its history, and the lines that all modes write."""

import time
from typing import NamedTuple, Protocol

from harness.assistants.wire import WireAnswer
from harness.datasets.questions import Question
from harness.records.schema import HypothesisLine, IngestLine, RetrievalLine
from harness.replay.ingest import Ingested
from harness.text import rfc3339


class AnswerLines(NamedTuple):
    """The line for `hypotheses.jsonl`, and one for `retrieval.jsonl` where an answer is looked
    through for its sources.
    """

    hypothesis: HypothesisLine
    retrieval: RetrievalLine | None = None


class Mode(Protocol):
    """Takes questions through the assistant under their opaque names. Methods may raise the errors
    of `harness.errors`; each returned object is a line of the run directory.
    """

    searches: bool
    """Whether `retrieve` can be asked for rankings."""
    shares_histories: bool
    """Whether one ingested history serves several questions."""

    async def is_ingested(self, question: Question) -> bool:
        """Whether a history that was ingested earlier can be used as it is."""

    async def ingest(self, question: Question) -> IngestLine | None:
        """Bring in the question's history, whole and in order; the line for `ingest.jsonl`, None
        where nothing is brought in.
        """

    async def retrieve(self, question: Question) -> RetrievalLine:
        """Search an ingested history; the line for `retrieval.jsonl`."""

    async def ask(self, question: Question) -> AnswerLines:
        """Ask the question of an ingested history."""

    async def forget(self, question: Question) -> None:
        """Delete the history's user from the assistant, where it can."""


def ingest_line(history_id: str, user_id: str, ingested: Ingested) -> IngestLine:
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


def hypothesis_line(question: Question, answer: WireAnswer, started: float) -> HypothesisLine:
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
