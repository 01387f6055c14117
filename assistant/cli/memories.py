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

_Id = Annotated[str, typer.Argument(help="Id of a memory; the beginning of it will do.")]
_Limit = Annotated[int, typer.Option(min=1, max=200, help="Most memories shown.")]


@app.command("list")
def list_memories(
    assistant: options.Url = options.LOCAL,
    user: options.User = None,
    first: options.From = None,
    last: options.To = None,
    text: Annotated[str | None, typer.Option(help="Only those with these words.")] = None,
    oldest: Annotated[bool, typer.Option("--oldest", help="The oldest first.")] = False,
    limit: _Limit = 50,
    after: Annotated[str | None, typer.Option(help="Go on after this 'next'.")] = None,
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
    limit: _Limit = 10,
    api_key: options.Key = None,
    as_json: options.Json = False,
) -> None:
    """Find memories by meaning, words and time."""
    with _work(assistant, user, api_key, as_json) as work:
        work.search(query, now=time, from_=first, to=last, as_of=as_of, top_k=limit)


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
        str | None, typer.Option(metavar="ID", help="It is mine: let it replace.")
    ] = None,
    leave: Annotated[
        str | None, typer.Option(metavar="ID", help="It is not: leave all as it is.")
    ] = None,
    assistant: options.Url = options.LOCAL,
    user: options.User = None,
    limit: _Limit = 50,
    api_key: options.Key = None,
    as_json: options.Json = False,
) -> None:
    """List what contradicts you and may be another's: quoted, pasted, made up."""
    if mine is not None and leave is not None:
        raise typer.BadParameter("give --mine or --leave")
    with _work(assistant, user, api_key, as_json) as work:
        work.conflicts(mine=mine, leave=leave, limit=limit)


@app.command()
def edit(
    id: _Id,
    text: Annotated[str | None, typer.Option(help="What was said; else an editor opens.")] = None,
    assistant: options.Url = options.LOCAL,
    user: options.User = None,
    api_key: options.Key = None,
    as_json: options.Json = False,
) -> None:
    """Put right what a memory says you said, in $EDITOR or by --text."""
    with _work(assistant, user, api_key, as_json) as work:
        work.edit(id, text)


@app.command()
def forget(
    id: Annotated[str | None, typer.Argument(help="Id of a memory, or its beginning.")] = None,
    session: Annotated[str | None, typer.Option(help="Forget this session.")] = None,
    everything: Annotated[bool, typer.Option("--all", help="Forget everything.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only count.")] = False,
    scrub: Annotated[
        bool, typer.Option("--scrub", help="Take it off the disk at once, too.")
    ] = False,
    assistant: options.Url = options.LOCAL,
    user: options.User = None,
    api_key: options.Key = None,
    as_json: options.Json = False,
) -> None:
    """Forget one memory, a session, or everything; says first how much that is, and asks."""
    if [id is not None, session is not None, everything].count(True) != 1:
        raise typer.BadParameter("give an id, --session or --all")
    with _work(assistant, user, api_key, as_json) as work:
        work.forget(id, session, yes=yes, dry_run=dry_run, scrub=scrub)


@app.command()
def export(
    file: Annotated[Path, typer.Argument(help="A new file; - is standard output.")],
    assistant: options.Url = options.LOCAL,
    user: options.User = None,
    api_key: options.Key = None,
    as_json: options.Json = False,
) -> None:
    """Write everything that is kept of a user to a file (JSONL)."""
    with _work(assistant, user, api_key, as_json) as work:
        work.export(file)


@app.command("import")
def import_memories(
    file: Annotated[
        Path, typer.Argument(help="An export of ours or of ChatGPT; - is standard input.")
    ],
    assistant: options.Url = options.LOCAL,
    user: options.User = None,
    api_key: options.Key = None,
    as_json: options.Json = False,
) -> None:
    """Bring in an export, of ChatGPT too (json, zip). Can be repeated: what is there stays."""
    with _work(assistant, user, api_key, as_json) as work:
        work.bring_in(file)


@contextmanager
def _work(
    assistant: str, user: str | None, api_key: str | None, as_json: bool
) -> Iterator["MemoryWork"]:
    from assistant.cli.connection import Connection
    from assistant.cli.memory_calls import MemoryCalls
    from assistant.cli.memory_work import MemoryWork

    with Connection(assistant, user, api_key) as connection:
        yield MemoryWork(MemoryCalls(connection), as_json=as_json)
