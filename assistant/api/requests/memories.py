"""Bodies of routes about memories."""

from typing import Literal

from pydantic import Field

from assistant.api.requests.base import Many, Request, Time


class GivenDays(Request):
    """Days that a fact talks about, both inclusive; an open end is null."""

    first: Time = None
    last: Time = None


class StatedFact(Request):
    """A fact in the user's words."""

    text: str = Field(min_length=1)
    event_dates: Many[GivenDays] | None = None


class CorrectedMemory(Request):
    """`PATCH /v1/memories/{id}`. `speakers` say of facts, by their text, who said them."""

    user_id: str | None = None
    user_text: str | None = None
    assistant_text: str | None = None
    facts: Many[str | StatedFact] | None = None
    speakers: dict[str, Literal["user", "quoted"]] | None = None
    timestamp: Time = None


class SearchRequest(Request):
    """`POST /v1/memories/search`."""

    query: str = Field(min_length=1)
    user_id: str | None = None
    now: Time = None
    from_: Time = Field(default=None, alias="from")
    to: Time = None
    as_of: Time = None
    top_k: int = Field(default=10, ge=1, le=200)
    unit: Literal["round", "session"] = "round"
