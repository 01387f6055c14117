"""Bodies of chats, responses and embeddings, as OpenAI's clients send them."""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from assistant.api.requests import Many, Request, SpeakerName, Time
from assistant.errors import InvalidRequest

Words = Annotated[str, Field(min_length=1)]
"""A text of at least one character."""
Tokens = Annotated[int, Field(ge=1)]
"""How many tokens a reply may take at most."""
_TEXT_PARTS = ("text", "input_text", "output_text")


class ChatMessage(Request):
    """One message of a chat request."""

    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    content: str | Many[dict[str, Any]] | None = None
    name: SpeakerName | None = None
    timestamp: Time = None

    @property
    def text(self) -> str:
        """The text of the message, whatever form it was sent in. Raises `InvalidRequest` where it
        is not all text."""
        return content_text(self.content)

    @property
    def readable(self) -> str:
        """What of the message is text."""
        if not isinstance(self.content, list):
            return self.content or ""
        return "\n".join(filter(None, map(_part_text, self.content)))


class StreamOptions(Request):
    """Options of a streamed reply."""

    include_usage: bool | None = False


class Sampling(Request):
    """How a language model is asked to write: OpenAI's options, passed on to it as they are."""

    temperature: float | None = None
    top_p: float | None = None
    seed: int | None = None
    frequency_penalty: float | None = None
    presence_penalty: float | None = None
    reasoning_effort: str | None = None
    stop: Words | Annotated[list[Words], Field(max_length=4)] | None = None
    max_completion_tokens: Tokens | None = None
    max_tokens: Tokens | None = None

    def options(self) -> dict[str, Any]:
        """Those that were given; of two limits the one with the newer name."""
        given = {
            name: value
            for name in Sampling.model_fields
            if (value := getattr(self, name)) is not None
        }
        if "max_completion_tokens" in given:
            given.pop("max_tokens", None)
        return given


class ChatRequest(Sampling):
    """`POST /v1/chat/completions`."""

    model: str | None = None
    messages: Many[ChatMessage]
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    metadata: dict[str, Any] | None = None
    user: str | None = None
    safety_identifier: str | None = None
    example: ClassVar[Mapping[str, Any]] = {
        "model": "aide-memoire",
        "messages": [{"role": "user", "content": "Where do I live?"}],
        "metadata": {"user_id": "ann", "session_id": "june", "memory": "read_only"},
    }


class Conversation(Request):
    """A conversation by its id."""

    id: str


class ResponseItem(Request):
    """One item of a response's input. What is no message (calls of tools, reasoning) is ignored."""

    type: str | None = None
    role: Literal["system", "developer", "user", "assistant"] | None = None
    content: str | Many[dict[str, Any]] | None = None
    timestamp: Time = None

    @property
    def is_message(self) -> bool:
        """Whether somebody said something in it."""
        return self.role is not None and self.type in (None, "message")

    def message(self) -> ChatMessage:
        """The item as a message of a chat."""
        role = self.role or "user"
        return ChatMessage(role=role, content=self.content, timestamp=self.timestamp)


class Reasoning(Request):
    """How hard a language model is asked to think."""

    effort: str | None = None


class ResponseRequest(Request):
    """`POST /v1/responses`."""

    model: str | None = None
    input: str | Many[ResponseItem]
    instructions: str | None = None
    conversation: str | Conversation | None = None
    previous_response_id: str | None = None
    stream: bool | None = None
    metadata: dict[str, Any] | None = None
    user: str | None = None
    safety_identifier: str | None = None
    temperature: float | None = None
    top_p: float | None = None
    max_output_tokens: Tokens | None = None
    reasoning: Reasoning | None = None
    example: ClassVar[Mapping[str, Any]] = {
        "model": "aide-memoire",
        "input": "Where do I live?",
        "metadata": {"user_id": "ann", "memory": "read_only"},
    }


class EmbeddingRequest(Request):
    """`POST /v1/embeddings`."""

    input: str | Annotated[list[str], Field(min_length=1, max_length=2048)]
    model: str | None = None
    encoding_format: Literal["float", "base64"] | None = "float"
    dimensions: int | None = None
    user: str | None = None
    example: ClassVar[Mapping[str, Any]] = {
        "model": "aide-memoire-embedding",
        "input": "I moved to Bruges.",
    }


def content_text(content: str | list[dict[str, Any]] | None) -> str:
    """The text in a message's content; parts that are not text are refused."""
    if content is None or isinstance(content, str):
        return content or ""
    texts = []
    for part in content:
        text = _part_text(part)
        if text is None:
            kind = str(part.get("type"))[:40]
            got = "without a text" if kind in _TEXT_PARTS else f"got type {kind!r}"
            raise InvalidRequest(f"content parts must be text, {got}", param="messages")
        texts.append(text)
    return "\n".join(texts)


def _part_text(part: dict[str, Any]) -> str | None:
    """The text of a part of a message; None for pictures, files and the like."""
    text = part.get("text")
    is_text = part.get("type") in _TEXT_PARTS and isinstance(text, str)
    return text if is_text else None
