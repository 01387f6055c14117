"""The memory store: remember rounds, recall them, list them, forget them. Nothing else writes."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from datetime import date, datetime
from typing import Any

from memory_store._changes.correction import Corrected, Correction, corrected, given_facts
from memory_store._changes.extraction import Enrichment, Extraction
from memory_store._changes.forgetting import Forgotten, Removal, RetentionRule
from memory_store._changes.reaches import Reaches
from memory_store._changes.writing import Linking, RecordWriter
from memory_store._facts import reading_of, rule_facts
from memory_store._gate import Gate, beside_others
from memory_store._identity import admit
from memory_store._keys import Indexer, KeyDesign
from memory_store._labels import Labels, checked_labels, terms_of
from memory_store._listing import as_title
from memory_store._points import pinned_to_payload, records_in
from memory_store._reach import Reach, ReachRule
from memory_store._reader import FACT, MemoryReader
from memory_store._types import EnrichmentState, FactLink, Held, Record, Round, is_round_id
from memory_store.embedding.embedder import Embedder
from memory_store.engines._engine import Claim, Engine, UserScope
from memory_store.engines._layout import LABELS
from memory_store.errors import MemoryStoreError
from memory_store.language.words import in_plain_words
from memory_store.recall._query import RecallSettings
from memory_store.scheduler import aside, pause
from memory_store.transfer._filling import Progress
from memory_store.transfer._in_use import Moment, Use, is_unfinished, reindex_in_use
from memory_store.transfer._records import owned
from memory_store.transfer._reindexing import Reindexed

# How many rounds get the title of their session in one go.
_NAMED_AT_ONCE = 16


class MemoryStore(MemoryReader):
    """Rounds of many users on one engine. Every call names its user, and none reaches rounds of
    another user."""

    def __init__(
        self,
        engine: Engine,
        embedder: Embedder,
        settings: RecallSettings | None = None,
        design: KeyDesign | None = None,
        *,
        forget_vectors: bool = True,
        reach_rules: Sequence[ReachRule] = (),
    ) -> None:
        """With `forget_vectors` the embedder's caches drop the vectors of forgotten texts; without
        it the same texts need not be encoded again when they come back. `reach_rules` may keep
        memories closer than was asked."""
        self.reaches = Reaches(engine, reach_rules)
        self._forgets_vectors = forget_vectors
        self.writes = Gate()
        """Writers are beside others; a task that puts another index in place is alone."""
        super().__init__(engine, embedder, settings, design)

    def _use(self, indexer: Indexer) -> None:
        super()._use(indexer)
        self._linking = Linking(self._engine, self.language)
        self._writer = RecordWriter(self._engine, indexer, self._linking)
        self._enrichment = Enrichment(self._engine, self._writer, self.language)
        self._removal = Removal(
            self._engine,
            self._writer,
            indexer,
            self._linking,
            indexer.embedder if self._forgets_vectors else None,
        )

    async def open(self) -> None:
        """Open the engine; refuse data of another embedder, key design or schema
        (`StoreMismatch`), and a memory that is being moved or indexed anew (`StoreUnready`)."""
        ours = self._indexer.identity
        theirs = await self._engine.open(self.embedder.identity.dimension)
        try:
            if theirs is not None:
                admit(theirs, ours)
            if theirs != ours:  # a new memory, or a finished copy that nobody has used yet
                await self._engine.write_identity(ours)
        except MemoryStoreError:
            await self._engine.close()
            raise

    async def close(self) -> None:
        """Finish what is running and release the engine."""
        await self.embedder.close()
        await self._engine.close()

    @beside_others
    async def remember(
        self,
        rounds: Sequence[Round],
        *,
        enrichment: EnrichmentState = EnrichmentState.DONE,
        over: Held | None = None,
    ) -> list[Record]:
        """Store rounds with their facts, keys and words; durable and found when this returns.

        Writing a round again replaces it: the same round twice gives one record. `enrichment` is
        `PENDING` if `enrich` is to follow. With `over`, which takes rounds of one user only, rounds
        are replaced only if they hold exactly these turns, and all other rounds must be new.
        Raises `RoundTaken` if another writer was faster with any of them.
        """
        return await self._writer.write(
            [await self._read_anew(r, enrichment) for r in rounds], over
        )

    async def foreseen(self, round: Round) -> Record:
        """The record that the round would become now, with its links; nothing is stored."""
        return await self._linking.foreseen(await self._read_anew(round, EnrichmentState.DONE))

    async def _read_anew(self, round: Round, enrichment: EnrichmentState) -> Record:
        """The record of a round with the rules' facts, or with those that the user gave."""
        stored = await self.round(round.user_id, round.id) if round.corrected_at else None
        reading = await aside(len(round.user_text), reading_of, round, self.language)
        round = await self.reaches.placed(replace(round, reading=reading))
        if given := given_facts(stored):
            return Record(round, given)
        facts = await aside(len(round.user_text), rule_facts, round, self.language)
        return Record(round, facts, enrichment)

    @beside_others
    async def set_reach(self, user_id: str, ids: Sequence[str], reach: Reach) -> list[Record]:
        """Set the reach of these rounds of a user; rounds whose answers repeat them go no farther.
        Return the changed records. Raises `RoundTaken` if another writer is writing one of them.
        """
        return await self._keep_up_to(user_id, ids, reach)

    async def _keep_up_to(self, user_id: str, ids: Sequence[str], reach: Reach) -> list[Record]:
        found = await records_in(self._engine, UserScope(user_id, ids=tuple(ids)))
        repeating = await self._removal.repeating(user_id, found) if found else []
        changed = await self.reaches.changed(found, repeating, reach)
        held = {record.id: record.round.turn_ids for record in changed}
        return await self._writer.write(changed, held) if changed else []

    @beside_others
    async def enrich(self, round: Round, extraction: Extraction) -> Record | None:
        """Add what was extracted from a round to its record, as facts and keys.

        None when the round was forgotten or written differently meanwhile: then nothing is
        stored. Doing it again with the same extraction changes nothing but `attempts`.
        """
        record = await self.round(round.user_id, round.id)
        return await self._enrichment.done(record, round, extraction)

    @beside_others
    async def enrichment_failed(
        self, round: Round, extractor: str, reason: str, *, most_attempts: int
    ) -> None:
        """Write into the record of a round that an extraction failed and why.

        After `most_attempts` the round is `failed`, before that it stays `pending`. Nothing is
        written where the round was forgotten or written differently meanwhile.
        """
        record = await self.round(round.user_id, round.id)
        await self._enrichment.failed(record, round, extractor, reason, most_attempts)

    @beside_others
    async def enrich_again(self, user_id: str, ids: Sequence[str]) -> None:
        """Set the failed ones of these rounds back to `pending`, with no attempts.

        Rounds that are no longer failed, because another process retried them, stay as they are.
        """
        await self._enrichment.again(user_id, ids)

    @beside_others
    async def claim(self, rounds: Sequence[Round], claim: Claim, now: datetime) -> list[Round]:
        """Claim the rounds, of these of one user, that wait for enrichment, and return them. Nobody
        else gets them until the claim ends; a claim until `now` sets them free again."""
        return await self._enrichment.claimed(rounds, claim, now)

    @beside_others
    async def let_go(self, query: str) -> None:
        """Drop the vectors of a query that was searched for and is not stored."""
        if self._forgets_vectors:
            said = [query, in_plain_words(query)]
            await self.embedder.forget([*said, *map(self.language.as_statement, said)])

    @beside_others
    async def name_session(
        self, user_id: str, session_id: str, title: str | None, labels: Labels | None = None
    ) -> list[Record]:
        """Set the title of a session, the labels of all its rounds, or both; None leaves a part as
        it is. With an empty title a session is known by its opening. Return its records, empty if
        there is no such session."""
        named: dict[str, Any] = {}
        if title is not None:
            named["session_title"] = as_title(title)
        if labels is not None:
            named[LABELS] = list(terms_of(checked_labels(labels)))
        every = await self._engine.scroll(UserScope(user_id, session_id), ["session_id"])
        ids = [hit.id for hit in every]
        for start in range(0, len(ids), _NAMED_AT_ONCE):
            some = tuple(ids[start : start + _NAMED_AT_ONCE])
            await self._engine.set_payload(UserScope(user_id, session_id, ids=some), named)
            await pause()
        if labels is not None:
            for reach, closer in self.reaches.closer(await self.session(user_id, session_id)):
                await self._keep_up_to(user_id, closer, reach)
        return await self.session(user_id, session_id)

    @beside_others
    async def pin(self, user_id: str, round_id: str, pinned: bool) -> Record | None:
        """Pin or unpin a round. Return its record, or None if this user has no such round."""
        if not is_round_id(round_id):
            return None
        scope = UserScope(user_id, ids=(round_id,))
        await self._engine.set_payload(scope, pinned_to_payload(pinned))
        return await self.round(user_id, round_id)

    @beside_others
    async def bring_in(self, user_id: str, records: Sequence[Record]) -> list[Record]:
        """Store records exported elsewhere as this user's, and return those that were new.

        Rounds that exist stay as they are. Raises `RoundTaken` if another writer is writing one.
        """
        ours = await aside(FACT * len(records), owned, records, user_id)
        held = await self._writer.held(user_id, [r.id for r in ours]) if ours else {}
        new = [
            replace(record, round=await self.reaches.placed(record.round))
            for record in ours
            if record.id not in held
        ]
        return await self._writer.write(new, {})

    @beside_others
    async def let_supersede(self, user_id: str, round_id: str, allowed: bool) -> Record | None:
        """Undo what the facts of a round replaced, or let the rules link them again.

        None if this user has no such round. Raises `RoundTaken` if another writer is writing it.
        """
        record = await self.round(user_id, round_id)
        if record is None:
            return None
        await self._linking.before_forgetting(user_id, [record])
        facts = tuple(replace(fact, supersedes=()) for fact in record.facts)
        changed = replace(record, facts=facts, may_supersede=allowed)
        return (await self._writer.write([changed], {record.id: record.round.turn_ids}))[0]

    @beside_others
    async def correct(
        self,
        user_id: str,
        round_id: str,
        correction: Correction,
        *,
        enrichment: EnrichmentState = EnrichmentState.DONE,
    ) -> Corrected | None:
        """Correct what a round says; its earlier content is no longer found anywhere.

        Repeating a correction changes nothing. `enrichment` is `PENDING` if `enrich` is to follow,
        also for rounds whose answers are withdrawn. None if this user has no such round. Raises
        `RoundTaken` if another writer is writing it.
        """
        record = await self.round(user_id, round_id)
        if record is None:
            return None
        size = record.round.size + correction.size + FACT * len(record.facts)
        changed = await aside(size, corrected, record, correction, enrichment, self.language)
        if changed is record:
            return Corrected(record)
        changed = replace(changed, round=await self.reaches.placed(changed.round))
        sessions = await self._removal.put_right(record, changed, enrichment)
        stored = await self.round(user_id, round_id)
        return Corrected(stored, sessions) if stored else None

    @beside_others
    async def ask_again(self, user_id: str, today: date) -> list[FactLink]:
        """The facts of which the user is to be asked by today whether they still hold, each only
        once."""
        return await self._linking.to_be_asked(user_id, today)

    @beside_others
    async def forget_round(
        self,
        user_id: str,
        round_id: str,
        *,
        dry_run: bool = False,
        enrichment: EnrichmentState = EnrichmentState.DONE,
    ) -> Forgotten:
        """Forget one round and count what goes. Facts that it replaced hold again, and answers of
        other rounds that repeated it are withdrawn.

        With `dry_run` it only counts. `enrichment` is `PENDING` if `enrich` is to follow for the
        rounds whose answers are withdrawn.
        """
        scope = UserScope(user_id, ids=(round_id,))
        if not is_round_id(round_id):
            return Forgotten()
        return await self._removal.forget(scope, enrichment, dry_run=dry_run)

    @beside_others
    async def forget_session(
        self,
        user_id: str,
        session_id: str,
        *,
        dry_run: bool = False,
        enrichment: EnrichmentState = EnrichmentState.DONE,
    ) -> Forgotten:
        """Forget one session; otherwise as `forget_round`."""
        scope = UserScope(user_id, session_id)
        return await self._removal.forget(scope, enrichment, dry_run=dry_run)

    @beside_others
    async def forget_by_rule(
        self,
        user_id: str,
        rule: RetentionRule,
        *,
        dry_run: bool = False,
        enrichment: EnrichmentState = EnrichmentState.DONE,
    ) -> Forgotten:
        """Forget the rounds that a rule names; otherwise like `forget_round`."""
        ids: set[str] = set()
        for scope in rule.scopes(user_id):
            ids |= {hit.id for hit in await self._engine.scroll(scope, ["session_id"])}
        scope = UserScope(user_id, ids=tuple(sorted(ids)))
        return await self._removal.forget(scope, enrichment, dry_run=dry_run)

    @beside_others
    async def forget_user(
        self,
        user_id: str,
        *,
        person: str | None = None,
        dry_run: bool = False,
        enrichment: EnrichmentState = EnrichmentState.DONE,
    ) -> Forgotten:
        """Forget everything of a user, or everything that `person` said in a shared space;
        otherwise like `forget_round`."""
        scope = UserScope(user_id, person=person)
        return await self._removal.forget(scope, enrichment, dry_run=dry_run)

    async def reindex(
        self,
        make_embedder: Callable[[], Embedder],
        progress: Progress,
        design: KeyDesign | None = None,
        *,
        again: bool = False,
        moment: Moment = pause,
    ) -> Reindexed:
        """Index the memory anew by another embedder or key design, and search by it from then on.

        The old index serves everybody meanwhile. An interrupted reindexing is continued. `again`
        indexes even if nothing has changed. `moment` waits for a good moment to change over, as
        writers have to wait then. Raises what `transfer.reindex` raises.
        """
        before = self.embedder
        embedder = await asyncio.to_thread(make_embedder)
        indexer = Indexer(embedder, design or self._indexer.design)
        use = Use(self.writes.alone, self._change_over)
        try:
            done = await reindex_in_use(
                self._engine, use, indexer, progress, again=again, moment=moment
            )
        finally:
            unused = before if self.embedder is embedder else embedder
            await unused.close()
        if done.was_needed and self._forgets_vectors:
            await embedder.forget_all()
        return done

    async def reindex_is_unfinished(self) -> bool:
        """Whether `reindex` was interrupted by the end of a process."""
        return await is_unfinished(self._engine)

    async def _change_over(
        self, hand_over: Callable[[], Awaitable[None]], indexer: Indexer
    ) -> None:
        async with self._searching.alone():
            await hand_over()
            self._engine.unwatch(self._outlines)
            self._engine.unwatch(self._records)
            self._use(indexer)
        await self._engine.write_identity(indexer.identity)

    async def scrub(self, *, if_due: bool = False) -> bool:
        """Remove forgotten and corrected texts from the disk. Return False if nothing was done.

        With `if_due` it only does so once enough was forgotten to be worth the work. A Qdrant
        server clears its files by itself.
        """
        return await self._engine.scrub(if_due=if_due)

    async def traces(self, words: Sequence[str]) -> tuple[int, dict[str, int]] | None:
        """How many files the memory has, and in how many of them each of these words still stands,
        whoever said it; None for a Qdrant server, whose files are not ours."""
        return await self._engine.traces(words)
