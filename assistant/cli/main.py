"""The command line: chat, ask, memories, spaces, mcp; serve, check, config, keys; and those of a
whole memory: migrate, reindex, backup, restore, repair, scrub."""

import gc
import sys
from importlib.metadata import version
from typing import Annotated, NoReturn

import typer

from assistant.cli import configuration, keys, moving, options, spaces, whole_memory
from assistant.cli.options import CommandResult, ServerOptions, SettingsOptions, declared
from assistant.errors import AssistantError

app = typer.Typer(
    help="A chat assistant that remembers.", no_args_is_help=True, add_completion=False
)
app.add_typer(configuration.app, name="config")
app.add_typer(keys.app, name="keys")
app.add_typer(moving.app, name="memories")
app.add_typer(spaces.app, name="spaces")


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


@declared(app)
def serve(
    settings: SettingsOptions,
    host: Annotated[str | None, typer.Option(help="Address to listen on.")] = None,
    port: Annotated[int | None, typer.Option(help="Port to listen on; 0 takes a free one.")] = None,
    workers: Annotated[
        int | None, typer.Option(help="Number of worker processes. More than one needs qdrant_url.")
    ] = None,
) -> None:
    """Start the assistant server."""
    # What is imported stays for good, so that no collection needs to look through it.
    gc.disable()
    from assistant.serving.serve import run_server

    gc.freeze()
    gc.enable()
    read = settings.read(host=host, port=port, workers=workers)
    configuration.warn_about_names()
    run_server(read)


@declared(app)
def check(settings: SettingsOptions) -> CommandResult:
    """Check this set-up: address, keys, memory, embedder, models."""
    from assistant.cli.check import check_set_up

    read = settings.read()
    configuration.warn_about_names()
    return check_set_up(read)


@declared(app)
def chat(
    server: ServerOptions,
    session: options.Session = None,
    time: options.Time = None,
    model: options.Model = None,
    history: Annotated[bool, typer.Option(help="Keep a history of what you type.")] = True,
) -> None:
    """Chat with a running assistant."""
    from assistant.cli import terminal
    from assistant.cli.conversation import TerminalConversation

    with server.connect() as connection:
        conversation = TerminalConversation(connection, session, time, model)
        raise typer.Exit(terminal.chat(conversation, with_history=history))


@declared(app)
def ask(
    question: Annotated[
        str, typer.Argument(help="The question. Use - to read it from standard input.")
    ],
    server: ServerOptions,
    session: options.Session = None,
    time: options.Time = None,
    first: options.From = None,
    last: options.To = None,
    as_of: options.AsOf = None,
    model: options.Model = None,
    remember: Annotated[
        bool, typer.Option(help="Store the question and its answer. By default nothing is stored.")
    ] = False,
) -> CommandResult:
    """Ask one question and print the answer."""
    from assistant.cli.conversation import one_answer

    metadata = {
        "session_id": session,
        "timestamp": time,
        "from": first,
        "to": last,
        "as_of": as_of,
        "memory": "on" if remember else "read_only",
        "question": "1",
        "memory_debug": "1",
    }
    if question == "-":
        question = sys.stdin.read().strip()
    with server.connect() as connection:
        return one_answer(connection, question, metadata, model)


@declared(app)
def mcp(server: ServerOptions) -> None:
    """Serve a running assistant's memory to MCP clients over stdio."""
    try:
        from assistant.cli import mcp_server
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] != "mcp":
            raise
        raise AssistantError(
            "assistant mcp needs an extra: pip install '.[mcp]' in the project's folder"
        ) from error
    with server.connect(seconds=mcp_server.SILENT_SECONDS) as connection:
        mcp_server.serve(connection)


for command in (
    whole_memory.migrate,
    whole_memory.reindex,
    whole_memory.backup,
    whole_memory.restore,
    whole_memory.repair,
    whole_memory.scrub,
):
    declared(app)(command)


def main() -> None:
    """Entry point: errors are one line on stderr and exit code 2, never a traceback."""
    try:
        app()
    except AssistantError as error:
        _end(error)
    except Exception as error:
        # The store's errors take long to import and are seldom needed.
        from memory_store.errors import MemoryStoreError

        if not isinstance(error, MemoryStoreError):
            raise
        _end(error)


def _end(error: Exception) -> NoReturn:
    typer.echo(f"assistant: {error}", err=True)
    sys.exit(2)
