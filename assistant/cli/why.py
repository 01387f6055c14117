"""Why an answer is what it is: the time it was about, what it was made from, what was left out."""

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console

from assistant.cli.console import in_prose, one_line, plain, shortened
from assistant.cli.memory_table import said, say

_MOST_LEFT_OUT = 5
_QUOTED = 160
_MATCHED = 60
# What adds less than this to a relevance is not worth a line.
_LEAST = 0.005
# The signals in words, as the web page says them.
_SIGNALS = {
    "dense": "means something alike",
    "words": "has the same words",
    "session_words": "its conversation has the same words",
    "speaker": "was said by the one you name",
    "answers": "answers a question like that",
    "neighbours": "was said around something near",
    "opening": "begins a conversation about that",
    "said_then": "was said at that time",
    "happened_then": "is about that time",
    "replaces": "replaces an older statement",
}


def print_why(console: Console, trace: Mapping[str, Any]) -> None:
    """Tell the trace of an answer."""
    read, dropped, found = set(trace["read"]), set(trace["dropped"]), trace["data"]
    used = [one for one in found if one["id"] in read]
    unfit = [one for one in found if one["id"] in dropped]
    farther = [one for one in found if one["id"] not in read | dropped]
    say(console, f"asked on {in_prose(trace['now'])}; {time_line(trace['time_range'])}")
    say(console, f"answered from {len(used)} of {len(found)} found", style="bold")
    _print_hits(console, used)
    if trace["trimmed"]:
        say(console, f"shortened to fit: {len(trace['trimmed'])} of them")
    _print_left_out(console, "left out, they did not fit", unfit)
    _print_left_out(console, "found but not used", farther)
    if trace["context_tokens"]:
        say(console, f"memory given to the model: {trace['context_tokens']} tokens")
    if trace["notes"]:
        say(console, "notes", style="bold")
        say(console, plain(str(trace["notes"])))


def time_line(found: Mapping[str, Any] | None) -> str:
    """A time range in words."""
    if found is None:
        return "the question names no time"
    first, last = (in_prose(found[end]) if found[end] else "…" for end in ("first", "last"))
    days = first if first == last else f"{first} to {last}"
    return f"about {days} (“{plain(str(found['text']))}”)"


def _print_left_out(console: Console, why: str, values: Sequence[Mapping[str, Any]]) -> None:
    if not values:
        return
    say(console, f"{why}: {len(values)}", style="bold")
    _print_hits(console, values[:_MOST_LEFT_OUT])
    if len(values) > _MOST_LEFT_OUT:
        say(console, f"  and {len(values) - _MOST_LEFT_OUT} more")


def _print_hits(console: Console, values: Sequence[Mapping[str, Any]]) -> None:
    """Day, relevance and quote of each, and below it what the relevance is made of."""
    for value in values:
        quote = shortened(said(value), _QUOTED)
        say(
            console,
            f"  {in_prose(value['session_date'])}  relevance {value['similarity']:.2f}  “{quote}”",
        )
        if parts := _parts(value["reasons"]):
            say(console, f"    {parts}", style="dim")


def _parts(reasons: Sequence[Mapping[str, Any]]) -> str:
    counting = [one for one in reasons if abs(one["contribution"]) >= _LEAST]
    counting.sort(key=lambda one: -abs(one["contribution"]))
    return " · ".join(map(_part, counting))


def _part(reason: Mapping[str, Any]) -> str:
    what = _SIGNALS.get(reason["signal"], reason["signal"].replace("_", " "))
    matched = shortened(one_line(", ".join(reason["because"])), _MATCHED)
    return f"{reason['contribution']:+.2f} {what}" + (f" ({matched})" if matched else "")
