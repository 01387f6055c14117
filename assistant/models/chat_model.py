"""The protocol of a language model that answers in pieces."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a prompt."""

    role: str
    content: str


@dataclass(frozen=True, slots=True)
class TokenCounts:
    """Tokens read and written by a call, as the provider counts them.

    `cost` is in US dollars; None where the price is not known.
    """

    prompt: int = 0
    completion: int = 0
    cost: float | None = field(default=None, compare=False)

    def __add__(self, other: "TokenCounts") -> "TokenCounts":
        """Both together; the cost is known where both are."""
        known = self.cost is not None and other.cost is not None
        cost = (self.cost or 0.0) + (other.cost or 0.0) if known else None
        return TokenCounts(self.prompt + other.prompt, self.completion + other.completion, cost)


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of a reply; the last one may carry the token counts and why the reply ended."""

    text: str = ""
    tokens: TokenCounts | None = None
    finish_reason: str | None = None


@dataclass(frozen=True, slots=True)
class Reply:
    """A whole reply."""

    text: str
    tokens: TokenCounts | None = None
    finish_reason: str = "stop"


class ChatModel(Protocol):
    """A language model. Raises `ModelUnavailable`, `BadModelReply` or `ConfigError` only."""

    name: str

    @property
    def identity(self) -> str:
        """Tells models with different replies apart: the name, and where it is asked."""

    def stream(
        self, messages: Sequence[Message], options: Mapping[str, Any]
    ) -> AsyncGenerator[Piece, None]:
        """The reply in pieces. What is tried again is tried before the first piece, never after it.

        Closing it stops the model.
        """

    async def close(self) -> None:
        """Let go of its connections."""
