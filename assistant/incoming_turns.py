"""Turns on their way into a session that others may write to meanwhile."""

from collections.abc import Sequence
from typing import NamedTuple

from assistant.conversation import Turn, add_turns, by_round, new_turns
from memory_store import Round


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
        """Of an earlier try some rounds may have been written; the turns of the others are left."""
        found = {round.round_index: round.turn_ids for round in rounds}
        lost = {i for i, round in self._planned.items() if found.get(i) != round.turn_ids}
        if self._places:
            placed = zip(self._left, self._places, strict=True)
            self._left = [turn for turn, index in placed if index in lost]
        for index in lost:
            del self._planned[index]

    def recorded(self) -> Recorded:
        """What came of it."""
        rounds = [self._planned[index] for index in sorted(self._planned)]
        return Recorded(rounds, len(self._turns) - self._known, self._known)


def with_rounds(rounds: Sequence[Round], changed: Sequence[Round]) -> list[Round]:
    """The rounds with each that changed in place of the one with its index, or at the end."""
    return list({round.round_index: round for round in (*rounds, *changed)}.values())
