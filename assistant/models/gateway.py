"""The gateway, through which every call of a language model goes: it bounds retries and concurrent
calls, counts them, and caches replies. Also, the gateways of the roles by the settings."""

import asyncio
import random
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from assistant.errors import (
    AssistantError,
    BadModelReply,
    ModelTimeout,
    ModelUnavailable,
    ReplyUnfinished,
)
from assistant.models.chat_model import (
    ChatModel,
    Message,
    ModelReply,
    Piece,
    RoleCounts,
    TokenCounts,
    UsageCounts,
)
from assistant.models.reply_cache import ReplyCache
from assistant.models.structured import Shape, repair
from assistant.models.token_counter import Prices
from assistant.models.upstream_errors import PREFERRED_FORMAT
from assistant.observing.gen_ai import traced_call
from assistant.settings import LanguageModel, Role, Settings

_LONGEST_WAIT_SECONDS = 20.0
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class CallLimits:
    """How a role may call its model.

    `retries` is how often a failed call is tried again where that can help. `first_wait` is the
    seconds before the first retry (doubling, with jitter; a Retry-After of the provider counts
    instead). `at_once` is the most calls side by side. `seconds` is the longest a whole reply may
    take, and the longest a stream may be without output, even if its connection shows life.
    """

    retries: int = 2
    first_wait: float = 0.5
    # Far above what one process needs, to bound a flood. What a provider allows is for the provider
    # to say: it answers 429, which is retried.
    at_once: int = 64
    seconds: float = 120.0


class Gateway:
    """One role's access to one model. Itself a `ChatModel`."""

    def __init__(
        self,
        model: ChatModel,
        usage: RoleCounts,
        limits: CallLimits | None = None,
        cache: ReplyCache | None = None,
    ) -> None:
        self.name = model.name
        self.identity = model.identity
        self._model = model
        self._usage = usage
        self._limits = limits or CallLimits()
        self._cache = cache
        self._turns = asyncio.Semaphore(self._limits.at_once)

    async def stream(
        self, messages: Sequence[Message], options: Mapping[str, Any]
    ) -> AsyncGenerator[Piece, None]:
        key, generation = self._key(messages, options), self._generation()
        if known := self._known(key):
            yield Piece(known.text, TokenCounts(), known.finish_reason)
            return
        for attempt in range(self._limits.retries + 1):
            text, reason = "", None
            is_begun, is_text_alone = False, True
            try:
                async with aclosing(self._call(messages, options)) as pieces:
                    async for piece in pieces:
                        text += piece.text
                        reason = piece.finish_reason or reason
                        is_begun |= bool(piece.text or piece.choices)
                        is_text_alone &= not piece.choices
                        yield piece
                if text and is_text_alone and reason == "stop":
                    self._keep(key, ModelReply(text), generation)
                return
            except ModelUnavailable as error:
                if is_begun or (wait := self._wait(attempt, error)) is None:
                    raise
            await asyncio.sleep(wait)

    async def close(self) -> None:
        await self._model.close()

    async def complete(self, messages: Sequence[Message], options: Mapping[str, Any]) -> ModelReply:
        """A whole reply. Nobody sees any of it before it is complete, so a failed call is tried
        again whenever that can help."""
        for attempt in range(self._limits.retries + 1):
            try:
                return await self._whole(messages, options)
            except ModelUnavailable as error:
                if (wait := self._wait(attempt, error)) is None:
                    raise
            await asyncio.sleep(wait)
        raise AssertionError("the last attempt returns or raises")

    async def ask(
        self, messages: Sequence[Message], shape: Shape[_T], options: Mapping[str, Any]
    ) -> _T:
        """A reply of a known shape. `BadModelReply` when it cannot be read, not even after the
        model was shown why."""
        wanted = {**options, PREFERRED_FORMAT: shape.response_format}
        key, generation = self._key(messages, wanted), self._generation()
        if known := self._known(key):
            return shape.parse(known)
        reply = await self.complete(messages, wanted)
        try:
            value = shape.parse(reply)
        except ValueError as why:
            self._usage.repaired += 1
            reply = await self.complete(repair(messages, reply, why), wanted)
            try:
                value = shape.parse(reply)
            except ValueError as still:
                raise BadModelReply(
                    f"the model {self.name} gave no usable {shape.name}: {still}; "
                    f"its reply began {reply.text[:120]!r}"
                ) from still
        self._keep(key, reply, generation)
        return value

    async def _whole(self, messages: Sequence[Message], options: Mapping[str, Any]) -> ModelReply:
        text: list[str] = []
        tokens, reason = None, "stop"
        try:
            async with asyncio.timeout(self._limits.seconds):
                async with aclosing(self._call(messages, options)) as pieces:
                    async for piece in pieces:
                        text.append(piece.text)
                        tokens = piece.tokens or tokens
                        reason = piece.finish_reason or reason
        except TimeoutError as error:
            self._usage.failed += 1
            # A model that repeats itself does so again; one that is silent may answer next time.
            kind = ReplyUnfinished if any(text) else ModelTimeout
            raise kind(
                f"the model {self.name} did not finish within {self._limits.seconds:g} s"
            ) from error
        return ModelReply("".join(text), tokens, reason)

    async def _call(
        self, messages: Sequence[Message], options: Mapping[str, Any]
    ) -> AsyncGenerator[Piece, None]:
        """One call in its turn, counted however it ends."""
        async with self._turns:
            tokens: TokenCounts | None = None
            try:
                reply = self._model.stream(messages, options)
                async with aclosing(traced_call(self.name, options, reply)) as pieces:
                    while piece := await self._next(pieces):
                        tokens = piece.tokens or tokens
                        yield piece
                self._usage.last_call = "ok"
            except AssistantError as error:
                self._usage.failed += 1
                self._usage.last_call = error.code
                raise
            finally:
                self._usage.count(tokens)

    async def _next(self, pieces: AsyncGenerator[Piece, None]) -> Piece | None:
        """The next piece, None after the last one."""
        try:
            async with asyncio.timeout(self._limits.seconds):
                return await anext(pieces, None)
        except TimeoutError as error:
            raise ModelTimeout(
                f"the model {self.name} gave no output for {self._limits.seconds:g} s"
            ) from error

    def _wait(self, attempt: int, error: ModelUnavailable) -> float | None:
        """Seconds before the next try. None when no try is left, when none can help, or when the
        provider asks for too long a wait."""
        if attempt == self._limits.retries or isinstance(error, ReplyUnfinished):
            return None
        wait = self._limits.first_wait * 2.0**attempt
        if error.retry_after is not None:
            wait = error.retry_after
            if wait > _LONGEST_WAIT_SECONDS:
                return None
        return min(wait, _LONGEST_WAIT_SECONDS) * random.uniform(1.0, 1.2)

    def _key(self, messages: Sequence[Message], options: Mapping[str, Any]) -> str:
        if self._cache is None:
            return ""
        said = [message.sent or [message.role, message.content] for message in messages]
        return self._cache.key(model=self.identity, messages=said, options=dict(options))

    def _known(self, key: str) -> ModelReply | None:
        found = self._cache.get(key) if self._cache else None
        self._usage.from_cache += found is not None
        return found

    def _generation(self) -> bytes | None:
        """The cache's generation, to be read before a call: what is forgotten during the call may
        be in its reply."""
        return self._cache.generation() if self._cache else None

    def _keep(self, key: str, reply: ModelReply, generation: bytes | None) -> None:
        if self._cache:
            self._cache.put(key, reply, generation)


# litellm's prefix of whatever speaks OpenAI's API.
_OPENAI = "openai/"


def gateway(settings: Settings, role: Role, usage: UsageCounts) -> Gateway | None:
    """The gateway of a role; None where no model is configured for it."""
    how = settings.model(role)
    return gateway_to(how, settings, usage.of(role)) if how.name else None


def gateway_to(how: LanguageModel, settings: Settings, usage: RoleCounts) -> Gateway:
    model = _model(how, settings.models.prices.get(how.name))
    limits = CallLimits(how.retries, seconds=how.timeout)
    return Gateway(model, usage, limits, reply_cache(settings))


def _model(how: LanguageModel, prices: tuple[float, float] | None) -> ChatModel:
    # Imported here, because a server without a model needs no client.
    if how.name.startswith(_OPENAI) and how.base_url and how.key:
        from assistant.models.server_model import ServerModel

        return ServerModel(how, Prices.of(how.name, prices))
    from assistant.models.litellm_model import LitellmModel

    return LitellmModel(how, prices)


def reply_cache(settings: Settings) -> ReplyCache | None:
    folder = settings.models.cache_dir
    return ReplyCache(Path(folder)) if folder else None
