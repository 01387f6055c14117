"""A memory indexed anew by the assistant that uses it, which goes on answering and storing.

The new index is built beside the old one as by `assistant reindex`, in steps between which others
have their turn. What is written, changed or forgotten meanwhile is noted, and reaches the new
index, too: the last of it while writers wait. Then the new index takes over, at a moment at which
nobody searches, so that no vector of one encoder meets those of another.
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
"""Waits for a moment at which it matters little that others have to wait."""
_RUN = "server-"
# Times that what was written meanwhile is brought in before the writers have to wait.
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
        """What others write is found by comparing everything."""

    def taken(self) -> ChangedIds:
        """Those noted so far, which are forgotten by this."""
        taken, self._changed = self._changed, {}
        return taken


@dataclass(frozen=True, slots=True)
class Use:
    """How the assistant uses the memory."""

    resting: Callable[[], AbstractAsyncContextManager[None]]
    """Within, the assistant writes nothing."""
    change_over: Callable[[Callable[[], Awaitable[None]], Indexer], Awaitable[None]]
    """Does what lets the new index take over while nobody searches, and searches by the indexer
    from then on."""


async def reindex_in_use(
    engine: Engine,
    use: Use,
    indexer: Indexer,
    progress: Progress,
    *,
    again: bool = False,
    moment: Moment,
) -> Reindexed:
    """Make the open memory one of this embedder, key design and schema; see `reindex`."""
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
        if old.shared:  # others may be reading
            await moment()
        await old.drop_retired()
        return summary(old.place, found, indexer, passes)


async def is_unfinished(engine: Engine) -> bool:
    """Whether an assistant has begun to index the open memory anew, and was ended before."""
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
    # Named through its package, so that its client is loaded only here.
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
    """Everything brought in and compared once more, and most of what was written meanwhile."""
    passes = [await filling.once(progress, "indexing")]
    changes.taken()  # what is compared now, too
    passes.append(await filling.once(progress, "checking"))
    for _ in range(_CATCHING_UP):
        if not changes:
            break
        await filling.some(changes.taken())
    return passes


async def _completed_beside_others(
    filling: Filling, found: Payload, indexer: Indexer, progress: Progress
) -> list[Pass]:
    """Everything compared while no other assistant is let write either, whose writes nobody notes;
    the new index is closed then."""
    async with closed_for_writing(filling, found):
        passes = await filling.until_equal(progress, "checking")
        await complete(filling, indexer)
    return passes


async def _completed(filling: Filling, last: ChangedIds, indexer: Indexer) -> None:
    """The last changes brought in, and the new index closed."""
    await filling.some(last)
    ours, theirs = await filling.source.total(), await filling.target.total()
    if ours != theirs:
        raise TransferUnfinished(
            f"{filling.target.place} holds {theirs} rounds instead of {ours}: index the memory "
            "anew once more"
        )
    await complete(filling, indexer)
