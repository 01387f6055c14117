"""What all request bodies have in common."""

import unicodedata
from functools import partial
from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    WithJsonSchema,
    model_validator,
)

from assistant.characters import whole_characters
from assistant.errors import InvalidRequest

# Anything passes here, so that `dates` can refuse it with a code and a message of its own.
Time = Annotated[
    Any, WithJsonSchema({"anyOf": [{"type": "string", "format": "date-time"}, {"type": "null"}]})
]
SpeakerName = Annotated[
    str, Field(max_length=256), AfterValidator(partial(unicodedata.normalize, "NFC"))
]
"""The name of who speaks; in normal form, as people type it in their questions."""


class Request(BaseModel):
    """Base of request bodies."""

    model_config = ConfigDict(
        extra="ignore", strict=True, allow_inf_nan=False, populate_by_name=True
    )

    @model_validator(mode="before")
    @classmethod
    def _whole(cls, given: Any) -> Any:
        try:
            return _whole(given)
        except RecursionError as error:
            raise InvalidRequest("the body is nested too deeply", code="invalid_json") from error


def _whole(given: Any) -> Any:
    """What was sent, in whole characters."""
    if isinstance(given, str):
        return whole_characters(given)
    if isinstance(given, list):
        return [_whole(one) for one in given]
    if isinstance(given, dict):
        return {_whole(name): _whole(value) for name, value in given.items()}
    return given
