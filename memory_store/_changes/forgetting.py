"""How rounds go, and what goes with them: links, vectors in caches, answers that repeat them."""

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
    """Which rounds of a user go: those that expire at `expired_by` or before, and those that were
    said on `said_until` or before, by the days of the zone. With `where`, of all these only those
    labelled like this."""

    expired_by: datetime | None = None
    said_until: date | None = None
    where: Where = ()
    zone: tzinfo = UTC

    def __post_init__(self) -> None:
        if self.expired_by is None and self.said_until is None:
            raise InvalidRecord("a rule names a time")

    def scopes(self, user_id: str) -> Iterator[UserScope]:
        """The scopes in which these rounds lie; some may lie in both."""
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
    """Answers of other rounds that repeated them, and are withdrawn."""
    changed_sessions: frozenset[str] = frozenset()
    """The sessions of these other rounds."""
    gone: tuple[Round, ...] = field(default=(), compare=False, repr=False)
    """The rounds themselves, for who says what went."""

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
    """The count of these rounds; `left` are the sessions of which other rounds stay."""
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
    """Every text of a round that may have been embedded: as a key, as the question that it was, or
    as a sentence that was weighed against one, alone or with the one before it."""
    user, assistant = record.round.user_text, record.round.assistant_text
    texts = {key.text for key in keys_of(record, design)} | {fact.text for fact in record.facts}
    texts |= {user, user[:LONGEST_QUERY], design.language.as_statement(user[:LONGEST_QUERY])}
    told = sentences(user)
    return texts | {*told, *map(" ".join, pairwise(told)), *sentences(assistant)}


async def embedded_in(records: Iterable[Record], design: KeyDesign) -> set[str]:
    """Every text of rounds that may have been embedded; texts are compared in plain words, too."""
    texts: set[str] = set()
    for record in records:
        texts |= await aside(record.round.size, embedded_texts, record, design)
    return texts | set(map(in_plain_words, texts))


def new_terms(record: Record) -> set[int]:
    """The terms of an answer that what the user said beside it has not."""
    round = record.round
    return set(terms(round.assistant_text)) - set(terms(round.user_text))


def told_in(record: Record) -> set[str]:
    """The sentences of both sides of a round."""
    return {*sentences(record.round.user_text), *sentences(record.round.assistant_text)}


def quotes(record: Record, told: Iterable[str]) -> bool:
    """Whether the answer has one of these whole sentences in it."""
    answer = record.round.assistant_text
    return any(sentence in answer for sentence in told)


# A word that more rounds than these have says nothing of one that goes.
_FEW = 5
# Rounds that are deleted in one go.
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
        """`forgetful` is the embedder whose caches forget, too, if they shall."""
        self._engine = engine
        self._writer = writer
        self._design = indexer.design
        self._linking = linking
        self._forgetful = forgetful

    async def forget(
        self, scope: UserScope, enrichment: EnrichmentState, *, dry_run: bool
    ) -> Forgotten:
        """Forget the rounds in scope, of which a part of a user's or all; or count them only."""
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
        """Delete the rounds some at a time, and last whatever else has come into scope. Broken off,
        it is gone on with by forgetting again."""
        for start in range(0, len(gone), _AT_ONCE):
            some = gone[start : start + _AT_ONCE]
            async with self._vectors_dropped(some):
                await self._engine.delete(replace(scope, ids=tuple(r.id for r in some)))
            await pause()
        await self._engine.delete(scope)

    async def put_right(
        self, before: Record, after: Record, enrichment: EnrichmentState
    ) -> frozenset[str]:
        """Write a record over what it said before; the sessions of the answers that are withdrawn.
        `RoundTaken` when one is just being written."""
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
        """The other rounds whose answers repeat these, or repeat them by way of such an answer."""
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
        """Answers that still tell of what goes: by a sentence of it, or by a word of it that few
        rounds have. Without this, word after word, every answer would hang on every other."""
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
        """Take the answers out of these rounds of one user. `RoundTaken` when one is just being
        written."""
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
        """The sessions of which other rounds stay; only rounds named by id leave some."""
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
        """Drop the vectors of texts that go, before and after: should the process end in between,
        nobody would know any more which they were; and until then the texts can still be read.
        After a failure, too: what was not heard to be done may have been."""
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
