"""`assistant reindex`: every round indexed anew, by another embedder, other keys, another schema.

The new index is built beside the old one, which serves until the new one is complete. On a server,
where assistants go on writing, the last passes read the old one after it was closed for writing, so
that every acknowledged round is in the new one; see `ServerEngine`. A running assistant does the
same with its own memory (`_in_use.py`).
"""

import uuid
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, replace

from memory_store._changes.correction import GIVEN, given_facts
from memory_store._changes.forgetting import embedded_in
from memory_store._changes.links import RULE, without_rule_links
from memory_store._changes.writing import Linking
from memory_store._facts import rule_facts, slot_of
from memory_store._identity import (
    SCHEMA_VERSION,
    State,
    maker,
    marked,
    place_of,
    refuse_unready,
    state_of,
)
from memory_store._keys import Indexer, KeyDesign
from memory_store._points import from_payload
from memory_store._types import Fact, Record, Speaker
from memory_store.embedding.embedder import Embedder
from memory_store.engines._engine import Payload, Point
from memory_store.engines._operator import OperatorEngine
from memory_store.errors import MemoryStoreError, StoreMismatch, StoreNotEmpty
from memory_store.language import ENGLISH, Language
from memory_store.scheduler import aside, in_slices
from memory_store.transfer._filling import Filling, Pass, Progress, open_there
from memory_store.transfer._records import to_line


def renewed(record: Record, language: Language = ENGLISH) -> Record:
    """The record with the facts that today's rules find, without rules' links. If the user gave
    facts, or said who said them, the record's own facts are kept instead."""
    round = replace(record.round, reading=language.read(record.round.user_text))
    record = replace(record, round=round)
    if given := given_facts(record):
        facts = [replace(without_rule_links(f), slot=language.slot_of(f.text)) for f in given]
        return replace(record, facts=tuple(facts))
    kept = {fact.text: without_rule_links(fact) for fact in record.facts if _is_kept(fact)}
    facts = []
    for fact in rule_facts(record.round, language):
        known = kept.pop(fact.text, fact)
        facts.append(
            replace(
                known,
                speaker=fact.speaker,
                event_dates=fact.event_dates,
                slot=fact.slot,
                in_doubt=fact.in_doubt,
                condition=fact.condition,
            )
        )
    said = record.round.user_text
    facts += [replace(fact, slot=slot_of(fact.text, said, language)) for fact in kept.values()]
    return replace(record, facts=tuple(facts))


def lasting(record: Record) -> bytes:
    """The part of a record that must be the same in every index."""
    kept = [without_rule_links(fact) for fact in record.facts if _is_kept(fact)]
    plain = [
        replace(
            fact,
            slot=None,
            event_dates=(),
            in_doubt=False,
            condition=fact.condition if fact.source == GIVEN else None,
        )
        for fact in kept
    ]
    told = [replace(fact, speaker=Speaker.USER) if _is_read(fact) else fact for fact in plain]
    ordered = tuple(sorted(told, key=lambda fact: fact.text))
    return to_line(replace(record, facts=ordered)).encode()


def _is_read(fact: Fact) -> bool:
    """Whether the speaker of the fact follows from the text, by today's rules."""
    return fact.source != GIVEN and fact.speaker is not Speaker.ASSISTANT


def _is_kept(fact: Fact) -> bool:
    chosen = without_rule_links(fact)
    return fact.source != RULE or bool(chosen.superseded_by or chosen.supersedes)


# The most passes while assistants write. With at most `_FEW` changed rounds the last passes are
# quick.
_CATCHING_UP = 4
_FEW = 128


@dataclass(frozen=True, slots=True)
class Reindexed:
    """What a reindex did; `written` is how many rounds were encoded, `already_there` how many an
    interrupted run had done. The checksum is over the values, which have not changed."""

    place: str
    was: Payload
    now: Payload
    rounds: int
    checksum: str
    already_there: int
    written: int
    passes: int

    @property
    def was_needed(self) -> bool:
        """Whether there was anything to do."""
        return self.passes > 0


async def reindex(
    old: OperatorEngine,
    make_embedder: Callable[[], Embedder],
    progress: Progress,
    *,
    design: KeyDesign | None = None,
    keep_old: bool = False,
    again: bool = False,
) -> Reindexed:
    """Reindex a memory for this embedder, key design and schema, without losing a round.

    If it has these already, nothing is done, unless `again`. An interrupted run is continued. The
    embedder, which takes seconds to load, is only made once a memory was found, and is closed.

    Raises `StoreMissing`, `StoreLocked`, `StoreMismatch`, `StoreUnready`, `StoreNotEmpty`,
    `TransferUnfinished`, `EmbeddingFailed` and what the engines raise.
    """
    async with AsyncExitStack() as opened:
        opened.push_async_callback(old.close)
        found = await opened_for_reindex(old)
        embedder = make_embedder()
        opened.push_async_callback(embedder.close)
        indexer = Indexer(embedder, design or KeyDesign())
        new = old.successor()
        opened.push_async_callback(new.close)
        filling = await begin(old, new, found, indexer, uuid.uuid4().hex, again=again)
        passes: list[Pass] = []
        if filling:
            passes = await _build(filling, found, indexer, progress)
            await old.hand_over()
            await embedder.forget_all()
        if not keep_old:
            await old.drop_retired()
        return summary(old.place, found, indexer, passes)


async def cancel_reindex(old: OperatorEngine) -> bool:
    """Stay with the old index: open it for writing again, and drop the index built beside it.
    Return whether there was anything to cancel."""
    async with AsyncExitStack() as opened:
        opened.push_async_callback(old.close)
        found = await open_there(old)
        was_closed = state_of(found) is State.CLOSED
        if was_closed:
            await old.sign(maker(found))
        new = old.successor()
        opened.push_async_callback(new.close)
        begun = await new.open_existing()
        was_begun = begun is not None and _is_successor(begun, old)
        if was_begun:
            await new.drop()
        return was_closed or was_begun


async def opened_for_reindex(old: OperatorEngine) -> Payload:
    """Open a memory that may be reindexed, and return its identity."""
    found = await open_there(old)
    if state_of(found) is not State.CLOSED:  # an interrupted run may have left it closed
        refuse_unready(found)
    if int(found["schema_version"]) > SCHEMA_VERSION:
        raise StoreMismatch(
            f"{old.place} was written by a newer version of the assistant "
            f"(schema_version {found['schema_version']}, {SCHEMA_VERSION} here): upgrade this one"
        )
    return found


async def begin(
    old: OperatorEngine,
    new: OperatorEngine,
    found: Payload,
    indexer: Indexer,
    run: str,
    *,
    again: bool,
) -> Filling | None:
    """Open the new index and return what fills it; None if there is nothing to do."""
    wanted = indexer.identity
    is_begun = await _is_begun(new, old, wanted)
    if not (is_begun or again or maker(found) != wanted):
        return None
    if not is_begun:
        await new.open(indexer.embedder.identity.dimension)
    await new.sign(marked(wanted, State.BUILDING, old.place, run))
    linking = Linking(new, indexer.design.language)
    if is_begun:
        # An interruption may have left links to rounds that were then not written.
        for user_id in await new.users():
            await linking.anew(user_id)
    return _filling(old, new, indexer, linking, run)


async def _is_begun(new: OperatorEngine, old: OperatorEngine, wanted: Payload) -> bool:
    """Whether an interrupted run has begun the wanted index, which is then open. An index begun
    for another embedder, design or schema is dropped."""
    found = await new.open_existing()
    if found is None:
        return False
    if not _is_successor(found, old):
        raise StoreNotEmpty(
            f"cannot create the new index: {new.place} already holds another memory"
        )
    if maker(found) != wanted:
        await new.drop()
        await new.close()
        return False
    return True


def _filling(
    old: OperatorEngine, new: OperatorEngine, indexer: Indexer, linking: Linking, run: str
) -> Filling:
    language = indexer.design.language

    async def encoded(points: Sequence[Point]) -> Sequence[Point]:
        records = []
        async for record in _records(points):
            records.append(await aside(record.round.size, renewed, record, language))
        return await indexer.points(await linking.before_indexing(records))

    async def leaving(points: Sequence[Point]) -> None:
        records = [record async for record in _records(points)]
        await indexer.embedder.forget(await embedded_in(records, indexer.design))
        await linking.leaving_out(records)

    return Filling(old, new, run, False, _content, encoded, leaving)


def _records(points: Sequence[Point]) -> AsyncIterator[Record]:
    return in_slices(from_payload(point.payload) for point in points)


def _is_successor(identity: Payload, old: OperatorEngine) -> bool:
    filled = state_of(identity) in (State.BUILDING, State.COPIED)
    return filled and place_of(identity) == old.place


async def _build(
    filling: Filling, found: Payload, indexer: Indexer, progress: Progress
) -> list[Pass]:
    """Fill the new index until it is complete, and leave it closed, ready to serve."""
    passes = [await filling.once(progress, "indexing")]
    while filling.source.shared and passes[-1].changed > _FEW and len(passes) < _CATCHING_UP:
        passes.append(await filling.once(progress, "catching up"))
    async with closed_for_writing(filling, found):
        passes += await filling.until_equal(progress, "checking")
        await complete(filling, indexer)
    return passes


async def complete(filling: Filling, indexer: Indexer) -> None:
    """Mark the new index as complete, and close it."""
    old, new = filling.source, filling.target
    await new.sign(marked(indexer.identity, State.COPIED, old.place, filling.run))
    await new.close()


@asynccontextmanager
async def closed_for_writing(filling: Filling, found: Payload) -> AsyncIterator[None]:
    """Close the old index for writing, so that no write to it is acknowledged any more. It stays
    closed on success, and is opened again on failure."""
    old, new = filling.source, filling.target
    try:
        await old.sign(marked(found, State.CLOSED, new.place))
        yield
    except BaseException:
        with suppress(MemoryStoreError):
            await old.sign(maker(found))
        raise


def _content(point: Point) -> bytes:
    return lasting(from_payload(point.payload))


def summary(place: str, found: Payload, indexer: Indexer, passes: Sequence[Pass]) -> Reindexed:
    """The result of these passes."""
    was, now = maker(found), indexer.identity
    if not passes:
        return Reindexed(place, was, now, 0, "", 0, 0, 0)
    shown = passes[-1].target
    written = sum(each.written for each in passes)
    return Reindexed(
        place, was, now, shown.rounds, shown.checksum, passes[0].kept, written, len(passes)
    )
