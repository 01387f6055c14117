"""Reindexing a memory by the assistant that uses it and goes on answering and storing.

The new index is built beside the old one as by `assistant reindex`, in steps between which other
tasks run. Rounds that are written, changed or forgotten meanwhile are noted and brought into the
new index too, the last of them while writers wait. Then the new index takes over at a moment when
nobody searches, so that vectors of two encoders are never compared.
"""

import uuid
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, contextmanager
from dataclasses import dataclass

from memory_store import engines
from memory_store._identity import run_of
from memory_store._keys import Indexer
from memory_store.engines import EdgeEngine, Engine, OperatorEngine, RunningEdge
from memory_store.engines._engine import Payload
from memory_store.errors import TransferUnfinished
from memory_store.transfer._filling import ChangedIds, Filling, Pass, Progress
from memory_store.transfer._reindexing import (
    Reindexed,
    begin,
    closed_for_writing,
    complete,
    opened_for_reindex,
    summary,
)

Moment = Callable[[], Awaitable[None]]
"""A function that waits for a moment when it matters little that others have to wait."""
_RUN = "server-"
# How often new changes are brought in before the writers have to wait.
_CATCHING_UP = 5


class ChangesWatcher:
    """Notes which rounds are written or deleted, by user."""

    def __init__(self) -> None:
        self._changed: dict[str, set[str] | None] = {}

    def __bool__(self) -> bool:
        return bool(self._changed)

    def written(self, user_id: str, ids: Sequence[str] | None) -> None:
        """Note these rounds of a user, or all of them."""
        known = self._changed.setdefault(user_id, set())
        if ids is None:
            self._changed[user_id] = None
        elif known is not None:
            known.update(ids)

    def found(self, user_id: str, versions: Mapping[int, int]) -> None:
        """Do nothing: writes of other processes are found by comparing all rounds."""

    def taken(self) -> ChangedIds:
        """Return the changes noted so far, and forget them."""
        taken, self._changed = self._changed, {}
        return taken


@dataclass(frozen=True, slots=True)
class Use:
    """How the assistant uses the memory."""

    resting: Callable[[], AbstractAsyncContextManager[None]]
    """Inside this context the assistant writes nothing."""
    change_over: Callable[[Callable[[], Awaitable[None]], Indexer], Awaitable[None]]
    """Calls the function that lets the new index take over, while nobody searches, and searches by
    the indexer from then on."""


async def reindex_in_use(
    engine: Engine,
    use: Use,
    indexer: Indexer,
    progress: Progress,
    *,
    again: bool = False,
    moment: Moment,
) -> Reindexed:
    """Reindex the open memory for this embedder, key design and schema; see `reindex`."""
    async with AsyncExitStack() as opened:
        old = _running(engine)
        opened.push_async_callback(old.close)
        found = await opened_for_reindex(old)
        new = old.successor()
        opened.push_async_callback(new.close)
        with _watched(engine) as changes:
            filling = await begin(old, new, found, indexer, _RUN + uuid.uuid4().hex, again=again)
            passes: list[Pass] = []
            if filling:
                passes = await _caught_up(filling, changes, progress)
                await moment()
                await filling.some(changes.taken())
                async with use.resting():
                    if old.shared:
                        passes += await _completed_beside_others(filling, found, indexer, progress)
                    else:
                        await _completed(filling, changes.taken(), indexer)
                    await use.change_over(old.hand_over, indexer)
        if old.shared:  # other assistants may still read the old index
            await moment()
        await old.drop_retired()
        return summary(old.place, found, indexer, passes)


async def is_unfinished(engine: Engine) -> bool:
    """Whether an assistant has begun to reindex the open memory and ended before it was done."""
    async with AsyncExitStack() as opened:
        old = _running(engine)
        opened.push_async_callback(old.close)
        await opened_for_reindex(old)
        new = old.successor()
        opened.push_async_callback(new.close)
        return run_of(await new.open_existing() or {}).startswith(_RUN)


def _running(engine: Engine) -> OperatorEngine:
    if isinstance(engine, EdgeEngine):
        return RunningEdge(engine)
    # Named through the package, so that the client of the server is only loaded here.
    if isinstance(engine, engines.ServerEngine):
        return engines.RunningServer(engine)
    raise TypeError(f"{engine.name} cannot be indexed anew while it is in use")


@contextmanager
def _watched(engine: Engine) -> Iterator[ChangesWatcher]:
    watcher = ChangesWatcher()
    engine.watch(watcher)
    try:
        yield watcher
    finally:
        engine.unwatch(watcher)


async def _caught_up(filling: Filling, changes: ChangesWatcher, progress: Progress) -> list[Pass]:
    """Bring in all rounds, compare them once more, and bring in most of the changes meanwhile."""
    passes = [await filling.once(progress, "indexing")]
    changes.taken()  # the next pass compares these changes too
    passes.append(await filling.once(progress, "checking"))
    for _ in range(_CATCHING_UP):
        if not changes:
            break
        await filling.some(changes.taken())
    return passes


async def _completed_beside_others(
    filling: Filling, found: Payload, indexer: Indexer, progress: Progress
) -> list[Pass]:
    """Compare all rounds while no other assistant may write, as nobody notes the writes of those.
    Then close the new index."""
    async with closed_for_writing(filling, found):
        passes = await filling.until_equal(progress, "checking")
        await complete(filling, indexer)
    return passes


async def _completed(filling: Filling, last: ChangedIds, indexer: Indexer) -> None:
    """Bring in the last changes, and close the new index."""
    await filling.some(last)
    ours, theirs = await filling.source.total(), await filling.target.total()
    if ours != theirs:
        raise TransferUnfinished(
            f"{filling.target.place} holds {theirs} rounds instead of {ours}: index the memory "
            "anew once more"
        )
    await complete(filling, indexer)
