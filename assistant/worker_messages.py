"""What workers on one Qdrant server tell each other: documents that each looks at all the time.

A notice is a document that is written anew when something has happened. Whether it is another
version than before is looked at every two seconds, which is one small read.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable

from assistant.clock import Clock
from memory_store import NONE, Documents
from memory_store.errors import MemoryStoreError

_log = logging.getLogger(__name__)
_LOOK_SECONDS = 2.0
# After so many looks the documents that nobody needs any more are dropped.
_LOOKS_A_DROP = 30
ERASED = "erased"
"""The notice that something was forgotten or put right; not what, nor whose."""


class Notices:
    """Tells of documents that have changed, whoever changed them."""

    def __init__(self, documents: Documents, clock: Clock) -> None:
        self.documents = documents
        self._clock = clock
        self._seen: dict[str, str] = {}
        self._told: dict[str, Callable[[], Awaitable[None]]] = {}
        self._looking: asyncio.Task[None] | None = None

    def watch(self, name: str, told: Callable[[], Awaitable[None]]) -> None:
        """Call this when the document of this name is another one than before."""
        self._told[name] = told

    async def start(self) -> None:
        """Look now, and then every two seconds."""
        await self.look()
        self._looking = asyncio.create_task(self._look_on())

    async def look(self) -> None:
        """Look once. Who could not do what it has to is called again at the next look."""
        versions = await self.documents.versions(list(self._told))
        for name, told in self._told.items():
            version = versions.get(name, NONE)
            if version != self._seen.get(name):
                await told()
                self._seen[name] = version

    async def version(self, name: str) -> str:
        """Another one after each change."""
        return (await self.documents.versions([name])).get(name, NONE)

    async def tell(self, name: str) -> None:
        """Tell the others. If somebody else tells them at the same time, that is enough."""
        before = await self.documents.read(name)
        done, there = await self.documents.write(name, {}, before)
        is_ours = done and there.earlier[:1] in ((), (before.version,))
        if is_ours and self._seen.get(name) == before.version:
            self._seen[name] = there.version

    async def close(self) -> None:
        """Look no more."""
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
