"""Parameters that a model refuses: found out by asking, left out from then on."""

import re
from collections.abc import Mapping
from typing import Any

_FORMAT = "response_format"
# The same limit by its newer and its older name; each is refused by some.
_OTHER_NAME = {"max_tokens": "max_completion_tokens", "max_completion_tokens": "max_tokens"}
# How providers call the formats that they do not take.
_NO_SCHEMA = re.compile(r"json_schema|schema|structured|grammar|guided|response_format", re.I)


class Refusals:
    """What one model has refused: left out of all later calls.

    A limit of the reply is tried by its other name first, and a reply format that the model refuses
    gives way to a plainer one.
    """

    def __init__(self) -> None:
        self._refused: set[str] = set()

    def accepted(self, wanted: Mapping[str, Any]) -> dict[str, Any]:
        """What is left to send of the options wanted."""
        options = {self._taken(name): value for name, value in wanted.items()}
        options = {name: value for name, value in options.items() if name not in self._refused}
        if _FORMAT in options and options[_FORMAT]["type"] in self._refused:
            options[_FORMAT] = {"type": "json_object"}
        return options

    def learn(self, message: str, options: Mapping[str, Any]) -> bool:
        """Whether the message names one of the options sent, which then is not sent again."""
        named = _named(message, options)
        if named:
            self._refused.add(named)
        return bool(named)

    def _taken(self, name: str) -> str:
        """The name by which the model takes a parameter."""
        other = _OTHER_NAME.get(name, name)
        return other if name in self._refused and other not in self._refused else name


def _named(message: str, options: Mapping[str, Any]) -> str:
    for name in options:
        if name != _FORMAT and re.search(rf"\b{name}\b", message):
            return name
    if _FORMAT in options and _NO_SCHEMA.search(message):
        kind: str = options[_FORMAT]["type"]
        return kind if kind == "json_schema" else _FORMAT
    return ""
