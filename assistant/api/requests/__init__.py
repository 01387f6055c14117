"""What request bodies look like. Unknown fields are accepted and ignored."""

import unicodedata
from collections.abc import Mapping
from functools import partial
from typing import Annotated, Any, ClassVar, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, WithJsonSchema

# Anything passes here, so that `dates` can refuse it with a code and a message of its own.
Time = Annotated[
    Any, WithJsonSchema({"anyOf": [{"type": "string", "format": "date-time"}, {"type": "null"}]})
]
SpeakerName = Annotated[
    str, Field(max_length=256), AfterValidator(partial(unicodedata.normalize, "NFC"))
]
"""The name of who speaks; in normal form, as people type it in their questions."""

_Item = TypeVar("_Item")
Many = Annotated[list[_Item], Field(fail_fast=True)]
"""A list that is refused at its first mistake: to find a hundred thousand would take seconds."""


class Request(BaseModel):
    """Base of request bodies."""

    model_config = ConfigDict(
        extra="ignore", strict=True, allow_inf_nan=False, populate_by_name=True
    )
    example: ClassVar[Mapping[str, Any]] = {}
    """What the OpenAPI document shows of a body."""


class OfUser(Request):
    """Base of bodies that say whose memory is meant."""

    user_id: str | None = None
    space: str | None = None
