"""What a failed answer of a model's server means, by who must act."""

import math
import re
from collections.abc import Mapping

from assistant.errors import (
    AssistantError,
    ConfigError,
    ModelRateLimited,
    ModelTimeout,
    ModelUnavailable,
    PromptRefused,
    PromptTooLong,
)

_BY_STATUS: dict[int, type[AssistantError]] = {
    400: PromptRefused,
    408: ModelTimeout,
    413: PromptRefused,
    422: PromptRefused,
    429: ModelRateLimited,
    504: ModelTimeout,
}
# What a second try may well answer differently although it is the caller's fault by number.
_PASSING = (409, 425)

# Servers have no common code for it; all name the context of the model.
_TOO_LONG = re.compile(r"context[ _](?:length|size|window)", re.I)


def kind_of_refusal(status: int, said: str) -> type[AssistantError]:
    """The error of an HTTP status with what the server says about it."""
    kind = kind_of_status(status)
    return PromptTooLong if kind is PromptRefused and _TOO_LONG.search(said) else kind


def kind_of_status(status: int) -> type[AssistantError]:
    """The error of an HTTP status; what nothing else fits is upstream trouble."""
    if status in _BY_STATUS:
        return _BY_STATUS[status]
    if 400 <= status < 500 and status not in _PASSING:
        return ConfigError
    return ModelUnavailable


def model_error(
    kind: type[AssistantError], model: str, what: object, headers: Mapping[str, str]
) -> AssistantError:
    """The error to raise for a model, with the first line of what happened."""
    lines = str(what).strip().splitlines()
    said = lines[0][:300] if lines else type(what).__name__
    return kind(f"the model {model} failed: {said}", retry_after=_retry_after(headers))


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds the provider asks to wait; None for none, a date or nonsense."""
    try:
        seconds = float(headers.get("retry-after", ""))
    except ValueError:
        return None
    return seconds if math.isfinite(seconds) and seconds >= 0 else None
