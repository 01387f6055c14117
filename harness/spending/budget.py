"""What a run may spend on models, the assistant's and the judges': tokens and money, counted from
the usage in their replies.

Usage that a reply does not tell is estimated, four characters a token, and said to be. Recording
turns without an answer tells nothing and counts nothing.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol, TypeVar

from harness.errors import BudgetSpent, UsageError
from harness.spending.usage import Price, Usage
from harness.text import tokens_at_least_one

Payee = Literal["assistant", "judge", "second_judge", "author"]
_PRICED_BY: dict[Payee, str] = {
    "assistant": "--price, or [price] in the profile",
    "judge": "--judge-price",
    "second_judge": "--judge-price, a second one behind a comma",
    "author": "--price",
}


class Metered(Protocol):
    """A reply with the tokens that were counted for it, None where nobody did."""

    @property
    def text(self) -> str:
        """What was said."""

    @property
    def prompt_tokens(self) -> int | None:
        """What was read."""

    @property
    def completion_tokens(self) -> int | None:
        """What was written."""


Reply = TypeVar("Reply", bound=Metered)


@dataclass(frozen=True, slots=True)
class Limits:
    """The most that all commands on a run directory may spend together; None is no limit.

    `prices` are of whoever earlier commands paid without knowing what it costs.
    """

    tokens: int | None = None
    usd: float | None = None
    prices: Mapping[Payee, Price] = field(default_factory=dict)


class Meter:
    """Pays for the calls of one model and counts them, within a budget where it belongs to one.

    `before` is what was spent earlier. What is under way is held back in advance, so that calls
    side by side cannot overspend by more than their replies' length.
    """

    def __init__(
        self, payee: Payee = "assistant", price: Price | None = None, before: Usage | None = None
    ) -> None:
        self.payee = payee
        self.price = price
        self.before = before or Usage()
        self.spent = Usage()
        self.held = 0
        self.budget: Budget | None = None

    async def spend(self, characters: int, call: Callable[[], Awaitable[Reply]]) -> Reply:
        """Make a call whose prompt has so many characters; `BudgetSpent` if it would not fit."""
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

    def total(self) -> Usage:
        """What was spent ever, and what is held back."""
        total = Usage(prompt_tokens=self.held)
        total.add(self.before)
        total.add(self.spent)
        return total


class Budget:
    """Holds meters to limits that they share; raises `UsageError` for money without a price."""

    def __init__(self, limits: Limits, meters: Sequence[Meter]) -> None:
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
        """Refuse a call whose prompt, held back already, is too much."""
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


def _spending(reply: Metered, expected: int) -> Usage:
    prompt, completion = reply.prompt_tokens, reply.completion_tokens
    return Usage(
        calls=1,
        estimated_calls=int(prompt is None or completion is None),
        prompt_tokens=expected if prompt is None else prompt,
        completion_tokens=tokens_at_least_one(len(reply.text))
        if completion is None
        else completion,
    )
