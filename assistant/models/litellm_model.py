"""Any language model litellm speaks to. The only importer of `litellm`, which takes seconds to
load: it is imported when a model is configured, never otherwise."""

import asyncio
import os
import random
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from typing import Any

from assistant.errors import ModelUnavailable
from assistant.models.chat_model import Message, Piece, TokenCounts
from assistant.models.litellm_errors import explained

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
        first_wait: float = 0.5,
    ) -> None:
        self.name = name
        self._retries = retries
        self._first_wait = first_wait
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
        # Its own transport leaves connections open behind it (BerriAI/litellm#13251).
        litellm.disable_aiohttp_transport = True
        self._litellm = litellm

    async def stream(
        self, messages: Sequence[Message], options: Mapping[str, Any]
    ) -> AsyncGenerator[Piece, None]:
        """See `ChatModel.stream`."""
        for attempt in range(self._retries + 1):
            begun = False
            try:
                async with aclosing(self._pieces(messages, options)) as pieces:
                    async for piece in pieces:
                        begun = True
                        yield piece
                return
            except ModelUnavailable as error:
                wait = _wait_seconds(self._first_wait * 2**attempt, error.retry_after)
                if begun or attempt == self._retries or wait is None:
                    raise
                await asyncio.sleep(wait)

    async def _pieces(
        self, messages: Sequence[Message], options: Mapping[str, Any]
    ) -> AsyncGenerator[Piece, None]:
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
        except Exception as error:  # litellm's tree has many roots; every one is mapped
            raise explained(self._litellm, self.name, error) from error


def _piece(chunk: Any) -> Piece:
    usage = getattr(chunk, "usage", None)
    tokens = TokenCounts(usage.prompt_tokens, usage.completion_tokens) if usage else None
    if not chunk.choices:
        return Piece(tokens=tokens)
    choice = chunk.choices[0]
    return Piece(choice.delta.content or "", tokens, choice.finish_reason)


def _wait_seconds(wait: float, retry_after: float | None) -> float | None:
    """How long to wait before the next try; None when the provider asks for too long."""
    if retry_after is not None:
        wait = retry_after
        if wait > _LONGEST_WAIT_SECONDS:
            return None
    return min(wait, _LONGEST_WAIT_SECONDS) * random.uniform(1.0, 1.2)
