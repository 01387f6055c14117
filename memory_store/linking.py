"""Keeps the links between facts right as rounds are written, enriched and forgotten.

What a round replaces is marked before the round itself is written: after a crash in between, the
marks lead nowhere and count for nothing until the round is written again.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from memory_store.engines.engine import Engine, Scope
from memory_store.points import facts_to_payload, from_payload
from memory_store.types import Fact, FactLink, Record
from memory_store.updates import link_targets, linked, may_be_one, unlinked


class Linking:
    """The links of one engine's facts."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    async def before_writing(self, records: Sequence[Record]) -> list[Record]:
        """The records with all links that are due; older facts that they replace are marked."""
        done: dict[str, Record] = {}
        for user_id, own in _by_user(records).items():
            chosen = await self._chosen(user_id, own)
            done |= {r.id: r for r in await self._by_rule(user_id, chosen, slots_of(chosen))}
        return [done[record.id] for record in records]

    async def before_indexing(self, records: Sequence[Record]) -> list[Record]:
        """The records with the rules' links made anew. Those of models stay as they are: the
        rounds they lead to may still be on their way."""
        done: dict[str, Record] = {}
        for user_id, own in _by_user(records).items():
            done |= {r.id: r for r in await self._by_rule(user_id, own, slots_of(own))}
        return [done[record.id] for record in records]

    async def _chosen(self, user_id: str, records: Sequence[Record]) -> list[Record]:
        """The replacements that a model found: each link leads from the newer fact to the older
        one, whichever of the two was recorded first."""
        others = await self._read(user_id, link_targets(records) - {r.id for r in records})
        before = dict(others)
        mended = []
        for record in records:
            facts = []
            for fact in record.facts:
                fact, others = _settled(record, fact, others)
                facts.append(fact)
            mended.append(replace(record, facts=tuple(facts)))
        await self._write(user_id, [o for id, o in others.items() if o != before[id]])
        return mended

    async def _by_rule(
        self, user_id: str, records: Sequence[Record], slots: set[str]
    ) -> list[Record]:
        """The records with the links among all the user's statements of these slots."""
        if not slots:
            return list(records)
        ours = {record.id for record in records}
        hits = await self._engine.scroll(Scope(user_id, slots=tuple(sorted(slots))))
        others = [from_payload(hit.payload) for hit in hits if hit.id not in ours]
        done = {record.id: record for record in linked([*others, *records], slots)}
        await self._write(user_id, [done[other.id] for other in others if done[other.id] != other])
        return [done[record.id] for record in records]

    async def before_forgetting(
        self, user_id: str, gone: Sequence[Record], staying: Collection[str] = ()
    ) -> None:
        """Hand on what the facts of these rounds replaced to what replaced them; facts with the
        texts `staying` are not forgotten."""
        ids = {record.id for record in gone}
        others = await self._read(user_id, link_targets(gone) - ids)
        # What contradicts a fact names it, and is not named by it.
        hits = await self._engine.scroll(Scope(user_id, in_conflict=True))
        others |= {hit.id: from_payload(hit.payload) for hit in hits if hit.id not in ids}
        before = dict(others)
        for record in gone:
            others = {id: unlinked(other, record, staying) for id, other in others.items()}
        await self._write(user_id, [o for id, o in others.items() if o != before[id]])

    async def after_forgetting(self, user_id: str, gone: Sequence[Record]) -> None:
        """Make the rules' links anew without these rounds."""
        await self._by_rule(user_id, [], slots_of(gone))

    async def _read(self, user_id: str, ids: set[str]) -> dict[str, Record]:
        if not ids:
            return {}
        hits = await self._engine.scroll(Scope(user_id, ids=tuple(sorted(ids))))
        return {hit.id: from_payload(hit.payload) for hit in hits}

    async def _write(self, user_id: str, records: Iterable[Record]) -> None:
        for record in records:
            # Another process may have put right or forgotten meanwhile what was read.
            await self._engine.set_payload(
                record.id, Scope(user_id), facts_to_payload(record.facts), record.round.turn_ids
            )


def _by_user(records: Iterable[Record]) -> dict[str, list[Record]]:
    by_user: dict[str, list[Record]] = {}
    for record in records:
        by_user.setdefault(record.round.user_id, []).append(record)
    return by_user


def slots_of(records: Iterable[Record]) -> set[str]:
    """What the statements in the records give values for."""
    return {fact.slot for record in records for fact in record.facts if fact.slot}


def _settled(
    record: Record, fact: Fact, others: dict[str, Record]
) -> tuple[Fact, dict[str, Record]]:
    """The fact and the other records once its chosen links are made; a link to a fact that is not
    there, is not the user's, or is of another who speaks by name, is dropped."""
    round = record.round
    kept: list[FactLink] = []
    newer: FactLink | None = None
    for link in fact.supersedes:
        other = others.get(link.round_id)
        if other is None or not _is_users(other, link.text) or not may_be_one(record, other):
            continue
        ours = FactLink(record.id, fact.text, round.session_date, link.by)
        if _said(other) <= (round.session_date, round.round_index):
            kept.append(link)
            changed = _marked(other, link.text, replaced_by=ours)
        else:
            newer = link
            changed = _marked(other, link.text, replaces=ours)
        others = others | {other.id: changed}
    settled = replace(
        fact,
        supersedes=tuple(kept),
        superseded_by=fact.superseded_by or newer,
        contradicts=tuple(link for link in fact.contradicts if _is_there(link, record, others)),
    )
    return settled, others


def _is_there(link: FactLink, record: Record, others: Mapping[str, Record]) -> bool:
    """Whether the link leads to something that the same user said, and that holds."""
    other = record if link.round_id == record.id else others.get(link.round_id)
    return (
        other is not None
        and may_be_one(record, other)
        and any(f.text == link.text and f.is_users and not f.superseded_by for f in other.facts)
    )


def _said(record: Record) -> tuple[object, int]:
    return record.round.session_date, record.round.round_index


def _is_users(record: Record, text: str) -> bool:
    return any(f.text == text and f.is_users for f in record.facts)


def _marked(
    record: Record,
    text: str,
    *,
    replaced_by: FactLink | None = None,
    replaces: FactLink | None = None,
) -> Record:
    def mark(fact: Fact) -> Fact:
        if fact.text != text:
            return fact
        older = (*fact.supersedes, replaces) if replaces else fact.supersedes
        return replace(
            fact,
            superseded_by=replaced_by or fact.superseded_by,
            supersedes=tuple(dict.fromkeys(older)),
        )

    return replace(record, facts=tuple(map(mark, record.facts)))
