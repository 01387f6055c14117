"""Routes of models: the profiles that a model menu offers, and the vectors that memory itself is
searched by."""

import base64
from typing import Annotated

import numpy as np
import numpy.typing as npt
from fastapi import APIRouter, Path, Request
from fastapi.responses import Response

from assistant.api.description import failures
from assistant.api.replies import long_response
from assistant.api.replies import service as replies
from assistant.api.request_context import services
from assistant.api.requests.chat import EmbeddingRequest
from assistant.api.route import JsonRoute, Parts
from assistant.chat.chat import Chat
from assistant.errors import InvalidRequest, NotFound
from assistant.models.token_counter import about_tokens
from assistant.settings import WITH_MEMORY
from memory_store import Reach
from memory_store.embedding import TextKind

router = APIRouter(prefix="/v1", route_class=JsonRoute)
EMBEDDING = "aide-memoire-embedding"


@router.get("/models", summary="List the profiles", tags=["models"])
async def list_profiles(request: Request) -> replies.ProfileList:
    """The profiles of this server: what a request may name as its `model`."""
    parts = services(request)
    profiles = [replies.Profile.offered(name, parts.settings) for name in parts.chats]
    return replies.ProfileList(object="list", data=profiles)


@router.get("/models/{name}", summary="Read a profile", tags=["models"], responses=failures(404))
async def read_profile(
    request: Request,
    name: Annotated[str, Path(description="The id of a profile.", examples=["aide-memoire"])],
) -> replies.Profile:
    """One profile."""
    return replies.Profile.offered(checked_profile(request, name), services(request).settings)


def checked_profile(request: Request, name: str | None) -> str:
    """The profile asked for, the one with memory by default. Raises `NotFound`."""
    if name is None:
        return WITH_MEMORY
    names = services(request).chats
    if name not in names:
        raise NotFound(
            f"there is no model {name[:80]!r}: use {' or '.join(names)}",
            code="model_not_found",
            param="model",
        )
    return name


def chat_of(request: Request, name: str | None) -> Chat:
    """The chat of the profile asked for. Raises `NotFound`."""
    return services(request).chats[checked_profile(request, name)]


@router.post(
    "/embeddings",
    tags=["embeddings"],
    summary="Embed texts",
    response_model=replies.EmbeddingList,
    responses=failures(400, 404, 413, 503),
)
async def create_embeddings(parts: Parts, body: EmbeddingRequest) -> Response:
    """One unit vector a text, as numbers or in base64. Nothing is remembered."""
    embedder = parts.embedder
    space = embedder.identity
    if body.model not in (None, EMBEDDING, space.name):
        raise NotFound(
            f"there is no embedding model {str(body.model)[:80]!r}: use {EMBEDDING}",
            code="model_not_found",
            param="model",
        )
    if body.dimensions not in (None, space.dimension):
        raise InvalidRequest(f"the vectors have {space.dimension} dimensions", param="dimensions")
    texts = [body.input] if isinstance(body.input, str) else body.input
    if not all(text.strip() for text in texts):
        raise InvalidRequest("a text to embed is empty", param="input")
    if not embedder.is_local and any(_stays_here(parts, text) for text in texts):
        raise InvalidRequest(
            "a text may not leave this computer, and the embedder is elsewhere",
            code="kept_here",
            param="input",
        )
    rows = await embedder.embed(texts, TextKind.DOCUMENT)
    tokens = sum(map(about_tokens, texts))
    usage = replies.EmbeddingUsage(prompt_tokens=tokens, total_tokens=tokens)
    return await long_response(
        replies.EmbeddingList(object="list", model=space.name, usage=usage, data=[]),
        (_embedding(row, i, body.encoding_format) for i, row in enumerate(rows)),
    )


def _stays_here(parts: Parts, text: str) -> bool:
    """Whether a rule limits where a memory with this text may go."""
    return parts.store.reaches.of_words([text]) is not Reach.ANYWHERE


def _embedding(
    row: npt.NDArray[np.float32], index: int, encoding: str | None
) -> replies.TextEmbedding:
    packed = base64.b64encode(row.astype("<f4").tobytes()).decode()
    vector = packed if encoding == "base64" else row.tolist()
    return replies.TextEmbedding(object="embedding", index=index, embedding=vector)
