"""The commands for a whole memory: run them, show the progress, say what they did."""

import asyncio
import json
import time
from collections.abc import Callable, Coroutine
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeVar

import typer
from rich.console import Console

from assistant import operations as whole
from assistant.cli.connection import ServerConnection
from assistant.cli.console import print_json, shown_progress
from assistant.operations import MemoryPlace, written_whole
from assistant.settings import Settings
from memory_store.transfer import (
    BackedUp,
    LinesSum,
    Mended,
    Migrated,
    Progress,
    Reindexed,
)

_Result = TypeVar("_Result")


def migrate(settings: Settings, to: MemoryPlace, *, as_json: bool) -> None:
    """Move the memory and print a summary."""
    done, seconds = _timed(lambda progress: whole.migrate(settings, to, progress))
    _print("migrate", seconds, asdict(done), _moved(done, to, seconds), as_json=as_json)


def reindex(settings: Settings, *, keep_old: bool, again: bool, as_json: bool) -> None:
    """Index the memory anew and print a summary."""
    done, seconds = _timed(
        lambda progress: whole.reindex(settings, progress, keep_old=keep_old, again=again)
    )
    _print("reindex", seconds, asdict(done), _indexed(done, seconds), as_json=as_json)


def cancel_reindex(settings: Settings, *, as_json: bool) -> None:
    """Give up an interrupted reindex and say whether there was one."""
    cancelled = asyncio.run(whole.cancel_reindex(settings))
    if as_json:
        typer.echo(json.dumps({"command": "reindex", "cancelled": cancelled}))
    else:
        typer.echo("cancelled: the old index stays in use" if cancelled else "nothing to cancel")


def backup(settings: Settings, file: Path, *, as_json: bool) -> None:
    """Write the memory to a file and print a summary."""
    done, seconds = _timed(lambda progress: whole.backup(settings, file, progress))
    _print_backup(done, file, seconds, as_json=as_json)


def backup_through(connection: ServerConnection, file: Path, *, as_json: bool) -> None:
    """Write the memory that a running assistant has open to a file and print a summary."""
    started = time.perf_counter()
    written = LinesSum()
    with written_whole(file) as out:
        for line in connection.lines("GET", "/v1/backup"):
            out.write(f"{line}\n")
            written.add(line)
    done = BackedUp(connection.base_url, written.rounds, written.checksum)
    _print_backup(done, file, time.perf_counter() - started, as_json=as_json)


def _print_backup(done: BackedUp, file: Path, seconds: float, *, as_json: bool) -> None:
    lines = [
        f"{done.rounds} memories from {done.source} are in {file}, in {seconds:.1f} s",
        f"sha256 of the memories: {done.checksum}",
    ]
    _print("backup", seconds, {"file": str(file), **asdict(done)}, lines, as_json=as_json)


def restore(settings: Settings, file: Path, *, as_json: bool) -> None:
    """Fill an empty memory from a file and print a summary."""
    done, seconds = _timed(lambda progress: whole.restore(settings, file, progress))
    lines = [
        f"{done.rounds} memories from {file} are in {done.target}, in {seconds:.1f} s",
        f"checked: it holds what the file holds, sha256 of the memories: {done.checksum}",
    ]
    _print("restore", seconds, {"file": str(file), **asdict(done)}, lines, as_json=as_json)


def scrub(settings: Settings, *, as_json: bool) -> None:
    """Take what was forgotten off the disk and say so."""
    started = time.perf_counter()
    scrubbed = asyncio.run(whole.scrub(settings))
    _print_scrub(scrubbed, time.perf_counter() - started, as_json=as_json)


def scrub_through(connection: ServerConnection, *, as_json: bool) -> None:
    """The same of the memory that a running assistant has open."""
    started = time.perf_counter()
    scrubbed = bool(connection.call("POST", "/v1/scrub")["scrubbed"])
    _print_scrub(scrubbed, time.perf_counter() - started, as_json=as_json)


def _print_scrub(scrubbed: bool, seconds: float, *, as_json: bool) -> None:
    line = f"forgotten text was removed from the disk, in {seconds:.1f} s"
    if not scrubbed:
        line = "nothing to do: a Qdrant server cleans its own files (docs/privacy.md)"
    _print("scrub", seconds, {"scrubbed": scrubbed}, [line], as_json=as_json)


def repair(settings: Settings, backup: Path | None, *, as_json: bool) -> None:
    """Keep what is whole of a damaged memory, and say what is not. Exit code 1 where rounds are
    lost."""
    started = time.perf_counter()
    done = asyncio.run(whole.repair(settings, backup))
    left = len(done.found.lost) - done.brought_back
    summary = {**asdict(done.found), "brought_back": done.brought_back, "lost": left}
    _print("repair", time.perf_counter() - started, summary, _mended(done), as_json=as_json)
    raise typer.Exit(1 if left else 0)


def _mended(done: Mended) -> list[str]:
    found, left = done.found, len(done.found.lost) - done.brought_back
    counts = (
        (len(found.missing), "missing"),
        (len(found.altered), "not as written, left out"),
        (len(found.older), "without their last change, kept"),
        (len(found.returned), "forgotten before, left out"),
    )
    lines = [f"{found.place} holds {found.kept + done.brought_back} memories that are whole"]
    lines += [f"{count} memories: {what}" for count, what in counts if count]
    if done.brought_back:
        lines.append(f"{done.brought_back} memories brought back from the backup")
    if left:
        lines.append(f"{left} memories are lost; --json names them")
    return lines


def _timed(work: Callable[[Progress], Coroutine[Any, Any, _Result]]) -> tuple[_Result, float]:
    """The result of the work, with its progress shown, and the seconds it took."""
    started = time.perf_counter()
    with shown_progress(Console(stderr=True)) as progress:
        result = asyncio.run(work(progress))
    return result, time.perf_counter() - started


def _moved(done: Migrated, to: MemoryPlace, seconds: float) -> list[str]:
    setting = "qdrant_url set" if to is MemoryPlace.SERVER else "qdrant_url empty"
    return [
        f"{done.rounds} memories from {done.source} are in {done.target}: {done.written} copied, "
        f"{done.already_there} already there, {done.removed} removed, in {seconds:.1f} s",
        f"checked: both hold {done.rounds} memories, sha256 {done.checksum}",
        f"start the assistant with {setting} to use it; the source is as it was",
    ]


def _indexed(done: Reindexed, seconds: float) -> list[str]:
    if not done.was_needed:
        return [f"nothing to do: the memory in {done.place} is one of {_maker(done.now)}"]
    return [
        f"{done.rounds} memories in {done.place} indexed anew: {done.written} encoded, "
        f"{done.already_there} done before, in {seconds:.1f} s",
        f"was: {_maker(done.was)}; is now: {_maker(done.now)}",
        f"checked: {done.rounds} memories, none changed, sha256 {done.checksum}",
    ]


def _maker(identity: Any) -> str:
    return ", ".join(f"{name} {value}" for name, value in identity.items())


def _print(
    command: str, seconds: float, summary: dict[str, Any], lines: list[str], *, as_json: bool
) -> None:
    """What was done: for programs, or in these lines."""
    if as_json:
        print_json({"command": command, **summary, "seconds": round(seconds, 3)})
    else:
        typer.echo("\n".join(lines))
