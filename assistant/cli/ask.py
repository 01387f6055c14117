"""`assistant ask`: one question, one answer."""

import json

import typer

from assistant.cli.client import ChatClient


def print_answer(client: ChatClient, question: str, *, remember: bool, as_json: bool) -> None:
    """Print the answer, or with `as_json` the whole reply with its memory trace."""
    reply = client.ask(
        [{"role": "user", "content": question}],
        memory="on" if remember else "read_only",
        memory_debug="1" if as_json else "",
    )
    if as_json:
        typer.echo(json.dumps(reply, ensure_ascii=False, indent=2))
    else:
        typer.echo(reply["choices"][0]["message"]["content"])
