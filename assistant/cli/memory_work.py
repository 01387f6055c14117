"""What `assistant memories` does: calls, and what they answer as tables, lines or JSON."""

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import typer
from rich.console import Console

from assistant.cli.console import confirmed, edited, memories, plain
from assistant.cli.files import STANDARD, export_lines, read_export, write_export, write_lines
from assistant.cli.memory_calls import MemoryCalls
from assistant.cli.memory_table import (
    one_memory,
    print_conflicts,
    print_memories,
    print_memory,
    said,
    say,
    with_answers,
)
from assistant.cli.progress import shown_progress
from assistant.cli.why import time_line
from assistant.errors import AssistantError


class MemoryWork:
    """One subcommand each. Errors are `AssistantError`."""

    def __init__(self, memory: MemoryCalls, *, as_json: bool) -> None:
        self._memory = memory
        self._as_json = as_json
        self._console = Console()

    def list(self, **asked: Any) -> None:
        """A page by date."""
        page = self._memory.page(**asked)
        if not self._printed_json(page):
            self._show(page["data"])
            self._note(f"{len(page['data'])} of {page['total']}")
            if page["next"]:
                self._note(f"the next ones: --after {page['next']}")

    def search(self, query: str, *, every: bool, **asked: Any) -> None:
        """What is near, or the best there is; with `every` all of it, and the user's own
        questions."""
        found = self._memory.search(query, questions=every, **asked)
        if self._printed_json(found):
            return
        near = [one for one in found["data"] if every or one["near"]]
        self._show(near or found["data"])
        if weaker := len(found["data"]) - len(near):
            hidden = f"weaker hits not shown: {weaker} (--all shows them)"
            self._note(hidden if near else "nothing is near; these are the nearest")
        self._note(time_line(found["time_range"]))

    def show(self, id: str) -> None:
        """One in full."""
        memory = self._memory.show(id)
        if not self._printed_json(memory):
            print_memory(self._console, memory)

    def conflicts(self, *, mine: str | None, leave: str | None, limit: int) -> None:
        """List what may be another's and contradicts the user; or say of one whose it is."""
        if (id := mine or leave) is not None:
            memory = self._memory.said_by(id, "user" if mine else "quoted")
            if not self._printed_json(memory):
                say(
                    self._console,
                    "marked as yours; it replaces what you said before" if mine else "unchanged",
                )
            return
        found = self._memory.conflicts(limit)
        if not self._printed_json(found):
            print_conflicts(self._console, found["data"])
            if not found["data"]:
                typer.echo("nothing found", err=True)
            self._note(f"{len(found['data'])} of {found['total']}")

    def edit(self, id: str, text: str | None) -> None:
        """Put right what the user said: by the text given, else in an editor."""
        before = self._memory.show(id)
        after = edited(before["user_text"]) if text is None else text
        is_new = after != before["user_text"]
        memory = self._memory.correct(before["id"], after) if is_new else before
        if not self._printed_json(memory):
            say(self._console, said(memory) if is_new else "nothing was changed")

    def forget(
        self, id: str | None, session: str | None, *, yes: bool, dry_run: bool, scrub: bool
    ) -> None:
        """Count, ask, forget. Exit code 1 where nobody agreed."""
        found = self._forgotten(id, session, dry_run=True)
        count, what = found["rounds"], self._described(found, id, session)
        agreed = not dry_run and count > 0 and (yes or confirmed(f"forget {what}?"))
        forgotten = self._forgotten(id, session)["rounds"] if agreed else 0
        scrubbed = self._memory.scrub() if scrub and not dry_run and (agreed or not count) else None
        summary = {
            "found": {name: found[name] for name in ("rounds", "facts", "sessions", "answers")},
            "forgotten": forgotten,
            "dry_run": dry_run,
        }
        if scrubbed is not None:
            summary["scrubbed"] = scrubbed
        if not self._printed_json(summary):
            say(self._console, _outcome(what, count, forgotten, dry_run=dry_run))
            if scrubbed:
                say(self._console, "forgotten text was removed from the disk")
        if count and not (agreed or dry_run):
            raise typer.Exit(1)

    def expire(
        self,
        older_than: int | None,
        where: str | None,
        *,
        all_users: bool,
        yes: bool,
        dry_run: bool,
    ) -> None:
        """Count, ask, forget by rule. Exit code 1 where nobody agreed."""
        labels = _read_where(where)
        found = self._memory.expire(older_than, labels, all_users=all_users, dry_run=True)
        whose = f"{found['users']} users" if all_users else self._memory.user_id
        count, what = (
            found["rounds"],
            with_answers(f"{memories(found['rounds'])} of {whose}", found),
        )
        agreed = not dry_run and count > 0 and (yes or confirmed(f"forget {what}?"))
        done = found
        if agreed:
            done = self._memory.expire(older_than, labels, all_users=all_users, dry_run=False)
        if not self._printed_json(done):
            say(
                self._console,
                _outcome(what, count, done["rounds"] if agreed else 0, dry_run=dry_run),
            )
        if count and not (agreed or dry_run):
            raise typer.Exit(1)

    def export(self, file: Path) -> None:
        """Everything, to a file or to standard output."""
        total = self._memory.page(limit=1)["total"]
        with shown_progress(Console(stderr=True)) as progress:
            progress.begin("exporting", total)
            if file == STANDARD:
                write_lines(self._memory, sys.stdout, progress)
                return
            count = write_export(self._memory, file, progress)
        if not self._printed_json({"exported": count, "file": str(file)}):
            say(self._console, f"{memories(count)} written to {file}")

    def bring_in(self, file: Path, *, dry_run: bool = False) -> None:
        """An export of ours, or of another assistant, piece by piece. Errors name the file."""
        export = read_export(file)
        try:
            self._bring_in(export, dry_run)
        except AssistantError as error:
            named = "standard input" if file == STANDARD else file
            raise AssistantError(f"cannot import {named}: {error}") from error

    def _bring_in(self, export: bytes, dry_run: bool) -> None:
        coming = self._coming(export, dry_run)
        summary: dict[str, Any] = {"imported": 0, "known": 0}
        with shown_progress(Console(stderr=True)) as progress:
            progress.begin("counting" if dry_run else "importing", coming.rounds)
            for piece in coming.pieces:
                for name in summary:
                    summary[name] += piece[name]
                progress.advance(piece["imported"] + piece["known"])
        for why in coming.unreadable:
            typer.echo(f"left out: {plain(why)}", err=True)
        for reason, count in coming.left_out.items():
            typer.echo(f"left out: {count} × {reason}", err=True)
        told = {"unreadable": coming.unreadable, "left_out": dict(coming.left_out)}
        if not self._printed_json(summary | told | {"formats": coming.formats, "dry_run": dry_run}):
            say(self._console, _imported(summary, coming.formats, dry_run=dry_run))

    def _described(self, found: Mapping[str, Any], id: str | None, session: str | None) -> str:
        if id is not None:
            return with_answers(one_memory(self._memory.show(id)), found)
        count = memories(found["rounds"])
        if session is not None:
            return with_answers(f"{count} of session {session}", found)
        return f"all {count} of {self._memory.user_id}"

    def _forgotten(
        self, id: str | None, session: str | None, *, dry_run: bool = False
    ) -> dict[str, Any]:
        if id is not None:
            return self._memory.forget(id, dry_run=dry_run)
        if session is not None:
            return self._memory.forget_session(session, dry_run=dry_run)
        return self._memory.forget_all(dry_run=dry_run)

    def _coming(self, export: bytes, dry_run: bool) -> "_Coming":
        # Here, because reading them takes the memory store, which takes longer to import than most
        # commands.
        from assistant.imports.recognised import Export, recognised

        if recognised(export) is Export.OTHERS:
            from assistant.imports import plain as lines_of_json
            from assistant.imports.reading import read_export as read_others

            found = read_others(export)
            lines = map(lines_of_json.line_of, found.sessions)
            pieces = self._memory.bring_in_sessions(lines, dry_run=dry_run)
            rounds = found.count_rounds()
            return _Coming(rounds, pieces, found.unreadable, dict(found.left_out), found.formats)
        records = export_lines(export)
        pieces = self._memory.bring_in(records, dry_run=dry_run)
        return _Coming(len(records.records), pieces, formats=[Export.RECORDS])

    def _printed_json(self, body: Mapping[str, Any]) -> bool:
        if self._as_json:
            typer.echo(json.dumps(body, ensure_ascii=False, indent=2))
        return self._as_json

    def _show(self, memories: Sequence[Mapping[str, Any]]) -> None:
        if memories:
            print_memories(self._console, memories)
        else:
            # Beside the lines, of which there are none.
            typer.echo("nothing found", err=True)

    def _note(self, text: str) -> None:
        """What is said about a list, apart from its lines."""
        if self._console.is_terminal:
            say(self._console, text, style="dim")


class _Coming(NamedTuple):
    """How many rounds an export holds, what becomes of them as they are sent, why others cannot be
    read, how much is left out for what reason, and what the export was found to be."""

    rounds: int
    pieces: Iterator[Mapping[str, int]]
    unreadable: Sequence[str] = ()
    left_out: Mapping[str, int] = MappingProxyType({})
    formats: Sequence[str] = ()


def _imported(summary: Mapping[str, int], formats: Sequence[str], *, dry_run: bool) -> str:
    """What became of an import."""
    known = f", {summary['known']} were there already" if summary["known"] else ""
    told = f"{memories(summary['imported'])} imported{known}"
    if not dry_run:
        return told
    found = f" ({', '.join(formats)})" if formats else ""
    return f"dry run, nothing was stored{found}: {told}".replace("imported", "would be imported")


def _read_where(given: str | None) -> Any:
    try:
        return None if given is None else json.loads(given)
    except ValueError as error:
        raise typer.BadParameter('--where takes JSON: {"topic": "home"}') from error


def _outcome(what: str, count: int, forgotten: int, *, dry_run: bool) -> str:
    """What became of a wish to forget."""
    if not count:
        return "there is nothing to forget"
    if forgotten:
        return f"{memories(forgotten)} forgotten"
    return f"dry run, nothing was forgotten: {what}" if dry_run else "nothing was forgotten"
