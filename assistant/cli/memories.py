"""`assistant memories`: a user's memory in the user's hands."""

import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from assistant.cli import options, printing
from assistant.cli.console import (
    STANDARD,
    confirmed,
    edited,
    memory_count,
    new_console,
    plain,
    print_json,
    read_export,
    say,
    shown_progress,
)
from assistant.cli.options import DryRun, Json, ServerOptions, Yes, grouped
from assistant.errors import AssistantError

if TYPE_CHECKING:
    from assistant.cli.memory_calls import MemoryCalls

app = typer.Typer(help="See, find, edit, forget, export and import memories.", no_args_is_help=True)

_Id = Annotated[str, typer.Argument(help="Memory id, or its first six or more characters.")]
_Limit = Annotated[int, typer.Option(min=1, max=200, help="Maximum number of memories to show.")]


@contextmanager
def _memory(server: ServerOptions) -> "Iterator[MemoryCalls]":
    # Other commands start without an HTTP client.
    from assistant.cli.memory_calls import MemoryCalls

    with server.connect() as connection:
        yield MemoryCalls(connection)


def _say(text: str) -> None:
    say(new_console(), text)


def _note(text: str) -> None:
    """Write a note about a list, apart from its lines and to people only."""
    console = new_console()
    if console.is_terminal:
        say(console, text, style="dim")


def _print_list(found: Sequence[Mapping[str, Any]], show: Callable[..., None]) -> None:
    if found:
        show(new_console(), found)
    else:
        # Standard output has the lines, of which there are none.
        typer.echo("nothing found", err=True)


@app.command("list")
@grouped
def list_memories(
    server: ServerOptions,
    first: options.From = None,
    last: options.To = None,
    text: Annotated[
        str | None, typer.Option(help="Only memories that contain these words.")
    ] = None,
    oldest: Annotated[bool, typer.Option("--oldest", help="The oldest first.")] = False,
    limit: _Limit = 50,
    after: Annotated[
        str | None,
        typer.Option(help="Continue after this page: the 'next' value of the page before."),
    ] = None,
    as_json: Json = False,
) -> None:
    """List memories by date."""
    order = "oldest" if oldest else "newest"
    with _memory(server) as memory:
        page = memory.page(from_=first, to=last, text=text, order=order, limit=limit, after=after)
    if as_json:
        print_json(page)
        return
    _print_list(page["data"], printing.print_memories)
    _note(f"{len(page['data'])} of {page['total']}")
    if page["next"]:
        _note(f"the next ones: --after {page['next']}")


@app.command()
@grouped
def search(
    query: Annotated[str, typer.Argument(help="What to look for.")],
    server: ServerOptions,
    time: options.Time = None,
    first: options.From = None,
    last: options.To = None,
    as_of: options.AsOf = None,
    every: Annotated[
        bool, typer.Option("--all", help="Also what is hardly near, and your own questions.")
    ] = False,
    limit: _Limit = 10,
    as_json: Json = False,
) -> None:
    """Find memories by meaning, words and time."""
    asked = {"now": time, "from_": first, "to": last, "as_of": as_of, "top_k": limit}
    with _memory(server) as memory:
        found = memory.search(query, questions=every, **asked)
    if as_json:
        print_json(found)
        return
    near = [one for one in found["data"] if every or one["near"]]
    _print_list(near or found["data"], printing.print_memories)
    if weaker := len(found["data"]) - len(near):
        hidden = f"weaker hits not shown: {weaker} (--all shows them)"
        _note(hidden if near else "nothing is near; these are the nearest")
    _note(printing.time_line(found["time_range"]))


@app.command()
@grouped
def show(id: _Id, server: ServerOptions, as_json: Json = False) -> None:
    """Show one memory with its facts."""
    with _memory(server) as memory:
        found = memory.show(id)
    if as_json:
        print_json(found)
    else:
        printing.print_memory(new_console(), found)


@app.command()
@grouped
def conflicts(
    server: ServerOptions,
    mine: Annotated[
        str | None,
        typer.Option(
            metavar="ID", help="This statement is mine: let it replace what I said before."
        ),
    ] = None,
    leave: Annotated[
        str | None, typer.Option(metavar="ID", help="This statement is not mine: change nothing.")
    ] = None,
    limit: _Limit = 50,
    as_json: Json = False,
) -> None:
    """List quoted or pasted statements that contradict what you said."""
    if mine is not None and leave is not None:
        raise typer.BadParameter("give --mine or --leave")
    told = mine or leave
    with _memory(server) as memory:
        if told is None:
            found = memory.conflicts(limit)
        else:
            found = memory.said_by(told, "user" if mine else "quoted")
    if as_json:
        print_json(found)
    elif told is not None:
        _say("marked as yours; it replaces what you said before" if mine else "unchanged")
    else:
        _print_list(found["data"], printing.print_conflicts)
        _note(f"{len(found['data'])} of {found['total']}")


@app.command()
@grouped
def edit(
    id: _Id,
    server: ServerOptions,
    text: Annotated[
        str | None, typer.Option(help="The corrected text. Without it, an editor opens.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Correct your side of a memory, in $EDITOR or with --text."""
    with _memory(server) as memory:
        found = memory.show(id)
        after = edited(found["user_text"]) if text is None else text
        is_new = after != found["user_text"]
        if is_new:
            found = memory.correct(found["id"], after)
    if as_json:
        print_json(found)
    else:
        _say(printing.said(found) if is_new else "nothing was changed")


@app.command()
@grouped
def forget(
    server: ServerOptions,
    id: Annotated[str | None, typer.Argument(help="Id of a memory, or its beginning.")] = None,
    session: Annotated[str | None, typer.Option(help="Forget this session.")] = None,
    everything: Annotated[bool, typer.Option("--all", help="Forget everything.")] = False,
    yes: Yes = False,
    dry_run: DryRun = False,
    scrub: Annotated[
        bool, typer.Option("--scrub", help="Also remove the text from the disk now.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Forget one memory, a session, or everything. Counts first, and asks."""
    if [id is not None, session is not None, everything].count(True) != 1:
        raise typer.BadParameter("give an id, --session or --all")
    with _memory(server) as memory:
        gone = partial(memory.forget, id, session)
        found = gone(dry_run=True)
        count = found["rounds"]
        if id is not None:
            what = printing.with_answers(printing.one_memory(memory.show(id)), found)
        elif session is not None:
            what = printing.with_answers(f"{memory_count(count)} of session {session}", found)
        else:
            what = f"all {memory_count(count)} of {memory.user_id}"
        done = _if_agreed(gone, what, count, yes=yes, dry_run=dry_run)
        summary: dict[str, Any] = {
            "found": {name: found[name] for name in ("rounds", "facts", "sessions", "answers")},
            "forgotten": done["rounds"] if done else 0,
            "dry_run": dry_run,
        }
        if scrub and not dry_run and (done or not count):
            summary["scrubbed"] = memory.scrub()
    _tell_forgotten(what, count, done, summary, dry_run=dry_run, as_json=as_json)
    if summary.get("scrubbed") and not as_json:
        _say("forgotten text was removed from the disk")


@app.command()
@grouped
def expire(
    server: ServerOptions,
    older_than: Annotated[
        int | None,
        typer.Option(min=0, metavar="DAYS", help="Also what was said more than DAYS days ago."),
    ] = None,
    where: Annotated[
        str | None, typer.Option(metavar="JSON", help="Only memories with these labels.")
    ] = None,
    all_users: Annotated[
        bool, typer.Option("--all-users", help="Of every user (needs an admin key).")
    ] = False,
    yes: Yes = False,
    dry_run: DryRun = False,
    as_json: Json = False,
) -> None:
    """Forget what has expired, or is older than a number of days. Counts first, and asks."""
    with _memory(server) as memory:
        gone = partial(memory.expire, older_than, _labels(where), all_users=all_users)
        found = gone(dry_run=True)
        whose = f"{found['users']} users" if all_users else memory.user_id
        what = printing.with_answers(f"{memory_count(found['rounds'])} of {whose}", found)
        done = _if_agreed(gone, what, found["rounds"], yes=yes, dry_run=dry_run)
    _tell_forgotten(what, found["rounds"], done, done or found, dry_run=dry_run, as_json=as_json)


@app.command()
@grouped
def reach(
    server: ServerOptions,
    reach: Annotated[
        Literal["anywhere", "this_computer", "never_in_answers"],
        typer.Argument(help="Where they may go from now on, at most."),
    ],
    id: Annotated[list[str] | None, typer.Option(metavar="ID", help="This memory.")] = None,
    session: Annotated[str | None, typer.Option(help="Those of this session.")] = None,
    text: Annotated[str, typer.Option(help="Those with these words on either side.")] = "",
    where: Annotated[
        str | None, typer.Option(metavar="JSON", help="Those with these labels.")
    ] = None,
    dry_run: DryRun = False,
    as_json: Json = False,
) -> None:
    """Say where memories may go: to any model, only to what is local, or into no answer at all."""
    with _memory(server) as memory:
        ids = None if id is None else [memory.whole_id(one) for one in id]
        asked = {"ids": ids, "session_id": session, "text": text, "where": _labels(where)}
        done = memory.keep_up_to(reach, asked, dry_run=dry_run)
    if as_json:
        print_json(done)
    else:
        would = "would change" if dry_run else "changed"
        _say(f"{memory_count(done['matched'])} found, {done['changed']} {would}: {reach}")


def _labels(given: str | None) -> Any:
    try:
        return None if given is None else json.loads(given)
    except ValueError as error:
        raise typer.BadParameter('--where takes JSON: {"topic": "home"}') from error


def _if_agreed(
    gone: Callable[..., dict[str, Any]], what: str, count: int, *, yes: bool, dry_run: bool
) -> dict[str, Any] | None:
    """What went; None where there is nothing, or nobody agreed."""
    agreed = not dry_run and count > 0 and (yes or confirmed(f"forget {what}?"))
    return gone(dry_run=False) if agreed else None


def _tell_forgotten(
    what: str,
    count: int,
    done: Mapping[str, Any] | None,
    summary: Mapping[str, Any],
    *,
    dry_run: bool,
    as_json: bool,
) -> None:
    """What became of a wish to forget. Exit code 1 where nobody agreed."""
    if as_json:
        print_json(summary)
    elif not count:
        _say("there is nothing to forget")
    elif done and done["rounds"]:
        _say(f"{memory_count(done['rounds'])} forgotten")
    else:
        _say(f"dry run, nothing was forgotten: {what}" if dry_run else "nothing was forgotten")
    if count and not (done or dry_run):
        raise typer.Exit(1)


@app.command()
@grouped
def export(
    file: Annotated[Path, typer.Argument(help="File to create. Use - for standard output.")],
    server: ServerOptions,
    as_json: Json = False,
) -> None:
    """Export a user's memory to a file (JSONL)."""
    with _memory(server) as memory:
        total = memory.page(limit=1)["total"]
        with shown_progress(new_console(stderr=True)) as progress:
            progress.begin("exporting", total)
            if file == STANDARD:
                memory.export(sys.stdout, progress)
                return
            count = memory.export_file(file, progress)
    if as_json:
        print_json({"exported": count, "file": str(file)})
    else:
        _say(f"{memory_count(count)} written to {file}")


@app.command("import")
@grouped
def import_memories(
    file: Annotated[
        Path,
        typer.Argument(
            help="An export of this assistant or of another one. Use - for standard input."
        ),
    ],
    server: ServerOptions,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only count what would be imported.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Import what this or another assistant exported: ChatGPT, Claude, Gemini and more. Safe to
    repeat."""
    with _memory(server) as memory:
        export = read_export(file)
        try:
            coming = memory.coming(export, dry_run=dry_run)
            summary = {"imported": 0, "known": 0}
            with shown_progress(new_console(stderr=True)) as progress:
                progress.begin("counting" if dry_run else "importing", coming.rounds)
                for piece in coming.pieces:
                    for name in summary:
                        summary[name] += piece[name]
                    progress.advance(piece["imported"] + piece["known"])
        except AssistantError as error:
            named = "standard input" if file == STANDARD else file
            raise AssistantError(f"cannot import {named}: {error}") from error
    for why in coming.unreadable:
        typer.echo(f"left out: {plain(why)}", err=True)
    for reason, count in coming.left_out.items():
        typer.echo(f"left out: {count} × {reason}", err=True)
    if as_json:
        told = {"unreadable": coming.unreadable, "left_out": dict(coming.left_out)}
        print_json(summary | told | {"formats": coming.formats, "dry_run": dry_run})
    else:
        _say(_imported(summary, coming.formats, dry_run=dry_run))


def _imported(summary: Mapping[str, int], formats: Sequence[str], *, dry_run: bool) -> str:
    """What became of an import."""
    known = f", {summary['known']} were there already" if summary["known"] else ""
    told = f"{memory_count(summary['imported'])} imported{known}"
    if not dry_run:
        return told
    found = f" ({', '.join(formats)})" if formats else ""
    return f"dry run, nothing was stored{found}: {told}".replace("imported", "would be imported")
