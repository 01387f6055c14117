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
        int | None, typer.Option(help="Number of worker processes. More than one needs qdrant_url.")
    ] = None,
) -> None:
    """Start the assistant server."""
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
    """Check this set-up: address, keys, memory, embedder, models."""
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
    history: Annotated[bool, typer.Option(help="Keep a history of what you type.")] = True,
) -> None:
    """Chat with a running assistant."""
    from assistant.cli.chat import terminal
    from assistant.cli.connection import ServerConnection
    from assistant.cli.conversation import TerminalConversation

    with ServerConnection(assistant, user, api_key) as connection:
        conversation = TerminalConversation(connection, session, time, model)
        raise typer.Exit(terminal.chat(conversation, with_history=history))


@app.command()
def ask(
    question: Annotated[
        str, typer.Argument(help="The question. Use - to read it from standard input.")
    ],
    assistant: options.Url = options.LOCAL,
    user: options.User = None,
    session: options.Session = None,
    time: options.Time = None,
    first: options.From = None,
    last: options.To = None,
    as_of: options.AsOf = None,
    model: options.Model = None,
    api_key: options.Key = None,
    remember: Annotated[
        bool, typer.Option(help="Store the question and its answer. By default nothing is stored.")
    ] = False,
    as_json: options.Json = False,
) -> None:
    """Ask one question and print the answer."""
    from assistant.cli.ask import print_answer
    from assistant.cli.connection import ServerConnection

    metadata = {
        "session_id": session,
        "timestamp": time,
        "from": first,
        "to": last,
        "as_of": as_of,
        "memory": "on" if remember else "read_only",
        "question": "1",
    }
    if question == "-":
        question = sys.stdin.read().strip()
    with ServerConnection(assistant, user, api_key) as connection:
        print_answer(connection, question, metadata, model=model, as_json=as_json)


@app.command()
def mcp(
    assistant: options.Url = options.LOCAL,
    user: options.User = None,
    api_key: options.Key = None,
) -> None:
    """Serve a running assistant's memory to MCP clients over stdio."""
    from assistant.cli.connection import ServerConnection

    try:
        from assistant.cli.mcp_server import SILENT_SECONDS
        from assistant.cli.mcp_server import serve as serve_mcp
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] != "mcp":
            raise
        raise AssistantError(
            "assistant mcp needs an extra: pip install '.[mcp]' in the project's folder"
        ) from error
    with ServerConnection(assistant, user, api_key, seconds=SILENT_SECONDS) as connection:
        serve_mcp(connection)


@app.command()
def migrate(
    to: Annotated[
        str,
        typer.Option(help="Target: 'edge' (embedded, in the data directory) or 'server' (Qdrant)."),
    ],
    data_dir: options.DataDir = None,
    qdrant_url: options.QdrantUrl = None,
    config: options.Config = None,
    as_json: options.Json = False,
) -> None:
    """Copy a memory from the data directory to a Qdrant server, or back. Safe to repeat."""
    from assistant.cli.operations import run_migrate
    from assistant.operations import MemoryPlace
    from assistant.settings import load_settings

    if to not in list(MemoryPlace):
        raise typer.BadParameter("--to must be 'edge' or 'server'", param_hint="--to")
    settings = load_settings(data_dir=data_dir, qdrant_url=qdrant_url, config_file=config)
    run_migrate(settings, MemoryPlace(to), as_json=as_json)


@app.command()
def reindex(
    data_dir: options.DataDir = None,
    qdrant_url: options.QdrantUrl = None,
    config: options.Config = None,
    again: Annotated[
        bool, typer.Option(help="Rebuild the index even if nothing has changed.")
    ] = False,
    keep_old: Annotated[
        bool, typer.Option(help="Keep the old index until the next reindex.")
    ] = False,
    cancel: Annotated[
        bool, typer.Option(help="Cancel an interrupted reindex and keep the old index.")
    ] = False,
    as_json: options.Json = False,
) -> None:
    """Rebuild the index with the current embedder and settings. Safe to repeat."""
    from assistant.cli.operations import run_cancel, run_reindex
    from assistant.settings import load_settings

    settings = load_settings(data_dir=data_dir, qdrant_url=qdrant_url, config_file=config)
    if cancel:
        run_cancel(settings, as_json=as_json)
    else:
        run_reindex(settings, keep_old=keep_old, again=again, as_json=as_json)


@app.command()
def backup(
    file: Annotated[
        Path, typer.Argument(help="Backup file to write. A name ending in .gz is compressed.")
    ],
    assistant: options.Running = None,
    api_key: options.Key = None,
    data_dir: options.DataDir = None,
    qdrant_url: options.QdrantUrl = None,
    config: options.Config = None,
    as_json: options.Json = False,
) -> None:
    """Back up all users to a file. Use --assistant while the assistant runs."""
    from assistant.cli.connection import ServerConnection
    from assistant.cli.operations import run_backup, run_backup_through
    from assistant.settings import load_settings

    if assistant is not None:
        with ServerConnection(assistant, None, api_key) as connection:
            run_backup_through(connection, file, as_json=as_json)
        return
    settings = load_settings(data_dir=data_dir, qdrant_url=qdrant_url, config_file=config)
    run_backup(settings, file, as_json=as_json)


@app.command()
def restore(
    file: Annotated[Path, typer.Argument(help="Backup file to read.")],
    data_dir: options.DataDir = None,
    qdrant_url: options.QdrantUrl = None,
    config: options.Config = None,
    as_json: options.Json = False,
) -> None:
    """Restore a backup into an empty memory. If interrupted, run it again."""
    from assistant.cli.operations import run_restore
    from assistant.settings import load_settings

    settings = load_settings(data_dir=data_dir, qdrant_url=qdrant_url, config_file=config)
    run_restore(settings, file, as_json=as_json)


@app.command()
def repair(
    backup: Annotated[
        Path | None, typer.Option("--from", help="Backup file to recover lost messages from.")
    ] = None,
    data_dir: options.DataDir = None,
    config: options.Config = None,
    as_json: options.Json = False,
) -> None:
    """Repair a damaged memory: keep every intact message. Copy its files first: damaged ones go."""
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
    """Remove forgotten text from the disk now. Use --assistant while the assistant runs."""
    from assistant.cli.connection import ServerConnection
    from assistant.cli.operations import run_scrub, run_scrub_through
    from assistant.settings import load_settings

    if assistant is not None:
        with ServerConnection(assistant, None, api_key) as connection:
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
    from memory_store.errors import MemoryStoreError

    return MemoryStoreError
