"""Any language model litellm speaks to; loaded when a model is configured, never otherwise.

litellm takes seconds to import. Its exceptions have many roots, and what really happened is often
only a cause of theirs."""

import contextlib
import io
import logging
import os
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from functools import partial
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
from assistant.settings.groups import EmbedderServer

_log = logging.getLogger(__name__)
_LOGGERS = ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy")


def load_litellm() -> Any:
    """The module: no network at import, no telemetry, log lines only through our handlers."""
    # Without this, importing litellm tries to fetch a price table from the network.
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    loggers = [logging.getLogger(name) for name in _LOGGERS]
    # litellm brings handlers of its own, which write prompts to the standard output.
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
    # litellm's own transport leaves connections open behind it (BerriAI/litellm#13251).
    litellm.disable_aiohttp_transport = True
    return litellm


# By litellm's names, most specific first.
_KINDS: tuple[tuple[type[AssistantError], str], ...] = (
    (ModelRateLimited, "RateLimitError"),
    (ModelTimeout, "Timeout"),
    (BadModelReply, "APIResponseValidationError JSONSchemaValidationError"),
    (ConfigError, "AuthenticationError PermissionDeniedError NotFoundError PaymentRequiredError"),
    (ConfigError, "LiteLLMUnknownProvider"),
    (PromptTooLong, "ContextWindowExceededError"),
    (PromptRefused, "BadRequestError InvalidRequestError UnprocessableEntityError"),
    (ConfigError, "BudgetExceededError ModelNotMappedError"),
)


def explained(litellm: ModuleType, model: str, error: Exception) -> AssistantError:
    """The error to raise instead of litellm's; by default the model counts as unavailable."""
    headers = getattr(error, "litellm_response_headers", None) or {}
    if any(map(_is_missing_key, _causes(error))):
        return ConfigError(f"the model {model} has no key: set its api_key")
    return model_error(_kind(litellm, error), model, error, headers)


def _kind(litellm: ModuleType, error: Exception) -> type[AssistantError]:
    for kind, names in _KINDS:
        if any(isinstance(error, getattr(litellm, name)) for name in names.split()):
            return kind
    causes = list(_causes(error))
    if any(isinstance(cause, httpx.TimeoutException) for cause in causes):
        return ModelTimeout
    if any(isinstance(cause, (ValueError, TypeError)) for cause in causes):
        return BadModelReply  # what came could not be decoded
    status = getattr(error, "status_code", None)
    return kind_of_status(status) if isinstance(status, int) else ModelUnavailable


def _is_missing_key(cause: BaseException) -> bool:
    """Whether the openai client raised this before it sent a request. The errors it raises for
    answers are of subclasses, which do not count here."""
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


# Only these options of a caller are passed as arguments; all others go into the request's body,
# because litellm would take some for its own, such as where to send the request and with which key.
# `user` goes into the body, too: litellm leaves it out for models that it does not know.
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


def common_arguments(
    how: LanguageModel | EmbedderServer, model: str, *, retries: int = 0
) -> dict[str, Any]:
    """The arguments of every call of a model: its name, address and key, the timeout, retries."""
    address = {"api_base": how.base_url, "api_key": how.key}
    given = {name: value for name, value in address.items() if value}
    return {"model": model, "timeout": how.timeout, "max_retries": retries, **given}


def known_cost(litellm: Any, model: str, read: int, written: int = 0, **more: str) -> float | None:
    """Dollars for so many tokens, where litellm knows the price."""
    try:
        costs = litellm.cost_per_token(
            model=model, prompt_tokens=read, completion_tokens=written, **more
        )
        return float(sum(costs))
    except Exception:  # for a model without a price litellm raises errors of many kinds
        return None


def _missing_keys(litellm: Any, how: LanguageModel) -> list[str]:
    """The variables of the environment in which litellm looks for a key that is not set."""
    with contextlib.redirect_stdout(io.StringIO()):  # it prints advice for an unknown provider
        checked = litellm.validate_environment(how.name, api_key=how.key)
    return [name for name in checked["missing_keys"] if name.endswith("_API_KEY")]


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
        self._call = common_arguments(how, how.name)
        self._litellm = load_litellm()
        if missing := _missing_keys(self._litellm, how):
            _log.warning("%s has no key: set its api_key, or %s", how.name, " or ".join(missing))

    async def stream(
        self, messages: Sequence[Message], options: Mapping[str, Any]
    ) -> AsyncGenerator[Piece, None]:
        wanted = {"stream_options": {"include_usage": True}, **options}
        said = [message.body for message in messages]
        reply = await self._open(said, wanted)
        try:
            async for chunk in reply:
                yield self._piece(chunk)
        except Exception as error:  # litellm's exceptions have no common base; all are mapped
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
        known = partial(known_cost, self._litellm, self.name)
        cost = self._prices.cost if self._prices else known
        return TokenCounts(prompt, completion, cost(prompt, completion), usage)
