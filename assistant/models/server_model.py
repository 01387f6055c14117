"""A model behind an OpenAI-compatible address, asked without a library in between.

What litellm does for every provider costs more than everything else of a streamed answer: a
millisecond a piece, and seconds to import. A server that speaks the common API needs none of it.
"""

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

import httpx

from assistant.errors import (
    AssistantError,
    BadModelReply,
    ConfigError,
    ModelTimeout,
    ModelUnavailable,
    PromptRefused,
)
from assistant.models.chat_model import Message, Piece, TokenCounts, piece_of
from assistant.models.token_counter import Prices
from assistant.models.upstream_errors import Refusals, kind_of_refusal, kind_of_status, model_error
from assistant.settings import LanguageModel
from assistant.tls import trust_for

_DATA = "data:"
_DONE = "[DONE]"
_END_SECONDS = 0.5


class ServerModel:
    """A model of a server by its base URL. One call is one request: retries are the gateway's.

    What the model refuses is not sent again (see `Refusals`).
    """

    def __init__(self, how: LanguageModel, prices: Prices) -> None:
        """The model's name begins with `openai/`, a prefix that is not sent to the server."""
        self.name = how.name
        self.identity = f"{how.name}@{how.base_url}"
        self._model = how.name.partition("/")[2]
        self._prices = prices
        self._refusals = Refusals()
        self._client = httpx.AsyncClient(
            base_url=how.base_url,
            headers={"authorization": f"Bearer {how.key}"},
            timeout=how.timeout,
            verify=trust_for(how.base_url),
            # The gateway bounds the calls; nobody waits here for a connection.
            limits=httpx.Limits(max_connections=None, max_keepalive_connections=None),
        )

    async def stream(
        self, messages: Sequence[Message], options: Mapping[str, Any]
    ) -> AsyncGenerator[Piece, None]:
        said = [message.body for message in messages]
        wanted = {"stream_options": {"include_usage": True}, **options}
        try:
            reply = await self._open(said, wanted)
            try:
                async for event in _events(reply):
                    yield self._piece(event)
            finally:
                # A caller that goes away must not leave the server generating.
                await reply.aclose()
        except AssistantError:
            raise
        except (httpx.HTTPError, httpx.InvalidURL, ValueError, TypeError, LookupError) as error:
            raise self._failed(_kind(error), error) from error

    async def close(self) -> None:
        await self._client.aclose()

    async def _open(
        self, messages: list[dict[str, Any]], wanted: Mapping[str, Any]
    ) -> httpx.Response:
        """Begin the reply, without what the model refuses."""
        while True:
            options = self._refusals.accepted(wanted)
            body = {**options, "model": self._model, "messages": messages, "stream": True}
            request = self._client.build_request("POST", "chat/completions", json=body)
            reply = await self._client.send(request, stream=True)
            if reply.is_success:
                return reply
            failure = await self._refused(reply)
            refused = isinstance(failure, PromptRefused)
            if not (refused and self._refusals.learn(reply.text, wanted)):
                raise failure

    async def _refused(self, reply: httpx.Response) -> AssistantError:
        try:
            await reply.aread()
        finally:
            await reply.aclose()
        said = _message(reply.text) or reply.text or reply.reason_phrase
        what = f"{said} (status {reply.status_code})"
        return self._failed(kind_of_refusal(reply.status_code, said), what, reply.headers)

    def _piece(self, event: str) -> Piece:
        chunk = json.loads(event)
        if error := chunk.get("error"):
            code = error.get("code") if isinstance(error, dict) else None
            kind = kind_of_status(code) if isinstance(code, int) else ModelUnavailable
            raise self._failed(kind, _message(event) or error)
        usage = chunk.get("usage")
        tokens = self._counts(usage) if usage else None
        return piece_of(chunk["choices"] or (), tokens)

    def _counts(self, usage: Mapping[str, Any]) -> TokenCounts:
        read, written = usage.get("prompt_tokens") or 0, usage.get("completion_tokens") or 0
        return TokenCounts(read, written, self._prices.cost(read, written), usage)

    def _failed(
        self, kind: type[AssistantError], what: object, headers: Mapping[str, str] | None = None
    ) -> AssistantError:
        return model_error(kind, self.name, what, headers or {})


async def _events(reply: httpx.Response) -> AsyncIterator[str]:
    """The data of the server-sent events up to the last; comments and other fields are skipped."""
    lines = reply.aiter_lines()
    async for line in lines:
        if line.startswith(_DATA):
            data = line[len(_DATA) :].strip()
            if data == _DONE:
                await _read_on(lines)
                return
            yield data


async def _read_on(lines: AsyncIterator[str]) -> None:
    """Read to the end of a reply that has said everything: its connection then serves the next
    request, which spares that one a handshake. A server that does not end it is not waited for."""
    with suppress(TimeoutError, httpx.HTTPError):
        async with asyncio.timeout(_END_SECONDS):
            async for _ in lines:
                pass


def _message(body: str) -> str:
    """The message of an error body, in OpenAI's shape or a simpler one; empty for anything else."""
    try:
        error = json.loads(body)["error"]
    except (ValueError, TypeError, LookupError):
        return ""
    said = error.get("message") if isinstance(error, dict) else error
    return said if isinstance(said, str) else ""


def _kind(error: Exception) -> type[AssistantError]:
    match error:
        case httpx.TimeoutException():
            return ModelTimeout
        case httpx.UnsupportedProtocol() | httpx.InvalidURL():
            return ConfigError
        case httpx.DecodingError():
            return BadModelReply
        case httpx.HTTPError():
            return ModelUnavailable
    return BadModelReply  # what came could not be read
