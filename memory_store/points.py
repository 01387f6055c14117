"""A record and its point in the engine: what the payload holds, and which schema wrote it."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from memory_store.embedding.encoder import EncoderIdentity, Matrix
from memory_store.engines.engine import Payload, Point
from memory_store.types import EnrichmentState, Fact, Record, Round, Speaker
from memory_store.words import term_counts

SCHEMA_VERSION = 1


def to_point(record: Record, keys: Matrix) -> Point:
    """The point of a record: its keys, the words of both speakers, and the payload."""
    round = record.round
    counts = term_counts(f"{round.user_text}\n{round.assistant_text}")
    return Point(
        id=record.id,
        keys=keys,
        words={term: float(count) for term, count in counts.items()},
        payload=_to_payload(record, word_count=counts.total()),
    )


def _to_payload(record: Record, word_count: int) -> Payload:
    round = record.round
    return {
        "user_id": round.user_id,
        "session_id": round.session_id,
        "round_index": round.round_index,
        "session_date": round.session_date.astimezone(UTC).isoformat(),
        "user_text": round.user_text,
        "assistant_text": round.assistant_text,
        "user_name": round.user_name,
        "assistant_name": round.assistant_name,
        "turn_ids": list(round.turn_ids),
        "facts": [_fact_to_payload(fact) for fact in record.facts],
        "enrichment": record.enrichment.value,
        "word_count": word_count,
        "schema_version": SCHEMA_VERSION,
    }


def from_payload(payload: Payload) -> Record:
    """The record a payload was made from."""
    round = Round(
        user_id=payload["user_id"],
        session_id=payload["session_id"],
        round_index=int(payload["round_index"]),
        session_date=datetime.fromisoformat(payload["session_date"]),
        user_text=payload["user_text"],
        assistant_text=payload["assistant_text"],
        user_name=payload.get("user_name"),
        assistant_name=payload.get("assistant_name"),
        turn_ids=tuple(payload["turn_ids"]),
    )
    facts: Sequence[Mapping[str, Any]] = payload["facts"]
    return Record(
        round=round,
        facts=tuple(_fact_from_payload(fact) for fact in facts),
        enrichment=EnrichmentState(payload["enrichment"]),
    )


def to_identity(encoder: EncoderIdentity) -> Payload:
    """What is stored once, to refuse data of another vector space or schema."""
    return {
        "embedder": encoder.name,
        "dimension": encoder.dimension,
        "schema_version": SCHEMA_VERSION,
    }


def _fact_to_payload(fact: Fact) -> Payload:
    return {"text": fact.text, "speaker": fact.speaker.value, "source": fact.source}


def _fact_from_payload(payload: Mapping[str, Any]) -> Fact:
    return Fact(payload["text"], Speaker(payload["speaker"]), payload["source"])
