"""`assistant memories export` and `import`: a memory moves in and out, and what that will cost."""

import sys
from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from assistant.cli import memory_health
from assistant.cli.console import (
    STANDARD,
    memory_count,
    new_console,
    plain,
    read_export,
    shown_progress,
)
from assistant.cli.memories import memory_of
from assistant.cli.options import CommandResult, ServerOptions, declared
from assistant.errors import AssistantError

app = memory_health.app  # with all other commands
_Costs = Mapping[str, Any]


class ExportAs(StrEnum):
    """The form of an export."""

    RECORDS = "records"
    PAM = "pam"


@declared(app)
def export(
    file: Annotated[Path, typer.Argument(help="File to create. Use - for standard output.")],
    server: ServerOptions,
    format: Annotated[
        ExportAs,
        typer.Option(help="Lines of JSON, or a zip file of Portable AI Memory (pam)."),
    ] = ExportAs.RECORDS,
) -> CommandResult | None:
    """Export a user's memory to a file (JSONL), or for other products."""
    if format is ExportAs.PAM:
        if file == STANDARD:
            raise typer.BadParameter("a zip file needs the name of a file")
        with memory_of(server) as memory:
            report = memory.export_bundle(file)
        body = {"exported": report["rounds"], "file": str(file)}
        lost = report["without_a_place"]
        lines = [f"{memory_count(report['rounds'])} written to {file}"]
        lines += [f"only this assistant will read: {n} × {name}" for name, n in lost.items()]
        return CommandResult(body | {"without_a_place": lost}, "\n".join(lines))
    with memory_of(server) as memory, shown_progress(new_console(stderr=True)) as progress:
        if file == STANDARD:
            memory.export(sys.stdout, progress)
            return None
        count = memory.export_file(file, progress)
    return CommandResult(
        {"exported": count, "file": str(file)}, f"{memory_count(count)} written to {file}"
    )


@declared(app, "import")
def import_memories(
    file: Annotated[
        Path,
        typer.Argument(
            help="An export of this assistant or of another one. Use - for standard input."
        ),
    ],
    server: ServerOptions,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only count what would be imported, and its costs.")
    ] = False,
    most_tokens: Annotated[
        int | None,
        typer.Option(min=0, help="Import nothing if it is expected to take more tokens."),
    ] = None,
    most_dollars: Annotated[
        float | None,
        typer.Option(min=0, help="Import nothing if it is expected to cost more."),
    ] = None,
) -> CommandResult:
    """Import what this or another assistant exported: ChatGPT, Claude, Gemini and more. Safe to
    repeat."""
    with memory_of(server) as memory:
        export = read_export(file)
        try:
            if not dry_run and (most_tokens, most_dollars) != (None, None):
                before = memory.coming(export, dry_run=True)
                _check([piece["costs"] for piece in before.pieces], most_tokens, most_dollars)
            coming = memory.coming(export, dry_run=dry_run)
            costs = []
            if coming.fields_not_read:
                typer.echo(f"fields not read: {', '.join(coming.fields_not_read)}", err=True)
            summary = {"imported": 0, "known": 0}
            with shown_progress(new_console(stderr=True)) as progress:
                progress.begin("counting" if dry_run else "importing", coming.rounds)
                for piece in coming.pieces:
                    for name in summary:
                        summary[name] += piece[name]
                    costs += [piece["costs"]] if dry_run else []
                    progress.advance(piece["imported"] + piece["known"])
        except AssistantError as error:
            named = "standard input" if file == STANDARD else file
            raise AssistantError(f"cannot import {named}: {error}") from error
    for why in coming.unreadable:
        typer.echo(f"left out: {plain(why)}", err=True)
    for reason, count in coming.left_out.items():
        typer.echo(f"left out: {count} × {reason}", err=True)
    left: dict[str, Any] = {"unreadable": coming.unreadable, "left_out": dict(coming.left_out)}
    if coming.fields_not_read:
        left["fields_not_read"] = dict(coming.fields_not_read)
    body = summary | left | {"formats": coming.formats, "dry_run": dry_run}
    text = _imported(summary, coming.formats, dry_run=dry_run)
    if dry_run:
        body["costs"] = whole = _total(costs)
        text += _costs_line(whole)
    return CommandResult(body, text)


def _imported(summary: Mapping[str, int], formats: Sequence[str], *, dry_run: bool) -> str:
    """What became of an import."""
    known = f", {summary['known']} were there already" if summary["known"] else ""
    told = f"{memory_count(summary['imported'])} imported{known}"
    if not dry_run:
        return told
    found = f" ({', '.join(formats)})" if formats else ""
    return f"dry run, nothing was stored{found}: {told}".replace("imported", "would be imported")


def _total(pieces: Sequence[_Costs]) -> dict[str, Any]:
    """The costs of all pieces; no dollars where those of one are not known."""
    told: dict[str, Any] = {
        name: sum(piece[name] for piece in pieces) for name in ("calls", "tokens", "minutes")
    }
    dollars = [piece["dollars"] for piece in pieces]
    return told | {"dollars": None if None in dollars else sum(dollars)}


def _check(pieces: Sequence[_Costs], tokens: int | None, dollars: float | None) -> None:
    """Raise `AssistantError` for what would cost more than it may."""
    costs = _total(pieces)
    if tokens is not None and costs["tokens"] > tokens:
        raise _too_dear(f"{costs['tokens']} tokens")
    if dollars is not None and costs["dollars"] is None:
        raise _too_dear("an unknown price: give --most-tokens, or set models.prices")
    if dollars is not None and costs["dollars"] > dollars:
        raise _too_dear(f"${costs['dollars']:.2f}")


def _too_dear(what: str) -> AssistantError:
    return AssistantError(f"nothing was imported: it is expected to cost {what}")


def _costs_line(costs: _Costs) -> str:
    """The costs as a line of their own; empty where no language model is asked."""
    if not costs["tokens"]:
        return ""
    dollars = costs["dollars"]
    money = "at an unknown price" if dollars is None else f"about ${dollars:.2f}"
    return (
        f"\nexpected: {costs['tokens']:,} tokens in {costs['calls']} calls, {money}, "
        f"{costs['minutes']:.0f} minutes"
    )
