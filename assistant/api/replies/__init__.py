"""What replies look like: one model a shape, built from what the store holds, with an example.

Ann, of the examples, tells about Ghent and Bruges in May 2023 and asks in June; the tests send
every example and compare what comes back.
"""

from collections.abc import Iterable, Mapping
from datetime import date, datetime
from enum import StrEnum
from typing import Annotated, Any, ClassVar, Self

from fastapi.responses import Response
from pydantic import BaseModel, ConfigDict, PlainSerializer, WithJsonSchema

from assistant.dates import print_instant
from memory_store.scheduler import in_slices

Instant = Annotated[
    datetime,
    PlainSerializer(print_instant, return_type=str),
    WithJsonSchema({"type": "string", "format": "date-time"}),
]
Day = date


def one_of(words: type[StrEnum]) -> WithJsonSchema:
    """The schema of an enumeration's words, to stand in place rather than be referred to."""
    return WithJsonSchema({"type": "string", "enum": [word.value for word in words]})


class Reply(BaseModel):
    """Base of replies and their parts: no field is left undescribed. Parts are read from what the
    store holds, by the names of their fields."""

    model_config = ConfigDict(extra="forbid", from_attributes=True)
    example: ClassVar[Mapping[str, Any]] = {}
    """What the OpenAPI document shows of a reply."""

    @classmethod
    def of(cls, held: Any, **more: Any) -> Self:
        """The reply from the attributes of `held` that have the names of its fields, and `more`."""
        names = [name for name in cls.model_fields if name not in more and hasattr(held, name)]
        return cls(**{name: getattr(held, name) for name in names}, **more)


def json_response(
    reply: Reply, headers: Mapping[str, str] | None = None, *, status: int = 200
) -> Response:
    """A reply, without the fields that were left out."""
    body = reply.model_dump_json(exclude_unset=True)
    return Response(body, status, headers, media_type="application/json")


async def long_response(reply: Reply, items: Iterable[Reply]) -> Response:
    """A reply whose last field is a list, still empty, with these items in it. They are built and
    written a few at a time, so that other requests have their turn."""
    opening = reply.model_dump_json().removesuffix("]}")
    written = [item.model_dump_json() async for item in in_slices(items)]
    return Response(f"{opening}{','.join(written)}]}}", media_type="application/json")
