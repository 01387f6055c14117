"""The route of embeddings: the vectors that the memory itself is searched by."""

import base64

import numpy as np
import numpy.typing as npt
from fastapi import APIRouter
from fastapi.responses import Response

from assistant.api.dependencies import Parts
from assistant.api.failures import failures
from assistant.api.replies import long_response
from assistant.api.replies.models import EmbeddingList, EmbeddingUsage, TextEmbedding
from assistant.api.requests.chat import EmbeddingRequest
from assistant.api.route import JsonRoute
from assistant.errors import InvalidRequest, NotFound
from assistant.models.token_counter import about_tokens
from memory_store.embedding import TextKind

router = APIRouter(prefix="/v1/embeddings", tags=["embeddings"], route_class=JsonRoute)
EMBEDDING = "aide-memoire-embedding"


@router.post(
    "",
    summary="Embed texts",
    response_model=EmbeddingList,
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
    rows = await embedder.embed(texts, TextKind.DOCUMENT)
    tokens = sum(map(about_tokens, texts))
    usage = EmbeddingUsage(prompt_tokens=tokens, total_tokens=tokens)
    return await long_response(
        EmbeddingList(object="list", model=space.name, usage=usage, data=[]),
        (_embedding(row, i, body.encoding_format) for i, row in enumerate(rows)),
    )


def _embedding(row: npt.NDArray[np.float32], index: int, encoding: str | None) -> TextEmbedding:
    packed = base64.b64encode(row.astype("<f4").tobytes()).decode()
    vector = packed if encoding == "base64" else row.tolist()
    return TextEmbedding(object="embedding", index=index, embedding=vector)
