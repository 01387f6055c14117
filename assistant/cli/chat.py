"""`assistant chat`: a conversation in the terminal. Plain when piped."""

import sys
import uuid
from collections.abc import Iterator

import typer
from prompt_toolkit import PromptSession

from assistant.cli.client import ChatClient, ServerError

_HELP = "/new begins a new session · /session shows it · /time 2023-05-20 sets the time · /quit"


def chat_loop(client: ChatClient) -> None:
    """Read messages and print answers until the input ends. Ctrl-C stops an answer only."""
    client.check()
    client.session_id = client.session_id or _new_session()
    typer.echo(f"Talking to {client.base_url} as {client.user_id}. {_HELP}")
    messages: list[dict[str, str]] = []
    for line in _lines():
        if line.startswith("/"):
            if not _command(client, line, messages):
                return
            continue
        messages.append({"role": "user", "content": line})
        answer = _answer(client, messages)
        if answer is None:
            messages.pop()
        else:
            messages.append({"role": "assistant", "content": answer})


def _lines() -> Iterator[str]:
    """What the user types, line by line, without blank ones."""
    source = _typed() if sys.stdin.isatty() else (line.strip() for line in sys.stdin)
    return (line for line in source if line)


def _typed() -> Iterator[str]:
    session: PromptSession[str] = PromptSession()
    while True:
        try:
            yield session.prompt("you › ").strip()
        except KeyboardInterrupt:
            continue
        except EOFError:
            return


def _answer(client: ChatClient, messages: list[dict[str, str]]) -> str | None:
    """Print the answer as it comes; None when it failed or was stopped."""
    pieces: list[str] = []
    try:
        for piece in client.stream(messages):
            typer.echo(piece, nl=False)
            pieces.append(piece)
        typer.echo()
        return "".join(pieces)
    except KeyboardInterrupt:
        typer.echo(" (stopped)")
    except ServerError as error:
        typer.echo(f"\n{error}", err=True)
    return None


def _command(client: ChatClient, line: str, messages: list[dict[str, str]]) -> bool:
    """Carry out a slash command; False ends the conversation."""
    name, _, argument = line.partition(" ")
    if name in ("/quit", "/exit"):
        return False
    if name == "/new":
        client.session_id = _new_session()
        messages.clear()
        typer.echo(f"new session {client.session_id}")
    elif name == "/session":
        typer.echo(client.session_id)
    elif name == "/time":
        client.timestamp = argument.strip() or None
        typer.echo(f"it is {client.timestamp or 'now'}")
    else:
        typer.echo(_HELP)
    return True


def _new_session() -> str:
    return f"terminal-{uuid.uuid4().hex[:12]}"
