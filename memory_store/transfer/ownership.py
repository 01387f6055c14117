"""Records that change their owner. Their ids name the owner, so the links between them follow."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from memory_store.types import Fact, FactLink, Record


def owned(records: Sequence[Record], user_id: str) -> list[Record]:
    """The records as this user's, each id once."""
    moved = [replace(r, round=replace(r.round, user_id=user_id)) for r in records]
    ids = {old.id: new.id for old, new in zip(records, moved, strict=True)}
    followed = [_record_followed(record, ids) for record in moved]
    return list({record.id: record for record in followed}.values())


def _record_followed(record: Record, ids: Mapping[str, str]) -> Record:
    repeats = tuple(ids.get(id, id) for id in record.round.repeats)
    return replace(
        record,
        round=replace(record.round, repeats=repeats),
        facts=tuple(_followed(fact, ids) for fact in record.facts),
    )


def _followed(fact: Fact, ids: Mapping[str, str]) -> Fact:
    newer = fact.superseded_by
    return replace(
        fact,
        superseded_by=_to(newer, ids) if newer else None,
        supersedes=tuple(_to(older, ids) for older in fact.supersedes),
        contradicts=tuple(_to(other, ids) for other in fact.contradicts),
    )


def _to(link: FactLink, ids: Mapping[str, str]) -> FactLink:
    return replace(link, round_id=ids.get(link.round_id, link.round_id))
