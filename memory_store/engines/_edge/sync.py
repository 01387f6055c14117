"""Writes that survive a power cut: one call to the disk for all writes that wait for it.

The engine's log is mapped into memory. Its content survives the end of the process at once. It
survives a power cut once the operating system has put it on the disk, which takes milliseconds. So
all writes that arrive meanwhile share the next call (group commit).
"""

import asyncio
import os
from collections.abc import Iterable
from enum import StrEnum
from pathlib import Path

from memory_store._disk import sync_file, sync_folder
from memory_store.engines._edge.ledger import Ledger, LedgerEntry


class Durability(StrEnum):
    """When a write is acknowledged."""

    SYNC = "sync"
    """When it is on the disk: it survives a power cut."""
    OS = "os"
    """When the operating system has it: it survives the end of the process."""


class Commits:
    """Makes the writes to a shard durable, and enters them in the ledger."""

    def __init__(self, log: Path, ledger: Ledger, durability: Durability) -> None:
        """`log` is the folder of the engine's write-ahead log."""
        self._log = Log(log)
        self._ledger = ledger
        self._durability = durability
        self._written: list[LedgerEntry] = []
        self._waiting: asyncio.Future[None] | None = None
        self._running: asyncio.Task[None] | None = None
        self._failure: Exception | None = None

    def add(self, entries: Iterable[LedgerEntry]) -> None:
        """Note the entries of writes that the log has just taken."""
        self._written += entries

    async def durable(self) -> None:
        """Wait until all that was added so far is durable. Raises `OSError`; after one failure of
        the log every call raises it, as nobody knows what a disk holds after a failed write."""
        # Shielded, because others wait for the same future.
        await asyncio.shield(self.begin())

    def begin(self) -> "asyncio.Future[None]":
        """Begin to make all that was added so far durable; the future is done when it is."""
        if self._waiting is None:
            self._waiting = asyncio.get_running_loop().create_future()
        waiting = self._waiting
        if self._running is None:
            self._running = asyncio.create_task(self._run())
        return waiting

    async def intend(self, entries: Iterable[LedgerEntry]) -> None:
        """Enter in the ledger what is about to happen; with `SYNC`, it is on the disk on return."""
        self._ledger.append(entries)
        if self._durability is Durability.SYNC:
            await asyncio.to_thread(self._ledger.sync)

    async def _run(self) -> None:
        while self._waiting is not None:
            waiting, self._waiting = self._waiting, None
            try:
                await self._commit()
            except Exception as error:  # whatever it was, those who wait must hear of it
                waiting.set_exception(error)
                waiting.exception()  # marks it as seen, as the callers may have left
            else:
                waiting.set_result(None)
        self._running = None

    async def _commit(self) -> None:
        written, self._written = self._written, []
        try:
            if self._durability is Durability.SYNC:
                await self._sync_log()
            self._ledger.append(written)
        except BaseException:
            self._written = written + self._written
            raise

    async def _sync_log(self) -> None:
        if self._failure:
            raise self._failure
        try:
            await asyncio.to_thread(self._log.sync)
        except OSError as error:
            self._failure = error
            raise

    async def settle(self) -> None:
        """Make everything durable, the ledger too, and wait for the task that runs."""
        await self.durable()
        if self._running:
            await self._running
        self._ledger.sync()


class Log:
    """The files of a write-ahead log: those that are full, and those that are written to."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._known: set[str] = set()

    def sync(self) -> None:
        """Put on the disk all files that are not known to be there."""
        while not self._synced():
            """A file was full and got another name meanwhile."""

    def _synced(self) -> bool:
        names = set(os.listdir(self._folder))
        full = {name for name in self._known & names if not name.startswith("open-")}
        try:
            for name in names - full:
                sync_file(self._folder / name)
        except FileNotFoundError:
            return False
        if names != self._known:
            sync_folder(self._folder)
        self._known = names
        return True
