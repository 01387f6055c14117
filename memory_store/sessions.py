"""Stored rounds gathered to what is known of each session."""

from collections import Counter, defaultdict
from collections.abc import Iterable
from datetime import datetime

from memory_store.engines.engine import Hit
from memory_store.types import EnrichmentState, SessionSummary

SUMMARY_FIELDS = ("session_id", "session_date", "enrichment")


def summarise(hits: Iterable[Hit]) -> list[SessionSummary]:
    """One summary a session, by the day and time it began, then by id."""
    by_session: defaultdict[str, list[Hit]] = defaultdict(list)
    for hit in hits:
        by_session[hit.payload["session_id"]].append(hit)
    summaries = [_summary(session_id, found) for session_id, found in by_session.items()]
    return sorted(summaries, key=lambda summary: (summary.started_at, summary.session_id))


def _summary(session_id: str, hits: list[Hit]) -> SessionSummary:
    dates = [datetime.fromisoformat(hit.payload["session_date"]) for hit in hits]
    states = Counter(EnrichmentState(hit.payload["enrichment"]) for hit in hits)
    return SessionSummary(
        session_id=session_id,
        started_at=min(dates),
        ended_at=max(dates),
        rounds=len(hits),
        enrichment={state: states[state] for state in EnrichmentState},
    )
