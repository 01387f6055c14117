"""Bodies of routes about shared spaces."""

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

from pydantic import Field

from assistant.api.requests import Request
from memory_store import LONGEST_TITLE


class NewSpace(Request):
    """`POST /v1/spaces`. The name is for people."""

    user_id: str | None = None
    name: str = Field(min_length=1, max_length=LONGEST_TITLE)
    example: ClassVar[Mapping[str, Any]] = {"user_id": "ann", "name": "Our household"}


class GivenRole(Request):
    """`PUT /v1/spaces/{space}/members/{member_id}`; the user is the owner who asks."""

    user_id: str | None = None
    role: Literal["reader", "member", "owner"]
    example: ClassVar[Mapping[str, Any]] = {"user_id": "ann", "role": "member"}
