"""Every failure of a litellm call, turned into one of ours by who must act.

litellm's exceptions have many roots, and what really happened is often only a cause of theirs.
"""

from collections.abc import Iterator
from types import ModuleType

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
from assistant.models.upstream_errors import kind_of_status, model_error

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
