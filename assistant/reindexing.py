"""Indexing the memory anew in the background, when an admin asks for it. Everybody is served."""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from assistant.designs.control_points import AIDE_MEMOIRE
from assistant.errors import AssistantError, ReindexRefused
from assistant.idle_moments import QuietMoments
from assistant.settings import Settings
from memory_store import MemoryStore
from memory_store.embedding import Embedder
from memory_store.errors import MemoryStoreError
from memory_store.scheduler import new_job

_log = logging.getLogger(__name__)
# Writers wait a little at the end, so the end waits for a quiet moment, but no longer than this.
_LONGEST_PUT_OFF = 600.0


class ReindexStatus(StrEnum):
    """How far indexing anew is."""

    NONE = "none"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"


@dataclass(slots=True)
class ReindexProgress:
    """How far the last or the running reindex is; the reindex reports each step to it."""

    status: ReindexStatus = ReindexStatus.NONE
    step: str = ""
    rounds: int = 0
    total: int = 0
    error: str = ""

    def begin(self, step: str, rounds: int) -> None:
        """See `memory_store.transfer.Progress`."""
        self.step, self.rounds, self.total = step, 0, rounds

    def advance(self, rounds: int) -> None:
        """See `memory_store.transfer.Progress`."""
        self.rounds += rounds


class Reindexing:
    """Indexes a store anew by the embedder of the settings, once at a time."""

    def __init__(
        self,
        settings: Settings,
        store: MemoryStore,
        make_embedder: Callable[[], Embedder],
        quiet: QuietMoments,
        *,
        done: Callable[[], None] = lambda: None,
    ) -> None:
        """`done` is called when another index has taken over."""
        self._settings = settings
        self._store = store
        self._make_embedder = make_embedder
        self._quiet = quiet
        self._tell_done = done
        self._looking: asyncio.Task[None] | None = None
        """Finds out whether a reindex was interrupted before the start."""
        self._running: asyncio.Task[None] | None = None
        self.progress = ReindexProgress()

    def start(self, *, again: bool = False) -> bool:
        """Begin a reindex and return True, or return False if one is running. With `again` it
        begins even if nothing has changed.

        Raises `ReindexRefused` where this server cannot reindex while it answers.
        """
        if refusal := self._refusal():
            raise ReindexRefused(refusal)
        if self.progress.status is ReindexStatus.RUNNING:
            return False
        self.progress = ReindexProgress(ReindexStatus.RUNNING)
        self._running = asyncio.create_task(self._run(again=again))
        return True

    def go_on(self) -> None:
        """Go on in the background with a reindex that the end of a process has interrupted."""
        if not self._refusal():
            self._looking = asyncio.create_task(self._look())

    async def close(self) -> None:
        """Stop a reindex; what it has done by then stays."""
        for task in filter(None, (self._looking, self._running)):
            task.cancel()
            await asyncio.wait([task])

    def _refusal(self) -> str:
        """Why this server cannot reindex; empty where it can."""
        if self._settings.workers > 1:
            return (
                "several workers share this memory, and one cannot change the index of the "
                "others: run `assistant reindex --keep-old` beside them and restart them, or "
                "serve with one worker meanwhile"
            )
        if self._settings.design != AIDE_MEMOIRE:
            return (
                f"design={self._settings.design} keeps vectors of its own: stop the assistant, "
                "and run `assistant reindex`"
            )
        return ""

    async def _look(self) -> None:
        try:
            if not await self._store.reindex_is_unfinished():
                return
        except MemoryStoreError as error:
            _log.warning("cannot tell whether a reindex was interrupted: %s", error)
            return
        if self.start():
            _log.info("going on with the reindex that was interrupted")

    async def _run(self, *, again: bool) -> None:
        if self._looking:  # else both tasks would open the unfinished index
            await asyncio.wait([self._looking])
        # A job without an owner: else it would count as work of whoever asked for it.
        with new_job():
            try:
                done = await self._store.reindex(
                    self._make_embedder, self.progress, again=again, moment=self._moment
                )
            except Exception as error:  # no caller waits for it: only the status can tell
                self._failed(error)
                return
        self.progress.status = ReindexStatus.DONE
        _log.info("reindex done: %d rounds encoded by %s", done.written, done.now["embedder"])
        self._tell_done()

    def _failed(self, error: Exception) -> None:
        known = isinstance(error, (AssistantError, MemoryStoreError))
        self.progress.status = ReindexStatus.FAILED
        self.progress.error = str(error) if known else "internal error; see the server log"
        _log.error("reindex failed: %s", error, exc_info=not known)

    async def _moment(self) -> None:
        now = asyncio.get_running_loop().time()
        await self._quiet.next(until=now + _LONGEST_PUT_OFF)
