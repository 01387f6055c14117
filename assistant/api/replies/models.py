"""Replies about embeddings and profiles."""

from collections.abc import Mapping
from typing import Any, ClassVar, Literal, Self

from assistant.api.replies import Reply

# OpenAI's list wants a moment of creation; profiles have none, so it is always the same.
_CREATED = 1_700_000_000


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
    example: ClassVar[Mapping[str, Any]] = {
        "object": "list",
        "model": "hash",
        "usage": {"prompt_tokens": 5, "total_tokens": 5},
        "data": [{"object": "embedding", "index": 0, "embedding": [0.6, 0.0, 0.8]}],
    }


class Profile(Reply):
    """A profile as a model menu shows it."""

    id: str
    object: Literal["model"]
    created: int
    owned_by: str
    example: ClassVar[Mapping[str, Any]] = {
        "id": "aide-memoire",
        "object": "model",
        "created": 1700000000,
        "owned_by": "aide-memoire",
    }

    @classmethod
    def named(cls, name: str) -> Self:
        """A profile by its name."""
        return cls(id=name, object="model", created=_CREATED, owned_by="aide-memoire")


class ProfileList(Reply):
    """The profiles of the server."""

    object: Literal["list"]
    data: list[Profile]
    example: ClassVar[Mapping[str, Any]] = {
        "object": "list",
        "data": [Profile.example, {**Profile.example, "id": "aide-memoire-nomem"}],
    }
