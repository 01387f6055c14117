"""Turns to rounds, by role and never by parity.

A user turn opens a round; an assistant turn answers the open one. Sessions may start with the
assistant, repeat a role, or hold blank turns. Others may write to a session while turns are on
their way into it, and clients send messages again, as a retry or to have an answer regenerated.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import NamedTuple

from memory_store import Labels, Reach, Round, closest
from memory_store.language import Reading

# OpenAI's clients wait this long for a reply: the same words later than this are a new message.
_RETRY_WINDOW = timedelta(minutes=10)
# The clocks of two assistants, and requests that are under way together, differ by this much at
# most.
_AT_ONCE = timedelta(seconds=5)
# A clock is set back by this much at most; a time farther ahead was given by a caller.
_SET_BACK = timedelta(days=1)


class Role(StrEnum):
    """Who speaks in a recorded turn."""

    USER = "user"
    ASSISTANT = "assistant"


@dataclass(frozen=True, slots=True)
class Turn:
    """One message by one role. `timed` says that the caller, not the clock, gave the timestamp;
    `retried` that the client says it sends the request again."""

    role: Role
    text: str
    timestamp: datetime
    timed: bool = True
    name: str | None = None
    caller_id: str | None = None
    retried: bool = False
    shown: str | None = None
    """What was shown in place of the text that is kept, if anything: clients send that back."""
    labels: Labels | None = None
    """The labels of its round; None for those of the session's last round."""
    expires_at: datetime | None = None
    """When its round may be forgotten."""
    reach: Reach = Reach.ANYWHERE
    """Where its round may go at most."""
    reading: Reading | None = None
    """What it may mean, where it was read."""
    outcome: str = ""
    """Of an answer, what became of the message."""

    @property
    def named(self) -> bool:
        """Whether the caller gave a time or an id, so that the same words again are a new turn."""
        return self.timed or self.caller_id is not None

    @property
    def id(self) -> str:
        """Names the turn within its session: the caller's id, or a digest of what identifies it."""
        if self.caller_id is not None:
            return f"id:{self.caller_id}"
        instant = self.timestamp.astimezone(UTC).isoformat() if self.timed else ""
        return hashlib.sha256(
            f"{self.role}|{instant}|{self.shown or self.text}".encode()
        ).hexdigest()[:20]


def new_turns(rounds: Sequence[Round], turns: Sequence[Turn]) -> list[Turn]:
    """The turns that the session does not hold yet.

    A turn with an id or a timestamp of the caller's is recognised anywhere in the session. Other
    turns are recognised only at the beginning of the list, if they are the last ones of the session
    and come soon after: that is the same request again, or one that goes on from it. Else they are
    new, as people do say the same thing twice.
    """
    held = {id for round in rounds for id in round.turn_ids}
    new: list[Turn] = []
    for turn in turns[_repeated(rounds, turns) :]:
        if not (turn.named and turn.id in held):
            new.append(turn)
            held.add(turn.id)
    return new


def _repeated(rounds: Sequence[Round], turns: Sequence[Turn]) -> int:
    """How many of the first turns are the last ones of the session, and may be a retry."""
    last = [id for round in rounds for id in round.turns][-len(turns) :] if turns else []
    count = _overlap(last, [turn.id for turn in turns])
    return count if count and _soon(rounds[-1], turns[count - 1], _RETRY_WINDOW) else 0


def _overlap(ending: Sequence[str], beginning: Sequence[str]) -> int:
    """The length of the longest end of `ending` with which `beginning`, no shorter, begins.

    Knuth, Morris and Pratt: after a mismatch it goes on from the next shorter overlap.
    """
    shorter = [0]
    for id in beginning[1:]:
        shorter.append(_grown(shorter[-1], id, beginning, shorter))
    length = 0
    for id in ending:
        length = _grown(length, id, beginning, shorter)
    return length


def _grown(length: int, id: str, beginning: Sequence[str], shorter: Sequence[int]) -> int:
    """The overlap after one more id."""
    while length and (length == len(beginning) or beginning[length] != id):
        length = shorter[length - 1]
    return length + (beginning[length] == id)


def by_round(turns: Sequence[Turn]) -> list[list[Turn]]:
    """The turns of each round: a user turn opens one, what comes before all of them is a reply."""
    found: list[list[Turn]] = []
    for turn in turns:
        if turn.role is Role.USER or not found:
            found.append([])
        found[-1].append(turn)
    return found


def add_turns(
    rounds: Sequence[Round],
    turns: Sequence[Turn],
    *,
    user_id: str,
    session_id: str,
    title: str = "",
) -> list[Round]:
    """The rounds that result when the turns follow the session's rounds, one for each of
    `by_round`: new ones, of which the first may be the session's last one completed. `title` is
    that of a session that begins with them."""
    last = rounds[-1] if rounds else None
    changed: list[Round] = []
    for said in by_round(turns):
        if last is None or said[0].role is Role.USER:
            index = last.round_index + 1 if last else 0
            named = last.session_title if last else title
            said_at = _said_at(last, said[0])
            labels = last.labels if last else {}
            last = Round(user_id, session_id, index, said_at, session_title=named, labels=labels)
            last = _opened(last, said)
        else:
            last = _answered(last, said)
        last = _kept_as_asked(last, said)
        changed.append(last)
    return changed


def _kept_as_asked(round: Round, said: Sequence[Turn]) -> Round:
    """The round with what its turns say of how it is to be kept."""
    for turn in said:
        if turn.labels is not None:
            round = replace(round, labels=turn.labels)
        if turn.expires_at is not None:
            round = replace(round, expires_at=turn.expires_at)
        round = replace(round, reach=closest([round.reach, turn.reach]))
    return round


def _said_at(last: Round | None, turn: Turn) -> datetime:
    """When a turn was said. A turn that the clock alone dates comes after what arrived before
    it, also where the clock was set back since."""
    before = last.session_date if last else turn.timestamp
    was_set_back = not turn.timed and turn.timestamp < before <= turn.timestamp + _SET_BACK
    return before if was_set_back else turn.timestamp


def add_turn(rounds: Sequence[Round], turn: Turn, *, user_id: str, session_id: str) -> Round:
    """The round that results when one turn follows."""
    return add_turns(rounds, [turn], user_id=user_id, session_id=session_id)[0]


def _opened(round: Round, said: Sequence[Turn]) -> Round:
    first, *answers = said
    if first.role is Role.ASSISTANT:
        return _answered(round, said)
    opened = replace(
        round,
        user_text=first.text,
        user_name=first.name,
        turn_ids=(first.id,),
        reading=first.reading,
    )
    return _answered(opened, answers) if answers else opened


def _answered(round: Round, answers: Sequence[Turn]) -> Round:
    texts = (round.assistant_text, *(turn.text for turn in answers))
    names = [name for name in (round.assistant_name, *(t.name for t in answers)) if name]
    return replace(
        round,
        assistant_text="\n\n".join(filter(None, texts)),
        assistant_name=names[-1] if names else None,
        outcome=answers[-1].outcome if answers else round.outcome,
        turn_ids=(*round.turn_ids, *(turn.id for turn in answers)),
    )


def _soon(round: Round, turn: Turn, window: timedelta) -> bool:
    """Whether the turn comes so soon after the round that it may be the same one sent again. Where
    the clock dates it long before the round, the clock was set back: nobody knows how long ago the
    round was, and it does not count as soon."""
    since = turn.timestamp - round.session_date
    if turn.timed:
        return since == timedelta(0)
    return turn.retried or -_AT_ONCE <= since <= window


# People take longer to regenerate an answer: the same words after the same messages.
_REGENERATE_WINDOW = timedelta(hours=1)
# Any of this many latest rounds with the same words may be the one that is sent again.
_MOST_PLACES = 64


def said_again(round: Round, stored: Round) -> Round:
    """The round in the place of the stored one that it repeats. The user's corrections of the
    stored one stay."""
    again = replace(
        round,
        round_index=stored.round_index,
        session_date=stored.session_date,
        pinned=stored.pinned,
        reach=closest([round.reach, stored.reach]),
    )
    if stored.corrected_at is None:
        return again
    marks = tuple(id for id in stored.turn_ids if id not in stored.turns)
    return replace(
        again,
        user_text=stored.user_text,
        corrected_at=stored.corrected_at,
        turn_ids=(*round.turn_ids, *marks),
    )


def same_round(rounds: Sequence[Round], said: Turn, before: Sequence[str]) -> Round | None:
    """The stored round that a chat request repeats (a retry, or a regenerated answer), if any.

    A caller's id is enough to tell. Otherwise it is a round with the same user text, said after the
    same messages: `before` are those sent along, by user and assistant, oldest first. A client that
    sends none of them can only repeat the session's last round.

    A round whose text the user corrected is still recognised by its former text, however late: the
    former text must not come back.
    """
    if said.caller_id is not None:
        return next((round for round in rounds if said.id in round.turn_ids), None)
    position = _position(rounds, said, [text for text in before if text.strip()])
    if position == len(rounds):
        return None
    found = rounds[position]
    window = _REGENERATE_WINDOW if position and before else _RETRY_WINDOW
    return found if _said_before_correction(found, said) or _soon(found, said, window) else None


def _position(rounds: Sequence[Round], said: Turn, sent: Sequence[str]) -> int:
    """The index that a message has if these messages came before it: that of a round, or the
    number of rounds when it goes on from the last one."""
    if not sent:
        return _place_alone(rounds, said)
    best = (False, 0, len(rounds))
    stored: list[_Side] = []
    ends: list[int] = []
    """Where the messages before each round end."""
    for round in rounds:
        ends.append(len(stored))
        stored += _sides(round)
    ends.append(len(stored))
    repeating = [place for place, round in enumerate(rounds) if _says(round, said)]
    for position in (*repeating[-_MOST_PLACES:], len(rounds)):
        end = ends[position]
        shared = min(end, len(sent))
        if shared and _ends_with(stored, end, sent[len(sent) - shared :]):
            best = max(best, (end == len(sent), shared, position))
    alone = len(rounds) == 1 and _says(rounds[0], said)
    unheard_of = alone and said.text.strip() not in [text.strip() for text in sent]
    # The messages before the only round were not stored, so there is nothing to compare.
    return 0 if unheard_of and not best[1] else best[2]


def _place_alone(rounds: Sequence[Round], said: Turn) -> int:
    """The index that a message has if nothing came before it, or nothing of it was sent."""
    if rounds and _says(rounds[-1], said):
        return len(rounds) - 1
    return 0 if rounds and _said_before_correction(rounds[0], said) else len(rounds)


def _says(round: Round, said: Turn) -> bool:
    """Whether the user said this in the round, as it stands or before it was put right."""
    return round.user_text == said.text or _said_before_correction(round, said)


def _said_before_correction(round: Round, said: Turn) -> bool:
    return round.corrected_at is not None and said.id in round.turn_ids


_Side = tuple[Round, Role, str]


def _sides(round: Round) -> list[_Side]:
    """The messages of a round as clients send them back: without blank ones. A withdrawn answer is
    among them, as it was not blank when the client got it."""
    both = ((Role.USER, round.user_text), (Role.ASSISTANT, round.assistant_text))
    return [
        (round, role, text)
        for role, text in both
        if text.strip() or (role is Role.ASSISTANT and round.answer_withdrawn)
    ]


def _ends_with(stored: Sequence[_Side], end: int, sent: Sequence[str]) -> bool:
    """Whether the messages stored before `end` end with those sent; compared from the last one."""
    return all(_is(stored[end - 1 - back], sent[-1 - back]) for back in range(len(sent)))


def _is(side: _Side, text: str) -> bool:
    """Whether a message sent back is this one. The text may have been put right, withdrawn or shown
    in other words since; then the turn's id tells it."""
    round, role, stored = side
    if stored.strip() == text.strip():
        return True
    ids = {Turn(role, text, round.session_date, timed).id for timed in (True, False)}
    return not ids.isdisjoint(round.turn_ids)


class Recorded(NamedTuple):
    """What a call recorded: rounds touched, new turns, turns that were already there."""

    rounds: list[Round]
    recorded: int
    known: int


class Arriving:
    """Turns on their way into a session, in as many tries as that takes."""

    def __init__(
        self, user_id: str, session_id: str, turns: Sequence[Turn], title: str = ""
    ) -> None:
        """`title` is that of the session, should these turns begin it."""
        self._owner = {"user_id": user_id, "session_id": session_id, "title": title}
        self._turns = turns
        self._left = list(turns)
        self._places: list[int] = []
        self._planned: dict[int, Round] = {}
        self._known = 0

    def plan(self, rounds: Sequence[Round]) -> list[Round]:
        """The rounds to write over these, so that the session holds all the turns."""
        self._leave_out_what_arrived(rounds)
        new = new_turns(rounds, self._left)
        self._known += len(self._left) - len(new)
        changed = add_turns(rounds, new, **self._owner)
        self._planned |= {round.round_index: round for round in changed}
        together = zip(changed, by_round(new), strict=True)
        self._left = new
        self._places = [round.round_index for round, turns in together for _ in turns]
        return changed

    def _leave_out_what_arrived(self, rounds: Sequence[Round]) -> None:
        """Leave out turns of rounds that an earlier try has written."""
        found = {round.round_index: round.turn_ids for round in rounds}
        lost = {i for i, round in self._planned.items() if found.get(i) != round.turn_ids}
        if self._places:
            placed = zip(self._left, self._places, strict=True)
            self._left = [turn for turn, index in placed if index in lost]
        for index in lost:
            del self._planned[index]

    def recorded(self) -> Recorded:
        """The counts of the call."""
        rounds = [self._planned[index] for index in sorted(self._planned)]
        return Recorded(rounds, len(self._turns) - self._known, self._known)


def with_rounds(rounds: Sequence[Round], changed: Sequence[Round]) -> list[Round]:
    """The rounds with each that changed in place of the one with its index, or at the end."""
    return list({round.round_index: round for round in (*rounds, *changed)}.values())
