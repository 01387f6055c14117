"""Bodies of routes about sessions and memories."""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Field

from assistant.api.requests import Many, OfUser, Request, SpeakerName, Time
from memory_store import LONGEST_TITLE

_MOST_SPEAKERS = 2000


class NewSession(OfUser):
    """`POST /v1/sessions`."""

    session_id: str | None = None
    started_at: Time = None
    example: ClassVar[Mapping[str, Any]] = {
        "user_id": "ann",
        "session_id": "spring",
        "started_at": "2023-05-20T10:00:00Z",
    }


Named = dict[str, Any]
"""An object whose values are checked elsewhere."""


class NamedSession(OfUser):
    """`PATCH /v1/sessions/{session_id}`. With an empty title a session goes by its opening; labels
    take the place of those of all its rounds."""

    title: str | None = Field(default=None, max_length=LONGEST_TITLE)
    labels: Named | None = None
    example: ClassVar[Mapping[str, Any]] = {"user_id": "ann", "title": "My two homes"}


class RecordedMessage(Request):
    """One turn that already happened."""

    role: Literal["user", "assistant"]
    content: str | Many[dict[str, Any]]
    timestamp: Time = None
    name: SpeakerName | None = None
    id: str | None = Field(default=None, min_length=1, max_length=256)


class RecordedMessages(OfUser):
    """`POST /v1/sessions/{session_id}/messages`."""

    messages: Many[RecordedMessage]
    timestamp: Time = None
    timezone: str | None = None
    wait: bool | None = None
    close: bool = False
    labels: Named | None = None
    expires_at: Time = None
    expires_in: float | None = Field(default=None, gt=0)
    reach: Literal["anywhere", "this_computer", "never_in_answers"] = "anywhere"
    example: ClassVar[Mapping[str, Any]] = {
        "user_id": "ann",
        "timestamp": "2023-05-20T10:00:00Z",
        "messages": [
            {"role": "user", "content": "I live in Ghent."},
            {"role": "assistant", "content": "A fine city."},
            {
                "role": "user",
                "content": "I moved to Bruges yesterday.",
                "timestamp": "2023-05-27T10:00:00Z",
            },
            {
                "role": "assistant",
                "content": "Enjoy the canals.",
                "timestamp": "2023-05-27T10:00:05Z",
            },
        ],
    }


class GivenDays(Request):
    """Days that a fact talks about, both inclusive; an open end is null."""

    first: Time = None
    last: Time = None


class StatedFact(Request):
    """A fact in the user's words."""

    text: str = Field(min_length=1)
    event_dates: Many[GivenDays] | None = None


def _few(given: Any) -> Any:
    # Validation of thousands of mistakes would take long.
    if isinstance(given, dict) and len(given) > _MOST_SPEAKERS:
        raise ValueError(f"at most {_MOST_SPEAKERS} facts")
    return given


class GivenCondition(Request):
    """Up to when a fact holds: to the end of a day, or while a statement of the user's holds ("I
    live in Ghent")."""

    until: Time = None
    while_: str | None = Field(default=None, alias="while", min_length=1, max_length=400)


_Conditions = Annotated[dict[str, GivenCondition | None] | None, BeforeValidator(_few)]


class CorrectedMemory(OfUser):
    """`PATCH /v1/memories/{id}`. Of facts, by their text, `speakers` say who said them,
    `conditions` up to when they hold, and `ask_on` from which day on the user is asked; null lifts
    either. What is `confirmed` still holds."""

    user_text: str | None = None
    assistant_text: str | None = None
    facts: Many[str | StatedFact] | None = None
    speakers: Annotated[dict[str, Literal["user", "quoted"]] | None, BeforeValidator(_few)] = None
    conditions: _Conditions = None
    ask_on: Annotated[dict[str, Time] | None, BeforeValidator(_few)] = None
    confirmed: Many[str] | None = None
    timestamp: Time = None
    example: ClassVar[Mapping[str, Any]] = {
        "user_id": "ann",
        "user_text": "I moved to Bruges on Friday.",
    }


Reach = Literal["anywhere", "this_computer", "never_in_answers"]
"""Where memories may go."""


class ReachRequest(OfUser):
    """`POST /v1/memories/reach`: the memories that all of what is given is true of; at least one of
    these must be."""

    reach: Reach
    ids: Many[str] | None = None
    session_id: str | None = None
    where: Named | None = None
    text: str = ""
    from_: Time = Field(default=None, alias="from")
    to: Time = None
    dry_run: bool = False
    example: ClassVar[Mapping[str, Any]] = {
        "user_id": "ann",
        "reach": "this_computer",
        "where": {"topic": "health"},
    }


class SearchRequest(Request):
    """`POST /v1/memories/search`."""

    query: str = Field(min_length=1)
    user_id: str | None = None
    space: str | None = None
    now: Time = None
    timezone: str | None = None
    week_begins: str | None = None
    from_: Time = Field(default=None, alias="from")
    to: Time = None
    as_of: Time = None
    top_k: int = Field(default=10, ge=1, le=200)
    unit: Literal["round", "session"] = "round"
    questions: bool = True
    where: Named | None = None
    understanding: Literal["model", "rules", "off"] = "model"
    example: ClassVar[Mapping[str, Any]] = {
        "user_id": "ann",
        "query": "Where did I live last month?",
        "top_k": 1,
    }


class GivenSurroundings(Request):
    """`PUT /v1/users/{user_id}/surroundings`. What is left out is not kept any more."""

    timezone: str | None = None
    week_begins: str | None = None
    example: ClassVar[Mapping[str, Any]] = {
        "timezone": "Pacific/Auckland",
        "week_begins": "sunday",
    }


class RetentionRequest(OfUser):
    """`POST /v1/retention`. What has expired by `now` goes, and with `older_than_days` what was
    said more days before."""

    all_users: bool = False
    older_than_days: int | None = Field(default=None, ge=0, le=100_000)
    where: Named | None = None
    now: Time = None
    dry_run: bool = False
    example: ClassVar[Mapping[str, Any]] = {
        "user_id": "ann",
        "older_than_days": 365,
        "where": {"topic": "work"},
        "dry_run": True,
    }
