"""The commands for a whole memory, of every user: they show how far they are and say what they did.

What they do is in `assistant.operations`, which is imported when one runs: it takes long.
"""

import asyncio
import time
from collections.abc import Callable, Coroutine
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from assistant.cli.console import new_console, shown_progress
from assistant.cli.options import CommandResult, MemoryOptions, RunningOptions, SettingsOptions
from assistant.errors import AssistantError

if TYPE_CHECKING:
    from assistant.cli.connection import ServerConnection
    from memory_store.transfer import BackedUp, Mended, Progress

_Result = TypeVar("_Result")
# Between two looks at how far a running assistant is.
_LOOK_SECONDS = 0.5


def migrate(
    to: Annotated[
        str,
        typer.Option(help="Target: 'edge' (embedded, in the data directory) or 'server' (Qdrant)."),
    ],
    memory: MemoryOptions,
) -> CommandResult:
    """Copy a memory from the data directory to a Qdrant server, or back. Safe to repeat."""
    from assistant import operations

    if to not in list(operations.MemoryPlace):
        raise typer.BadParameter("--to must be 'edge' or 'server'", param_hint="--to")
    started, place = time.perf_counter(), operations.MemoryPlace(to)
    done = _carried_out(partial(operations.migrate, memory.read(), place))
    setting = "qdrant_url set" if place is operations.MemoryPlace.SERVER else "qdrant_url empty"
    lines = [
        f"{done.rounds} memories from {done.source} are in {done.target}: {done.written} copied, "
        f"{done.already_there} already there, {done.removed} removed",
        f"checked: both hold {done.rounds} memories, sha256 {done.checksum}",
        f"start the assistant with {setting} to use it; the source is as it was",
    ]
    return _told("migrate", started, asdict(done), lines)


def reindex(
    running: RunningOptions,
    memory: MemoryOptions,
    again: Annotated[
        bool, typer.Option(help="Rebuild the index even if nothing has changed.")
    ] = False,
    keep_old: Annotated[
        bool, typer.Option(help="Keep the old index until the next reindex.")
    ] = False,
    cancel: Annotated[
        bool, typer.Option(help="Cancel an interrupted reindex and keep the old index.")
    ] = False,
) -> CommandResult:
    """Rebuild the index with the current embedder and settings. Safe to repeat. Use --assistant
    while the assistant runs."""
    from assistant import operations

    started = time.perf_counter()
    if connection := running.connect():
        if keep_old or cancel:
            raise typer.BadParameter("--keep-old and --cancel are for an assistant that is stopped")
        with connection:
            return _reindex_there(connection, again=again)
    settings = memory.read()
    if cancel:
        cancelled = asyncio.run(operations.cancel_reindex(settings))
        said = "cancelled: the old index stays in use" if cancelled else "nothing to cancel"
        return CommandResult({"command": "reindex", "cancelled": cancelled}, said)
    done = _carried_out(partial(operations.reindex, settings, keep_old=keep_old, again=again))
    lines = [
        f"{done.rounds} memories in {done.place} indexed anew: {done.written} encoded, "
        f"{done.already_there} done before",
        f"was: {_maker(done.was)}; is now: {_maker(done.now)}",
        f"checked: {done.rounds} memories, none changed, sha256 {done.checksum}",
    ]
    if not done.was_needed:
        lines = [f"nothing to do: the memory in {done.place} is one of {_maker(done.now)}"]
    return _told("reindex", started, asdict(done), lines)


def _reindex_there(connection: "ServerConnection", *, again: bool) -> CommandResult:
    """Have it done by the running assistant that has the memory open, and wait for its end."""
    started, done = time.perf_counter(), 0
    step: str | None = None
    said = connection.call("POST", "/v1/reindex", params={"again": again})
    with shown_progress(new_console(stderr=True)) as progress:
        while said["status"] == "running":
            if said["step"] != step:
                step, done = said["step"], 0
                progress.begin(step, said["total"])
            progress.advance(said["rounds"] - done)
            done = said["rounds"]
            time.sleep(_LOOK_SECONDS)
            said = connection.call("GET", "/v1/reindex")
    if said["status"] != "done":
        raise AssistantError(said["error"] or "the assistant was started anew: ask once more")
    line = f"the memory of {connection.base_url} is searched by {said['embedder']} now"
    return _told("reindex", started, said, [line])


def backup(
    file: Annotated[
        Path, typer.Argument(help="Backup file to write. A name ending in .gz is compressed.")
    ],
    running: RunningOptions,
    memory: MemoryOptions,
) -> CommandResult:
    """Back up all users to a file. Use --assistant while the assistant runs."""
    from assistant import operations

    started = time.perf_counter()
    if connection := running.connect():
        with connection:
            done = _backed_up(connection, file)
    else:
        done = _carried_out(partial(operations.backup, memory.read(), file))
    lines = [
        f"{done.rounds} memories from {done.source} are in {file}",
        f"sha256 of the memories: {done.checksum}",
    ]
    return _told("backup", started, {"file": str(file), **asdict(done)}, lines)


def _backed_up(connection: "ServerConnection", file: Path) -> "BackedUp":
    from assistant.operations import written_whole
    from memory_store.transfer import BackedUp, LinesSum

    written = LinesSum()
    with written_whole(file) as out:
        for line in connection.lines("GET", "/v1/backup"):
            out.write(f"{line}\n")
            written.add(line)
    return BackedUp(connection.base_url, written.rounds, written.checksum)


def restore(
    file: Annotated[Path, typer.Argument(help="Backup file to read.")],
    memory: MemoryOptions,
) -> CommandResult:
    """Restore a backup into an empty memory. If interrupted, run it again."""
    from assistant import operations

    started = time.perf_counter()
    done = _carried_out(partial(operations.restore, memory.read(), file))
    lines = [
        f"{done.rounds} memories from {file} are in {done.target}",
        f"checked: it holds what the file holds, sha256 of the memories: {done.checksum}",
    ]
    return _told("restore", started, {"file": str(file), **asdict(done)}, lines)


def repair(
    settings: SettingsOptions,
    backup: Annotated[
        Path | None, typer.Option("--from", help="Backup file to recover lost messages from.")
    ] = None,
) -> CommandResult:
    """Repair a damaged memory: keep every intact message. Copy its files first: damaged ones go."""
    from assistant import operations

    started = time.perf_counter()
    done = asyncio.run(operations.repair(settings.read(), backup))
    left = len(done.found.lost) - done.brought_back
    summary = {**asdict(done.found), "brought_back": done.brought_back, "lost": left}
    return _told("repair", started, summary, _mended(done, left), exit_code=1 if left else 0)


def _mended(done: "Mended", left: int) -> list[str]:
    found = done.found
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


def scrub(running: RunningOptions, settings: SettingsOptions) -> CommandResult:
    """Remove forgotten text from the disk now. Use --assistant while the assistant runs."""
    from assistant import operations

    started = time.perf_counter()
    if connection := running.connect():
        with connection:
            scrubbed = bool(connection.call("POST", "/v1/scrub")["scrubbed"])
    else:
        scrubbed = asyncio.run(operations.scrub(settings.read()))
    line = "forgotten text was removed from the disk"
    if not scrubbed:
        line = "nothing to do: a Qdrant server cleans its own files (docs/privacy.md)"
    return _told("scrub", started, {"scrubbed": scrubbed}, [line])


def _carried_out(work: "Callable[[Progress], Coroutine[Any, Any, _Result]]") -> _Result:
    """The result of the work, with its progress shown."""
    with shown_progress(new_console(stderr=True)) as progress:
        return asyncio.run(work(progress))


def _maker(identity: Any) -> str:
    return ", ".join(f"{name} {value}" for name, value in identity.items())


def _told(
    command: str, started: float, summary: dict[str, Any], lines: list[str], exit_code: int = 0
) -> CommandResult:
    """What was done since it was started, and how long it took."""
    seconds = time.perf_counter() - started
    body = {"command": command, **summary, "seconds": round(seconds, 3)}
    return CommandResult(body, "\n".join([*lines, f"took {seconds:.1f} s"]), exit_code)
