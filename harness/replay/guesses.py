"""Controls that guess: what luck and habit reach, without an assistant or a model.

`longest-option` takes the longest option. `newest-session` and `random-session` repeat one session,
word for word, or take the option with the largest share of its words in that session. They rank all
sessions, too, newest first or in the order that the run's seed draws.
"""

import time
from collections.abc import Callable, Sequence
from itertools import chain, islice
from random import Random

from harness.assistants.wire import WireAnswer
from harness.datasets.questions import HaystackSession, Question, rounds_of
from harness.errors import UsageError
from harness.judges.lexical.words import content_words, recall, tokens
from harness.metrics.guessing import longest
from harness.records.schema import HypothesisLine, RetrievalLine
from harness.replay.ingest import Blinding
from harness.replay.mode import (
    AnswerLines,
    ReplayMode,
    hypothesis_line,
    ranked_round,
    ranked_session,
)
from harness.replay.source_matching import HistoryRound

LONGEST_OPTION = "longest-option"
_DEPTH = 50

Order = Callable[[Question, int], list[HaystackSession]]
ORDERS: dict[str, Order] = {
    "newest-session": lambda question, _: question.sessions_by_date()[::-1],
    "random-session": lambda question, seed: _drawn(question, seed),
}
GUESSES = (LONGEST_OPTION, *ORDERS)


class GuessMode(ReplayMode):
    """Answers by one of `GUESSES`; the same seed guesses the same."""

    def __init__(self, guess: str, seed: int, blinding: Blinding) -> None:
        self._guess = guess
        self._seed = seed
        self._blinding = blinding

    async def ask(self, question: Question) -> AnswerLines:
        """Raises `UsageError` for the longest option of a question without any."""
        started = time.perf_counter()
        if self._guess != LONGEST_OPTION:
            sessions = ORDERS[self._guess](question, self._seed)
            said = _said(sessions[0]) if sessions else ""
            answer = nearest(question.options, said) if question.options else said
            return AnswerLines(_line(question, answer, started), self._ranked(question, sessions))
        if not question.options:
            raise UsageError(
                f"question {question.question_id!r} has no options: --mode {LONGEST_OPTION} is for "
                "data whose questions have some"
            )
        return AnswerLines(_line(question, longest(question.options), started))

    def _ranked(self, question: Question, sessions: Sequence[HaystackSession]) -> RetrievalLine:
        rounds = chain.from_iterable(
            (HistoryRound(session, one.index) for one in rounds_of(session.turns))
            for session in sessions
        )
        return {
            "question_id": question.question_id,
            "user_id": self._blinding.user(question.history_id),
            "ranked_sessions": [ranked_session(session) for session in sessions[:_DEPTH]],
            "ranked_rounds": [ranked_round(place) for place in islice(rounds, _DEPTH)],
            "search_ms": {},
        }


def nearest(options: Sequence[str], said: str) -> str:
    """The option with the largest share of its words in `said`; the first one on a tie."""
    heard = set(tokens(said))
    return max(options, key=lambda option: recall(content_words(option) or tokens(option), heard))


def _drawn(question: Question, seed: int) -> list[HaystackSession]:
    sessions = question.sessions_by_date()
    Random(f"{seed} {question.question_id}").shuffle(sessions)
    return sessions


def _said(session: HaystackSession) -> str:
    return "\n".join(turn.content for turn in session.turns)


def _line(question: Question, answer: str, started: float) -> HypothesisLine:
    return hypothesis_line(question, WireAnswer(answer, None, None), started)
