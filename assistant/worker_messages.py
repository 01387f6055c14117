"""Notices by which the workers on one Qdrant server tell each other of changes.

A notice is a document that is rewritten when something has happened. Every two seconds each worker
compares the versions of the documents with those it saw before, which is one small read.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable

from assistant.clock import Clock
from memory_store import NONE, Documents
from memory_store.errors import MemoryStoreError

_log = logging.getLogger(__name__)
_LOOK_SECONDS = 2.0
# How many looks there are between two drops of the documents that nobody needs any more.
_LOOKS_A_DROP = 30
ERASED = "erased"
"""The notice that something was forgotten or corrected. It does not say what, nor whose."""


class Notices:
    """Calls the functions that watch a document when it has changed, whoever changed it."""

    def __init__(self, documents: Documents, clock: Clock) -> None:
        self.documents = documents
        self._clock = clock
        self._seen: dict[str, str] = {}
        self._told: dict[str, Callable[[], Awaitable[None]]] = {}
        self._looking: asyncio.Task[None] | None = None

    def watch(self, name: str, told: Callable[[], Awaitable[None]]) -> None:
        """Call `told` when the document of this name has another version than before."""
        self._told[name] = told

    async def start(self) -> None:
        """Look now, and then every two seconds."""
        await self.look()
        self._looking = asyncio.create_task(self._look_on())

    async def look(self) -> None:
        """Look once. A function that raises an error is called again at the next look."""
        versions = await self.documents.versions(list(self._told))
        for name, told in self._told.items():
            version = versions.get(name, NONE)
            if version != self._seen.get(name):
                await told()
                self._seen[name] = version

    async def version(self, name: str) -> str:
        """The version of a document, which is another one after each change."""
        return (await self.documents.versions([name])).get(name, NONE)

    async def tell(self, name: str) -> None:
        """Tell the other workers. If another worker tells them at the same time, that is enough."""
        before = await self.documents.read(name)
        done, there = await self.documents.write(name, {}, before)
        is_ours = done and there.earlier[:1] in ((), (before.version,))
        if is_ours and self._seen.get(name) == before.version:
            self._seen[name] = there.version

    async def close(self) -> None:
        """Stop looking."""
        if self._looking:
            self._looking.cancel()
            await asyncio.gather(self._looking, return_exceptions=True)

    async def _look_on(self) -> None:
        looks = 0
        while True:
            await asyncio.sleep(_LOOK_SECONDS)
            looks += 1
            try:
                await self.look()
                if looks % _LOOKS_A_DROP == 0:
                    await self.documents.drop(self._clock())
            except MemoryStoreError as error:
                _log.warning("cannot read changes of other workers: %s", error)
            except Exception:  # the next look must come, whatever happened to this one
                _log.exception("reading changes of other workers failed")
