"""Tokens and money that calls of models take: counted from the usage in replies, forecast from
printed assumptions, and held to a budget.

Where a reply tells no usage, it is estimated at four characters a token and marked as estimated.
Recording turns without an answer has no usage and counts nothing.
"""

from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol, TypeVar

from harness.errors import BudgetSpent, UsageError
from harness.text import tokens_at_least_one

# The share of the usual price that providers charge for requests in a batch.
BATCH_SHARE = 0.5


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars for a million tokens."""

    prompt: float
    completion: float

    def of(self, prompt_tokens: int, completion_tokens: int) -> float:
        return (prompt_tokens * self.prompt + completion_tokens * self.completion) / 1e6

    def of_batch(self) -> "Price":
        """The price in a batch, whose requests may wait for a day."""
        return Price(self.prompt * BATCH_SHARE, self.completion * BATCH_SHARE)


@dataclass(slots=True)
class TokenUsage:
    """Tokens of calls; the replies to `estimated_calls` of them told no complete usage."""

    calls: int = 0
    estimated_calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0

    @property
    def tokens(self) -> int:
        return self.prompt_tokens + self.completion_tokens

    def add(self, other: "TokenUsage") -> None:
        self.calls += other.calls
        self.estimated_calls += other.estimated_calls
        self.prompt_tokens += other.prompt_tokens
        self.completion_tokens += other.completion_tokens

    def usd(self, price: Price) -> float:
        return price.of(self.prompt_tokens, self.completion_tokens)


Payee = Literal["assistant", "judge", "second_judge", "author"]
_PRICED_BY: dict[Payee, str] = {
    "assistant": "--price, or [price] in the profile",
    "judge": "--judge-price",
    "second_judge": "--judge-price, a second one behind a comma",
    "author": "--price",
}


class Metered(Protocol):
    """A reply with its token counts, None where the reply told none."""

    @property
    def text(self) -> str:
        """The text of the reply."""

    @property
    def prompt_tokens(self) -> int | None:
        """Tokens that were read."""

    @property
    def completion_tokens(self) -> int | None:
        """Tokens that were written."""


Reply = TypeVar("Reply", bound=Metered)


@dataclass(frozen=True, slots=True)
class SpendingLimits:
    """The most that all commands on a run directory may spend together; None is no limit.

    `prices` are used for payees whose price earlier commands did not know.
    """

    tokens: int | None = None
    usd: float | None = None
    prices: Mapping[Payee, Price] = field(default_factory=dict)


class Meter:
    """Counts the calls of one model, and checks its budget, if it has one, before each call.

    `before` is what was spent earlier. The prompts of calls under way are reserved in advance, so
    that concurrent calls cannot overspend by more than the length of their replies.
    """

    def __init__(
        self,
        payee: Payee = "assistant",
        price: Price | None = None,
        before: TokenUsage | None = None,
    ) -> None:
        self.payee = payee
        self.price = price
        self.before = before or TokenUsage()
        self.spent = TokenUsage()
        self.held = 0
        self.budget: Budget | None = None

    async def spend(self, characters: int, call: Callable[[], Awaitable[Reply]]) -> Reply:
        """Make a call whose prompt has this many characters; `BudgetSpent` if it does not fit."""
        expected = tokens_at_least_one(characters)
        self.held += expected
        try:
            if self.budget is not None:
                self.budget.require_room()
            reply = await call()
        finally:
            self.held -= expected
        self.spent.add(_spending(reply, expected))
        return reply

    def total(self) -> TokenUsage:
        """All tokens spent so far, and those reserved for calls under way."""
        total = TokenUsage(prompt_tokens=self.held)
        total.add(self.before)
        total.add(self.spent)
        return total


class Budget:
    """Limits that meters share; `UsageError` for a limit in money where a meter has no price."""

    def __init__(self, limits: SpendingLimits, meters: Sequence[Meter]) -> None:
        self._limits = limits
        self._meters = meters
        for meter in meters:
            meter.budget = self
            meter.price = meter.price or limits.prices.get(meter.payee)
            if limits.usd is not None and meter.price is None:
                raise UsageError(
                    f"--max-cost needs a price of the {meter.payee.replace('_', ' ')}: "
                    f"{_PRICED_BY[meter.payee]}"
                )

    def require_room(self) -> None:
        """Raise `BudgetSpent` if the totals, next prompt included, exceed a limit."""
        totals = [(meter.price, meter.total()) for meter in self._meters]
        tokens, limit = sum(total.tokens for _, total in totals), self._limits.tokens
        if limit is not None and tokens > limit:
            raise BudgetSpent(
                f"--max-tokens {limit:,}: the next call would make it {tokens:,} tokens. Raise it "
                "and run the same command again to continue."
            )
        usd = sum(total.usd(price) for price, total in totals if price is not None)
        if self._limits.usd is not None and usd > self._limits.usd:
            raise BudgetSpent(
                f"--max-cost {self._limits.usd:g}: the next call would make it {usd:.4f} US "
                "dollars. Raise it and run the same command again to continue."
            )


def _spending(reply: Metered, expected: int) -> TokenUsage:
    prompt, completion = reply.prompt_tokens, reply.completion_tokens
    return TokenUsage(
        calls=1,
        estimated_calls=int(prompt is None or completion is None),
        prompt_tokens=expected if prompt is None else prompt,
        completion_tokens=tokens_at_least_one(len(reply.text))
        if completion is None
        else completion,
    )


# Assumptions, printed with the figures.
ANSWER_TOKENS = 150
CHAT_SECONDS = 2.0
RECORD_SECONDS = 0.05
# A judge's model that reasons before its verdict writes more.
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
        return self.by_type.total()

    @property
    def completion_tokens(self) -> int:
        """The tokens of all answers, each of the assumed length."""
        return self.chat_calls * ANSWER_TOKENS

    def seconds(self, concurrency: int) -> float:
        """Seconds at the assumed speed, with `concurrency` users side by side."""
        one_by_one = self.chat_calls * CHAT_SECONDS + self.recorded_turns * RECORD_SECONDS
        return one_by_one / min(concurrency, max(1, self.histories))

    def usd(self, price: Price | None) -> float | None:
        """The price in dollars; None where it is not known."""
        return None if price is None else price.of(self.prompt_tokens, self.completion_tokens)


@dataclass(frozen=True, slots=True)
class JudgingForecast:
    """Calls of one judge's model, as if none of its replies were cached."""

    judge_id: str
    calls: int
    prompt_tokens: int
    price: Price | None

    @property
    def completion_tokens(self) -> int:
        """The tokens of all replies, each of the assumed length."""
        return self.calls * VERDICT_TOKENS

    @property
    def usd(self) -> float | None:
        """The price in dollars; None where it is not known."""
        if self.price is None:
            return None if self.calls else 0.0
        return self.price.of(self.prompt_tokens, self.completion_tokens)


@dataclass(frozen=True, slots=True)
class BatchForecast:
    """Requests of batches, at the price of a batch, if every reply has the assumed length."""

    requests: int
    prompt_tokens: int
    completion_tokens: int
    price: Price | None

    @property
    def usd(self) -> float | None:
        """The price in dollars; None where it is not known."""
        if self.price is None:
            return None
        return self.price.of(self.prompt_tokens, self.completion_tokens)
