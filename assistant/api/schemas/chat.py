"""Replies of chats, responses, embeddings and models, as OpenAI's clients read them."""

from typing import Any, Literal

from assistant.api.schemas.base import Instant, Reply
from assistant.api.schemas.memories import FoundMemory, TimeAsked


class QuestionUnderstood(Reply):
    """What read the question, and what it was searched by besides."""

    by: str
    queries: Any
    failure: str | None


class MemoryTrace(Reply):
    """What was recalled for an answer, and what became of it; on request only."""

    user_id: str
    session_id: str
    round_id: str | None
    mode: Literal["on", "read_only", "write_only", "off"]
    now: Instant
    understanding: QuestionUnderstood | None
    time_range: TimeAsked | None
    data: list[FoundMemory]
    read: list[str]
    dropped: list[str]
    trimmed: list[str]
    context_tokens: int
    notes: str
    timings: dict[str, float]


class AnswerMessage(Reply):
    """The answer."""

    role: Literal["assistant"]
    content: str


class ChatChoice(Reply):
    """The one choice of a reply."""

    index: int
    message: AnswerMessage
    logprobs: None
    finish_reason: str


class ChatUsage(Reply):
    """Tokens of a chat."""

    prompt_tokens: int
    completion_tokens: int
    total_tokens: int


class ChatCompletion(Reply):
    """A whole chat reply."""

    id: str
    object: Literal["chat.completion"]
    created: int
    model: str
    choices: list[ChatChoice]
    usage: ChatUsage
    memory: MemoryTrace | None = None


class OutputText(Reply):
    """Text of a response."""

    type: Literal["output_text"]
    text: str
    annotations: list[Any]
    logprobs: list[Any]


class OutputMessage(Reply):
    """The message of a response."""

    type: Literal["message"]
    id: str
    status: Literal["in_progress", "completed", "incomplete"]
    role: Literal["assistant"]
    content: list[OutputText]


class InputDetails(Reply):
    """Input tokens that came from a cache."""

    cached_tokens: int
    cache_write_tokens: int


class OutputDetails(Reply):
    """Output tokens that nobody sees."""

    reasoning_tokens: int


class ResponseUsage(Reply):
    """Tokens of a response."""

    input_tokens: int
    input_tokens_details: InputDetails
    output_tokens: int
    output_tokens_details: OutputDetails
    total_tokens: int


class IncompleteDetails(Reply):
    """Why a response is cut."""

    reason: str


class ConversationId(Reply):
    """The session of a response."""

    id: str


class ResponseObject(Reply):
    """A whole response."""

    id: str
    object: Literal["response"]
    created_at: int
    status: Literal["in_progress", "completed", "incomplete"]
    error: None
    incomplete_details: IncompleteDetails | None
    instructions: str | None
    metadata: dict[str, Any]
    model: str
    output: list[OutputMessage]
    conversation: ConversationId
    previous_response_id: str | None
    parallel_tool_calls: bool
    tool_choice: str
    tools: list[Any]
    temperature: float | None
    top_p: float | None
    usage: ResponseUsage | None
    memory: MemoryTrace | None = None


class TextEmbedding(Reply):
    """The unit vector of one text, as numbers or in base64."""

    object: Literal["embedding"]
    index: int
    embedding: list[float] | str


class EmbeddingUsage(Reply):
    """Tokens that were embedded, roughly."""

    prompt_tokens: int
    total_tokens: int


class EmbeddingList(Reply):
    """A vector for each text."""

    object: Literal["list"]
    model: str
    usage: EmbeddingUsage
    data: list[TextEmbedding]


class Profile(Reply):
    """A profile as a model menu shows it."""

    id: str
    object: Literal["model"]
    created: int
    owned_by: str


class ProfileList(Reply):
    """The profiles of the server."""

    object: Literal["list"]
    data: list[Profile]
