"""What a run would take, counted from the data alone: nothing is sent."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from harness.datasets.questions import Question, rounds_of
from harness.replay.modes.choice import Approach
from harness.replay.modes.context import CHOICES, context_of
from harness.runs.spending import Price
from harness.tokens import tokens_at_least_one

# Assumptions, printed with the figures.
ANSWER_TOKENS = 150
CHAT_SECONDS = 2.0
RECORD_SECONDS = 0.05


@dataclass(slots=True)
class Forecast:
    """Counts of what would be sent; tokens are of chat calls, four characters each."""

    by_type: Counter[str] = field(default_factory=Counter)
    histories: int = 0
    sessions: int = 0
    rounds: int = 0
    turns: int = 0
    recorded_turns: int = 0
    chat_calls: int = 0
    prompt_tokens: int = 0
    questions_cut: int = 0

    @property
    def questions(self) -> int:
        """All types together."""
        return self.by_type.total()

    @property
    def completion_tokens(self) -> int:
        """If every call is answered at the assumed length."""
        return self.chat_calls * ANSWER_TOKENS

    def seconds(self, concurrency: int) -> float:
        """At the assumed speed, so many users side by side."""
        one_by_one = self.chat_calls * CHAT_SECONDS + self.recorded_turns * RECORD_SECONDS
        return one_by_one / min(concurrency, max(1, self.histories))

    def usd(self, price: Price | None) -> float | None:
        """None where no price is known."""
        return None if price is None else price.of(self.prompt_tokens, self.completion_tokens)


def forecast(histories: Iterable[list[Question]], approach: Approach) -> Forecast:
    """Count everything that these histories and their questions would cost in this way."""
    made = Forecast()
    shared = approach.searches or approach.profile.leaves_no_trace or not approach.uses_memory
    for questions in histories:
        for replayed in [questions] if shared else [[question] for question in questions]:
            made.histories += 1
            if approach.uses_memory:
                _count_history(replayed[0], approach, made)
        for question in questions:
            _count_question(question, approach, made)
    return made


def _count_history(question: Question, approach: Approach, made: Forecast) -> None:
    for session in question.sessions:
        made.sessions += 1
        made.rounds += len(rounds_of(session.turns))
        made.turns += len(session.turns)
        if approach.mode not in ("teacher", "live"):
            made.recorded_turns += len(session.turns)
            continue
        said = 0
        for turn in session.turns:
            said += len(turn.content)
            if turn.role == "user" and turn.content.strip():
                made.chat_calls += 1
                made.prompt_tokens += tokens_at_least_one(said)


def _count_question(question: Question, approach: Approach, made: Forecast) -> None:
    made.by_type[question.question_type] += 1
    made.chat_calls += 1
    made.prompt_tokens += tokens_at_least_one(len(question.question))
    if choose := CHOICES.get(approach.mode):
        account = context_of(question, choose, approach.window).account
        made.prompt_tokens += account["tokens_estimate"]
        made.questions_cut += bool(account["sessions_cut"] or account["sessions_shortened"])
