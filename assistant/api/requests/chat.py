"""Bodies of chats and embeddings, as OpenAI's clients send them, and messages of MCP."""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from assistant.answering.reader import TEXT_PARTS, part_text
from assistant.api.requests import Many, Request, SpeakerName, Time
from assistant.characters import is_blank
from assistant.errors import InvalidRequest

Words = Annotated[str, Field(min_length=1)]
"""A text of at least one character."""
Tokens = Annotated[int, Field(ge=1)]
"""How many tokens a reply may take at most."""
_KINDS = {"image_url": "picture", "input_image": "picture", "input_audio": "sound"}


class ChatMessage(Request):
    """One message of a chat request."""

    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    content: str | Many[dict[str, Any]] | None = None
    name: SpeakerName | None = None
    timestamp: Time = None
    tool_calls: Many[dict[str, Any]] | None = None
    function_call: dict[str, Any] | None = None

    @property
    def readable(self) -> str:
        """What of the message is text."""
        if not isinstance(self.content, list):
            return self.content or ""
        return "\n".join(filter(None, map(part_text, self.content)))

    @property
    def said(self) -> str:
        """What is remembered of it: its text, or, where it has none, what it is. Raises
        `InvalidRequest`."""
        if not isinstance(self.content, list):
            return self.readable
        for part in self.content:
            _check_part(part)
        if not is_blank(self.readable):
            return self.readable
        types = [str(part.get("type")) for part in self.content if part_text(part) is None]
        return " ".join(dict.fromkeys(f"[{_KINDS.get(type, 'file')}]" for type in types))


class StreamOptions(Request):
    """Options of a streamed reply."""

    include_usage: bool | None = False


class Sampling(Request):
    """How a language model is asked to write: what is checked of OpenAI's options, all of which are
    passed on as they came."""

    temperature: float | None = None
    top_p: float | None = None
    seed: int | None = None
    frequency_penalty: float | None = None
    presence_penalty: float | None = None
    reasoning_effort: str | None = None
    stop: Words | Annotated[list[Words], Field(max_length=4)] | None = None
    max_completion_tokens: Tokens | None = None
    max_tokens: Tokens | None = None
    tools: Many[dict[str, Any]] | None = None
    functions: Many[dict[str, Any]] | None = None
    response_format: dict[str, Any] | None = None
    n: Annotated[int, Field(ge=1, le=128)] | None = None


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
    """The text in a recorded message's content; parts that are not text are refused."""
    if content is None or isinstance(content, str):
        return content or ""
    texts = []
    for part in content:
        text = part_text(part)
        if text is None:
            kind = str(part.get("type"))[:40]
            raise InvalidRequest(f"content parts must be text, got {kind!r}", param="messages")
        texts.append(text)
    return "\n".join(texts)


def _check_part(part: Mapping[str, Any]) -> None:
    """Raise `InvalidRequest` for a part of a message that is of no kind, or a text without one."""
    kind = part.get("type")
    if not isinstance(kind, str) or (kind in TEXT_PARTS and part_text(part) is None):
        got = "a text without its text" if isinstance(kind, str) else "one without a type"
        raise InvalidRequest(
            f"content parts are text, pictures and files, got {got}", param="messages"
        )


class McpMessage(Request):
    """`POST /mcp`: a JSON-RPC 2.0 message. The protocol's own reader says what else is wrong."""

    jsonrpc: Any = None
    id: Any = None
    method: Any = None
    params: Any = None
    example: ClassVar[Mapping[str, Any]] = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {
            "name": "remember",
            "arguments": {"text": "I live in Ghent.", "said_at": "2023-05-20T10:00:00Z"},
        },
    }
