"""What a run may spend on the assistant: tokens and money, counted from the usage in its answers.

Usage that an answer does not tell is estimated, four characters a token, and said to be. Recording
turns without an answer tells nothing and counts nothing.
"""

from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass
from typing import Any

from harness.assistants.profile import Price
from harness.assistants.wire import Answer
from harness.errors import BudgetSpent, UsageError
from harness.tokens import tokens_at_least_one


@dataclass(slots=True)
class Spending:
    """Tokens of chat calls; `estimated_calls` of `calls` told no usage of their own."""

    calls: int = 0
    estimated_calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0

    @property
    def tokens(self) -> int:
        """Both kinds together."""
        return self.prompt_tokens + self.completion_tokens

    def add(self, other: "Spending") -> None:
        """Count another one in."""
        self.calls += other.calls
        self.estimated_calls += other.estimated_calls
        self.prompt_tokens += other.prompt_tokens
        self.completion_tokens += other.completion_tokens

    def to_json(self) -> dict[str, Any]:
        """The counts for a manifest."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Limits:
    """The most that all commands on a run directory may spend together; None is no limit."""

    tokens: int | None = None
    usd: float | None = None


class Budget:
    """Lets calls through while there is something left. What is under way is held back in advance,
    so that calls side by side cannot overspend by more than their answers' length.
    """

    def __init__(
        self,
        limits: Limits | None = None,
        price: Price | None = None,
        spent_before: Spending | None = None,
    ) -> None:
        self._limits = limits or Limits()
        if self._limits.usd is not None and price is None:
            raise UsageError("--max-cost needs a price: --price, or [price] in the profile")
        self._price = price
        self._before = spent_before or Spending()
        self._held = 0
        self.spent = Spending()

    async def spend(self, characters: int, call: Callable[[], Awaitable[Answer]]) -> Answer:
        """Make a call whose prompt has so many characters; `BudgetSpent` if it would not fit."""
        expected = tokens_at_least_one(characters)
        self._require_room(expected)
        self._held += expected
        try:
            answer = await call()
        finally:
            self._held -= expected
        self.spent.add(_spending(answer, expected))
        return answer

    def _require_room(self, expected: int) -> None:
        prompt = self._before.prompt_tokens + self.spent.prompt_tokens + self._held + expected
        completion = self._before.completion_tokens + self.spent.completion_tokens
        tokens, limit = prompt + completion, self._limits.tokens
        if limit is not None and tokens > limit:
            raise BudgetSpent(
                f"--max-tokens {limit:,}: the next call would make it {tokens:,} tokens. Raise it "
                "and run the same command again to continue."
            )
        if self._limits.usd is not None and self._price is not None:
            usd = self._price.of(prompt, completion)
            if usd > self._limits.usd:
                raise BudgetSpent(
                    f"--max-cost {self._limits.usd:g}: the next call would make it {usd:.4f} US "
                    "dollars. Raise it and run the same command again to continue."
                )


def _spending(answer: Answer, expected: int) -> Spending:
    prompt, completion = answer.prompt_tokens, answer.completion_tokens
    is_estimated = prompt is None or completion is None
    return Spending(
        calls=1,
        estimated_calls=int(is_estimated),
        prompt_tokens=expected if prompt is None else prompt,
        completion_tokens=tokens_at_least_one(len(answer.text))
        if completion is None
        else completion,
    )
