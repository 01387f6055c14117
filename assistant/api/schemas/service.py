"""Replies about the service itself."""

from typing import Any, Literal

from assistant.api.schemas.base import Reply


class Health(Reply):
    """The process is alive."""

    status: Literal["ok"]


class Readiness(Reply):
    """What was checked, and what is wrong with it."""

    status: Literal["ready", "not ready"]
    checks: dict[str, str]


class RoleUsage(Reply):
    """What a language model took in one role; `cost` in US dollars."""

    calls: int
    failed: int
    repaired: int
    from_cache: int
    uncounted: int
    unpriced: int
    prompt_tokens: int
    completion_tokens: int
    cost: float


class Usage(Reply):
    """What the language models took since the start."""

    object: Literal["usage"]
    roles: dict[str, RoleUsage]


class EmbedderDescription(Reply):
    """The encoder that memory is searched by."""

    name: str
    dimension: int
    path: str


class CallerDescription(Reply):
    """What the caller's key allows."""

    label: str | None
    user_id: str | None
    scopes: list[str]


class Version(Reply):
    """What the server runs, secrets masked."""

    version: str
    store: dict[str, Any]
    embedder: EmbedderDescription
    reader: str
    models: dict[str, str | None]
    prompts: dict[str, str]
    settings: dict[str, Any] | None
    caller: CallerDescription


class Scrubbed(Reply):
    """Whether the files of the memory were written anew without what was forgotten."""

    object: Literal["scrub"]
    scrubbed: bool
