"""How records are written to the engine: linked, with keys, and only if no other writer was faster.

Facts that a round replaces are marked before the round itself is written. After a crash in between,
the marks lead nowhere, and they count for nothing until the round is written again.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from datetime import date, timedelta

from memory_store._changes.links import Settling, Unlinking, all_slots, link_targets, linked
from memory_store._changes.validity import standing_on
from memory_store._facts import reading_of
from memory_store._keys import Indexer
from memory_store._points import facts_to_payload, records_in, scroll_in_parts
from memory_store._reach import Reach
from memory_store._types import Fact, FactLink, Held, Record
from memory_store.engines._engine import Engine, Point, UserScope
from memory_store.engines._layout import TURNS
from memory_store.errors import InvalidRecord, RoundTaken
from memory_store.language import ENGLISH, Language
from memory_store.language.words import shared_words
from memory_store.scheduler import aside, in_slices, pause

# Working out the links of a fact takes as long as reading this many characters.
_FACT = 100
# How many rounds have their keys encoded together, and how many of them are written in one go.
_ENCODED_AT_ONCE = 64
_WRITTEN_AT_ONCE = 16
CORRECTION = "correction"
"""The finder named in a link that comes from a message which corrects the one before it."""
# A message counts as a correction from the first certainty on. The second is enough if it comes at
# once and either shares a word with the message before or both name numbers. It can be undone.
_CORRECTS, _MAY_CORRECT, _ASKS = 0.8, 0.5, 0.5
# A correction of something just said is short: it names little more than what is new.
_LONGEST_CORRECTION, _MOST_WORDS = 120, 12
_MOMENT, _AT_ONCE = timedelta(days=1), timedelta(minutes=10)


def _corrected_by(record: Record, before: Record, language: Language) -> str:
    """The sentence of the round before that the message corrects; empty if the message is not
    likely to be a correction."""
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
    """The sentence of the message that corrects the sentence `corrected`."""
    said = [one.text for one in reading_of(record.round, language).sentences]
    whole = record.round.user_text.strip()
    return max(
        said, key=lambda s: (shared_words(corrected, s), _alike(corrected, s)), default=whole
    )


def _alike(sentence: str, correction: str) -> bool:
    """Whether both name numbers: the one may then replace the other."""
    return any(c.isdigit() for c in sentence) and any(c.isdigit() for c in correction)


class Linking:
    """The links of one engine's facts."""

    def __init__(self, engine: Engine, language: Language = ENGLISH) -> None:
        self._engine = engine
        self._language = language

    async def before_writing(self, records: Sequence[Record]) -> list[Record]:
        """Return the records with all their links; mark the older facts that they replace."""
        done: dict[str, Record] = {}
        for user_id, own in _by_user(records).items():
            chosen = await self._chosen(user_id, await self._put_right(own))
            done |= {r.id: r for r in await self._by_rule(user_id, chosen, slots_of(chosen))}
        return [done[record.id] for record in records]

    async def before_indexing(self, records: Sequence[Record]) -> list[Record]:
        """The records with the rules' links made anew. Links that models chose stay as they are,
        because the rounds that they lead to may not be written yet."""
        done: dict[str, Record] = {}
        for user_id, own in _by_user(records).items():
            done |= {r.id: r for r in await self._by_rule(user_id, own, slots_of(own))}
        return [done[record.id] for record in records]

    async def _chosen(self, user_id: str, records: Sequence[Record]) -> list[Record]:
        """The records with the replacements that a model found. Each link leads from the newer
        fact to the older one, whichever of the two was recorded first."""
        others = await self._read(user_id, link_targets(records) - {r.id for r in records})
        settling = Settling(others)
        mended = [settling.of(record) async for record in in_slices(records)]
        await self._write(user_id, settling.changed())
        return mended

    async def _by_rule(
        self,
        user_id: str,
        records: Sequence[Record],
        slots: set[str],
        without: Collection[str] = (),
    ) -> list[Record]:
        """The records with the rules' links among all the user's statements of these slots.
        Statements of the rounds with the ids `without` are left out."""
        if not slots:
            return list(records)
        others, relinked = await self._relinked(user_id, records, slots, without)
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
        self,
        user_id: str,
        records: Sequence[Record],
        slots: set[str],
        without: Collection[str] = (),
    ) -> tuple[list[Record], list[Record]]:
        """Two lists: the other records with statements of these slots, and all records with new
        links, first the others and then `records`."""
        ours = {*without} | {record.id async for record in in_slices(records)}
        others: list[Record] = []
        read: set[str] = set()
        while read != slots:
            read = slots
            found = await records_in(self._engine, UserScope(user_id, slots=tuple(sorted(read))))
            others = [record async for record in in_slices(found) if record.id not in ours]
            slots = all_slots([*others, *records], read)
        size = _FACT * sum(1 + len(record.facts) for record in (*others, *records))
        relinked = await aside(size, linked, [*others, *records], slots, self._language)
        return others, relinked

    async def _put_right(self, records: Sequence[Record]) -> list[Record]:
        """The records; one that corrects the round just before it ("oops 18:50") gets a link to
        that round."""
        return [await self._of_moment_before(record) for record in records]

    async def _of_moment_before(self, record: Record) -> Record:
        round = record.round
        if round.reading is None or round.reading.corrects < _MAY_CORRECT or not round.round_index:
            return record
        if any(fact.supersedes or fact.slot for fact in record.facts):
            return record
        rounds = await records_in(self._engine, UserScope(round.user_id, round.session_id))
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

    async def to_be_asked(self, user_id: str, today: date) -> list[FactLink]:
        """The facts that hold and about which the user is due to be asked whether they still do.
        Each is returned only once: its day to ask is then cleared."""
        every = await records_in(self._engine, UserScope(user_id, to_ask=True))
        # The question becomes part of an answer, which may go anywhere.
        found = [one for one in every if one.round.reach is Reach.ANYWHERE]
        records = [standing_on(record, today) for record in found]
        due = [
            FactLink(record.id, fact.text, record.round.session_date)
            for record in records
            for fact in record.facts
            if _is_due(fact, today) and fact.superseded_by is None
        ]
        changed = [replace(one, facts=tuple(_asked(f, today) for f in one.facts)) for one in found]
        await self._write(
            user_id, [new for old, new in zip(found, changed, strict=True) if new != old]
        )
        return due

    async def before_forgetting(
        self, user_id: str, gone: Sequence[Record], staying: Collection[str] = ()
    ) -> None:
        """Link the facts that replaced facts of these rounds to what these had replaced. Facts with
        the texts `staying` are not forgotten."""
        ids = {record.id for record in gone}
        others = await self._read(user_id, link_targets(gone) - ids)
        # A contradiction is stored only at the fact in doubt, so the links of `gone` do not lead to
        # all of them.
        doubted = await records_in(self._engine, UserScope(user_id, in_conflict=True))
        others |= {record.id: record for record in doubted if record.id not in ids}
        unlinking = Unlinking(gone, staying)
        changed = {id: unlinking.of(other) async for id, other in in_slices(others.items())}
        await self._write(user_id, [o for id, o in changed.items() if o != others[id]])

    async def after_forgetting(self, user_id: str, gone: Sequence[Record]) -> None:
        """Make the rules' links anew without these rounds."""
        await self._by_rule(user_id, [], slots_of(gone))

    async def leaving_out(self, records: Sequence[Record]) -> None:
        """Make the rules' links of the users' other rounds anew, as if these were not there."""
        for user_id, own in _by_user(records).items():
            without = frozenset(record.id for record in own)
            await self._by_rule(user_id, [], slots_of(own), without)

    async def anew(self, user_id: str) -> None:
        """Make all rules' links of a user anew."""
        every = await records_in(self._engine, UserScope(user_id))
        await self._by_rule(user_id, [], slots_of(every))

    async def _read(self, user_id: str, ids: set[str]) -> dict[str, Record]:
        if not ids:
            return {}
        found = await records_in(self._engine, UserScope(user_id, ids=tuple(sorted(ids))))
        return {record.id: record for record in found}

    async def _write(self, user_id: str, records: Iterable[Record]) -> None:
        for record in records:
            # Another process may have put right or forgotten meanwhile what was read.
            only = UserScope(user_id, ids=(record.id,))
            await self._engine.set_payload(
                only, facts_to_payload(record.facts), record.round.turn_ids
            )
            await pause()


def _is_due(fact: Fact, today: date) -> bool:
    return fact.ask_on is not None and fact.ask_on <= today


def _asked(fact: Fact, today: date) -> Fact:
    return replace(fact, ask_on=None) if _is_due(fact, today) else fact


def _by_user(records: Iterable[Record]) -> dict[str, list[Record]]:
    by_user: dict[str, list[Record]] = {}
    for record in records:
        by_user.setdefault(record.round.user_id, []).append(record)
    return by_user


def slots_of(records: Iterable[Record]) -> set[str]:
    """The slots for which the statements in the records give values, or that they are bound to."""
    return {slot for record in records for fact in record.facts for slot in fact.slots}


class RecordWriter:
    """Writes records with their links and keys."""

    def __init__(self, engine: Engine, indexer: Indexer, linking: Linking) -> None:
        self._engine = engine
        self._indexer = indexer
        self._linking = linking

    async def write(
        self, records: Sequence[Record], over: Held | None, *, erasing: bool = False
    ) -> list[Record]:
        """Write the records and return them with their links. `over` is as in
        `MemoryStore.remember`; with `erasing` no trace of their earlier content stays.

        They are written in order, some at a time; an interruption leaves the first of them there.
        """
        linked = await self._linking.before_writing(records)
        if over is not None and linked:
            _check(linked, over)
        for start in range(0, len(linked), _ENCODED_AT_ONCE):
            points = await self._indexer.points(linked[start : start + _ENCODED_AT_ONCE])
            for first in range(0, len(points), _WRITTEN_AT_ONCE):
                some = points[first : first + _WRITTEN_AT_ONCE]
                if over is None:
                    await self._engine.upsert(some)
                else:
                    owner = linked[0].round.user_id
                    await self._claim(some, over, owner=owner, erasing=erasing)
                await pause()
        return linked

    async def held(self, user_id: str, round_ids: Iterable[str]) -> Held:
        """The turns that the rounds with these ids hold now, without rounds that do not exist."""
        scope = UserScope(user_id, ids=tuple(round_ids))
        hits = await scroll_in_parts(self._engine, scope, [TURNS])
        return {hit.id: tuple(hit.payload[TURNS]) for hit in hits}

    async def _claim(
        self, points: Sequence[Point], over: Held, *, owner: str, erasing: bool
    ) -> None:
        """Write the points. Raises `RoundTaken` if another writer has changed one meanwhile."""
        ours = {point.id: tuple(point.payload[TURNS]) for point in points}
        theirs = {id: over[id] for id in ours if id in over}
        # The engine's condition only checks points that exist, so a round deleted meanwhile would
        # be made again without this look.
        free = not theirs or await self.held(owner, theirs) == theirs
        if free:
            await self._engine.upsert(points, theirs, erasing=erasing)
        if not free or await self.held(owner, ours) != ours:
            raise RoundTaken("another writer changed this session: read it again")


def _check(records: Sequence[Record], over: Held) -> None:
    owner = records[0].round.user_id
    elsewhere = any(record.round.user_id != owner for record in records)
    if elsewhere or not set(over) <= {record.id for record in records}:
        raise InvalidRecord("rounds are written over those of the same user and place only")
