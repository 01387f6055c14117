"""The reading side of a memory: recall, lists, single rounds, sessions. Nothing here writes."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, tzinfo

from memory_store._changes.extraction import known_facts
from memory_store._changes.validity import (
    Conflict,
    Told,
    conflicts,
    linked_records,
    read_from,
    standing_on,
    told,
)
from memory_store._gate import Gate
from memory_store._health import HEALTH_FIELDS, Checkup, FactHealth, health_of
from memory_store._keys import Indexer, KeyDesign
from memory_store._labels import Where
from memory_store._listing import SUMMARY_FIELDS, Listing, Page, cut, fields, summarise
from memory_store._owners import is_shared, whose
from memory_store._points import from_payload, records_in
from memory_store._reach import Reach
from memory_store._sight import SeenRecords, Sight
from memory_store._types import Days, EnrichmentState, FactLink, Record, SessionSummary, is_round_id
from memory_store.embedding.embedder import Embedder
from memory_store.embedding.encoder import TextKind
from memory_store.engines._engine import (
    Engine,
    Payload,
    ReadableEngine,
    StoredPoint,
    UserScope,
)
from memory_store.language import Language
from memory_store.language.words import in_plain_words, shared_with
from memory_store.recall._query import Query, Recall, RecallSettings
from memory_store.recall._recall import recall
from memory_store.recall._remembered import KnownRecords, RoundOutlines
from memory_store.recall._search import SearchedMemory, query_vector
from memory_store.scheduler import aside, in_order, in_slices

# Going through a round or a fact takes as long as reading this many characters.
FACT = 20


class MemoryReader:
    """Reads rounds of many users on one engine. Every call for a user names the user, and none
    reaches rounds of another user."""

    def __init__(
        self,
        engine: Engine,
        embedder: Embedder,
        settings: RecallSettings | None = None,
        design: KeyDesign | None = None,
    ) -> None:
        self._engine = engine
        self._settings = settings or RecallSettings()
        self._searching = Gate()
        """Tasks that compare vectors are beside others; one that changes the embedder is alone."""
        self._use(Indexer(embedder, design or KeyDesign()))

    def _share(self, whole: "MemoryReader") -> None:
        """Take over the engine, the settings and the gate of another reader."""
        self._engine = whole._engine
        self._settings = whole._settings
        self._searching = whole._searching

    def _use(self, indexer: Indexer) -> None:
        """Search by this indexer from now on."""
        self._outlines, self._records = RoundOutlines(self._engine), KnownRecords(self._engine)
        self._whole = SearchedMemory(self._engine, indexer, self._outlines, self._records)

    @property
    def _searched(self) -> SearchedMemory:
        return self._whole

    @property
    def _indexer(self) -> Indexer:
        return self._searched.indexer

    @property
    def _seen(self) -> ReadableEngine:
        """The engine through which everything for a user is read."""
        return self._searched.engine

    @property
    def reach(self) -> Reach:
        """The reach up to which this reader sees rounds."""
        return Reach.NEVER_IN_ANSWERS

    async def as_seen(self, record: Record) -> Record:
        """The record without the words of rounds that it is linked to and that this reader may not
        see."""
        return record

    def seen_up_to(self, reach: Reach) -> "MemoryReader":
        """The memory without the rounds that are kept closer than this reach. If the embedder is
        not local, only rounds that may go anywhere are seen."""
        return self if reach is Reach.NEVER_IN_ANSWERS else _SeenMemory(self, reach)

    @property
    def embedder(self) -> Embedder:
        """The embedder that the memory is searched by now."""
        return self._indexer.embedder

    @property
    def language(self) -> Language:
        """The language whose rules wrote the memory and read questions."""
        return self._indexer.design.language

    async def recall(self, query: Query) -> Recall:
        """The user's rounds nearest to the query, best first, and the sessions they gather to."""
        async with self._searching.beside_others():
            return await recall(self._searched, query, self._settings)

    async def known_facts(
        self, user_id: str, statements: Sequence[str], limit: int, besides: Collection[str] = ()
    ) -> list[FactLink]:
        """The user's facts that still hold, the nearest to each of the statements first. Facts of
        the rounds with the ids `besides` are left out."""
        async with self._searching.beside_others():
            return await known_facts(self._seen, self.embedder, user_id, statements, limit, besides)

    async def closeness(self, query: str, texts: Sequence[str]) -> list[float]:
        """How near each text is to the query, on the scale of a recall's similarity."""
        if not texts:
            return []
        if self.language.has_rules:
            query, texts = in_plain_words(query), [in_plain_words(text) for text in texts]
        async with self._searching.beside_others():
            embedder = self.embedder
            vector = await query_vector(self._indexer, self._settings, query)
            rows = await embedder.embed(texts, TextKind.DOCUMENT)
        weights, common = self._settings.weights, embedder.identity.common
        share = shared_with(query)
        shared = [share(text) async for text in in_slices(texts)]
        return [
            weights.dense * (float(cosine) - common) + weights.words * share
            for cosine, share in zip(rows @ vector, shared, strict=True)
        ]

    async def round(self, user_id: str, round_id: str) -> Record | None:
        """One record by id; None when this user has no such round."""
        if not is_round_id(round_id):
            return None
        hits = await self._seen.scroll(UserScope(user_id, ids=(round_id,)))
        return from_payload(hits[0].payload) if hits else None

    async def told(
        self,
        user_id: str,
        round_id: str,
        as_of: date | None = None,
        today: date | None = None,
        zone: tzinfo = UTC,
    ) -> Told | None:
        """One record with the histories of its facts, as of a day of a zone, or as of today.

        None when this user has no such round, or had none on that day.
        """
        record = await self.round(user_id, round_id)
        until = Days(last=as_of, zone=zone)
        if record is None or not record.round.was_said_on(until):
            return None
        return await told(self._seen, record.told_in(zone), until, today)

    async def session(self, user_id: str, session_id: str) -> list[Record]:
        """The records of one session in round order; empty when there is none."""
        records = await _records(await self._seen.scroll(UserScope(user_id, session_id)))
        size = FACT * len(records)
        return await aside(size, in_order, records, lambda record: record.round.round_index)

    async def sessions(
        self, user_id: str, where: Where = (), zone: tzinfo = UTC
    ) -> list[SessionSummary]:
        """Every session of a user, oldest first, with its days in a zone. With `where`, only rounds
        with these labels count."""
        hits = await self._seen.scroll(UserScope(user_id, labels=where), SUMMARY_FIELDS)
        return await aside(FACT * len(hits), summarise, hits, zone)

    async def conflicts(self, user_id: str) -> list[Conflict]:
        """Statements that contradict the user's own and may be somebody else's, the newest first.
        `correct` settles who said them, with `speakers`."""
        return await conflicts(self._seen, user_id)

    async def health(self, user_id: str, checkup: Checkup) -> list[FactHealth]:
        """The findings about the user's facts, by kind."""
        records = await records_in(self._seen, UserScope(user_id), HEALTH_FIELDS)
        size = FACT * sum(1 + len(record.facts) for record in records)
        return await aside(size, health_of, records, checkup, self.language)

    async def listed(self, listing: Listing) -> Page:
        """One page of a user's rounds by when they were said."""
        ids = listing.ids and tuple(filter(is_round_id, listing.ids))
        if ids == ():
            return Page((), 0)
        scope = UserScope(
            listing.user_id,
            listing.session_id,
            ids,
            listing.days,
            labels=listing.where,
            pinned=listing.pinned,
        )
        every = await self._seen.scroll(scope, fields(listing))
        page = await aside(FACT * len(every), cut, every, listing)
        shown = await records_in(self._seen, replace(scope, ids=page.ids)) if page.ids else []
        records = {record.id: record for record in shown}
        if listing.as_of:
            until = Days(last=listing.as_of, zone=listing.days.zone)
            read = read_from(self._seen, listing.user_id)
            records = await linked_records(read, until, records)
        elif listing.today:
            records = {id: standing_on(one, listing.today) for id, one in records.items()}
        zone = listing.days.zone
        found = tuple(records[id].told_in(zone) for id in page.ids if id in records)
        return Page(found, page.total, page.next)

    async def records(self, user_id: str) -> list[Record]:
        """Every record of a user, oldest first."""
        records = await _records(await self._seen.scroll(UserScope(user_id)))
        return await aside(
            FACT * len(records), in_order, records, lambda record: record.round.place
        )

    async def users(self) -> list[str]:
        """Everybody of whom something is kept, in order: for a backup, never for a user."""
        return sorted(await self._engine.users())

    async def spaces(self, user_id: str) -> list[str]:
        """The names of the spaces in which something of a user is kept, in order."""
        owners = [whose(owner) for owner in await self._engine.owners(user_id)]
        return sorted(one.space for one in owners if one.space and one.user_id == user_id)

    async def shared_spaces(self, user_id: str) -> list[str]:
        """The names of the shared spaces of a user, in order: those the user is a member of, and
        those the user has left but in which something the user said is kept."""
        owners = filter(is_shared, await self._engine.owners(user_id))
        return sorted({space for space in (whose(owner).space for owner in owners) if space})

    async def count(self, user_id: str, where: Where = ()) -> int:
        """How many rounds with these labels are kept for a user."""
        return await self._seen.count(UserScope(user_id, labels=where))

    async def unenriched(
        self, *states: EnrichmentState, lapsed: datetime | None = None
    ) -> list[Record]:
        """The records of all users whose enrichment is in one of these states; with `lapsed` only
        those with a claim that was over at that time."""
        hits = await self._engine.in_state([state.value for state in states], lapsed)
        return await _records(hits)

    async def verify(self) -> int:
        """Read every round of everybody, and return how many there are. Raises `StoreDamaged` if an
        acknowledged round is missing, altered or unreadable."""
        await self._engine.verify()
        return sum([len(await self.records(user_id)) for user_id in await self.users()])

    async def promise(self) -> str:
        """When what was said counts as kept, in words for the operator."""
        return await self._engine.promise()

    async def check(self) -> None:
        """Raise an error if the engine or the embedder cannot be used."""
        await self._engine.check()
        async with self._searching.beside_others():
            await self.embedder.embed(["ready?"], TextKind.QUERY)

    @property
    def key_fallbacks(self) -> Mapping[str, int]:
        """How many rounds written since the start have no key of the key design."""
        return dict(self._indexer.fallbacks)

    @property
    def description(self) -> Payload:
        """Engine, embedder and schema, for reports."""
        return {"engine": self._engine.name, **self._indexer.identity}


async def _records(hits: Sequence[StoredPoint]) -> list[Record]:
    return [from_payload(hit.payload) async for hit in in_slices(hits)]


class MemoryOver(MemoryReader):
    """A reader on top of another reader, and searched as that one is. Subclasses change what it
    returns."""

    def __init__(self, of: MemoryReader) -> None:
        self._share(of)
        self._of = of

    @property
    def _searched(self) -> SearchedMemory:
        return self._of._searched

    @property
    def reach(self) -> Reach:
        """See `MemoryReader.reach`."""
        return self._of.reach

    async def as_seen(self, record: Record) -> Record:
        """See `MemoryReader.as_seen`."""
        return await self._of.as_seen(record)


class _SeenMemory(MemoryReader):
    """A reader of the rounds of another reader that lie within a reach."""

    def __init__(self, whole: MemoryReader, up_to: Reach) -> None:
        self._share(whole)
        self._of = whole
        self._up_to = up_to
        self._sight = Sight(self._engine, lambda: self.reach)
        self._seen_records = SeenRecords(self._known, self._sight)

    @property
    def reach(self) -> Reach:
        """See `MemoryReader.reach`: `ANYWHERE` while the embedder is not local."""
        return self._up_to if self._of.embedder.is_local else Reach.ANYWHERE

    def seen_up_to(self, reach: Reach) -> MemoryReader:
        """See `MemoryReader.seen_up_to`: never more than this reader sees."""
        return self._of.seen_up_to(reach if self._up_to.includes(reach) else self._up_to)

    async def _known(self, user_id: str, ids: Sequence[str]) -> dict[str, Record]:
        return await self._of._searched.records.of(user_id, ids)

    @property
    def _searched(self) -> SearchedMemory:
        return replace(self._of._searched, engine=self._sight, records=self._seen_records)

    async def as_seen(self, record: Record) -> Record:
        """See `MemoryReader.as_seen`."""
        return await self._sight.unlinked(record)

    async def recall(self, query: Query) -> Recall:
        """Recall what this reader may see, and count the held-back rounds that the whole memory
        would have recalled."""
        if not await self._is_closer(query.user_id):
            found = await self._of.recall(query)
            # Meanwhile a round may have been written or its reach narrowed.
            if not await self._is_closer(query.user_id):
                return found
        found = await super().recall(query)
        wanted = max(query.limit, len(found.rounds))
        alike = replace(query, limit=wanted, explained=False, sessions=False, short_limit=0)
        nearest = (await self._of.recall(alike)).rounds
        held = [one for one in nearest if not self.reach.includes(one.record.round.reach)]
        return replace(found, held_back=len(held))

    async def _is_closer(self, user_id: str) -> bool:
        """Whether any round of the user is held back here. For most users none is."""
        return await self._engine.count(UserScope(user_id, beyond=self.reach)) > 0
