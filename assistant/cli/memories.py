"""`assistant memories`: a user's memory in the user's hands. The work is in `memory_work`."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from assistant.cli import options

if TYPE_CHECKING:
    from assistant.cli.memory_work import MemoryWork

app = typer.Typer(help="See, find, edit, forget, export and import memories.", no_args_is_help=True)

_Id = Annotated[str, typer.Argument(help="Memory id, or its first six or more characters.")]
_Limit = Annotated[int, typer.Option(min=1, max=200, help="Maximum number of memories to show.")]


@app.command("list")
def list_memories(
    assistant: options.Url = options.LOCAL,
    user: options.User = None,
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
    api_key: options.Key = None,
    as_json: options.Json = False,
) -> None:
    """List memories by date."""
    order = "oldest" if oldest else "newest"
    with _work(assistant, user, api_key, as_json) as work:
        work.list(from_=first, to=last, text=text, order=order, limit=limit, after=after)


@app.command()
def search(
    query: Annotated[str, typer.Argument(help="What to look for.")],
    assistant: options.Url = options.LOCAL,
    user: options.User = None,
    time: options.Time = None,
    first: options.From = None,
    last: options.To = None,
    as_of: options.AsOf = None,
    every: Annotated[
        bool, typer.Option("--all", help="Also what is hardly near, and your own questions.")
    ] = False,
    limit: _Limit = 10,
    api_key: options.Key = None,
    as_json: options.Json = False,
) -> None:
    """Find memories by meaning, words and time."""
    asked = {"now": time, "from_": first, "to": last, "as_of": as_of, "top_k": limit}
    with _work(assistant, user, api_key, as_json) as work:
        work.search(query, every=every, **asked)


@app.command()
def show(
    id: _Id,
    assistant: options.Url = options.LOCAL,
    user: options.User = None,
    api_key: options.Key = None,
    as_json: options.Json = False,
) -> None:
    """Show one memory with its facts."""
    with _work(assistant, user, api_key, as_json) as work:
        work.show(id)


@app.command()
def conflicts(
    mine: Annotated[
        str | None,
        typer.Option(
            metavar="ID", help="This statement is mine: let it replace what I said before."
        ),
    ] = None,
    leave: Annotated[
        str | None, typer.Option(metavar="ID", help="This statement is not mine: change nothing.")
    ] = None,
    assistant: options.Url = options.LOCAL,
    user: options.User = None,
    limit: _Limit = 50,
    api_key: options.Key = None,
    as_json: options.Json = False,
) -> None:
    """List quoted or pasted statements that contradict what you said."""
    if mine is not None and leave is not None:
        raise typer.BadParameter("give --mine or --leave")
    with _work(assistant, user, api_key, as_json) as work:
        work.conflicts(mine=mine, leave=leave, limit=limit)


@app.command()
def edit(
    id: _Id,
    text: Annotated[
        str | None, typer.Option(help="The corrected text. Without it, an editor opens.")
    ] = None,
    assistant: options.Url = options.LOCAL,
    user: options.User = None,
    api_key: options.Key = None,
    as_json: options.Json = False,
) -> None:
    """Correct your side of a memory, in $EDITOR or with --text."""
    with _work(assistant, user, api_key, as_json) as work:
        work.edit(id, text)


@app.command()
def forget(
    id: Annotated[str | None, typer.Argument(help="Id of a memory, or its beginning.")] = None,
    session: Annotated[str | None, typer.Option(help="Forget this session.")] = None,
    everything: Annotated[bool, typer.Option("--all", help="Forget everything.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation.")] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only count what would be forgotten.")
    ] = False,
    scrub: Annotated[
        bool, typer.Option("--scrub", help="Also remove the text from the disk now.")
    ] = False,
    assistant: options.Url = options.LOCAL,
    user: options.User = None,
    api_key: options.Key = None,
    as_json: options.Json = False,
) -> None:
    """Forget one memory, a session, or everything. Counts first, and asks."""
    if [id is not None, session is not None, everything].count(True) != 1:
        raise typer.BadParameter("give an id, --session or --all")
    with _work(assistant, user, api_key, as_json) as work:
        work.forget(id, session, yes=yes, dry_run=dry_run, scrub=scrub)


@app.command()
def expire(
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
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation.")] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only count what would be forgotten.")
    ] = False,
    assistant: options.Url = options.LOCAL,
    user: options.User = None,
    api_key: options.Key = None,
    as_json: options.Json = False,
) -> None:
    """Forget what has expired, or is older than a number of days. Counts first, and asks."""
    with _work(assistant, user, api_key, as_json) as work:
        work.expire(older_than, where, all_users=all_users, yes=yes, dry_run=dry_run)


@app.command()
def export(
    file: Annotated[Path, typer.Argument(help="File to create. Use - for standard output.")],
    assistant: options.Url = options.LOCAL,
    user: options.User = None,
    api_key: options.Key = None,
    as_json: options.Json = False,
) -> None:
    """Export a user's memory to a file (JSONL)."""
    with _work(assistant, user, api_key, as_json) as work:
        work.export(file)


@app.command("import")
def import_memories(
    file: Annotated[
        Path,
        typer.Argument(
            help="An export of this assistant or of another one. Use - for standard input."
        ),
    ],
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only count what would be imported.")
    ] = False,
    assistant: options.Url = options.LOCAL,
    user: options.User = None,
    api_key: options.Key = None,
    as_json: options.Json = False,
) -> None:
    """Import what this or another assistant exported: ChatGPT, Claude, Gemini and more. Safe to
    repeat."""
    with _work(assistant, user, api_key, as_json) as work:
        work.bring_in(file, dry_run=dry_run)


@contextmanager
def _work(
    assistant: str, user: str | None, api_key: str | None, as_json: bool
) -> Iterator["MemoryWork"]:
    from assistant.cli.connection import ServerConnection
    from assistant.cli.memory_calls import MemoryCalls
    from assistant.cli.memory_work import MemoryWork

    with ServerConnection(assistant, user, api_key) as connection:
        yield MemoryWork(MemoryCalls(connection), as_json=as_json)
