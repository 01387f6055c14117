"""What all request bodies have in common."""

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, WithJsonSchema

# Anything passes here, so that `dates` can refuse it with a code and a message of its own.
Time = Annotated[
    Any, WithJsonSchema({"anyOf": [{"type": "string", "format": "date-time"}, {"type": "null"}]})
]


class Request(BaseModel):
    """Base of request bodies."""

    model_config = ConfigDict(
        extra="ignore", strict=True, allow_inf_nan=False, populate_by_name=True
    )
