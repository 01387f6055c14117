"""What all described replies have in common."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, WithJsonSchema

Instant = Annotated[str, WithJsonSchema({"type": "string", "format": "date-time"})]
Day = Annotated[str, WithJsonSchema({"type": "string", "format": "date"})]


class Reply(BaseModel):
    """Base of replies and their parts: no field is left undescribed."""

    model_config = ConfigDict(extra="forbid")
