"""How rounds are forgotten, with all that depends on them: links, cached vectors, and answers that
repeat them."""

from collections import Counter
from collections.abc import AsyncIterator, Collection, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, tzinfo
from itertools import pairwise

from memory_store._changes.correction import without_answer
from memory_store._changes.writing import Linking, RecordWriter
from memory_store._keys import Indexer, KeyDesign, keys_of
from memory_store._labels import Where
from memory_store._points import postings_in_parts, records_in
from memory_store._types import Days, EnrichmentState, Record, Round
from memory_store.embedding.embedder import Embedder
from memory_store.engines._engine import Engine, UserScope
from memory_store.errors import InvalidRecord
from memory_store.language.sentences import LONGEST_QUERY, sentences
from memory_store.language.words import in_plain_words, terms
from memory_store.scheduler import aside, pause


@dataclass(frozen=True, slots=True)
class RetentionRule:
    """Which rounds of a user are forgotten: those that expire at `expired_by` or before, and those
    said on `said_until` or before, by the days of the zone. With `where`, only those of them that
    have these labels."""

    expired_by: datetime | None = None
    said_until: date | None = None
    where: Where = ()
    zone: tzinfo = UTC

    def __post_init__(self) -> None:
        if self.expired_by is None and self.said_until is None:
            raise InvalidRecord("a rule names a time")

    def scopes(self, user_id: str) -> Iterator[UserScope]:
        """The scopes that hold these rounds; a round may be in both."""
        if self.expired_by is not None:
            yield UserScope(user_id, expired_by=self.expired_by, labels=self.where)
        if self.said_until is not None:
            until = Days(last=self.said_until, zone=self.zone)
            yield UserScope(user_id, days=until, labels=self.where)


@dataclass(frozen=True, slots=True)
class Forgotten:
    """How much was forgotten, or would be: rounds, their facts, and sessions gone whole."""

    rounds: int = 0
    facts: int = 0
    sessions: int = 0
    answers: int = 0
    """How many answers of other rounds repeated them and are withdrawn."""
    changed_sessions: frozenset[str] = frozenset()
    """The sessions of the rounds whose answers are withdrawn."""
    gone: tuple[Round, ...] = field(default=(), compare=False, repr=False)
    """The rounds themselves, for a caller that reports what was forgotten."""

    def __bool__(self) -> bool:
        return self.rounds > 0

    def __add__(self, other: "Forgotten") -> "Forgotten":
        """Add counts of different users."""
        return Forgotten(
            self.rounds + other.rounds,
            self.facts + other.facts,
            self.sessions + other.sessions,
            self.answers + other.answers,
            self.changed_sessions | other.changed_sessions,
            (*self.gone, *other.gone),
        )


def forgotten(
    gone: Sequence[Record], left: Collection[str], withdrawn: Sequence[Record]
) -> Forgotten:
    """Count these rounds; `left` are the sessions that keep other rounds."""
    sessions = {record.round.session_id for record in gone}
    facts = sum(len(record.facts) for record in gone)
    return Forgotten(
        rounds=len(gone),
        facts=facts,
        sessions=len(sessions - set(left)),
        answers=len(withdrawn),
        changed_sessions=frozenset(record.round.session_id for record in withdrawn),
        gone=tuple(record.round for record in gone),
    )


def embedded_texts(record: Record, design: KeyDesign) -> set[str]:
    """Every text of a round that may have been embedded: as a key, as a question, or as a sentence
    that was compared with a question, alone or joined to the sentence before it."""
    user, assistant = record.round.user_text, record.round.assistant_text
    texts = {key.text for key in keys_of(record, design)} | {fact.text for fact in record.facts}
    texts |= {user, user[:LONGEST_QUERY], design.language.as_statement(user[:LONGEST_QUERY])}
    told = sentences(user)
    return texts | {*told, *map(" ".join, pairwise(told)), *sentences(assistant)}


async def embedded_in(records: Iterable[Record], design: KeyDesign) -> set[str]:
    """Every text of rounds that may have been embedded, as it stands and in plain words."""
    texts: set[str] = set()
    for record in records:
        texts |= await aside(record.round.size, embedded_texts, record, design)
    return texts | set(map(in_plain_words, texts))


def new_terms(record: Record) -> set[int]:
    """The terms of the answer that the user's text of the same round does not have."""
    round = record.round
    return set(terms(round.assistant_text)) - set(terms(round.user_text))


def told_in(record: Record) -> set[str]:
    """The sentences of both sides of a round."""
    return {*sentences(record.round.user_text), *sentences(record.round.assistant_text)}


def quotes(record: Record, told: Iterable[str]) -> bool:
    """Whether the answer has one of these whole sentences in it."""
    answer = record.round.assistant_text
    return any(sentence in answer for sentence in told)


# A word that more rounds than this have does not point to the forgotten one.
_FEW = 5
# How many rounds are deleted in one go.
_AT_ONCE = 64


class Removal:
    """Forgets rounds of an engine, and takes out what they have said."""

    def __init__(
        self,
        engine: Engine,
        writer: RecordWriter,
        indexer: Indexer,
        linking: Linking,
        forgetful: Embedder | None,
    ) -> None:
        """`forgetful` is the embedder whose caches forget too; None if they keep what they have."""
        self._engine = engine
        self._writer = writer
        self._design = indexer.design
        self._linking = linking
        self._forgetful = forgetful

    async def forget(
        self, scope: UserScope, enrichment: EnrichmentState, *, dry_run: bool
    ) -> Forgotten:
        """Forget the rounds in scope, which are some or all of a user's; `dry_run` only counts."""
        gone = await records_in(self._engine, scope)
        others_stay = scope != UserScope(scope.user_id)
        repeating = await self.repeating(scope.user_id, gone) if others_stay else []
        count = forgotten(gone, await self._sessions_left(scope, gone), repeating)
        if not gone or dry_run:
            return count
        if others_stay:
            await self._withdraw(repeating, enrichment)
            await self._linking.before_forgetting(scope.user_id, gone)
        await self._delete(scope, gone)
        if others_stay:
            await self._linking.after_forgetting(scope.user_id, gone)
        return count

    async def _delete(self, scope: UserScope, gone: Sequence[Record]) -> None:
        """Delete the rounds some at a time, and at last whatever else has come into scope. After an
        interruption, forgetting again deletes the rest."""
        for start in range(0, len(gone), _AT_ONCE):
            some = gone[start : start + _AT_ONCE]
            async with self._vectors_dropped(some):
                await self._engine.delete(replace(scope, ids=tuple(r.id for r in some)))
            await pause()
        await self._engine.delete(scope)

    async def put_right(
        self, before: Record, after: Record, enrichment: EnrichmentState
    ) -> frozenset[str]:
        """Write a corrected record over the earlier one. Return the sessions of the answers that
        are withdrawn. Raises `RoundTaken` if another writer is writing one of the rounds."""
        user_id = before.round.user_id
        repeating: list[Record] = []
        if not _says_the_same(before, after):
            repeating = await self.repeating(user_id, [before])
        await self._withdraw(repeating, enrichment)
        staying = {fact.text for fact in after.facts}
        await self._linking.before_forgetting(user_id, [before], staying)
        async with self._vectors_dropped([before], staying=[after]):
            over = {before.id: before.round.turn_ids}
            await self._writer.write([after], over, erasing=True)
        await self._linking.after_forgetting(user_id, [before])
        return frozenset(record.round.session_id for record in repeating)

    async def repeating(self, user_id: str, gone: Sequence[Record]) -> list[Record]:
        """The other rounds whose answers repeat these, directly or through another answer."""
        known = {record.id for record in gone}
        found = await self._naming(user_id, known, known)
        next_ = found
        while next_:
            known |= {record.id for record in next_}
            further = await self._naming(user_id, {record.id for record in next_}, known)
            next_ = await self._telling(user_id, further, gone) if further else []
            found += next_
        return found

    async def _naming(self, user_id: str, ids: set[str], known: set[str]) -> list[Record]:
        """The rounds not yet known whose answers name one of these as what they repeat."""
        found = await records_in(self._engine, UserScope(user_id, repeats=tuple(sorted(ids))))
        return [record for record in found if record.id not in known]

    async def _telling(
        self, user_id: str, candidates: Sequence[Record], gone: Sequence[Record]
    ) -> list[Record]:
        """The candidates whose answers still tell of the rounds that go: by a sentence of theirs,
        or by one of their words that few rounds have. Without this limit, a chain of repeating
        answers would spread over all of them."""
        words: set[int] = set()
        told: set[str] = set()
        for record in gone:
            text = f"{record.round.user_text}\n{record.round.assistant_text}"
            words.update(await aside(len(text), terms, text))
            told |= await aside(len(text), told_in, record)
        said = sorted(words)
        having = await postings_in_parts(self._engine, said, UserScope(user_id), _FEW + 1)
        rare = {term for term, held in zip(said, having, strict=True) if len(held) <= _FEW}
        telling = []
        for record in candidates:
            size = len(told) + record.round.size
            tells = not rare.isdisjoint(await aside(size, new_terms, record))
            if not tells:
                tells = await aside(size, quotes, record, told)
            if tells:
                telling.append(record)
        return telling

    async def _withdraw(self, repeating: Sequence[Record], enrichment: EnrichmentState) -> None:
        """Take the answers out of these rounds of one user. Raises `RoundTaken` if another writer
        is writing one of them."""
        if not repeating:
            return
        changed = []
        for record in repeating:
            changed.append(
                await aside(
                    record.round.size, without_answer, record, enrichment, self._design.language
                )
            )
        async with self._vectors_dropped(repeating, staying=changed):
            over = {record.id: record.round.turn_ids for record in repeating}
            await self._writer.write(changed, over, erasing=True)

    async def _sessions_left(self, scope: UserScope, gone: Sequence[Record]) -> set[str]:
        """The sessions that keep other rounds; only a scope that names rounds by id leaves any."""
        if scope.ids is None:
            return set()
        sessions = {record.round.session_id for record in gone}
        counts = {id: await self._engine.count(UserScope(scope.user_id, id)) for id in sessions}
        own = Counter(record.round.session_id for record in gone)
        return {id for id, count in counts.items() if count > own[id]}

    @asynccontextmanager
    async def _vectors_dropped(
        self, gone: Sequence[Record], staying: Sequence[Record] = ()
    ) -> AsyncIterator[None]:
        """Drop the cached vectors of the texts that go, before and after the write. Before, because
        after a crash nobody would know which texts they were. After, because a reader may have
        embedded the texts meanwhile; also on failure, as the write may have been done all the same.
        """
        if not self._forgetful:
            yield
            return
        texts = await embedded_in(gone, self._design) - await embedded_in(staying, self._design)
        await self._forgetful.forget(texts)
        try:
            yield
        finally:
            await self._forgetful.forget(texts)


def _says_the_same(one: Record, other: Record) -> bool:
    first, second = one.round, other.round
    return (first.user_text, first.assistant_text) == (second.user_text, second.assistant_text)
