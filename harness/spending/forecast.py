"""What a run would take: calls, tokens, money and time, by assumptions that are printed beside."""

from collections import Counter
from dataclasses import dataclass, field

from harness.spending.usage import Price

# Assumptions, printed with the figures.
ANSWER_TOKENS = 150
CHAT_SECONDS = 2.0
RECORD_SECONDS = 0.05
# A model that thinks writes more.
VERDICT_TOKENS = 10


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


@dataclass(frozen=True, slots=True)
class JudgingForecast:
    """Calls of one judge's model, were none of its replies kept."""

    judge_id: str
    calls: int
    prompt_tokens: int
    price: Price | None

    @property
    def completion_tokens(self) -> int:
        """If every reply has the assumed length."""
        return self.calls * VERDICT_TOKENS

    @property
    def usd(self) -> float | None:
        """None where no price is known."""
        if self.price is None:
            return None if self.calls else 0.0
        return self.price.of(self.prompt_tokens, self.completion_tokens)
