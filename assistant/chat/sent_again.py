"""Which stored round a chat request repeats: a retry, or an answer that is regenerated."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

from assistant.chat.turns import RETRY_WINDOW, Role, Turn, soon
from memory_store import Round

# People take longer to regenerate an answer: the same words after the same messages.
_REGENERATE_WINDOW = timedelta(hours=1)
# Any of so many latest rounds with the same words may be the one that is sent again.
_MOST_PLACES = 64


def said_again(round: Round, stored: Round) -> Round:
    """The round in the place of the stored one that it repeats. What the user has put right there
    stays right."""
    again = replace(round, round_index=stored.round_index, session_date=stored.session_date)
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

    A caller's id says so by itself. Otherwise it is a round with the same user text, said after the
    same messages: `before` are those sent along, by user and assistant, oldest first. A client that
    sends none of them can repeat the session's last round alone.

    A round whose text the user put right is still known by what it said before, however late: that
    text is to come back no more.
    """
    if said.caller_id is not None:
        return next((round for round in rounds if said.id in round.turn_ids), None)
    position = _place(rounds, said, [text for text in before if text.strip()])
    if position == len(rounds):
        return None
    found = rounds[position]
    window = _REGENERATE_WINDOW if position and before else RETRY_WINDOW
    return found if _said_before_correction(found, said) or soon(found, said, window) else None


def _place(rounds: Sequence[Round], said: Turn, sent: Sequence[str]) -> int:
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
    """The messages of a round as clients send them back: without blank ones. An answer that was
    withdrawn was not blank when they got it."""
    both = ((Role.USER, round.user_text), (Role.ASSISTANT, round.assistant_text))
    return [
        (round, role, text)
        for role, text in both
        if text.strip() or (role is Role.ASSISTANT and round.answer_withdrawn)
    ]


def _ends_with(stored: Sequence[_Side], end: int, sent: Sequence[str]) -> bool:
    """Whether what is stored up to there ends with the messages sent; the last one tells most."""
    return all(_is(stored[end - 1 - back], sent[-1 - back]) for back in range(len(sent)))


def _is(side: _Side, text: str) -> bool:
    """Whether a message sent back is this one; of a text that was put right or withdrawn since, or
    shown in other words, the turn's id alone is kept."""
    round, role, stored = side
    if stored.strip() == text.strip():
        return True
    ids = {Turn(role, text, round.session_date, timed).id for timed in (True, False)}
    return not ids.isdisjoint(round.turn_ids)
