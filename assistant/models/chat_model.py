"""The protocol of a language model that answers in pieces."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a prompt."""

    role: str
    content: str


@dataclass(frozen=True, slots=True)
class TokenCounts:
    """Tokens read and written by a call, as the provider counts them."""

    prompt: int = 0
    completion: int = 0


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of a reply; the last one may carry the token counts and why the reply ended."""

    text: str = ""
    tokens: TokenCounts | None = None
    finish_reason: str | None = None


class ChatModel(Protocol):
    """A language model. Raises `ModelUnavailable`, `BadModelReply` or `ConfigError` only."""

    name: str

    def stream(
        self, messages: Sequence[Message], options: Mapping[str, Any]
    ) -> AsyncGenerator[Piece, None]:
        """The reply in pieces. Retries happen before the first piece, never after it.

        Closing it stops the model.
        """
