"""A record and its point in the engine: what the payload holds, and how records are read back.

Many points are read some at a time, because a filter of thousands of ids makes every page slow.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any

from memory_store._facts import ends_asking, only_asks
from memory_store._identity import SCHEMA_VERSION
from memory_store._labels import from_terms, terms_of
from memory_store._owners import is_shared
from memory_store._reach import Reach
from memory_store._types import (
    Condition,
    Days,
    EnrichmentState,
    Fact,
    FactLink,
    Record,
    Round,
    Speaker,
)
from memory_store.embedding.encoder import Matrix
from memory_store.engines._engine import (
    Payload,
    Point,
    ReadableEngine,
    Similarities,
    StoredPoint,
    UserScope,
)
from memory_store.engines._layout import (
    ASKS,
    CONFLICTS,
    ENDS_ASKING,
    EXPIRES,
    LABELS,
    OPEN,
    PERSON,
    PINNED,
    REACH,
    READING,
    REPEATS,
    TO_ASK,
)
from memory_store.errors import InvalidRecord, StoreDamaged
from memory_store.language.reading import reading_from
from memory_store.language.words import indexed_counts, term_counts
from memory_store.scheduler import in_slices, pause

_COMPUTED = (
    "event_days",
    "slots",
    CONFLICTS,
    "word_count",
    "fact_count",  # no longer written; older memories have it
    ASKS,
    ENDS_ASKING,
    PERSON,
    READING,
    "schema_version",
)
# A longer event says little about when something happened, so its days are not indexed.
_LONGEST_EVENT_DAYS = 31
# How many ids, slots or repeated rounds, and how many terms, one read names.
_AT_ONCE = 256
_TERMS_AT_ONCE = 64


def to_point(record: Record, keys: Matrix) -> Point:
    """The point of a record: its keys, the words of both speakers, and the payload."""
    round = record.round
    sides = (round.user_text, round.assistant_text)
    # The two sides are counted apart, as each may be in another language.
    words = sum(map(indexed_counts, sides), Counter[int]())
    return Point(
        id=record.id,
        keys=keys,
        words={term: float(count) for term, count in words.items()},
        payload=_to_payload(record, word_count=term_counts("\n".join(sides)).total()),
    )


def _to_payload(record: Record, word_count: int) -> Payload:
    round = record.round
    return {
        "user_id": round.user_id,
        "session_id": round.session_id,
        "round_index": round.round_index,
        **_stamp("session_date", round.session_date),
        "user_text": round.user_text,
        "assistant_text": round.assistant_text,
        "user_name": round.user_name,
        "assistant_name": round.assistant_name,
        "turn_ids": list(round.turn_ids),
        "corrected_at": _instant(round.corrected_at),
        REPEATS: list(round.repeats),
        # Few rounds have the fields below, so they are written only where they say something.
        **({"tools": list(round.tools)} if round.tools else {}),
        **({ENDS_ASKING: True} if ends_asking(round) else {}),
        **({"outcome": round.outcome} if round.outcome else {}),
        **_reading_of(round),
        "session_title": round.session_title,
        **_said_of(round),
        **facts_to_payload(record.facts),
        **enrichment_to_payload(record),
        "keyphrases": list(record.keyphrases),
        "summary": record.summary,
        "may_supersede": record.may_supersede,
        "word_count": word_count,
        ASKS: only_asks(record),
        "schema_version": SCHEMA_VERSION,
    }


def _reading_of(round: Round) -> Payload:
    """The field with the reading of the user's text, if there is one of the text as it is now."""
    known = round.reading
    plain = known.to_plain() if known and known.text == round.user_text else None
    return {READING: plain} if plain else {}


def _said_of(round: Round) -> Payload:
    """Fields that few rounds have. In all other rounds they are missing, as they are in rounds
    written before the fields existed. Raises `InvalidRecord` if a shared round has no speaker."""
    said: dict[str, Any] = {}
    if round.labels:
        said[LABELS] = list(terms_of(round.labels))
    if round.expires_at:
        said[EXPIRES] = _instant(round.expires_at)
    if round.pinned:
        said |= pinned_to_payload(True)
    if round.reach is not Reach.ANYWHERE:
        said[REACH] = round.reach.value
    person = round.person
    if is_shared(round.user_id) and not person:
        raise InvalidRecord("a round of a shared space needs the name of who said it")
    if person is not None:
        said[PERSON] = person
    return said


def pinned_to_payload(pinned: bool) -> Payload:
    """The payload field that says whether a round is pinned."""
    return {PINNED: [PINNED] if pinned else []}


def facts_to_payload(facts: Sequence[Fact]) -> Payload:
    """The payload fields that follow from the facts."""
    return {
        "facts": [_fact_to_payload(fact) for fact in facts],
        "event_days": sorted(_event_days(facts)),
        "slots": sorted({slot for fact in facts for slot in fact.slots}),
        CONFLICTS: [
            *([OPEN] if any(fact.contradicts for fact in facts) else ()),
            *([TO_ASK] if any(fact.ask_on for fact in facts) else ()),
        ],
    }


def enrichment_to_payload(record: Record) -> Payload:
    """The payload fields that say how far the enrichment of the record is."""
    return {
        "enrichment": record.enrichment.value,
        "attempts": record.attempts,
        "extractor": record.extractor,
        "failure": record.failure,
    }


def to_plain(record: Record) -> Payload:
    """The record in plain values, without what is computed from it; `from_plain` reads them."""
    payload = _to_payload(record, word_count=0)
    return {name: value for name, value in payload.items() if name not in _COMPUTED}


def from_payload(payload: Payload) -> Record:
    """The record of a payload. Raises `StoreDamaged` if it cannot be read."""
    try:
        return from_plain(payload)
    except (KeyError, ValueError, TypeError, AttributeError, InvalidRecord) as error:
        raise StoreDamaged(
            f"a round of the memory cannot be read: {type(error).__name__}. Stop the assistant and "
            "run `assistant check`"
        ) from error


def from_plain(payload: Payload) -> Record:
    """The record of a payload, or of what `to_plain` made."""
    round = Round(
        user_id=payload["user_id"],
        session_id=payload["session_id"],
        round_index=int(payload["round_index"]),
        session_date=_read_stamp("session_date", payload),
        user_text=payload["user_text"],
        assistant_text=payload["assistant_text"],
        user_name=payload.get("user_name"),
        assistant_name=payload.get("assistant_name"),
        turn_ids=tuple(payload["turn_ids"]),
        corrected_at=_read_instant(payload.get("corrected_at")),
        repeats=tuple(payload.get(REPEATS, ())),
        tools=tuple(payload.get("tools", ())),
        session_title=payload.get("session_title", ""),
        labels=from_terms(payload.get(LABELS) or ()),
        expires_at=_read_instant(payload.get(EXPIRES)),
        pinned=bool(payload.get(PINNED)),
        reach=Reach(payload.get(REACH, Reach.ANYWHERE)),
        outcome=payload.get("outcome", ""),
        # None if the round was written before readings were kept, or read in another way.
        reading=reading_from(payload.get(READING), payload["user_text"]),
    )
    facts: Sequence[Mapping[str, Any]] = payload["facts"]
    return Record(
        round=round,
        facts=tuple(_fact_from_payload(fact) for fact in facts),
        enrichment=EnrichmentState(payload["enrichment"]),
        # Fields below came later; records written before them lack them.
        attempts=int(payload.get("attempts", 0)),
        extractor=payload.get("extractor", ""),
        failure=payload.get("failure", ""),
        keyphrases=tuple(payload.get("keyphrases", ())),
        summary=payload.get("summary", ""),
        may_supersede=payload.get("may_supersede", True),
    )


def _fact_to_payload(fact: Fact) -> Payload:
    payload: dict[str, Any] = {
        "text": fact.text,
        "speaker": fact.speaker.value,
        "source": fact.source,
        "event_dates": [[_iso(days.first), _iso(days.last)] for days in fact.event_dates],
    }
    if fact.slot:
        payload["slot"] = fact.slot
    if fact.superseded_by:
        payload["superseded_by"] = _link_to_payload(fact.superseded_by)
    if fact.supersedes:
        payload["supersedes"] = [_link_to_payload(link) for link in fact.supersedes]
    if fact.in_doubt:
        payload["in_doubt"] = True
    if fact.contradicts:
        payload["contradicts"] = [_link_to_payload(link) for link in fact.contradicts]
    if fact.condition:
        payload["condition"] = _condition_to_payload(fact.condition)
    if fact.confirmed_at:
        payload["confirmed_at"] = _instant(fact.confirmed_at)
    if fact.ask_on:
        payload["ask_on"] = _iso(fact.ask_on)
    return payload


def _fact_from_payload(payload: Mapping[str, Any]) -> Fact:
    newer, condition = payload.get("superseded_by"), payload.get("condition")
    return Fact(
        text=payload["text"],
        speaker=Speaker(payload["speaker"]),
        source=payload["source"],
        event_dates=tuple(Days(_day(a), _day(b)) for a, b in payload.get("event_dates", ())),
        slot=payload.get("slot"),
        superseded_by=_link_from_payload(newer) if newer else None,
        supersedes=tuple(_link_from_payload(older) for older in payload.get("supersedes", ())),
        in_doubt=payload.get("in_doubt", False),
        contradicts=tuple(_link_from_payload(one) for one in payload.get("contradicts", ())),
        condition=_condition_from_payload(condition) if condition else None,
        confirmed_at=_read_instant(payload.get("confirmed_at")),
        ask_on=_day(payload.get("ask_on")),
    )


def _condition_to_payload(condition: Condition) -> Payload:
    return {
        "text": condition.text,
        "until": _iso(condition.until),
        "slot": condition.slot,
        "value": condition.value,
    }


def _condition_from_payload(payload: Mapping[str, Any]) -> Condition:
    return Condition(payload["text"], _day(payload["until"]), payload["slot"], payload["value"])


def _link_to_payload(link: FactLink) -> Payload:
    return {
        "round_id": link.round_id,
        "text": link.text,
        **_stamp("said_at", link.said_at),
        "by": link.by,
    }


def _link_from_payload(payload: Mapping[str, Any]) -> FactLink:
    said_at = _read_stamp("said_at", payload)
    return FactLink(payload["round_id"], payload["text"], said_at, payload["by"])


_OFFSET = "utc_offset"


def _stamp(name: str, at: datetime) -> Payload:
    """Fields with an instant in UTC and, if not zero, the UTC offset in seconds of the clock where
    it was said, so that its local day is known."""
    offset = at.utcoffset() or timedelta()
    stamp: dict[str, Any] = {name: at.astimezone(UTC).isoformat()}
    return stamp | {_OFFSET: int(offset.total_seconds())} if offset else stamp


def _read_stamp(name: str, payload: Payload) -> datetime:
    at = datetime.fromisoformat(payload[name])
    offset = payload.get(_OFFSET)
    return at.astimezone(timezone(timedelta(seconds=offset))) if offset else at


def _event_days(facts: Sequence[Fact]) -> set[str]:
    """Every day that the facts talk about, as instants the engine can index."""
    found: set[str] = set()
    for days in (days for fact in facts for days in fact.event_dates):
        if days.first and days.last and (days.last - days.first).days < _LONGEST_EVENT_DAYS:
            count = (days.last - days.first).days + 1
            each = (days.first + timedelta(days=number) for number in range(count))
            found |= {f"{day.isoformat()}T00:00:00Z" for day in each}
    return found


def _instant(at: datetime | None) -> str | None:
    return at.astimezone(UTC).isoformat() if at else None


def _read_instant(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text else None


def _iso(day: date | None) -> str | None:
    return day.isoformat() if day else None


def _day(text: str | None) -> date | None:
    return date.fromisoformat(text) if text else None


async def scroll_in_parts(
    engine: ReadableEngine, scope: UserScope, fields: Sequence[str] | None = None
) -> list[StoredPoint]:
    """Every point in scope, each once. The scope may name any number of ids, slots or repeated
    rounds."""
    found: dict[str, StoredPoint] = {}
    for part in _parts(scope):
        found |= {hit.id: hit for hit in await engine.scroll(part, fields)}
        await pause()
    return list(found.values())


async def records_in(
    engine: ReadableEngine, scope: UserScope, fields: Sequence[str] | None = None
) -> list[Record]:
    """The records in scope."""
    hits = await scroll_in_parts(engine, scope, fields)
    return [from_payload(hit.payload) async for hit in in_slices(hits)]


async def postings_in_parts(
    engine: ReadableEngine, terms: Sequence[int], scope: UserScope, limit: int
) -> list[Similarities]:
    """Like `Engine.postings`, for any number of terms."""
    found: list[Similarities] = []
    for start in range(0, len(terms), _TERMS_AT_ONCE):
        await pause()
        found += await engine.postings(terms[start : start + _TERMS_AT_ONCE], scope, limit)
    return found


def _parts(scope: UserScope) -> Iterator[UserScope]:
    """Split a scope that names many ids, slots or repeated rounds into several scopes."""
    for name in ("ids", "slots", "repeats"):
        named = getattr(scope, name)
        if named is not None and len(named) > _AT_ONCE:
            for start in range(0, len(named), _AT_ONCE):
                yield replace(scope, **{name: named[start : start + _AT_ONCE]})
            return
    yield scope
