"""`assistant ask`: one question, one answer."""

import json
from collections.abc import Mapping
from typing import Any

import typer

from assistant.cli.connection import ServerConnection
from assistant.cli.console import plain
from assistant.cli.conversation import answered

_OF_A_SOURCE = ("id", "session_id", "session_date", "similarity", "user_text", "assistant_text")


def print_answer(
    connection: ServerConnection,
    question: str,
    metadata: Mapping[str, str | None],
    *,
    model: str | None,
    as_json: bool,
) -> None:
    """Print the answer; with `as_json` the whole reply, and what it was made from."""
    debug = {"memory_debug": "1"} if as_json else {}
    known = {name: value for name, value in metadata.items() if value is not None}
    asked: dict[str, Any] = {"metadata": {"user_id": connection.user_id} | known | debug}
    if model:
        asked["model"] = model
    reply = answered(connection, question, **asked)
    answer = str(reply["choices"][0]["message"]["content"])
    if not as_json:
        typer.echo(plain(answer))
        return
    typer.echo(
        json.dumps({"answer": answer} | _sources(reply) | reply, ensure_ascii=False, indent=2)
    )


def _sources(reply: Mapping[str, Any]) -> dict[str, Any]:
    """The rounds that the answer was made from, and the days that the question is about."""
    trace = reply.get("memory") or {}
    read = set(trace.get("read", ()))
    sources = [one for one in trace.get("data", ()) if one["id"] in read]
    return {
        "sources": [{name: one[name] for name in _OF_A_SOURCE} for one in sources],
        "time_range": trace.get("time_range"),
    }
