"""The command line: `assistant serve | check | chat | ask | keys`, and those of a whole memory:
`migrate | reindex | backup | restore`."""

import sys
from importlib.metadata import version
from pathlib import Path
from typing import Annotated

import typer

from assistant.cli import keys
from assistant.errors import AssistantError

app = typer.Typer(
    help="A chat assistant that remembers.", no_args_is_help=True, add_completion=False
)
app.add_typer(keys.app, name="keys")

_Url = Annotated[str, typer.Option("--assistant", help="Base URL of a running assistant.")]
_User = Annotated[str, typer.Option("--user", help="Whose memory to use.")]
_Session = Annotated[str | None, typer.Option("--session", help="Session to go on with.")]
_Time = Annotated[str | None, typer.Option("--time", help="Pretend it is this time (RFC 3339).")]
_Key = Annotated[
    str | None,
    typer.Option(
        "--api-key", envvar="ASSISTANT_API_KEY", help="Key to send, if the server wants one."
    ),
]
_DataDir = Annotated[Path | None, typer.Option(help="Where the memory lies.")]
_Config = Annotated[Path | None, typer.Option(help="Settings file (TOML).")]
_QdrantUrl = Annotated[str | None, typer.Option(help="The Qdrant server that holds the memory.")]
_Json = Annotated[bool, typer.Option("--json", help="Print a summary as JSON.")]
_LOCAL = "http://127.0.0.1:8080"


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
    data_dir: _DataDir = None,
    config: _Config = None,
) -> None:
    """Run the assistant until it is stopped."""
    from assistant.cli.serve import run_server
    from assistant.settings import load_settings

    run_server(load_settings(host=host, port=port, data_dir=data_dir, config_file=config))


@app.command()
def check(
    data_dir: Annotated[Path | None, typer.Option(help="Where the memory lies.")] = None,
    config: Annotated[Path | None, typer.Option(help="Settings file (TOML).")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Say what is wrong with this set-up, if anything, and what helps."""
    from assistant.cli.check import print_check
    from assistant.settings import load_settings

    print_check(load_settings(data_dir=data_dir, config_file=config), as_json=as_json)


@app.command()
def chat(
    assistant: _Url = _LOCAL,
    user: _User = "default",
    session: _Session = None,
    time: _Time = None,
    api_key: _Key = None,
) -> None:
    """Talk to a running assistant in the terminal."""
    from assistant.cli.chat import chat_loop
    from assistant.cli.client import ChatClient

    with ChatClient(assistant, user, session, time, api_key) as client:
        chat_loop(client)


@app.command()
def ask(
    question: Annotated[str, typer.Argument(help="What to ask.")],
    assistant: _Url = _LOCAL,
    user: _User = "default",
    session: _Session = None,
    time: _Time = None,
    api_key: _Key = None,
    remember: Annotated[bool, typer.Option(help="Keep the question and its answer.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the whole reply as JSON.")] = False,
) -> None:
    """Ask one question, answered from memory."""
    from assistant.cli.ask import print_answer
    from assistant.cli.client import ChatClient

    with ChatClient(assistant, user, session, time, api_key) as client:
        print_answer(client, question, remember=remember, as_json=as_json)


@app.command()
def migrate(
    to: Annotated[str, typer.Option(help="Where the memory is to go: edge or server.")],
    data_dir: _DataDir = None,
    qdrant_url: _QdrantUrl = None,
    config: _Config = None,
    as_json: _Json = False,
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
    data_dir: _DataDir = None,
    qdrant_url: _QdrantUrl = None,
    config: _Config = None,
    again: Annotated[bool, typer.Option(help="Even if nothing has changed.")] = False,
    keep_old: Annotated[bool, typer.Option(help="Do not delete the old index.")] = False,
    cancel: Annotated[bool, typer.Option(help="Give up an interrupted reindex.")] = False,
    as_json: _Json = False,
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
    data_dir: _DataDir = None,
    qdrant_url: _QdrantUrl = None,
    config: _Config = None,
    as_json: _Json = False,
) -> None:
    """Write the memory of all users to a file."""
    from assistant.cli.operations import run_backup
    from assistant.settings import load_settings

    settings = load_settings(data_dir=data_dir, qdrant_url=qdrant_url, config_file=config)
    run_backup(settings, file, as_json=as_json)


@app.command()
def restore(
    file: Annotated[Path, typer.Argument(help="A file that `assistant backup` wrote.")],
    data_dir: _DataDir = None,
    qdrant_url: _QdrantUrl = None,
    config: _Config = None,
    as_json: _Json = False,
) -> None:
    """Fill an empty memory from a backup. Can be repeated until it has finished."""
    from assistant.cli.operations import run_restore
    from assistant.settings import load_settings

    settings = load_settings(data_dir=data_dir, qdrant_url=qdrant_url, config_file=config)
    run_restore(settings, file, as_json=as_json)


def main() -> None:
    """Entry point: errors are one line on stderr and exit code 2, never a traceback."""
    from memory_store import MemoryStoreError

    try:
        app()
    except (AssistantError, MemoryStoreError) as error:
        typer.echo(f"assistant: {error}", err=True)
        sys.exit(2)
