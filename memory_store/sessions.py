"""Stored rounds gathered to what is known of each session."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from memory_store.engines.engine import Hit
from memory_store.engines.layout import LABELS
from memory_store.labels import Labels, from_terms, shared
from memory_store.scheduler import in_order
from memory_store.types import EnrichmentFailure, EnrichmentState, Record, SessionSummary

SUMMARY_FIELDS = (
    "session_id",
    "session_date",
    "round_index",
    "enrichment",
    "attempts",
    "failure",
    "user_text",
    "session_title",
    LABELS,
)
_OPENING = 80
LONGEST_TITLE = 200


@dataclass(frozen=True, slots=True)
class _Said:
    """What a summary needs of one round."""

    date: datetime
    enrichment: EnrichmentFailure
    opening: str
    title: str
    labels: Labels


def summarise(hits: Iterable[Hit]) -> list[SessionSummary]:
    """One summary a session, by the day and time it began, then by id."""
    by_session: defaultdict[str, list[_Said]] = defaultdict(list)
    for hit in hits:
        by_session[hit.payload["session_id"]].append(_said(hit))
    summaries = [_summary(session_id, said) for session_id, said in by_session.items()]
    return in_order(summaries, lambda summary: (summary.started_at, summary.session_id))


def summarise_session(records: Sequence[Record]) -> SessionSummary:
    """The summary of one session from its records, of which there is at least one."""
    said = [
        _Said(
            r.round.session_date,
            EnrichmentFailure(r.id, r.round.round_index, r.enrichment, r.attempts, r.failure),
            _opening(r.round.user_text),
            r.round.session_title,
            r.round.labels,
        )
        for r in records
    ]
    return _summary(records[0].round.session_id, said)


def _said(hit: Hit) -> _Said:
    payload = hit.payload
    return _Said(
        datetime.fromisoformat(payload["session_date"]),
        EnrichmentFailure(
            round_id=hit.id,
            round_index=int(payload["round_index"]),
            state=EnrichmentState(payload["enrichment"]),
            attempts=int(payload.get("attempts", 0)),
            failure=payload.get("failure", ""),
        ),
        _opening(payload["user_text"]),
        payload.get("session_title", ""),
        from_terms(payload.get(LABELS) or ()),
    )


def as_title(text: str) -> str:
    """A text as the title of a session: one line, and not too long."""
    return " ".join(text.split())[:LONGEST_TITLE].rstrip()


def _opening(text: str) -> str:
    """How a text begins, cut between words where it has any."""
    line = " ".join(text[: 2 * _OPENING].split())
    if len(line) <= _OPENING:
        return line
    words, _, _ = line[: _OPENING - 1].rpartition(" ")
    return f"{words or line[: _OPENING - 2]} …"


def _summary(session_id: str, said: Sequence[_Said]) -> SessionSummary:
    states = Counter(one.enrichment.state for one in said)
    failed = [one.enrichment for one in said if one.enrichment.failure]
    in_turn = sorted(said, key=lambda one: one.enrichment.round_index)
    return SessionSummary(
        session_id=session_id,
        started_at=min(one.date for one in said),
        ended_at=max(one.date for one in said),
        rounds=len(said),
        enrichment={state: states[state] for state in EnrichmentState},
        failures=tuple(sorted(failed, key=lambda failure: failure.round_index)),
        opening=in_turn[0].opening,
        title=next((one.title for one in in_turn if one.title), ""),
        days=dict(sorted(Counter(one.date.astimezone(UTC).date() for one in said).items())),
        labels=shared([one.labels for one in in_turn]),
    )
