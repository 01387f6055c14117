"""What an operator does with a whole memory: move it, index it anew, back it up, mend it.

The memory is the one that the settings name, with all its users. HTTP requests do not come here.
"""

import gzip
import os
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TextIO, cast

from assistant.errors import ConfigError
from assistant.services import key_design, make_embedder, server_options
from assistant.settings import Settings
from memory_store import engines, transfer
from memory_store.engines import EdgeOperator, OperatorEngine
from memory_store.errors import StoreLocked, StoreMissing
from memory_store.transfer import (
    BackedUp,
    Mended,
    Migrated,
    Progress,
    Reindexed,
    Restored,
    from_lines,
)


@contextmanager
def written_whole(file: Path) -> Iterator[TextIO]:
    """Open a file to write. It gets its name only when all of it is on the disk.

    Raises `ConfigError` when it cannot be written.
    """
    arriving = file.with_name(f"{file.name}.part")
    try:
        # A backup is as private as the memory itself.
        arriving.touch(mode=0o600)
        with _opened(file, arriving, "wt") as out:
            yield out
        with arriving.open("rb") as written:
            os.fsync(written.fileno())
        arriving.replace(file)
    except OSError as error:
        raise ConfigError(f"cannot write {file}: {error}", code="backup_failed") from error
    finally:
        arriving.unlink(missing_ok=True)


@contextmanager
def lines_of(file: Path) -> Iterator[Iterator[str]]:
    """The lines of a file. Raises `ConfigError` when it cannot be read to its end."""
    try:
        with _opened(file, file, "rt") as lines:
            yield iter(lines)
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise ConfigError(f"cannot read {file}: {error}", code="backup_failed") from error


def count_rounds(file: Path) -> int:
    """How many rounds a backup holds. The error for a line that cannot be read names the line,
    before anything is written."""
    with lines_of(file) as lines:
        return sum(1 for _ in from_lines(lines))


def _opened(named: Path, path: Path, mode: str) -> TextIO:
    if named.suffix == ".gz":
        return cast(TextIO, gzip.open(path, mode, encoding="utf-8", newline="\n"))
    return cast(TextIO, path.open(mode, encoding="utf-8", newline="\n"))


class MemoryPlace(StrEnum):
    """Where a memory can be."""

    EDGE = "edge"
    SERVER = "server"


async def memory_exists(settings: Settings) -> bool:
    """Whether there is a memory where the settings say. None is created."""
    memory = _operator(settings, _in_use(settings))
    try:
        return await memory.open_existing() is not None
    finally:
        await memory.close()


async def migrate(settings: Settings, to: MemoryPlace, progress: Progress) -> Migrated:
    """Move the memory between `data_dir` and the server at `qdrant_url`."""
    source = MemoryPlace.EDGE if to is MemoryPlace.SERVER else MemoryPlace.SERVER
    return await transfer.migrate(_operator(settings, source), _operator(settings, to), progress)


async def reindex(
    settings: Settings, progress: Progress, *, keep_old: bool, again: bool
) -> Reindexed:
    """Index the memory in use anew, with the embedder and the keys of the settings."""
    return await transfer.reindex(
        _operator(settings, _in_use(settings)),
        partial(make_embedder, settings),
        progress,
        design=key_design(settings),
        keep_old=keep_old,
        again=again,
    )


async def backup(settings: Settings, file: Path, progress: Progress) -> BackedUp:
    """Write the memory in use to a file, which is there whole or not at all."""
    memory = _operator(settings, _in_use(settings))
    try:
        with written_whole(file) as out:
            return await transfer.back_up(memory, out.write, progress)
    except StoreLocked as error:
        raise ConfigError(
            f"{memory.place} is in use: back it up through the assistant that has it open, with "
            "--assistant http://127.0.0.1:8080 (or where it answers)",
            code="store_locked",
        ) from error


async def restore(settings: Settings, file: Path, progress: Progress) -> Restored:
    """Fill the empty memory that the settings name from a backup."""
    rounds = count_rounds(file)
    with lines_of(file) as lines:
        return await transfer.restore(
            _operator(settings, _in_use(settings)),
            partial(make_embedder, settings),
            lines,
            progress,
            rounds=rounds,
            design=key_design(settings),
        )


async def scrub(settings: Settings) -> bool:
    """Take forgotten text off the disk of a memory that nobody has open. Return False for a Qdrant
    server, which clears its files itself."""
    memory = _operator(settings, _in_use(settings))
    try:
        if await memory.open_existing() is None:
            raise StoreMissing(f"there is no memory in {memory.place}")
        return await memory.scrub()
    finally:
        await memory.close()


async def repair(settings: Settings, backup: Path | None) -> Mended:
    """Keep what can be read of a damaged memory, and take the rest from a backup."""
    if settings.qdrant_url:
        raise ConfigError(
            "a Qdrant server looks after its own files: restore a snapshot there, or restore a "
            "backup into another qdrant.collection",
            code="wrong_setting",
        )
    memory = EdgeOperator(settings.data_dir)
    mending = partial(transfer.repair, memory, partial(make_embedder, settings))
    if backup is None:
        return await mending(design=key_design(settings))
    count_rounds(backup)
    with lines_of(backup) as lines:
        return await mending(lines, design=key_design(settings))


async def cancel_reindex(settings: Settings) -> bool:
    """Keep the old index. Return whether there was a reindex to cancel."""
    return await transfer.cancel_reindex(_operator(settings, _in_use(settings)))


def _in_use(settings: Settings) -> MemoryPlace:
    return MemoryPlace.SERVER if settings.qdrant_url else MemoryPlace.EDGE


def _operator(settings: Settings, place: MemoryPlace) -> OperatorEngine:
    if place is MemoryPlace.EDGE:
        return EdgeOperator(settings.data_dir)
    if not settings.qdrant_url:
        raise ConfigError(
            "set qdrant_url (or --qdrant-url) to the Qdrant server to move the memory to or from",
            code="wrong_setting",
        )
    # Named through its package, so that its client is loaded only here.
    return engines.ServerOperator(settings.qdrant_url, **server_options(settings))
