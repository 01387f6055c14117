"""What calls of a model take: tokens, and money at a price."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars for a million tokens."""

    prompt: float
    completion: float

    def of(self, prompt_tokens: int, completion_tokens: int) -> float:
        """US dollars for so many tokens."""
        return (prompt_tokens * self.prompt + completion_tokens * self.completion) / 1e6


@dataclass(slots=True)
class Usage:
    """Tokens of calls; `estimated_calls` of `calls` told no usage of their own."""

    calls: int = 0
    estimated_calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0

    @property
    def tokens(self) -> int:
        """Both kinds together."""
        return self.prompt_tokens + self.completion_tokens

    def add(self, other: "Usage") -> None:
        """Count another one in."""
        self.calls += other.calls
        self.estimated_calls += other.estimated_calls
        self.prompt_tokens += other.prompt_tokens
        self.completion_tokens += other.completion_tokens

    def usd(self, price: Price) -> float:
        """US dollars at a price."""
        return price.of(self.prompt_tokens, self.completion_tokens)
