"""Why an answer is what it is: the time it was about, what was read, what was left out."""

from collections.abc import Mapping
from typing import Any

from rich.console import Console

from assistant.cli.memory_table import print_memories, say
from assistant.cli.plain import plain

_MOST_LEFT_OUT = 5


def print_why(console: Console, trace: Mapping[str, Any]) -> None:
    """Tell the trace of an answer."""
    say(console, f"asked as of {trace['now']}; {time_line(trace['time_range'])}")
    read = [one for one in trace["data"] if one["id"] in set(trace["read"])]
    dropped = [one for one in trace["data"] if one["id"] in set(trace["dropped"])]
    say(console, f"read: {len(read)} of {len(trace['data'])} found", style="bold")
    if read:
        print_memories(console, read)
    if trace["trimmed"]:
        say(console, f"shortened to fit: {len(trace['trimmed'])} of them")
    if dropped:
        say(console, f"left out, they did not fit: {len(dropped)}", style="bold")
        print_memories(console, dropped[:_MOST_LEFT_OUT])
    if trace["context_tokens"]:
        say(console, f"memory given to the model: {trace['context_tokens']} tokens")
    if trace["notes"]:
        say(console, "notes", style="bold")
        say(console, plain(str(trace["notes"])))


def time_line(found: Mapping[str, Any] | None) -> str:
    """A time range in words."""
    if found is None:
        return "the question names no time"
    days = f"{found['first'] or '…'} to {found['last'] or '…'}"
    return f"about {days} (“{plain(str(found['text']))}”)"
