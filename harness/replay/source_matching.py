"""Matching of the sources that an assistant names with the rounds of the history.

A source is matched by the name of the turn or the index of the round where it tells them, else by
its text. The text is a turn, or part of one, or holds whole turns; words alone count. A text that
could be from several rounds is matched with none. Five hundred sessions have five million
characters: they are indexed once, and no text is compared with every turn.
"""

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple, TypeVar

from harness.assistants.returned_sources import ReturnedSource
from harness.datasets.questions import HaystackSession, Question, rounds_of
from harness.replay.ingest import Blinding

# Shorter texts stand within many turns by chance.
_TELLING = 12
# This many words at the beginning of a turn tell it from nearly all others.
_OPENING = 3
_BREAKS = re.compile(r"\W+")


class HistoryRound(NamedTuple):
    session: HaystackSession
    round_index: int


class TurnIndex:
    def __init__(self, sessions: Sequence[HaystackSession]) -> None:
        self._places: list[HistoryRound] = []
        self._texts: list[str] = []
        self._span: dict[int, range] = {}
        for session in sessions:
            first = len(self._texts)
            for round_ in rounds_of(session.turns):
                for i in round_.turns:
                    self._places.append(HistoryRound(session, round_.index))
                    self._texts.append(_words(session.turns[i].content))
            self._span[session.position] = range(first, len(self._texts))
        self._numbers: dict[str, list[int]] = defaultdict(list)
        self._opening: dict[tuple[str, ...], list[int]] = defaultdict(list)
        self._starts: list[int] = []
        start = 0
        for number, text in enumerate(self._texts):
            self._numbers[text].append(number)
            self._opening[tuple(text.split(maxsplit=_OPENING)[:_OPENING])].append(number)
            self._starts.append(start)
            start += len(text) + 1
        # No text of words holds a line break: what is found is within one turn.
        self._everything = "\n".join(self._texts)

    def rounds(self, text: str, session: HaystackSession | None) -> tuple[HistoryRound, ...]:
        """The rounds that a text is from, () where it is from none or could be from several. In a
        known session, what was said twice there is from both rounds.
        """
        words = _words(text)
        span = range(len(self._texts)) if session is None else self._span[session.position]
        same = self._rounds(n for n in self._numbers.get(words, ()) if n in span)
        if same and words.strip() and (session is not None or len(same) == 1):
            return same
        if len(words) < _TELLING:
            return ()
        if parts := self._parts(words, span):
            return parts if len(parts) == 1 else ()
        held = [n for n in self._held(words) if n in span]
        if session is None:
            held = [n for n in held if len(self._numbers[self._texts[n]]) == 1]
        return self._rounds(self._longest(held))

    def _rounds(self, numbers: Iterable[int]) -> tuple[HistoryRound, ...]:
        return tuple(dict.fromkeys(self._places[n] for n in numbers))

    def _parts(self, words: str, span: range) -> tuple[HistoryRound, ...]:
        """The rounds in which these words stand; stops at two, as only a single one counts."""
        found: dict[HistoryRound, None] = {}
        number = span.start
        while number < span.stop and len(found) < 2:
            at = self._everything.find(words, self._starts[number])
            number = bisect_right(self._starts, at) - 1
            if at < 0 or number >= span.stop:
                break
            found[self._places[number]] = None
            number += 1
        return tuple(found)

    def _held(self, words: str) -> list[int]:
        """The turns that these words hold whole, in the order of the history."""
        said = words.split()
        openings = {
            tuple(said[i : i + size]) for size in range(1, _OPENING + 1) for i in range(len(said))
        }
        candidates = (n for opening in openings for n in self._opening.get(opening, ()))
        held = (n for n in candidates if len(self._texts[n]) >= _TELLING)
        return sorted(n for n in held if self._texts[n] in words)

    def _longest(self, held: Sequence[int]) -> list[int]:
        texts = [self._texts[n] for n in held]
        return [
            n
            for n, text in zip(held, texts, strict=True)
            if not any(text in other and text != other for other in texts)
        ]


def _words(text: str) -> str:
    """A text as words between single spaces, with one at either end: parts of words do not fit."""
    return f" {_BREAKS.sub(' ', text.lower()).strip()} "


T = TypeVar("T")
By = Literal["turn", "round", "session", "text"]


@dataclass(frozen=True, slots=True)
class SourcePlace:
    """Where a source is from: rounds, or a session where no round can be told. `by` is None where
    it fits nothing, and `problem` may say why.
    """

    by: By | None = None
    rounds: tuple[HistoryRound, ...] = ()
    session: HaystackSession | None = None
    problem: str | None = None


class SourceMatcher:
    def __init__(self, question: Question, blinding: Blinding) -> None:
        self._question = question
        self._blinding = blinding
        self._by_session = {
            blinding.session(question.history_id, session.position): session
            for session in question.sessions
        }

    def place(self, source: ReturnedSource) -> SourcePlace:
        """The place of a source, by the most exact thing that it tells."""
        if source.problem is not None:
            return SourcePlace(problem=source.problem)
        if source.turn is not None and (named := _named(source.turn, self._by_turn)):
            return SourcePlace("turn", (named,))
        session = _named(source.session, self._by_session)
        index = source.round_index
        if session and index is not None and 0 <= index < len(rounds_of(session.turns)):
            return SourcePlace("round", (HistoryRound(session, index),))
        if source.text is not None and (rounds := self._turns_by_text.rounds(source.text, session)):
            return SourcePlace("text", rounds)
        problem = _problem(source, session)
        return SourcePlace("session", session=session) if session else SourcePlace(problem=problem)

    @cached_property
    def _by_turn(self) -> dict[str, HistoryRound]:
        history = self._question.history_id
        return {
            self._blinding.turn(history, place.session.position, i): place
            for place in _places(self._question.sessions)
            for i in rounds_of(place.session.turns)[place.round_index].turns
        }

    @cached_property
    def _turns_by_text(self) -> TurnIndex:
        return TurnIndex(self._question.sessions)


def _places(sessions: Sequence[HaystackSession]) -> list[HistoryRound]:
    return [HistoryRound(s, round_.index) for s in sessions for round_ in rounds_of(s.turns)]


def _named(text: str | None, by_name: Mapping[str, T]) -> T | None:
    """What a text names, even if a store has put something around the name."""
    if text is None:
        return None
    return by_name.get(text) or next((by_name[n] for n in by_name if n in text), None)


def _problem(source: ReturnedSource, session: HaystackSession | None) -> str:
    if session is None and source.session is not None:
        return f"names session {source.session!r}, which this user never had"
    if source.turn is not None:
        return f"names turn {source.turn!r}, which this user never said"
    return "its text is in no round, or in several"
