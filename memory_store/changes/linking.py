"""Keeps the links between facts right as rounds are written, enriched and forgotten.

What a round replaces is marked before the round itself is written: after a crash in between, the
marks lead nowhere and count for nothing until the round is written again.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta

from memory_store.changes.chains import Unlinking, linked, may_be_one
from memory_store.changes.validity import link_targets
from memory_store.engines.batched_reads import records_in
from memory_store.engines.engine import Engine, Scope
from memory_store.facts import reading_of
from memory_store.language import ENGLISH, Language
from memory_store.language.words import shared_words
from memory_store.points import facts_to_payload
from memory_store.scheduler import aside, in_slices, pause
from memory_store.types import Fact, FactLink, Record, Speaker

# Of how many characters reading takes as long as seeing to the links of a fact.
_FACT = 100


CORRECTION = "correction"
"""Who found a link that follows from a message that puts right the one before it."""
# How sure a message has to be that it puts something right: alone, and where it comes at once and
# shares a word with what was said before it, or both name numbers. It can be undone.
_CORRECTS, _MAY_CORRECT, _ASKS = 0.8, 0.5, 0.5
# Who corrects what was just said names no more than what is new.
_LONGEST_CORRECTION, _MOST_WORDS = 120, 12
_MOMENT, _AT_ONCE = timedelta(days=1), timedelta(minutes=10)


def _corrected_by(record: Record, before: Record, language: Language) -> str:
    """The sentence of the round before that a message puts right; empty where that is not
    likely."""
    text, said, reading = record.round.user_text, before.round, record.round.reading
    corrects = reading.corrects if reading else 0.0
    is_short = len(text) <= _LONGEST_CORRECTION and len(text.split()) <= _MOST_WORDS
    passed = record.round.session_date - said.session_date
    if not is_short or passed > _MOMENT:
        return ""
    told = [
        one.text
        for one in reading_of(said, language).sentences
        if one.only_asks < _ASKS and not one.is_polite
    ]
    best = max(told, key=lambda one: (shared_words(one, text), _alike(one, text)), default="")
    is_about_it = passed <= _AT_ONCE and (shared_words(best, text) > 0 or _alike(best, text))
    return best if corrects >= (_MAY_CORRECT if is_about_it else _CORRECTS) else ""


def _correcting(record: Record, corrected: str, language: Language) -> str:
    """The sentence of a message that puts this right."""
    said = [one.text for one in reading_of(record.round, language).sentences]
    whole = record.round.user_text.strip()
    return max(
        said, key=lambda s: (shared_words(corrected, s), _alike(corrected, s)), default=whole
    )


def _alike(sentence: str, correction: str) -> bool:
    """Whether both name numbers, of which one takes the place of the other."""
    return any(c.isdigit() for c in sentence) and any(c.isdigit() for c in correction)


class Linking:
    """The links of one engine's facts."""

    def __init__(self, engine: Engine, language: Language = ENGLISH) -> None:
        self._engine = engine
        self._language = language

    async def before_writing(self, records: Sequence[Record]) -> list[Record]:
        """The records with all links that are due; older facts that they replace are marked."""
        done: dict[str, Record] = {}
        for user_id, own in _by_user(records).items():
            chosen = await self._chosen(user_id, await self._put_right(own))
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
        settling = _Settling(others)
        mended = [settling.of(record) async for record in in_slices(records)]
        await self._write(user_id, settling.changed())
        return mended

    async def _by_rule(
        self, user_id: str, records: Sequence[Record], slots: set[str]
    ) -> list[Record]:
        """The records with the links among all the user's statements of these slots."""
        if not slots:
            return list(records)
        others, relinked = await self._relinked(user_id, records, slots)
        changed = zip(others, relinked, strict=False)
        await self._write(user_id, [new async for old, new in in_slices(changed) if new != old])
        return relinked[len(others) :]

    async def foreseen(self, record: Record) -> Record:
        """The record with the rules' links that it would get. Nothing is written."""
        (record,) = await self._put_right([record])
        if slots := slots_of([record]):
            _, (*_, record) = await self._relinked(record.round.user_id, [record], slots)
        return record

    async def _relinked(
        self, user_id: str, records: Sequence[Record], slots: set[str]
    ) -> tuple[list[Record], list[Record]]:
        """The other records with statements of these slots, and all of them with new links: the
        others first, then `records`."""
        ours = {record.id async for record in in_slices(records)}
        found = await records_in(self._engine, Scope(user_id, slots=tuple(sorted(slots))))
        others = [record async for record in in_slices(found) if record.id not in ours]
        size = _FACT * sum(1 + len(record.facts) for record in (*others, *records))
        relinked = await aside(size, linked, [*others, *records], slots, self._language)
        return others, relinked

    async def _put_right(self, records: Sequence[Record]) -> list[Record]:
        """The records, those that put right what was told a moment before ("oops 18:50") with the
        link to that."""
        return [await self._of_moment_before(record) for record in records]

    async def _of_moment_before(self, record: Record) -> Record:
        round = record.round
        if round.reading is None or round.reading.corrects < _MAY_CORRECT or not round.round_index:
            return record
        if any(fact.supersedes or fact.slot for fact in record.facts):
            return record
        rounds = await records_in(self._engine, Scope(round.user_id, round.session_id))
        earlier = [one for one in rounds if one.round.round_index < round.round_index]
        before = max(earlier, key=lambda one: one.round.round_index, default=None)
        corrected = _corrected_by(record, before, self._language) if before else ""
        if before is None or not corrected:
            return record
        link = FactLink(before.id, corrected, before.round.session_date, CORRECTION)
        text = _correcting(record, corrected, self._language)
        known = next((fact for fact in record.facts if fact.text == text), None)
        days = self._language.event_days(text, round.session_date)
        said = replace(known or Fact(text, event_dates=days), source=CORRECTION, supersedes=(link,))
        others = [fact for fact in record.facts if fact.text != text]
        return replace(record, facts=(said, *others))

    async def before_forgetting(
        self, user_id: str, gone: Sequence[Record], staying: Collection[str] = ()
    ) -> None:
        """Hand on what the facts of these rounds replaced to what replaced them; facts with the
        texts `staying` are not forgotten."""
        ids = {record.id for record in gone}
        others = await self._read(user_id, link_targets(gone) - ids)
        # What contradicts a fact names it, and is not named by it.
        doubted = await records_in(self._engine, Scope(user_id, in_conflict=True))
        others |= {record.id: record for record in doubted if record.id not in ids}
        unlinking = Unlinking(gone, staying)
        changed = {id: unlinking.of(other) async for id, other in in_slices(others.items())}
        await self._write(user_id, [o for id, o in changed.items() if o != others[id]])

    async def after_forgetting(self, user_id: str, gone: Sequence[Record]) -> None:
        """Make the rules' links anew without these rounds."""
        await self._by_rule(user_id, [], slots_of(gone))

    async def _read(self, user_id: str, ids: set[str]) -> dict[str, Record]:
        if not ids:
            return {}
        found = await records_in(self._engine, Scope(user_id, ids=tuple(sorted(ids))))
        return {record.id: record for record in found}

    async def _write(self, user_id: str, records: Iterable[Record]) -> None:
        for record in records:
            # Another process may have put right or forgotten meanwhile what was read.
            only = Scope(user_id, ids=(record.id,))
            await self._engine.set_payload(
                only, facts_to_payload(record.facts), record.round.turn_ids
            )
            await pause()


def _by_user(records: Iterable[Record]) -> dict[str, list[Record]]:
    by_user: dict[str, list[Record]] = {}
    for record in records:
        by_user.setdefault(record.round.user_id, []).append(record)
    return by_user


def slots_of(records: Iterable[Record]) -> set[str]:
    """What the statements in the records give values for."""
    return {fact.slot for record in records for fact in record.facts if fact.slot}


class _Settling:
    """Links that a model chose, made on both sides. One to a fact that is not there, is not the
    user's, or is of another who speaks by name, is dropped."""

    def __init__(self, others: Mapping[str, Record]) -> None:
        self._others = others
        self._users = {id: _texts_of_user(record) for id, record in others.items()}
        self._standing = {id: _holding(record) for id, record in others.items()}
        self._newer: dict[_Place, FactLink] = {}
        self._older: defaultdict[_Place, dict[FactLink, None]] = defaultdict(dict)

    def of(self, record: Record) -> Record:
        """The record with the links that hold."""
        facts = tuple(self._settled(record, fact) for fact in record.facts)
        settled = replace(record, facts=facts)
        holding = _holding(settled)
        kept = tuple(
            replace(
                fact,
                contradicts=tuple(
                    link for link in fact.contradicts if self._holds(link, record, holding)
                ),
            )
            for fact in facts
        )
        return replace(record, facts=kept)

    def changed(self) -> list[Record]:
        """The other records with the links of theirs that are new."""
        ids = {id for id, _ in (*self._newer, *self._older)}
        marked = [self._marked(record) for id, record in self._others.items() if id in ids]
        return [record for record in marked if record != self._others[record.id]]

    def _settled(self, record: Record, fact: Fact) -> Fact:
        round = record.round
        kept: list[FactLink] = []
        newer: FactLink | None = None
        for link in fact.supersedes:
            other = self._others.get(link.round_id)
            if other is None or not self._is_said(other, link):
                continue
            if not may_be_one(record, other):
                continue
            ours = FactLink(record.id, fact.text, round.session_date, link.by)
            if _said(other) <= (round.session_date, round.round_index):
                kept.append(link)
                self._newer[other.id, link.text] = ours
            else:
                newer = link
                self._older[other.id, link.text][ours] = None
        superseded_by = fact.superseded_by or newer
        return replace(fact, supersedes=tuple(kept), superseded_by=superseded_by)

    def _is_said(self, other: Record, link: FactLink) -> bool:
        """Whether the user said it: all of a fact, or a part of one."""
        return any(link.text in text for text in self._users[other.id])

    def _holds(self, link: FactLink, record: Record, own: Collection[str]) -> bool:
        """Whether the link leads to something that the same user said, and that holds."""
        if link.round_id == record.id:
            return link.text in own
        other = self._others.get(link.round_id)
        return (
            other is not None
            and may_be_one(record, other)
            and link.text in self._standing[other.id]
            and (other.id, link.text) not in self._newer
        )

    def _marked(self, record: Record) -> Record:
        def mark(fact: Fact) -> Fact:
            place = record.id, fact.text
            newer = self._newer.get(place, fact.superseded_by)
            older = dict.fromkeys(fact.supersedes) | self._older.get(place, {})
            return replace(fact, superseded_by=newer, supersedes=tuple(older))

        facts = [*record.facts, *self._parts_gone(record)]
        return replace(record, facts=tuple(map(mark, facts)))

    def _parts_gone(self, record: Record) -> list[Fact]:
        """Parts of the record's facts that are replaced alone: facts of their own from now on, as
        those that rules tell apart."""
        texts = {fact.text for fact in record.facts}
        return [
            Fact(text, source=newer.by)
            for (id, text), newer in self._newer.items()
            if id == record.id and text not in texts
        ]


_Place = tuple[str, str]
"""A round's id, and the text of a fact of it."""


def _texts_of_user(record: Record) -> set[str]:
    """Those in doubt, too: what the user surely says replaces them."""
    told = {fact.text for fact in record.facts if fact.speaker is Speaker.USER}
    return told or {record.round.user_text}


def _holding(record: Record) -> set[str]:
    return {fact.text for fact in record.facts if fact.is_users and not fact.superseded_by}


def _said(record: Record) -> tuple[object, int]:
    return record.round.session_date, record.round.round_index
