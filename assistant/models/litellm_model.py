"""Any language model litellm speaks to. The only importer of `litellm`, which takes seconds to
load: it is imported when a model is configured, never otherwise."""

import asyncio
import os
import random
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

from assistant.errors import (
    AssistantError,
    BadModelReply,
    ConfigError,
    ModelRateLimited,
    ModelTimeout,
    ModelUnavailable,
)
from assistant.models.chat_model import Message, Piece, TokenCounts

_FIRST_WAIT_SECONDS = 0.5
_LONGEST_WAIT_SECONDS = 20.0


class LitellmModel:
    """A model by its litellm name, with our own bounded retries."""

    def __init__(
        self,
        name: str,
        *,
        base_url: str = "",
        api_key: str | None = None,
        timeout: float = 120.0,
        retries: int = 2,
    ) -> None:
        self.name = name
        self._retries = retries
        self._call: dict[str, Any] = {"model": name, "timeout": timeout, "max_retries": 0}
        if base_url:
            self._call["api_base"] = base_url
        if api_key:
            self._call["api_key"] = api_key
        # Without this, importing litellm tries to fetch a price table from the network.
        os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
        import litellm

        litellm.suppress_debug_info = True
        litellm.telemetry = False
        self._litellm = litellm

    async def stream(
        self, messages: Sequence[Message], options: Mapping[str, Any]
    ) -> AsyncIterator[Piece]:
        """See `ChatModel.stream`."""
        for attempt in range(self._retries + 1):
            begun = False
            try:
                async for piece in self._pieces(messages, options):
                    begun = True
                    yield piece
                return
            except AssistantError as error:
                if begun or attempt == self._retries or not isinstance(error, ModelUnavailable):
                    raise
                await asyncio.sleep(_wait_seconds(attempt, error.retry_after))

    async def _pieces(
        self, messages: Sequence[Message], options: Mapping[str, Any]
    ) -> AsyncIterator[Piece]:
        try:
            reply = await self._litellm.acompletion(
                **self._call,
                **options,
                messages=[{"role": m.role, "content": m.content} for m in messages],
                stream=True,
                stream_options={"include_usage": True},
                drop_params=True,
            )
            try:
                async for chunk in reply:
                    yield _piece(chunk)
            finally:
                # A caller that goes away must not leave the provider generating.
                await reply.aclose()
        except AssistantError:
            raise
        except Exception as error:  # litellm's tree has many roots; every one is mapped
            raise self._explained(error) from error

    def _explained(self, error: Exception) -> AssistantError:
        for name, kind in _ERRORS.items():
            if isinstance(error, getattr(self._litellm, name)):
                return kind(
                    f"the chat model {self.name} failed: {_first_line(error)}",
                    retry_after=_retry_after(error),
                )
        return ModelUnavailable(f"the chat model {self.name} failed: {_first_line(error)}")


# By litellm's name, most specific first; anything else of litellm's is upstream trouble.
_ERRORS: dict[str, type[AssistantError]] = {
    "RateLimitError": ModelRateLimited,
    "Timeout": ModelTimeout,
    "APIResponseValidationError": BadModelReply,
    "JSONSchemaValidationError": BadModelReply,
    "AuthenticationError": ConfigError,
    "PermissionDeniedError": ConfigError,
    "NotFoundError": ConfigError,
    "UnsupportedParamsError": ConfigError,
    "BadRequestError": ConfigError,
    "UnprocessableEntityError": ConfigError,
}


def _piece(chunk: Any) -> Piece:
    usage = getattr(chunk, "usage", None)
    tokens = TokenCounts(usage.prompt_tokens, usage.completion_tokens) if usage else None
    if not chunk.choices:
        return Piece(tokens=tokens)
    choice = chunk.choices[0]
    return Piece(choice.delta.content or "", tokens, choice.finish_reason)


def _first_line(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return lines[0][:300] if lines else type(error).__name__


def _retry_after(error: Exception) -> float | None:
    headers = getattr(getattr(error, "response", None), "headers", None) or {}
    try:
        return float(headers.get("retry-after", ""))
    except ValueError:
        return None


def _wait_seconds(attempt: int, retry_after: float | None) -> float:
    wait = retry_after if retry_after is not None else _FIRST_WAIT_SECONDS * 2**attempt
    return min(wait, _LONGEST_WAIT_SECONDS) * random.uniform(0.8, 1.2)
