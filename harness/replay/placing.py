"""From a source that an assistant names to the rounds of the history it came from. Pure.

By the name of the turn or the index of the round where the source tells them, else by its text.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, TypeVar

from harness.assistants.sources import Source
from harness.datasets.questions import HaystackSession, Question, rounds_of
from harness.replay.blinding import Blinding
from harness.replay.said import RoundPlace, Said

T = TypeVar("T")
By = Literal["turn", "round", "session", "text"]


@dataclass(frozen=True, slots=True)
class Place:
    """Where a source is from: rounds, or a session where no round can be told. `by` is None where
    it fits nothing, and `problem` may say why.
    """

    by: By | None = None
    rounds: tuple[RoundPlace, ...] = ()
    session: HaystackSession | None = None
    problem: str | None = None


class Placing:
    """Places the sources of one question."""

    def __init__(self, question: Question, blinding: Blinding) -> None:
        self._question = question
        self._blinding = blinding
        self._by_session = {
            blinding.session(question.history_id, session.position): session
            for session in question.sessions
        }

    def place(self, source: Source) -> Place:
        """Where a source is from, by the most exact thing that it tells."""
        if source.problem is not None:
            return Place(problem=source.problem)
        if source.turn is not None and (named := _named(source.turn, self._by_turn)):
            return Place("turn", (named,))
        session = _named(source.session, self._by_session)
        index = source.round_index
        if session and index is not None and 0 <= index < len(rounds_of(session.turns)):
            return Place("round", (RoundPlace(session, index),))
        if source.text is not None and (rounds := self._said.rounds(source.text, session)):
            return Place("text", rounds)
        problem = _problem(source, session)
        return Place("session", session=session) if session else Place(problem=problem)

    @cached_property
    def _by_turn(self) -> dict[str, RoundPlace]:
        history = self._question.history_id
        return {
            self._blinding.turn(history, place.session.position, i): place
            for place in _places(self._question.sessions)
            for i in rounds_of(place.session.turns)[place.round_index].turns
        }

    @cached_property
    def _said(self) -> Said:
        return Said(self._question.sessions)


def _places(sessions: Sequence[HaystackSession]) -> list[RoundPlace]:
    return [RoundPlace(s, round_.index) for s in sessions for round_ in rounds_of(s.turns)]


def _named(text: str | None, by_name: Mapping[str, T]) -> T | None:
    """What a text names; stores lay something around a name."""
    if text is None:
        return None
    return by_name.get(text) or next((by_name[n] for n in by_name if n in text), None)


def _problem(source: Source, session: HaystackSession | None) -> str:
    if session is None and source.session is not None:
        return f"names session {source.session!r}, which this user never had"
    if source.turn is not None:
        return f"names turn {source.turn!r}, which this user never said"
    return "its text is in no round, or in several"
