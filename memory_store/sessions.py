"""Stored rounds gathered to what is known of each session. Pure."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime

from memory_store.engines.engine import Hit
from memory_store.types import EnrichmentState, Record, SessionSummary

SUMMARY_FIELDS = ("session_id", "session_date", "enrichment")
_Said = tuple[datetime, EnrichmentState]


def summarise(hits: Iterable[Hit]) -> list[SessionSummary]:
    """One summary a session, by the day and time it began, then by id."""
    by_session: defaultdict[str, list[_Said]] = defaultdict(list)
    for hit in hits:
        date = datetime.fromisoformat(hit.payload["session_date"])
        state = EnrichmentState(hit.payload["enrichment"])
        by_session[hit.payload["session_id"]].append((date, state))
    summaries = [_summary(session_id, said) for session_id, said in by_session.items()]
    return sorted(summaries, key=lambda summary: (summary.started_at, summary.session_id))


def summarise_session(records: Sequence[Record]) -> SessionSummary:
    """The summary of one session from its records, of which there is at least one."""
    said = [(record.round.session_date, record.enrichment) for record in records]
    return _summary(records[0].round.session_id, said)


def _summary(session_id: str, said: Sequence[_Said]) -> SessionSummary:
    states = Counter(state for _, state in said)
    return SessionSummary(
        session_id=session_id,
        started_at=min(date for date, _ in said),
        ended_at=max(date for date, _ in said),
        rounds=len(said),
        enrichment={state: states[state] for state in EnrichmentState},
    )
