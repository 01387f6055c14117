"""When enrichment happens: after a pause in a session, when it is closed, and after a start.

Nothing here has to be stored: the records themselves tell what waits, and are read at the start
and then from time to time. Several processes may do so, as only one claims a round (`Claims`).
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterator
from weakref import WeakValueDictionary

from assistant.clock import Clock
from assistant.enrichment.enricher import Enricher, Left
from assistant.errors import BadModelReply, PromptRefused, PromptTooLong, ReplyUnfinished
from memory_store import EnrichmentState, MemoryStore, Record
from memory_store.errors import MemoryStoreError

_log = logging.getLogger(__name__)

_SWEEP_SECONDS = 900.0
# How many sessions, of different users, are enriched at once. Nobody waits for them; a few are
# enough to keep up, and leave the model to the answers that people do wait for.
_SESSIONS_AT_ONCE = 4
# Seconds between two checks whether another process is done with a session.
_ELSEWHERE_PAUSE = 1.0
_FIRST_PAUSE = 0.5
_LONGEST_PAUSE = 60.0
# Failures that last: the same extractor would fail again tomorrow, but another one may not.
_LASTING = tuple(
    kind.code for kind in (BadModelReply, PromptRefused, PromptTooLong, ReplyUnfinished)
)
_Session = tuple[str, str]


class EnrichmentWorker:
    """Runs an `Enricher` in the background, for one session of a user at a time, in the order in
    which sessions became due."""

    def __init__(
        self,
        store: MemoryStore,
        enricher: Enricher,
        *,
        clock: Clock,
        idle_seconds: float,
        lease_seconds: float,
    ) -> None:
        self._store = store
        self._enricher = enricher
        self._clock = clock
        self._idle_seconds = idle_seconds
        self._lease_seconds = lease_seconds
        self._slots = asyncio.Semaphore(_SESSIONS_AT_ONCE)
        # A lock is there as long as somebody holds or awaits it.
        self._users: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._timers: dict[_Session, asyncio.TimerHandle] = {}
        self._running: set[asyncio.Task[None]] = set()
        self._sweepers: list[asyncio.Task[None]] = []
        self._since: dict[_Session, float] = {}

    @property
    def is_paused(self) -> bool:
        """Whether no more may be spent today."""
        return self._enricher.cap.is_reached()

    @property
    def waiting(self) -> list[float]:
        """Seconds since each session that is due, or will be, was first heard of."""
        now = asyncio.get_running_loop().time()
        return [now - since for since in self._since.values()]

    def start(self) -> None:
        """From now on and regularly, take up what an earlier run left, and what another process
        began before it ended."""
        self._sweepers = [
            asyncio.create_task(self._repeatedly(self._resume, _SWEEP_SECONDS)),
            asyncio.create_task(self._repeatedly(self._take_over, self._lease_seconds)),
        ]

    async def close(self) -> None:
        """Stop; what is not done yet waits in the store for the next start."""
        for timer in self._timers.values():
            timer.cancel()
        tasks = [*self._running, *self._sweepers]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def recorded(self, user_id: str, session_id: str) -> None:
        """Note that something was said in a session: it is due when nothing more is for a while."""
        self._due(user_id, session_id, self._idle_seconds)

    def closed(self, user_id: str, session_id: str) -> None:
        """Make a session due now: nothing more will be said in it."""
        self._due(user_id, session_id, 0.0)

    async def finish(self, user_id: str, session_id: str) -> None:
        """Enrich the session now; on return each of its rounds is done, or failed for a reason."""
        self._cancel(user_id, session_id)
        pause = _FIRST_PAUSE
        while (left := await self._enrich(user_id, session_id)).waiting:
            await asyncio.sleep(_ELSEWHERE_PAUSE if left.elsewhere else pause)
            pause = _FIRST_PAUSE if left.elsewhere else min(pause * 2, _LONGEST_PAUSE)
        self._settled(user_id, session_id)

    def _due(self, user_id: str, session_id: str, seconds: float) -> None:
        self._cancel(user_id, session_id)
        loop = asyncio.get_running_loop()
        self._timers[user_id, session_id] = loop.call_later(
            seconds, self._launch, user_id, session_id
        )
        self._since.setdefault((user_id, session_id), loop.time())

    def _cancel(self, user_id: str, session_id: str) -> None:
        if timer := self._timers.pop((user_id, session_id), None):
            timer.cancel()

    def _launch(self, user_id: str, session_id: str) -> None:
        self._timers.pop((user_id, session_id), None)
        task = asyncio.create_task(self._run(user_id, session_id))
        self._running.add(task)
        task.add_done_callback(self._running.discard)

    async def _run(self, user_id: str, session_id: str) -> None:
        try:
            await self.finish(user_id, session_id)
        except MemoryStoreError as error:
            _log.warning("enrichment paused, store unavailable: %s", error)
            self._due(user_id, session_id, _LONGEST_PAUSE)
        except Exception:  # whatever it was, the next session must have its turn
            _log.exception("fact extraction failed for a session")
            self._settled(user_id, session_id)

    def _settled(self, user_id: str, session_id: str) -> None:
        """Note that nothing waits any more, unless more was said meanwhile."""
        if (user_id, session_id) not in self._timers:
            self._since.pop((user_id, session_id), None)

    async def _enrich(self, user_id: str, session_id: str) -> Left:
        lock = self._users.setdefault(user_id, asyncio.Lock())
        async with lock, self._slots:
            return await self._enricher.enrich(user_id, session_id)

    async def _repeatedly(self, sweep: Callable[[], Awaitable[None]], seconds: float) -> None:
        while True:
            try:
                await sweep()
            except MemoryStoreError as error:
                _log.warning("cannot list rounds pending enrichment: %s", error)
            except Exception:  # the next sweep must come, whatever happened to this one
                _log.exception("looking for rounds that wait for enrichment failed")
            await asyncio.sleep(seconds)

    async def _resume(self) -> None:
        """Take up rounds that wait, and those that failed for a reason which may have passed."""
        states = (EnrichmentState.PENDING, EnrichmentState.FAILED)
        records = await self._store.unenriched(*states)
        for record in records:
            if record.enrichment is EnrichmentState.FAILED and self._may_pass(record):
                await self._store.enrich_again(record.round.user_id, [record.id])
        self._due_now(records)

    async def _take_over(self) -> None:
        """Take up rounds that a process has claimed, and neither enriched nor claimed again."""
        self._due_now(await self._store.unenriched(EnrichmentState.PENDING, lapsed=self._clock()))

    def _due_now(self, records: list[Record]) -> None:
        """Make the sessions of the records due, except known ones, whose time is set already."""
        for user_id, session_id in _sessions(records):
            if (user_id, session_id) not in self._since:
                self._due(user_id, session_id, 0.0)

    def _may_pass(self, record: Record) -> bool:
        lasting = record.failure.partition(":")[0] in _LASTING
        return not lasting or record.extractor != self._enricher.extractor


def _sessions(records: list[Record]) -> Iterator[_Session]:
    """The sessions of the records, oldest first, each once."""
    in_order = sorted(records, key=lambda record: record.round.session_date)
    yield from dict.fromkeys((r.round.user_id, r.round.session_id) for r in in_order)
