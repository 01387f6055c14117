"""Bodies of routes about memories."""

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from assistant.api.requests.base import Many, Request, Time

_MOST_SPEAKERS = 2000


class GivenDays(Request):
    """Days that a fact talks about, both inclusive; an open end is null."""

    first: Time = None
    last: Time = None


class StatedFact(Request):
    """A fact in the user's words."""

    text: str = Field(min_length=1)
    event_dates: Many[GivenDays] | None = None


def _few(given: Any) -> Any:
    # To find thousands of mistakes takes long.
    if isinstance(given, dict) and len(given) > _MOST_SPEAKERS:
        raise ValueError(f"at most {_MOST_SPEAKERS} facts")
    return given


class CorrectedMemory(Request):
    """`PATCH /v1/memories/{id}`. `speakers` say of facts, by their text, who said them."""

    user_id: str | None = None
    user_text: str | None = None
    assistant_text: str | None = None
    facts: Many[str | StatedFact] | None = None
    speakers: Annotated[dict[str, Literal["user", "quoted"]] | None, BeforeValidator(_few)] = None
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
