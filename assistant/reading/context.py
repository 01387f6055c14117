"""The dated JSON that a language model reads: which rounds, how long, in which order. Pure."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from assistant.dates import print_day
from memory_store import Recalled

_CHARACTERS_PER_TOKEN = 4
# Assistant replies are long; beyond the best rounds their beginning is enough.
_WHOLE_REPLIES = 4
_TRIMMED_REPLY = 600


@dataclass(frozen=True, slots=True)
class Context:
    """The rendered memory, the ids in it, and the ids that did not fit."""

    text: str
    used: tuple[str, ...]
    dropped: tuple[str, ...]


def build_context(recalled: Sequence[Recalled], asked_at: datetime, token_budget: int) -> Context:
    """The best rounds that fit the budget, oldest first, as JSON with dates and ages.

    The user's side is always verbatim; what does not fit is the least relevant.
    """
    entries = [(_entry(found, rank, asked_at), found) for rank, found in enumerate(recalled)]
    left = token_budget * _CHARACTERS_PER_TOKEN
    kept: list[tuple[dict[str, Any], Recalled]] = []
    dropped: list[str] = []
    for entry, found in entries:
        size = len(_fenced(entry))
        if size > left and kept:
            dropped.append(found.record.id)
            continue
        left -= size
        kept.append((entry, found))
    kept.sort(key=lambda pair: _when(pair[1]))
    return Context(
        text=_fenced([entry for entry, _ in kept]),
        used=tuple(found.record.id for _, found in kept),
        dropped=tuple(dropped),
    )


def _when(found: Recalled) -> tuple[datetime, int]:
    return found.record.round.session_date, found.record.round.round_index


def _entry(found: Recalled, rank: int, asked_at: datetime) -> dict[str, Any]:
    round = found.record.round
    reply = round.assistant_text
    if rank >= _WHOLE_REPLIES and len(reply) > _TRIMMED_REPLY:
        reply = reply[:_TRIMMED_REPLY].rsplit(" ", 1)[0] + " […]"
    days = (asked_at.date() - round.session_date.date()).days
    entry: dict[str, Any] = {"date": print_day(round.session_date), "days_ago": days}
    user, assistant = round.user_name or "user", round.assistant_name or "assistant"
    if len({user, assistant, *entry}) < 4:  # names that would hide each other
        user, assistant = "user", "assistant"
    return entry | {user: round.user_text, assistant: reply}


def _fenced(value: Any) -> str:
    """JSON in which no text can close the fence around it."""
    return json.dumps(value, ensure_ascii=False, indent=1).replace("<", "\\u003c")
