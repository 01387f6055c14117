"""Replies about the server itself: its state, its use of models, its profiles, vectors."""

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field

from assistant.api.replies import Reply, one_of
from assistant.models.token_counter import takes_pictures
from assistant.reindexing import ReindexProgress, ReindexStatus
from assistant.services import Services, chosen_of
from assistant.settings import Settings
from memory_store.embedding import Embedder


class Health(Reply):
    """The process is alive."""

    status: Literal["ok"]
    example: ClassVar[Mapping[str, Any]] = {"status": "ok"}


class Readiness(Reply):
    """What was checked, and what is wrong with it."""

    status: Literal["ready", "not ready"]
    checks: dict[str, str]
    example: ClassVar[Mapping[str, Any]] = {
        "status": "ready",
        "checks": {"store": "ok", "embedder": "ok", "disk": "ok", "model": "quotes"},
    }


class UserSurroundings(Reply):
    """What counts for a user where a request does not say it."""

    object: Literal["user.surroundings"]
    user_id: str
    timezone: str | None
    week_begins: str | None
    example: ClassVar[Mapping[str, Any]] = {
        "object": "user.surroundings",
        "user_id": "ann",
        "timezone": "Pacific/Auckland",
        "week_begins": "sunday",
    }


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


class WaitingExtraction(Reply):
    """What is expected of the extraction that waits (`dollars` is null where the price is not
    known), and whether it is `paused` until tomorrow because today's cap is reached."""

    rounds: int
    calls: int
    tokens: int
    dollars: float | None
    minutes: float
    paused: bool


class Usage(Reply):
    """What the language models took since the start, and what waits to be extracted."""

    object: Literal["usage"]
    roles: dict[str, RoleUsage]
    waiting: WaitingExtraction | None = Field(default=None, exclude_if=lambda held: held is None)
    example: ClassVar[Mapping[str, Any]] = {"object": "usage", "roles": {}}


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


class DesignDescription(Reply):
    """The design of the memory: its choices, and how many values lacked what it asks for."""

    name: str
    paper: str | None
    value: str
    keys: list[str]
    merged: bool
    query: str
    time: str
    retrieval: str
    fallbacks: dict[str, int]
    summaries: dict[str, int]
    example: ClassVar[Mapping[str, Any]] = {
        "name": "aide-memoire",
        "paper": None,
        "value": "round",
        "keys": ["value", "fact"],
        "merged": False,
        "query": "question",
        "time": "lift",
        "retrieval": "both",
        "fallbacks": {},
        "summaries": {},
    }

    @classmethod
    def of_server(cls, parts: Services) -> Self:
        """The design of a server; without one it is the product's own, whose `key_fallbacks` are
        rounds without a key of their design."""
        design = parts.design
        chosen = design.described() if design else chosen_of(parts.settings).described()
        return cls.of(
            SimpleNamespace(**chosen),
            name=parts.settings.design,
            paper=design.paper if design else None,
            fallbacks=design.tools.fallbacks if design else parts.store.key_fallbacks,
            summaries=design.tools.summariser.made if design else {},
        )


class Version(Reply):
    """What the server runs, secrets masked."""

    version: str
    store: dict[str, Any]
    embedder: EmbedderDescription
    reader: str
    design: DesignDescription
    models: dict[str, str | None]
    prompts: dict[str, str]
    settings: dict[str, Any] | None
    caller: CallerDescription
    example: ClassVar[Mapping[str, Any]] = {
        "version": "0.1.0",
        "store": {"engine": "edge", "embedder": "hash", "dimension": 256, "schema_version": 3},
        "embedder": {"name": "hash", "dimension": 256, "path": "hash"},
        "reader": "quotes",
        "design": DesignDescription.example,
        "models": {"chat_model": None, "extract_model": None, "query_model": None},
        "prompts": {"chain_of_note": "faccceeb6c0d"},
        "settings": {"embedder": "hash", "chat_model": {"name": "", "api_key": None}},
        "caller": {"label": None, "user_id": None, "scopes": ["act_as", "admin", "set_time"]},
    }


class Scrubbed(Reply):
    """Whether the files of the memory were written anew without what was forgotten."""

    object: Literal["scrub"]
    scrubbed: bool
    example: ClassVar[Mapping[str, Any]] = {"object": "scrub", "scrubbed": True}


class Reindex(Reply):
    """How far indexing the memory anew is; `rounds` of `total` are done of a step."""

    object: Literal["reindex"]
    started: bool
    status: Annotated[ReindexStatus, one_of(ReindexStatus)]
    embedder: str
    step: str
    rounds: int
    total: int
    error: str | None
    example: ClassVar[Mapping[str, Any]] = {
        "object": "reindex",
        "started": True,
        "status": "running",
        "embedder": "hash",
        "step": "",
        "rounds": 0,
        "total": 0,
        "error": None,
    }

    @classmethod
    def of_progress(cls, progress: ReindexProgress, embedder: Embedder, *, started: bool) -> Self:
        """How far it is, and what the memory is searched by now."""
        return cls.of(
            progress,
            object="reindex",
            started=started,
            embedder=embedder.identity.name,
            error=progress.error or None,
        )


# OpenAI's list wants a moment of creation; profiles have none, so it is always the same.
_CREATED = 1_700_000_000


class TextEmbedding(Reply):
    """The unit vector of one text, as numbers or in base64."""

    object: Literal["embedding"]
    index: int
    embedding: list[float] | str


class EmbeddingUsage(Reply):
    """Tokens that were embedded, roughly."""

    prompt_tokens: int
    total_tokens: int


class EmbeddingList(Reply):
    """A vector for each text."""

    object: Literal["list"]
    model: str
    usage: EmbeddingUsage
    data: list[TextEmbedding]
    example: ClassVar[Mapping[str, Any]] = {
        "object": "list",
        "model": "hash",
        "usage": {"prompt_tokens": 5, "total_tokens": 5},
        "data": [{"object": "embedding", "index": 0, "embedding": [0.6, 0.0, 0.8]}],
    }


class Profile(Reply):
    """A profile as a model menu shows it, and whether its model is known to take pictures."""

    id: str
    object: Literal["model"]
    created: int
    owned_by: str
    pictures: bool
    example: ClassVar[Mapping[str, Any]] = {
        "id": "aide-memoire",
        "object": "model",
        "created": 1700000000,
        "owned_by": "aide-memoire",
        "pictures": False,
    }

    @classmethod
    def offered(cls, name: str, settings: Settings) -> Self:
        how = settings.profiles.get(name, settings.chat_model)
        pictures = bool(how.name) and takes_pictures(how.name)
        return cls(
            id=name,
            object="model",
            created=_CREATED,
            owned_by="aide-memoire",
            pictures=pictures,
        )


class ProfileList(Reply):
    """The profiles of the server."""

    object: Literal["list"]
    data: list[Profile]
    example: ClassVar[Mapping[str, Any]] = {
        "object": "list",
        "data": [Profile.example, {**Profile.example, "id": "aide-memoire-nomem"}],
    }
