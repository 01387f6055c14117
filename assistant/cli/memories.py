"""`assistant memories`: a user's memory in the user's hands."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from assistant.cli import options, printing
from assistant.cli.console import (
    confirmed,
    edited,
    memory_count,
    new_console,
    new_file,
    say,
)
from assistant.cli.options import CommandResult, DryRun, ServerOptions, Yes, declared
from assistant.errors import AssistantError

if TYPE_CHECKING:
    from assistant.cli.memory_calls import MemoryCalls

app = typer.Typer(help="See, find, edit, forget, export and import memories.", no_args_is_help=True)

Id = Annotated[str, typer.Argument(help="Memory id, or its first six or more characters.")]
Limit = Annotated[int, typer.Option(min=1, max=200, help="Maximum number of memories to show.")]


@contextmanager
def memory_of(server: ServerOptions) -> "Iterator[MemoryCalls]":
    # Other commands start without an HTTP client.
    from assistant.cli.memory_calls import MemoryCalls

    with server.connect() as connection:
        yield MemoryCalls(connection)


def print_list(found: Sequence[Mapping[str, Any]], show: Callable[..., None], *notes: str) -> None:
    """Print what was found, and notes about it to people only."""
    console = new_console()
    if found:
        show(console, found)
    else:
        # On standard error, because standard output has nothing but lines of what was found.
        typer.echo("nothing found", err=True)
    for note in notes if console.is_terminal else ():
        say(console, note, style="dim")


@declared(app, "list")
def list_memories(
    server: ServerOptions,
    first: options.From = None,
    last: options.To = None,
    text: Annotated[
        str | None, typer.Option(help="Only memories that contain these words.")
    ] = None,
    oldest: Annotated[bool, typer.Option("--oldest", help="The oldest first.")] = False,
    limit: Limit = 50,
    after: Annotated[
        str | None,
        typer.Option(help="Continue after this page: the 'next' value of the page before."),
    ] = None,
) -> CommandResult:
    """List memories by date."""
    order = "oldest" if oldest else "newest"
    with memory_of(server) as memory:
        page = memory.page(from_=first, to=last, text=text, order=order, limit=limit, after=after)
    notes = [f"{len(page['data'])} of {page['total']}"]
    if page["next"]:
        notes.append(f"the next ones: --after {page['next']}")
    return CommandResult(page, partial(print_list, page["data"], printing.print_memories, *notes))


@declared(app)
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
    limit: Limit = 10,
) -> CommandResult:
    """Find memories by meaning, words and time."""
    asked = {"now": time, "from_": first, "to": last, "as_of": as_of, "top_k": limit}
    with memory_of(server) as memory:
        found = memory.search(query, questions=every, **asked)
    near = [one for one in found["data"] if every or one["near"]]
    notes = [printing.time_line(found["time_range"])]
    if weaker := len(found["data"]) - len(near):
        hidden = f"weaker hits not shown: {weaker} (--all shows them)"
        notes.insert(0, hidden if near else "nothing is near; these are the nearest")
    return CommandResult(
        found, partial(print_list, near or found["data"], printing.print_memories, *notes)
    )


@declared(app)
def show(id: Id, server: ServerOptions) -> CommandResult:
    """Show one memory with its facts."""
    with memory_of(server) as memory:
        found = memory.show(id)
    return CommandResult(found, lambda: printing.print_memory(new_console(), found))


@declared(app)
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
    limit: Limit = 50,
) -> CommandResult:
    """List quoted or pasted statements that contradict what you said."""
    if mine is not None and leave is not None:
        raise typer.BadParameter("give --mine or --leave")
    with memory_of(server) as memory:
        if mine is not None:
            text = "marked as yours; it replaces what you said before"
            return CommandResult(memory.said_by(mine, "user"), text)
        if leave is not None:
            return CommandResult(memory.said_by(leave, "quoted"), "unchanged")
        found = memory.conflicts(limit)
    note = f"{len(found['data'])} of {found['total']}"
    return CommandResult(found, partial(print_list, found["data"], printing.print_conflicts, note))


@declared(app)
def edit(
    id: Id,
    server: ServerOptions,
    text: Annotated[
        str | None, typer.Option(help="The corrected text. Without it, an editor opens.")
    ] = None,
) -> CommandResult:
    """Correct your side of a memory, in $EDITOR or with --text."""
    with memory_of(server) as memory:
        found = memory.show(id)
        after = edited(found["user_text"]) if text is None else text
        if after == found["user_text"]:
            return CommandResult(found, "nothing was changed")
        found = memory.correct(found["id"], user_text=after)
    return CommandResult(found, printing.said(found))


@declared(app)
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
    receipt: Annotated[
        Path | None, typer.Option(help="A file to create, with proof of what was forgotten.")
    ] = None,
) -> CommandResult:
    """Forget one memory, a session, or everything. Counts first, and asks."""
    if [id is not None, session is not None, everything].count(True) != 1:
        raise typer.BadParameter("give an id, --session or --all")
    if receipt and receipt.exists():
        raise typer.BadParameter(f"{receipt} exists", param_hint="--receipt")
    with memory_of(server) as memory:
        gone = partial(memory.forget, id, session, receipt=receipt is not None)
        what, found = printing.what_goes(memory, id, session)
        count = found["rounds"]
        done = _if_agreed(gone, what, count, yes=yes, dry_run=dry_run)
        summary: dict[str, Any] = {
            "found": {name: found[name] for name in ("rounds", "facts", "sessions", "answers")},
            "forgotten": done["rounds"] if done else 0,
            "dry_run": dry_run,
        }
        if receipt and done and done.get("receipt"):
            with new_file(receipt) as out:
                out.write(json.dumps(done["receipt"], indent=2) + "\n")
            summary["receipt"] = str(receipt)
        if scrub and not dry_run and (done or not count):
            summary["scrubbed"] = memory.scrub()
    return _forgotten(what, count, done, summary, dry_run=dry_run)


@declared(app)
def verify(
    file: Annotated[Path, typer.Argument(help="A receipt, as it was given.")],
    server: ServerOptions,
) -> CommandResult:
    """Compare a receipt with memory: does what it proves still hold? Exit code 1 where not."""
    try:
        receipt = json.loads(file.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise AssistantError(f"cannot read the receipt {file}: {error}") from error
    with memory_of(server) as memory:
        found = memory.verify(receipt)
    standing = ", ".join(f"{found[name]} {name}" for name in ("there", "changed", "gone", "again"))
    holds = "holds" if found["holds"] else "does not hold"
    text = f"{found['action']} {memory_count(found['rounds'])}: {holds} ({standing})"
    return CommandResult(found, text, exit_code=0 if found["holds"] else 1)


@declared(app)
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
) -> CommandResult:
    """Forget what has expired, or is older than a number of days. Counts first, and asks."""
    with memory_of(server) as memory:
        gone = partial(memory.expire, older_than, _labels(where), all_users=all_users)
        found = gone(dry_run=True)
        whose = f"{found['users']} users" if all_users else memory.user_id
        what = printing.with_answers(f"{memory_count(found['rounds'])} of {whose}", found)
        done = _if_agreed(gone, what, found["rounds"], yes=yes, dry_run=dry_run)
    return _forgotten(what, found["rounds"], done, done or found, dry_run=dry_run)


@declared(app)
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
) -> CommandResult:
    """Say where memories may go: to any model, only to what is local, or into no answer at all."""
    with memory_of(server) as memory:
        ids = None if id is None else [memory.whole_id(one) for one in id]
        asked = {"ids": ids, "session_id": session, "text": text, "where": _labels(where)}
        done = memory.keep_up_to(reach, asked, dry_run=dry_run)
    would = "would change" if dry_run else "changed"
    text = f"{memory_count(done['matched'])} found, {done['changed']} {would}: {reach}"
    return CommandResult(done, text)


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


def _forgotten(
    what: str,
    count: int,
    done: Mapping[str, Any] | None,
    summary: Mapping[str, Any],
    *,
    dry_run: bool,
) -> CommandResult:
    """What became of a wish to forget. Exit code 1 where nobody agreed."""
    if not count:
        text = "there is nothing to forget"
    elif done and done["rounds"]:
        text = f"{memory_count(done['rounds'])} forgotten"
    else:
        text = f"dry run, nothing was forgotten: {what}" if dry_run else "nothing was forgotten"
    if summary.get("receipt"):
        text += f"\nthe receipt was written to {summary['receipt']}"
    if summary.get("scrubbed"):
        text += "\nforgotten text was removed from the disk"
    return CommandResult(summary, text, exit_code=1 if count and not (done or dry_run) else 0)
