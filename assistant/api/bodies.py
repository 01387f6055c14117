"""What is stored, and what is found, as replies show it. Pure."""

from collections.abc import Iterator, Mapping
from typing import Any

from assistant.dates import print_instant
from memory_store import (
    Conflict,
    Days,
    Fact,
    FactLink,
    Forgotten,
    Reason,
    Recalled,
    RecalledSession,
    Record,
    SessionSummary,
    Step,
    TimeRange,
    Told,
)


def value_body(record: Record) -> dict[str, Any]:
    """A stored round as a value, without a similarity."""
    return head_body(record) | {"facts": [fact_body(fact) for fact in record.facts]}


def head_body(record: Record) -> dict[str, Any]:
    """The same without its facts."""
    round = record.round
    return {
        "object": "memory",
        "id": record.id,
        "session_id": round.session_id,
        "round_index": round.round_index,
        "session_date": print_instant(round.session_date),
        "user_text": round.user_text,
        "assistant_text": round.assistant_text,
        "enrichment": _enrichment_body(record),
        "corrected_at": print_instant(round.corrected_at) if round.corrected_at else None,
    }


def told_facts(told: Told) -> Iterator[dict[str, Any]]:
    """The facts of a stored round, each with its history."""
    for fact, history in zip(told.record.facts, told.histories, strict=True):
        yield fact_body(fact) | {"history": [_step_body(step) for step in history]}


def _step_body(step: Step) -> dict[str, Any]:
    return {
        "id": step.said.round_id,
        "text": step.said.text,
        "said_at": print_instant(step.said.said_at),
        "source": step.said.by,
        "until": _link_body(step.until) if step.until else None,
    }


def forgotten_body(
    kind: str, forgotten: Forgotten, *, dry_run: bool, **named: Any
) -> dict[str, Any]:
    """What went, or would go, and how much that is."""
    return {
        "object": f"{kind}.deleted",
        **named,
        "dry_run": dry_run,
        "rounds": forgotten.rounds,
        "facts": forgotten.facts,
        "sessions": forgotten.sessions,
        "answers": forgotten.answers,
    }


def fact_body(fact: Fact) -> dict[str, Any]:
    """A fact with its links."""
    newer = fact.superseded_by
    return {
        "text": fact.text,
        "speaker": fact.speaker,
        "source": fact.source,
        "event_dates": [_days_body(days) for days in fact.event_dates],
        "superseded_by": _link_body(newer) if newer else None,
        "supersedes": [_link_body(older) for older in fact.supersedes],
        "in_doubt": fact.in_doubt,
        "contradicts": [_link_body(other) for other in fact.contradicts],
    }


def conflict_body(conflict: Conflict) -> dict[str, Any]:
    """A statement that may be another's, and the user's own that it contradicts."""
    round = conflict.record.round
    return {
        "object": "conflict",
        "id": conflict.record.id,
        "session_id": round.session_id,
        "round_index": round.round_index,
        "fact": conflict.fact.text,
        "speaker": conflict.fact.speaker,
        "source": conflict.fact.source,
        "said_at": print_instant(round.session_date),
        "contradicts": [_link_body(link) for link in conflict.held],
    }


def _link_body(link: FactLink) -> dict[str, str]:
    return {
        "id": link.round_id,
        "text": link.text,
        "said_at": print_instant(link.said_at),
        "by": link.by,
    }


def _enrichment_body(record: Record) -> dict[str, Any]:
    return {
        "state": record.enrichment,
        "attempts": record.attempts,
        "extractor": record.extractor or None,
        "failure": record.failure or None,
    }


def _days_body(days: Days) -> dict[str, str | None]:
    return {
        "first": days.first.isoformat() if days.first else None,
        "last": days.last.isoformat() if days.last else None,
    }


def time_range_body(found: TimeRange | None) -> dict[str, str | None] | None:
    """The days a question asks about, and the words that say so."""
    if found is None:
        return None
    return _days_body(found.days) | {"precision": found.precision, "text": found.text}


def recalled_body(found: Recalled) -> dict[str, Any]:
    """A value that was found."""
    signals = {name: round(value, 6) for name, value in found.signals.items()}
    return value_body(found.record) | {
        "similarity": round(found.similarity, 6),
        "signals": signals,
        "reasons": [_reason_body(reason) for reason in found.reasons],
    }


def _reason_body(reason: Reason) -> dict[str, Any]:
    return {
        "signal": reason.signal,
        "value": round(reason.value, 6),
        "weight": reason.weight,
        "contribution": round(reason.contribution, 6),
        "because": list(reason.because),
    }


def recalled_session_body(found: RecalledSession) -> dict[str, Any]:
    """A session that was found: its best round's fields, and all its rounds that were found."""
    rounds = [
        {
            "id": one.record.id,
            "round_index": one.record.round.round_index,
            "similarity": round(one.similarity, 6),
        }
        for one in found.rounds
    ]
    return recalled_body(found.rounds[0]) | {"rounds": rounds}


def session_body(user_id: str, summary: SessionSummary) -> dict[str, Any]:
    """A session without its rounds."""
    return {
        "object": "session",
        "id": summary.session_id,
        "user_id": user_id,
        "started_at": print_instant(summary.started_at),
        "ended_at": print_instant(summary.ended_at),
        "rounds": summary.rounds,
        "opening": summary.opening,
        "days": [{"day": day.isoformat(), "rounds": n} for day, n in summary.days.items()],
        "enrichment": enrichment_counts(summary),
        "failures": [
            {
                "id": one.round_id,
                "round_index": one.round_index,
                "state": one.state,
                "attempts": one.attempts,
                "reason": one.failure,
            }
            for one in summary.failures
        ],
    }


def enrichment_counts(summary: SessionSummary) -> dict[str, int]:
    """How many rounds of a session are how far."""
    return {state.value: count for state, count in summary.enrichment.items()}


def list_body(data: list[dict[str, Any]], **more: Any) -> Mapping[str, Any]:
    """A list in OpenAI's shape."""
    return {"object": "list", **more, "data": data}
