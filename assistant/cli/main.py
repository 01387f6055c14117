"""The command line: `assistant serve | chat | ask`."""

import sys
from importlib.metadata import version
from pathlib import Path
from typing import Annotated

import typer

from assistant.errors import AssistantError

app = typer.Typer(
    help="A chat assistant that remembers.", no_args_is_help=True, add_completion=False
)

_Url = Annotated[str, typer.Option("--assistant", help="Base URL of a running assistant.")]
_User = Annotated[str, typer.Option("--user", help="Whose memory to use.")]
_Session = Annotated[str | None, typer.Option("--session", help="Session to go on with.")]
_Time = Annotated[str | None, typer.Option("--time", help="Pretend it is this time (RFC 3339).")]
_Key = Annotated[
    str | None, typer.Option("--api-key", help="Key to send, if the server wants one.")
]
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
    data_dir: Annotated[Path | None, typer.Option(help="Where the memory lies.")] = None,
    config: Annotated[Path | None, typer.Option(help="Settings file (TOML).")] = None,
) -> None:
    """Run the assistant until it is stopped."""
    from assistant.cli.serve import run_server
    from assistant.settings import load_settings

    run_server(load_settings(host=host, port=port, data_dir=data_dir, config_file=config))


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


def main() -> None:
    """Entry point: errors are one line on stderr and exit code 2, never a traceback."""
    from memory_store import MemoryStoreError

    try:
        app()
    except (AssistantError, MemoryStoreError) as error:
        typer.echo(f"assistant: {error}", err=True)
        sys.exit(2)
