"""Documents without a server: of one process, gone with it."""

from collections.abc import Sequence
from datetime import datetime

from memory_store._documents import Body, Document, WriteOutcome, following


class LocalDocuments:
    """Documents of this process alone, which end with it."""

    def __init__(self) -> None:
        self._kept: dict[str, tuple[Document, datetime | None]] = {}

    async def open(self, *, make: bool = True) -> bool:
        """See `Documents.open`."""
        return True

    async def versions(self, names: Sequence[str]) -> dict[str, str]:
        """See `Documents.versions`."""
        return {name: self._kept[name][0].version for name in names if name in self._kept}

    async def read(self, name: str) -> Document:
        """See `Documents.read`."""
        return self._kept[name][0] if name in self._kept else Document()

    async def write(
        self, name: str, body: Body, over: Document, *, until: datetime | None = None
    ) -> WriteOutcome:
        """See `Documents.write`."""
        there = await self.read(name)
        if there.version != over.version:
            return WriteOutcome(False, there)
        written = following(over, body)
        self._kept[name] = written, until
        return WriteOutcome(True, written)

    async def drop(self, before: datetime) -> None:
        """See `Documents.drop`."""
        self._kept = {
            name: kept for name, kept in self._kept.items() if kept[1] is None or kept[1] >= before
        }

    async def close(self) -> None:
        """See `Documents.close`."""
