"""`assistant migrate`: a memory is moved to another engine unchanged, with its keys."""

import json
import uuid
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass

import numpy as np

from memory_store._identity import State, maker, marked, place_of, refuse_unready, state_of
from memory_store.engines._engine import Payload, Point
from memory_store.engines._operator import OperatorEngine
from memory_store.errors import StoreMismatch, StoreNotEmpty
from memory_store.transfer._filling import Filling, Progress, open_there


@dataclass(frozen=True, slots=True)
class Migrated:
    """What a migration did. `written` and `removed` are rounds of the target, over all passes."""

    source: str
    target: str
    rounds: int
    checksum: str
    already_there: int
    written: int
    removed: int
    passes: int


async def migrate(source: OperatorEngine, target: OperatorEngine, progress: Progress) -> Migrated:
    """Copy every round with its keys until a last reading shows that both memories are equal.

    The source is only read. Another run after a crash, or after the source has changed, copies the
    difference, as long as no assistant has used the target.

    Raises `StoreMissing`, `StoreLocked`, `StoreNotEmpty`, `StoreMismatch`, `StoreUnready`,
    `TransferUnfinished` and what the engines raise.
    """
    async with AsyncExitStack() as opened:
        opened.push_async_callback(source.close)
        opened.push_async_callback(target.close)
        made = await _opened_source(source)
        await _open_target(target, source, made)
        run = uuid.uuid4().hex
        await target.sign(marked(made, State.ARRIVING, source.place, run))
        filling = Filling(source, target, run, True, _content, _as_it_is)
        passes = await filling.until_equal(progress, "copying")
        await target.sign(marked(made, State.COPIED, source.place))
        shown = passes[-1].target
        return Migrated(
            source.place,
            target.place,
            shown.rounds,
            shown.checksum,
            passes[0].kept,
            sum(each.written for each in passes),
            sum(each.removed for each in passes),
            len(passes),
        )


async def _opened_source(source: OperatorEngine) -> Payload:
    identity = await open_there(source)
    refuse_unready(identity)
    return maker(identity)


async def _open_target(target: OperatorEngine, source: OperatorEngine, made: Payload) -> None:
    found = await target.open_existing()
    if found is not None and _is_copy(found, source):
        if maker(found) == made:
            return
        # The source was reindexed since the copy began.
        await target.drop()
    elif found is not None:
        await _refuse_other(target, found, made)
        return
    await target.close()
    await target.open(int(made["dimension"]))


def _is_copy(identity: Payload, source: OperatorEngine) -> bool:
    copied = state_of(identity) in (State.ARRIVING, State.COPIED)
    return copied and place_of(identity) == source.place


async def _refuse_other(target: OperatorEngine, found: Payload, made: Payload) -> None:
    """Raise an error for a target that is not empty, or has another embedder or schema."""
    if rounds := await target.total():
        raise StoreNotEmpty(
            f"{target.place} holds another memory of {rounds} rounds: give `assistant migrate` "
            "an empty place (another --data-dir, or another qdrant.collection)"
        )
    if maker(found) != made:
        raise StoreMismatch(
            f"the empty memory in {target.place} was created for {maker(found)}, but the "
            f"source uses "
            f"{dict(made)}: remove it, or give `assistant migrate` another place"
        )


async def _as_it_is(points: Sequence[Point]) -> Sequence[Point]:
    return points


def _content(point: Point) -> bytes:
    """The whole content of a point, with its keys as the 16-bit floats that engines hold."""
    words = sorted(point.words.items())
    payload = json.dumps([point.payload, words], sort_keys=True, separators=(",", ":"))
    return payload.encode() + point.keys.astype(np.float16).tobytes()
