"""Any language model litellm speaks to; loaded when a model is configured, never otherwise.

litellm takes seconds to import. Its exceptions have many roots, and what really happened is often
only a cause of theirs."""

import logging
import os
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from types import ModuleType
from typing import Any

import httpx

from assistant.errors import (
    AssistantError,
    BadModelReply,
    ConfigError,
    ModelRateLimited,
    ModelTimeout,
    ModelUnavailable,
    PromptRefused,
    PromptTooLong,
)
from assistant.models.chat_model import Message, Piece, TokenCounts, piece_of
from assistant.models.token_counter import Prices
from assistant.models.upstream_errors import Refusals, kind_of_status, model_error
from assistant.settings import LanguageModel

_LOGGERS = ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy")


def load_litellm() -> Any:
    """The module: no network at import, no telemetry, log lines only through our handlers."""
    # Without this, importing litellm tries to fetch a price table from the network.
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    loggers = [logging.getLogger(name) for name in _LOGGERS]
    # It brings handlers of its own, which write prompts to the standard output.
    for logger in loggers:
        logger.disabled = True
    import litellm

    for logger in loggers:
        logger.handlers.clear()
        logger.propagate = True
        logger.disabled = False
    litellm.suppress_debug_info = True
    litellm.telemetry = False
    litellm.disable_hf_tokenizer_download = True
    # Its own transport leaves connections open behind it (BerriAI/litellm#13251).
    litellm.disable_aiohttp_transport = True
    return litellm


def known_cost(
    litellm: Any, model: str, read: int, written: int, *, call: str = "completion"
) -> float | None:
    """Dollars for so many tokens read and written; None where litellm knows no price."""
    try:
        costs = litellm.cost_per_token(
            model=model, prompt_tokens=read, completion_tokens=written, call_type=call
        )
        return float(sum(costs))
    except Exception:  # for a model without a price it raises whatever comes first
        return None


# By litellm's name, most specific first.
_KINDS: dict[str, type[AssistantError]] = {
    "RateLimitError": ModelRateLimited,
    "Timeout": ModelTimeout,
    "APIResponseValidationError": BadModelReply,
    "JSONSchemaValidationError": BadModelReply,
    "AuthenticationError": ConfigError,
    "PermissionDeniedError": ConfigError,
    "NotFoundError": ConfigError,
    "PaymentRequiredError": ConfigError,
    "LiteLLMUnknownProvider": ConfigError,
    "ContextWindowExceededError": PromptTooLong,
    "BadRequestError": PromptRefused,
    "InvalidRequestError": PromptRefused,
    "UnprocessableEntityError": PromptRefused,
    "BudgetExceededError": ConfigError,
    "ModelNotMappedError": ConfigError,
}


def explained(litellm: ModuleType, model: str, error: Exception) -> AssistantError:
    """The error to raise instead of litellm's; what nothing else fits is upstream trouble."""
    headers = getattr(error, "litellm_response_headers", None) or {}
    return model_error(_kind(litellm, error), model, error, headers)


def _kind(litellm: ModuleType, error: Exception) -> type[AssistantError]:
    for name, kind in _KINDS.items():
        if isinstance(error, getattr(litellm, name)):
            return kind
    causes = list(_causes(error))
    if any(_is_missing_key(cause) for cause in causes):
        return ConfigError
    if any(isinstance(cause, httpx.TimeoutException) for cause in causes):
        return ModelTimeout
    if any(isinstance(cause, (ValueError, TypeError)) for cause in causes):
        return BadModelReply  # what came could not be decoded
    status = getattr(error, "status_code", None)
    return kind_of_status(status) if isinstance(status, int) else ModelUnavailable


def _is_missing_key(cause: BaseException) -> bool:
    """What the openai client raises before it asks anything; its answers have classes below it."""
    kind = type(cause)
    return kind.__module__.partition(".")[0] == "openai" and kind.__name__ == "OpenAIError"


def _causes(error: BaseException) -> Iterator[BaseException]:
    """The error and what led to it, each once."""
    seen: set[int] = set()
    current: BaseException | None = error
    while current is not None and id(current) not in seen:
        seen.add(id(current))
        yield current
        current = current.__cause__ or current.__context__


# Of a caller's options only these are arguments: litellm takes others to be meant for itself, such
# as where to send the request and with which key.
# `user` is not among them: litellm leaves it out for models that it does not know.
_OPENAIS = frozenset(
    """audio frequency_penalty function_call functions logit_bias logprobs max_completion_tokens
    max_tokens modalities n parallel_tool_calls prediction presence_penalty prompt_cache_key
    reasoning_effort response_format safety_identifier seed service_tier stop store stream_options
    temperature tool_choice tools top_logprobs top_p verbosity""".split()
)


def _arguments(options: Mapping[str, Any]) -> dict[str, Any]:
    known = {name: value for name, value in options.items() if name in _OPENAIS}
    others = {name: value for name, value in options.items() if name not in _OPENAIS}
    return known | ({"extra_body": others} if others else {})


class LitellmModel:
    """A model by its litellm name. One call is one request: retries are the gateway's.

    What the model refuses is not sent again (see `Refusals`).
    """

    def __init__(self, how: LanguageModel, prices: tuple[float, float] | None = None) -> None:
        """`prices` are dollars for a million tokens read and written, for models whose price
        litellm does not know."""
        self.name = how.name
        self.identity = f"{how.name}@{how.base_url}"
        self._prices = Prices.of(how.name, prices) if prices else None
        self._refusals = Refusals()
        self._call: dict[str, Any] = {"model": how.name, "timeout": how.timeout, "max_retries": 0}
        if how.base_url:
            self._call["api_base"] = how.base_url
        if how.key:
            self._call["api_key"] = how.key
        self._litellm = load_litellm()

    async def stream(
        self, messages: Sequence[Message], options: Mapping[str, Any]
    ) -> AsyncGenerator[Piece, None]:
        """See `ChatModel.stream`."""
        wanted = {"stream_options": {"include_usage": True}, **options}
        said = [message.body for message in messages]
        reply = await self._open(said, wanted)
        try:
            async for chunk in reply:
                yield self._piece(chunk)
        except Exception as error:  # litellm's tree has many roots; every one is mapped
            raise explained(self._litellm, self.name, error) from error
        finally:
            # A caller that goes away must not leave the provider generating.
            await reply.aclose()

    async def _open(self, messages: list[dict[str, Any]], wanted: Mapping[str, Any]) -> Any:
        """Begin the reply, without what the model refuses."""
        while True:
            options = self._refusals.accepted(wanted)
            try:
                return await self._litellm.acompletion(
                    **_arguments(options), **self._call, messages=messages, stream=True
                )
            except Exception as error:
                failure = explained(self._litellm, self.name, error)
                refused = isinstance(failure, PromptRefused)
                if not (refused and self._refusals.learn(str(error), wanted)):
                    raise failure from error

    async def close(self) -> None:
        """See `ChatModel.close`; litellm keeps its clients to itself."""

    def _piece(self, chunk: Any) -> Piece:
        usage = getattr(chunk, "usage", None)
        tokens = self._counts(usage.model_dump(exclude_none=True)) if usage else None
        choices = [choice.model_dump(exclude_none=True) for choice in chunk.choices]
        return piece_of(choices, tokens)

    def _counts(self, usage: Mapping[str, Any]) -> TokenCounts:
        prompt, completion = usage.get("prompt_tokens", 0), usage.get("completion_tokens", 0)
        if self._prices:
            cost = self._prices.cost(prompt, completion)
        else:
            cost = known_cost(self._litellm, self.name, prompt, completion)
        return TokenCounts(prompt, completion, cost, usage)
