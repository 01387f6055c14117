"""Every setting, read in one place: flag > environment (`ASSISTANT_…`) > `.env` >
`assistant.toml` > default. A wrong one stops the start with its name."""

import re
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    Field,
    SecretStr,
    ValidationError,
    field_validator,
    model_validator,
)
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
)

from assistant.designs.control_points import AIDE_MEMOIRE
from assistant.errors import ConfigError
from assistant.settings.groups import (
    ChoiceSettings,
    EmbedderModel,
    EmbedderServer,
    EnrichmentSettings,
    ExtractModel,
    KeySettings,
    LanguageModel,
    LimitSettings,
    LogSettings,
    ModelSettings,
    OauthSettings,
    ProfileModel,
    QdrantSettings,
    QueryModel,
    ReachSettings,
    ReadingSettings,
    RecallChoices,
    UnderstandingSettings,
    Url,
)
from assistant.settings.sources import in_order
from memory_store.engines import Durability

HASH_EMBEDDER = "hash"
PACKAGED_EMBEDDER = "packaged"
LITELLM_EMBEDDER = "litellm:"
"""The beginning of a setting `embedder` that names a model of litellm's."""
Role = Literal["chat", "extract", "query"]
WITH_MEMORY = "aide-memoire"
WITHOUT_MEMORY = "aide-memoire-nomem"
"""The profiles that every server has."""


def _profile_name(name: str) -> str:
    if name in (WITH_MEMORY, WITHOUT_MEMORY):
        raise ValueError(f"{name} is the name of a profile that every server has")
    if not re.fullmatch(r"[a-z0-9][a-z0-9._-]{0,63}", name):
        raise ValueError("a profile is named by small letters, digits, '.', '_' and '-'")
    return name


ProfileName = Annotated[str, AfterValidator(_profile_name)]


class Settings(BaseSettings):
    """The settings of one assistant. What is not given comes from the other sources."""

    model_config = SettingsConfigDict(
        env_prefix="ASSISTANT_",
        env_nested_delimiter="__",
        env_file=".env",
        extra="ignore",
        frozen=True,
    )

    # People who chat.
    chat_model: LanguageModel = LanguageModel()
    """Answers; without one, quotes from memory do."""
    extract_model: ExtractModel = ExtractModel()
    """Extracts facts from what was recorded; without one, rules do."""
    query_model: QueryModel = QueryModel()
    """Reads questions (time range); without one, rules do."""
    profiles: dict[ProfileName, ProfileModel] = {}
    """Further models that answer, by the name under which a client chooses them (`model`)."""
    language: Literal["english", "plain"] = "english"
    """By whose rules facts, days and questions are read: `english`, or `plain` for every other
    language, which has none. Belongs to the memory, as the embedder does."""
    data_dir: Path = Path("data")
    """Where the embedded store lies."""
    config_file: Path = Path("assistant.toml")
    """The settings file."""

    # Developers.
    allowed_origins: list[str] = []
    """Origins of other web pages that browsers let talk to this server."""
    require_user: bool = False
    """Refuse requests that name no user, instead of using `default`."""
    max_body_bytes: int = Field(default=8_388_608, ge=1024)
    """Largest request body accepted."""

    # Operators.
    host: str = "127.0.0.1"
    """Address to listen on."""
    port: int = Field(default=8080, ge=0, le=65535)
    """Port to listen on; 0 takes a free one."""
    workers: int = Field(default=1, ge=1, le=64)
    """Worker processes; more than one needs `qdrant_url`."""
    leaderboard: bool = False
    """Serve the Add/Search routes under `/leaderboard`, for public leaderboards of memory."""
    shutdown_seconds: float = Field(default=30.0, ge=0)
    """Seconds to finish running requests when the server is stopped."""
    api_key: SecretStr | None = Field(default=None, min_length=16)
    """An API key that may do everything, for deployments that pass secrets as settings."""
    keys_file: Path | None = None
    """The file with the keys made by `assistant keys`; empty is `keys.json` in `data_dir`, or the
    Qdrant server where there is one."""
    qdrant_url: Url = ""
    """URL of a Qdrant server that holds the memory, or those of the nodes of a cluster, with commas
    between them; empty keeps it embedded, in `data_dir`."""
    qdrant_api_key: SecretStr | None = None
    """Key for the Qdrant server."""
    qdrant: QdrantSettings = QdrantSettings()
    embedder_threads: int = Field(default=0, ge=0, le=64)
    """Batches of texts encoded side by side, one core each; 0 is one for each core. While all are
    busy with many texts, one more encodes questions."""
    embedder_cache_mb: int = Field(default=1024, ge=0, le=1_048_576)
    """Megabytes in `data_dir` for vectors of texts that were seen before; 0 keeps none on disk."""
    oauth: OauthSettings = OauthSettings()
    limits: LimitSettings = LimitSettings()
    logs: LogSettings = LogSettings()

    # Operators and researchers.
    models: ModelSettings = ModelSettings()
    enrichment: EnrichmentSettings = EnrichmentSettings()
    reach: ReachSettings = ReachSettings()

    # Researchers.
    durability: Durability = Durability.SYNC
    """When what was said counts as kept in an embedded memory: `sync`, when it is on the disk, or
    `os`, when the operating system has it, which a power cut may take back."""
    forget_caches: bool = True
    """Whether forgetting and correcting reach into the caches, too."""
    embedder: str = PACKAGED_EMBEDDER
    """`packaged`, which is the best of the packaged models for a new memory and the one that wrote
    it for an old one; a sentence-transformers name or path, which needs the extra `embedders`;
    `litellm:` and a litellm name; or `hash` (no weights; tests). With `embedder_server.base_url`,
    the name of that server's model."""
    embedder_model: EmbedderModel = EmbedderModel()
    embedder_server: EmbedderServer = EmbedderServer()
    design: str = AIDE_MEMOIRE
    """The design of the memory: the product's own, one of the literature, or `module:Class`."""
    choices: ChoiceSettings = ChoiceSettings()
    keys: KeySettings = KeySettings()
    understanding: UnderstandingSettings = UnderstandingSettings()
    recall: RecallChoices = RecallChoices()
    reading: ReadingSettings = ReadingSettings()
    remember_tool_results: int = Field(default=0, ge=0, le=100_000)
    """How many characters of each result of a client's tools are kept with the answer; its tools'
    names always are."""
    quote_floor: float = Field(default=0.28, ge=0.0, le=2.0)
    """If the best sentence is less similar than this, the quoting reader says it does not know."""

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """The order of the module docstring."""
        return in_order(settings_cls, init_settings, env_settings, dotenv_settings)

    @field_validator("api_key", "keys_file", mode="before")
    @classmethod
    def _empty_is_none(cls, given: Any) -> Any:
        # Compose passes a variable that is not set as an empty text.
        return None if given == "" else given

    @model_validator(mode="after")
    def _profiles_have_models(self) -> Self:
        for name, model in self.profiles.items():
            if not model.name:
                raise ValueError(f"profiles.{name} needs a name: the litellm name of its model")
        return self

    @model_validator(mode="after")
    def _server_model_is_named(self) -> Self:
        if self.embedder_server.base_url and self.embedder in (PACKAGED_EMBEDDER, HASH_EMBEDDER):
            raise ValueError(
                "with embedder_server.base_url, embedder names the model of the server"
            )
        return self

    @property
    def keys_path(self) -> Path:
        """The file with the keys."""
        return self.keys_file or self.data_dir / "keys.json"

    @property
    def shares_keys(self) -> bool:
        """Whether new keys go to the Qdrant server, for all assistants on it."""
        return bool(self.qdrant_url) and self.keys_file is None

    def model(self, role: Role) -> LanguageModel:
        """The model of a role."""
        models = {"chat": self.chat_model, "extract": self.extract_model, "query": self.query_model}
        return models[role]

    def public(self) -> dict[str, Any]:
        """The settings as JSON, secrets masked."""
        return self.model_dump(mode="json", exclude={"config_file"})


def load_settings(**flags: Any) -> Settings:
    """Settings from all sources; flags that are None were not given. Raises `ConfigError`.

    Messages name the setting and never repeat its value, which may be a secret.
    """
    try:
        return Settings(**{name: value for name, value in flags.items() if value is not None})
    except ValidationError as error:
        problems = "; ".join(
            f"{'.'.join(map(str, e['loc'])) or 'settings'}: {e['msg']}" for e in error.errors()
        )
        raise ConfigError(f"wrong setting: {problems}", code="wrong_setting") from error
    except (OSError, ValueError) as error:
        raise ConfigError(f"cannot read the settings: {error}", code="wrong_setting") from error
