"""Turns to rounds, by role and never by parity. Pure.

A user turn opens a round; an assistant turn answers the open one. Sessions may start with the
assistant, repeat a role, or hold blank turns.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum

from memory_store import Round

# Without timestamps of the caller's own, the same words this soon after are a retry.
_RETRY_WINDOW = timedelta(hours=1)


class Role(StrEnum):
    """Who speaks in a recorded turn."""

    USER = "user"
    ASSISTANT = "assistant"


@dataclass(frozen=True, slots=True)
class Turn:
    """One message by one role. `timed` says that the caller, not the clock, gave the timestamp."""

    role: Role
    text: str
    timestamp: datetime
    timed: bool = True
    name: str | None = None
    caller_id: str | None = None

    @property
    def id(self) -> str:
        """Names the turn within its session: the caller's id, or a digest of what identifies it."""
        if self.caller_id is not None:
            return f"id:{self.caller_id}"
        instant = self.timestamp.isoformat() if self.timed else ""
        return hashlib.sha256(f"{self.role}|{instant}|{self.text}".encode()).hexdigest()[:20]


def is_known(rounds: Sequence[Round], turn: Turn) -> bool:
    """Whether the turn is already in the session.

    A turn with an id or a timestamp of the caller's is found anywhere; one without only as the
    session's last turn, since people do say the same thing twice.
    """
    if turn.timed or turn.caller_id is not None:
        return any(turn.id in round.turn_ids for round in rounds)
    return bool(rounds) and rounds[-1].turn_ids[-1:] == (turn.id,)


def add_turn(rounds: Sequence[Round], turn: Turn, *, user_id: str, session_id: str) -> Round:
    """The round that results when the turn follows the session's rounds: a new one, or the last
    one completed."""
    if turn.role is Role.ASSISTANT and rounds:
        return _answered(rounds[-1], turn)
    opened = Round(
        user_id=user_id,
        session_id=session_id,
        round_index=rounds[-1].round_index + 1 if rounds else 0,
        session_date=turn.timestamp,
    )
    return _opened(opened, turn) if turn.role is Role.USER else _answered(opened, turn)


def _opened(round: Round, turn: Turn) -> Round:
    return replace(round, user_text=turn.text, user_name=turn.name, turn_ids=(turn.id,))


def _answered(round: Round, turn: Turn) -> Round:
    texts = [text for text in (round.assistant_text, turn.text) if text]
    return replace(
        round,
        assistant_text="\n\n".join(texts),
        assistant_name=turn.name or round.assistant_name,
        turn_ids=(*round.turn_ids, turn.id),
    )


def same_round(rounds: Sequence[Round], turn: Turn, previous: str | None) -> Round | None:
    """The stored round that a chat request repeats (a retry, or a regenerated answer), if any.

    It has the same user text and follows the same user text (`previous`; None when the client sent
    only its last message, which can repeat the session's last round alone).
    """
    for position in reversed(range(len(rounds))):
        before = rounds[position - 1].user_text if position else None
        follows = position == len(rounds) - 1 if previous is None else before == previous
        if follows and rounds[position].user_text == turn.text and _soon(rounds[position], turn):
            return rounds[position]
    return None


def _soon(round: Round, turn: Turn) -> bool:
    apart = abs(turn.timestamp - round.session_date)
    return apart == timedelta(0) if turn.timed else apart <= _RETRY_WINDOW
