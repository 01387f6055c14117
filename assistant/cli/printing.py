"""Memories as people read them, a table on a terminal, a line each in a pipe; and why an answer is
what it is: the time it was about, what it was made from, what was left out."""

from collections.abc import Mapping, Sequence
from datetime import date
from textwrap import indent
from typing import TYPE_CHECKING, Any

from assistant.cli.console import in_prose, memory_count, one_line, plain, say, shortened

if TYPE_CHECKING:
    from rich.console import Console

    from assistant.cli.memory_calls import MemoryCalls

Memory = Mapping[str, Any]
_SHOWN_ID = 8
_SHOWN_TEXT = 200
_NAMED_TEXT = 60
_INDENT = 2
QUOTED = "quoted"


def print_memories(
    console: "Console", memories: Sequence[Memory], *, numbered: bool = False
) -> None:
    """Date, relevance where there is one, and what was said; `numbered` from 1.

    The relevance is the similarity: a sum of signals, which may exceed 1.
    """
    if not console.is_terminal:
        for memory in memories:
            fields = (memory["id"], *_similarity(memory), memory["session_date"], said(memory))
            say(console, "\t".join(fields))
        return
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, padding=(0, 1, 0, 0), header_style="dim", expand=False)
    table.add_column("" if numbered else "id", style="cyan", no_wrap=True)
    table.add_column("day", no_wrap=True)
    if any("similarity" in memory for memory in memories):
        table.add_column("relevance", justify="right", no_wrap=True)
    table.add_column("what was said", overflow="fold")
    for number, memory in enumerate(memories, 1):
        first = str(number) if numbered else memory["id"][:_SHOWN_ID]
        text = Text(shortened(said(memory), _SHOWN_TEXT))
        table.add_row(first, day(memory), *_similarity(memory), text)
    console.print(table)


def print_memory(console: "Console", memory: Memory) -> None:
    """One memory in full, with its facts and what became of them."""
    where, said_at = f"{memory['session_id']} #{memory['round_index']}", memory["session_date"]
    zone = said_at[len("2023-05-20T10:00:00") :].replace("Z", "UTC")
    when = f"{in_prose(said_at)}, {said_at[11:16]} {zone}"
    say(console, f"{memory['id']}\n{when} · {one_line(where)}", style="dim")
    user = one_line(memory["said_by"] or "you")
    for speaker, text in ((user, memory["user_text"]), ("assistant", memory["assistant_text"])):
        if text:
            say(console, speaker, style="bold")
            _say_indented(console, text)
    facts = [line for fact in memory["facts"] for line in _fact_lines(fact)]
    if facts:
        say(console, "facts", style="bold")
        _say_indented(console, "\n".join(facts))


def said(memory: Memory) -> str:
    """What the user said, else what the assistant did, in one line; with a name where it has one,
    as in a shared space."""
    name = memory.get("said_by") if memory["user_text"] else None
    text = memory["user_text"] or memory["assistant_text"]
    return one_line(f"{name}: {text}" if name else text)


def what_goes(
    memory: "MemoryCalls", id: str | None, session_id: str | None
) -> tuple[str, Mapping[str, Any]]:
    """What would be forgotten of a user's memory, in words and counted."""
    found = memory.forget(id, session_id, dry_run=True)
    count = memory_count(found["rounds"])
    if id is not None:
        one = shortened(said(memory.show(id)), _NAMED_TEXT)
        return with_answers(f"1 memory: “{one}”", found), found
    if session_id is not None:
        return with_answers(f"{count} of session {session_id}", found), found
    return f"all {count} of {memory.user_id}", found


def with_answers(what: str, found: Memory) -> str:
    """What would be forgotten, and the answers that would be withdrawn with it."""
    count = found["answers"]
    return what if not count else f"{what}, and {count} answer{'s' * (count > 1)} that repeated it"


def day(memory: Memory) -> str:
    return str(memory["session_date"])[: len(date.min.isoformat())]


def _similarity(memory: Memory) -> tuple[str, ...]:
    return (f"{memory['similarity']:.3f}",) if "similarity" in memory else ()


def _say_indented(console: "Console", text: str) -> None:
    if console.is_terminal:
        from rich.padding import Padding
        from rich.text import Text

        console.print(Padding(Text(plain(text)), (0, 0, 0, _INDENT), expand=False))
    else:
        say(console, indent(text, " " * _INDENT))


def print_conflicts(console: "Console", conflicts: Sequence[Memory]) -> None:
    """Print each statement that may be another's, with the user's own that it contradicts. In a
    pipe a line for each of these."""
    if not console.is_terminal:
        for one in conflicts:
            for held in one["contradicts"]:
                said_at = (one["said_at"], held["said_at"])
                texts = (one_line(one["fact"]), one_line(held["text"]))
                say(console, "\t".join((one["id"], one["speaker"], *said_at, *texts)))
        return
    for one in conflicts:
        who = QUOTED if one["speaker"] == "quoted" else "you may have said"
        say(console, f"{one['id'][:_SHOWN_ID]} · {in_prose(one['said_at'])} · {who}", style="dim")
        _say_indented(console, one_line(one["fact"]))
        for held in one["contradicts"]:
            text = f"you said ({in_prose(held['said_at'])}): {one_line(held['text'])}"
            _say_indented(console, text)


def print_health(console: "Console", rows: Sequence[Memory]) -> None:
    """Print each finding about a fact. In a pipe a line for each of these."""
    for one in rows:
        said_at, text = one["session_date"], one_line(one["fact"]["text"])
        if not console.is_terminal:
            say(console, "\t".join((one["finding"], one["id"], said_at, str(one["used"]), text)))
            continue
        used = f" · in {one['used']} answers" if one["used"] else ""
        head = f"{one['id'][:_SHOWN_ID]} · {in_prose(said_at)} · {one['finding']}{used}"
        say(console, head, style="dim")
        _say_indented(console, text)
        others = (
            [_no_longer(one["fact"]["superseded_by"])]
            if one["finding"] == "replaced"
            else [
                f"{one_line(other['text'])} (said {in_prose(other['said_at'])})"
                for other in one["others"]
            ]
        )
        for line in (*others, *_holding(one["fact"])):
            _say_indented(console, line)


def _fact_lines(fact: Memory) -> list[str]:
    days = ", ".join(_days(one) for one in fact["event_dates"])
    whose = f" [{QUOTED}]" if fact["speaker"] == "quoted" else ""
    lines = [f"· {one_line(fact['text'])}" + (f" ({days})" if days else "") + whose]
    lines += [
        f"  contradicts: {one_line(other['text'])} (said {in_prose(other['said_at'])})"
        for other in fact["contradicts"]
    ]
    if newer := fact["superseded_by"]:
        lines.append(f"  {_no_longer(newer)}")
    lines += [f"  {one}" for one in _holding(fact)]
    lines += [
        f"  replaces: {one_line(older['text'])} (said {in_prose(older['said_at'])})"
        for older in fact["supersedes"]
    ]
    return lines


def _no_longer(newer: Mapping[str, str]) -> str:
    when = in_prose(newer["said_at"])
    if newer["by"] == "condition":
        return f"held until {when}"
    return f"no longer: {one_line(newer['text'])} (said {when})"


def _holding(fact: Memory) -> list[str]:
    """Up to when it holds, when that was confirmed, and when the user is asked."""
    condition = fact["condition"]
    lines = [f"holds: {one_line(condition['text'])}"] if condition else []
    if fact["confirmed_at"]:
        lines.append(f"confirmed {in_prose(fact['confirmed_at'])}")
    if fact["ask_on"]:
        lines.append(f"asked again on {in_prose(fact['ask_on'])}")
    return lines


def _days(days: Mapping[str, str | None]) -> str:
    first, last = (in_prose(day) if day else "…" for day in (days["first"], days["last"]))
    return first if first == last else f"{first} to {last}"


_MOST_LEFT_OUT = 5
_QUOTED = 160
_MATCHED = 60
# A signal that adds less than this to a relevance is not worth a line.
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


def print_why(console: "Console", trace: Mapping[str, Any]) -> None:
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
    for look in trace["looks"]:
        asked = f"{look['tool']} “{plain(str(look['asked']))}”"
        say(console, f"looked again: {asked}, {len(look['found'])} more read")
    if trace["notes"]:
        say(console, "notes", style="bold")
        say(console, plain(str(trace["notes"])))


def time_line(found: Mapping[str, Any] | None) -> str:
    if found is None:
        return "the question names no time"
    return f"about {_days(found)} (“{plain(str(found['text']))}”)"


def _print_left_out(console: "Console", why: str, values: Sequence[Memory]) -> None:
    if not values:
        return
    say(console, f"{why}: {len(values)}", style="bold")
    _print_hits(console, values[:_MOST_LEFT_OUT])
    if len(values) > _MOST_LEFT_OUT:
        say(console, f"  and {len(values) - _MOST_LEFT_OUT} more")


def _print_hits(console: "Console", values: Sequence[Memory]) -> None:
    """Day, relevance and quote of each, and below it what the relevance is made of."""
    for value in values:
        quote = shortened(said(value), _QUOTED)
        say(
            console,
            f"  {in_prose(value['session_date'])}  relevance {value['similarity']:.2f}  “{quote}”",
        )
        if parts := _parts(value["reasons"]):
            say(console, f"    {parts}", style="dim")


def _parts(reasons: Sequence[Memory]) -> str:
    counting = [one for one in reasons if abs(one["contribution"]) >= _LEAST]
    counting.sort(key=lambda one: -abs(one["contribution"]))
    return " · ".join(map(_part, counting))


def _part(reason: Mapping[str, Any]) -> str:
    what = _SIGNALS.get(reason["signal"], reason["signal"].replace("_", " "))
    matched = shortened(one_line(", ".join(reason["because"])), _MATCHED)
    return f"{reason['contribution']:+.2f} {what}" + (f" ({matched})" if matched else "")
