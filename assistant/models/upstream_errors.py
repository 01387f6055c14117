"""The errors for failed answers of a model's server, by who must act; and a record of what a model
has refused, so that it is not sent again."""

import math
import re
from collections.abc import Mapping
from typing import Any

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
# These blame the caller, but a second try may well be answered.
_PASSING = (409, 425)

# Servers have no common code for it; all name the context of the model.
_TOO_LONG = re.compile(r"context[ _](?:length|size|window)", re.I)


def kind_of_refusal(status: int, said: str) -> type[AssistantError]:
    """The error of an HTTP status with what the server says about it."""
    kind = kind_of_status(status)
    return PromptTooLong if kind is PromptRefused and _TOO_LONG.search(said) else kind


def kind_of_status(status: int) -> type[AssistantError]:
    """The error of an HTTP status; by default the model counts as unavailable."""
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


PREFERRED_FORMAT = "preferred_format"
"""An option: a `response_format` that may be replaced by a plainer one, or by none."""
_FORMAT = "response_format"
# The same limit by its newer and its older name: some models refuse the one, some the other.
_OTHER_NAME = {"max_tokens": "max_completion_tokens", "max_completion_tokens": "max_tokens"}
_TUNING = (
    *("stream_options", "temperature", "top_p", "seed", "frequency_penalty", "presence_penalty"),
    *("reasoning_effort", "max_tokens", "max_completion_tokens"),
)
# Providers' names for the formats that they do not take.
_NO_SCHEMA = re.compile(r"json_schema|schema|structured|grammar|guided|response_format", re.I)


class Refusals:
    """What one model has refused: left out of all later calls.

    A limit of the reply is tried by its other name first, and a reply format that the model refuses
    gives way to a plainer one.
    """

    def __init__(self) -> None:
        self._refused: set[str] = set()

    def accepted(self, wanted: Mapping[str, Any]) -> dict[str, Any]:
        """The options that are left to send."""
        options = {self._taken(name): value for name, value in wanted.items()}
        options = {name: value for name, value in options.items() if name not in self._refused}
        preferred = options.pop(PREFERRED_FORMAT, None)
        if preferred and _FORMAT not in self._refused:
            plainer = preferred["type"] in self._refused
            options[_FORMAT] = {"type": "json_object"} if plainer else preferred
        return options

    def learn(self, message: str, wanted: Mapping[str, Any]) -> bool:
        """Learn from an error message. Return whether it names a part of what was wanted, which is
        left out from now on."""
        named = self._named(message, wanted)
        if named:
            self._refused.add(named)
        return bool(named)

    def _taken(self, name: str) -> str:
        """The name by which the model takes a parameter."""
        other = _OTHER_NAME.get(name, name)
        return other if name in self._refused and other not in self._refused else name

    def _named(self, message: str, wanted: Mapping[str, Any]) -> str:
        sent = self.accepted(wanted)
        for name in _TUNING:
            if name in sent and re.search(rf"\b{name}\b", message):
                return name
        if PREFERRED_FORMAT in wanted and _FORMAT in sent and _NO_SCHEMA.search(message):
            kind: str = sent[_FORMAT]["type"]
            return kind if kind == "json_schema" else _FORMAT
        return ""
