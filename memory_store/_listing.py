"""Lists of what a user has said: rounds by when they were said, and summaries of sessions."""

import heapq
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, tzinfo

from memory_store._labels import Labels, Where, from_terms, shared
from memory_store._points import to_plain
from memory_store._types import (
    Days,
    EnrichmentFailure,
    EnrichmentState,
    Place,
    Record,
    SessionSummary,
)
from memory_store.engines._engine import Payload, StoredPoint
from memory_store.engines._layout import ASKS, LABELS
from memory_store.scheduler import in_order

_TEXTS = ("user_text", "assistant_text")
_PLACE = ("session_date", "session_id", "round_index")

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
class Listing:
    """Which rounds of a user to list. All that is given must hold: the days, the session, the
    labels, a text on either side, the ids; with `pinned` only pinned rounds. With `as_of` they show
    what held on that day; otherwise a condition has ended if its last day is before `today`.

    Without `questions`, rounds in which the user only asks are left out, unless they are so old
    that this was not noted. `after` is the place of the last round of the page before, which may
    have been forgotten meanwhile.
    """

    user_id: str
    days: Days = field(default_factory=Days)
    session_id: str | None = None
    as_of: date | None = None
    today: date | None = None
    text: str = ""
    ids: tuple[str, ...] | None = None
    questions: bool = True
    newest_first: bool = True
    limit: int = 50
    after: Place | None = None
    where: Where = ()
    pinned: bool = False


@dataclass(frozen=True, slots=True)
class Page:
    """Some of the rounds listed, in order. `total` counts them all, `next` is None at the end."""

    records: tuple[Record, ...]
    total: int
    next: Place | None = None


@dataclass(frozen=True, slots=True)
class Cut:
    """The ids of one page."""

    ids: tuple[str, ...]
    total: int
    next: Place | None


def fields(listing: Listing) -> Sequence[str]:
    """The payload fields that `cut` looks at."""
    texts = _TEXTS if listing.text else ()
    return (*_PLACE, *texts) if listing.questions else (*_PLACE, *texts, ASKS)


def cut(hits: Sequence[StoredPoint], listing: Listing) -> Cut:
    """Cut the page that the listing asks for from `hits`, all rounds said on its days."""
    wanted = listing.text.casefold()
    placed = [
        (_place(hit), hit.id)
        for hit in hits
        if (listing.questions or not hit.payload.get(ASKS)) and (not wanted or _holds(hit, wanted))
    ]
    behind = (one for one in placed if _is_behind(one[0], listing))
    first = heapq.nlargest if listing.newest_first else heapq.nsmallest
    found = first(listing.limit + 1, behind)
    page, more = found[: listing.limit], len(found) > listing.limit
    return Cut(tuple(id for _, id in page), len(placed), page[-1][0] if page and more else None)


def _place(hit: StoredPoint) -> Place:
    payload = hit.payload
    said = datetime.fromisoformat(payload["session_date"])
    return said, payload["session_id"], int(payload["round_index"])


def _is_behind(place: Place, listing: Listing) -> bool:
    if listing.after is None:
        return True
    return place < listing.after if listing.newest_first else place > listing.after


def _holds(hit: StoredPoint, wanted: str) -> bool:
    return any(wanted in hit.payload[field].casefold() for field in _TEXTS)


@dataclass(frozen=True, slots=True)
class _Gist:
    """The parts of a round that a summary needs."""

    date: datetime
    enrichment: EnrichmentFailure
    opening: str
    title: str
    labels: Labels


def summarise(hits: Iterable[StoredPoint], zone: tzinfo = UTC) -> list[SessionSummary]:
    """One summary per session, ordered by its start, then by id. Days are those of the zone."""
    by_session: defaultdict[str, list[_Gist]] = defaultdict(list)
    for hit in hits:
        by_session[hit.payload["session_id"]].append(_gist(hit.id, hit.payload))
    summaries = [_summary(session_id, said, zone) for session_id, said in by_session.items()]
    return in_order(summaries, lambda summary: (summary.started_at, summary.session_id))


def summarise_session(records: Sequence[Record], zone: tzinfo = UTC) -> SessionSummary:
    """The summary of one session from its records, of which there is at least one."""
    said = [_gist(record.id, to_plain(record)) for record in records]
    return _summary(records[0].round.session_id, said, zone)


def _gist(id: str, payload: Payload) -> _Gist:
    return _Gist(
        datetime.fromisoformat(payload["session_date"]),
        EnrichmentFailure(
            round_id=id,
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
    """The text as the title of a session: one line of at most `LONGEST_TITLE` characters."""
    return " ".join(text.split())[:LONGEST_TITLE].rstrip()


def _opening(text: str) -> str:
    """The beginning of a text, cut between words where possible."""
    line = " ".join(text[: 2 * _OPENING].split())
    if len(line) <= _OPENING:
        return line
    words, _, _ = line[: _OPENING - 1].rpartition(" ")
    return f"{words or line[: _OPENING - 2]} …"


def _summary(session_id: str, said: Sequence[_Gist], zone: tzinfo) -> SessionSummary:
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
        days=dict(sorted(Counter(one.date.astimezone(zone).date() for one in said).items())),
        labels=shared([one.labels for one in in_turn]),
    )
