"""The command line: chat, ask, memories, mcp; serve, check, config, keys; and those of a whole
memory: migrate, reindex, backup, restore, repair, scrub."""

import sys
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from assistant.cli import configuration, keys, memories, options
from assistant.errors import AssistantError

app = typer.Typer(
    help="A chat assistant that remembers.", no_args_is_help=True, add_completion=False
)
app.add_typer(configuration.app, name="config")
app.add_typer(keys.app, name="keys")
app.add_typer(memories.app, name="memories")


@app.callback(invoke_without_command=True)
def _root(
    context: typer.Context,
    show_version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    if show_version:
        typer.echo(version("aide-memoire"))
        raise typer.Exit
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
        raise typer.Exit(2)


@app.command()
def serve(
    host: Annotated[str | None, typer.Option(help="Address to listen on.")] = None,
    port: Annotated[int | None, typer.Option(help="Port to listen on; 0 takes a free one.")] = None,
    data_dir: options.DataDir = None,
    config: options.Config = None,
    workers: Annotated[
        int | None, typer.Option(help="Processes that serve; several need qdrant_url.")
    ] = None,
) -> None:
    """Run the assistant until it is stopped."""
    from assistant.cli.serving.command import run_server
    from assistant.settings import load_settings

    settings = load_settings(
        host=host, port=port, data_dir=data_dir, config_file=config, workers=workers
    )
    configuration.warn_about_names()
    run_server(settings)


@app.command()
def check(
    data_dir: options.DataDir = None,
    config: options.Config = None,
    as_json: options.Json = False,
) -> None:
    """Say what is wrong with this set-up, if anything, and what helps."""
    from assistant.cli.check import print_check
    from assistant.settings import load_settings

    settings = load_settings(data_dir=data_dir, config_file=config)
    configuration.warn_about_names()
    print_check(settings, as_json=as_json)


@app.command()
def chat(
    assistant: options.Url = options.LOCAL,
    user: options.User = None,
    session: options.Session = None,
    time: options.Time = None,
    model: options.Model = None,
    api_key: options.Key = None,
    history: Annotated[bool, typer.Option(help="Keep what is typed for the next time.")] = True,
) -> None:
    """Talk to a running assistant in the terminal."""
    from assistant.cli.chat import terminal
    from assistant.cli.connection import Connection
    from assistant.cli.conversation import Conversation

    with Connection(assistant, user, api_key) as connection:
        conversation = Conversation(connection, session, time, model)
        raise typer.Exit(terminal.chat(conversation, with_history=history))


@app.command()
def ask(
    question: Annotated[str, typer.Argument(help="What to ask; - reads it from standard input.")],
    assistant: options.Url = options.LOCAL,
    user: options.User = None,
    session: options.Session = None,
    time: options.Time = None,
    first: options.From = None,
    last: options.To = None,
    as_of: options.AsOf = None,
    model: options.Model = None,
    api_key: options.Key = None,
    remember: Annotated[bool, typer.Option(help="Keep the question and its answer.")] = False,
    as_json: options.Json = False,
) -> None:
    """Ask one question, answered from memory."""
    from assistant.cli.ask import print_answer
    from assistant.cli.connection import Connection

    metadata = {
        "session_id": session,
        "timestamp": time,
        "from": first,
        "to": last,
        "as_of": as_of,
        "memory": "on" if remember else "read_only",
    }
    if question == "-":
        question = sys.stdin.read().strip()
    with Connection(assistant, user, api_key) as connection:
        print_answer(connection, question, metadata, model=model, as_json=as_json)


@app.command()
def mcp(
    assistant: options.Url = options.LOCAL,
    user: options.User = None,
    api_key: options.Key = None,
) -> None:
    """Offer a memory to MCP clients, over standard input and output."""
    from assistant.cli.connection import Connection

    try:
        from assistant.cli.mcp_server import SILENT_SECONDS
        from assistant.cli.mcp_server import serve as serve_mcp
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] != "mcp":
            raise
        raise AssistantError("this needs the extra: pip install 'aide-memoire[mcp]'") from error
    with Connection(assistant, user, api_key, seconds=SILENT_SECONDS) as connection:
        serve_mcp(connection)


@app.command()
def migrate(
    to: Annotated[str, typer.Option(help="Where the memory is to go: edge or server.")],
    data_dir: options.DataDir = None,
    qdrant_url: options.QdrantUrl = None,
    config: options.Config = None,
    as_json: options.Json = False,
) -> None:
    """Move the memory between the data directory (edge) and a Qdrant server. Can be repeated."""
    from assistant.cli.operations import run_migrate
    from assistant.operations import Place
    from assistant.settings import load_settings

    if to not in list(Place):
        raise typer.BadParameter("edge or server", param_hint="--to")
    settings = load_settings(data_dir=data_dir, qdrant_url=qdrant_url, config_file=config)
    run_migrate(settings, Place(to), as_json=as_json)


@app.command()
def reindex(
    data_dir: options.DataDir = None,
    qdrant_url: options.QdrantUrl = None,
    config: options.Config = None,
    again: Annotated[bool, typer.Option(help="Even if nothing has changed.")] = False,
    keep_old: Annotated[bool, typer.Option(help="Do not delete the old index.")] = False,
    cancel: Annotated[bool, typer.Option(help="Give up an interrupted reindex.")] = False,
    as_json: options.Json = False,
) -> None:
    """Index the memory anew with the embedder of the settings. Can be repeated."""
    from assistant.cli.operations import run_cancel, run_reindex
    from assistant.settings import load_settings

    settings = load_settings(data_dir=data_dir, qdrant_url=qdrant_url, config_file=config)
    if cancel:
        run_cancel(settings, as_json=as_json)
    else:
        run_reindex(settings, keep_old=keep_old, again=again, as_json=as_json)


@app.command()
def backup(
    file: Annotated[Path, typer.Argument(help="Where to write it; `.gz` at the end packs it.")],
    assistant: options.Running = None,
    api_key: options.Key = None,
    data_dir: options.DataDir = None,
    qdrant_url: options.QdrantUrl = None,
    config: options.Config = None,
    as_json: options.Json = False,
) -> None:
    """Write the memory of all users to a file; with --assistant while it runs."""
    from assistant.cli.connection import Connection
    from assistant.cli.operations import run_backup, run_backup_through
    from assistant.settings import load_settings

    if assistant is not None:
        with Connection(assistant, None, api_key) as connection:
            run_backup_through(connection, file, as_json=as_json)
        return
    settings = load_settings(data_dir=data_dir, qdrant_url=qdrant_url, config_file=config)
    run_backup(settings, file, as_json=as_json)


@app.command()
def restore(
    file: Annotated[Path, typer.Argument(help="A file that `assistant backup` wrote.")],
    data_dir: options.DataDir = None,
    qdrant_url: options.QdrantUrl = None,
    config: options.Config = None,
    as_json: options.Json = False,
) -> None:
    """Fill an empty memory from a backup. Can be repeated until it has finished."""
    from assistant.cli.operations import run_restore
    from assistant.settings import load_settings

    settings = load_settings(data_dir=data_dir, qdrant_url=qdrant_url, config_file=config)
    run_restore(settings, file, as_json=as_json)


@app.command()
def repair(
    backup: Annotated[
        Path | None, typer.Option("--from", help="A backup to take lost rounds from.")
    ] = None,
    data_dir: options.DataDir = None,
    config: options.Config = None,
    as_json: options.Json = False,
) -> None:
    """Keep what can be read of a damaged memory. Its damaged files are deleted: copy them first."""
    from assistant.cli.operations import run_repair
    from assistant.settings import load_settings

    settings = load_settings(data_dir=data_dir, config_file=config)
    run_repair(settings, backup, as_json=as_json)


@app.command()
def scrub(
    assistant: options.Running = None,
    api_key: options.Key = None,
    data_dir: options.DataDir = None,
    config: options.Config = None,
    as_json: options.Json = False,
) -> None:
    """Take what was forgotten off the disk; with --assistant while it runs."""
    from assistant.cli.connection import Connection
    from assistant.cli.operations import run_scrub, run_scrub_through
    from assistant.settings import load_settings

    if assistant is not None:
        with Connection(assistant, None, api_key) as connection:
            run_scrub_through(connection, as_json=as_json)
        return
    run_scrub(load_settings(data_dir=data_dir, config_file=config), as_json=as_json)


def main() -> None:
    """Entry point: errors are one line on stderr and exit code 2, never a traceback."""
    try:
        app()
    except AssistantError as error:
        _end(error)
    except Exception as error:
        if not isinstance(error, _store_error()):
            raise
        _end(error)


def _end(error: Exception) -> NoReturn:
    typer.echo(f"assistant: {error}", err=True)
    sys.exit(2)


def _store_error() -> type[Exception]:
    """The base of the store's errors, which takes long to import and is seldom needed."""
    from memory_store import MemoryStoreError

    return MemoryStoreError
