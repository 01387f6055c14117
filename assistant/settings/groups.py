"""The groups of settings: what belongs together has a name in front, as in `recall.rounds`."""

import re
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, Field, PlainSerializer, SecretStr

from assistant.answering.plan import AUTO, PRESET_NAMES, Layout, LookAgain, Mode, Unit
from assistant.designs.control_points import KeySource, QueryKind, Retrieval, ValueKind
from memory_store import KeyKind, TimeUse, Weights
from memory_store.embedding import Device


class _Group(BaseModel, extra="forbid", frozen=True):
    """Settings that belong together; an unknown name among them is refused."""


_SECRETS_IN_URL = re.compile(r"//[^/@]+@")


def _masked(url: str) -> str:
    return _SECRETS_IN_URL.sub("//**********@", url)


Url = Annotated[str, PlainSerializer(_masked, return_type=str, when_used="json")]
"""A URL; what is shown of it is without the name and password that it may contain."""

# A URL goes into a header and is compared letter by letter.
_PlainUrl = Annotated[str, Field(pattern=r"^https?://[^\s\"\\?#@]+$")]


class OauthSettings(_Group, frozen=True):
    """Who gives access to `/mcp`, for clients that know OAuth and were given no key."""

    authorization_servers: list[_PlainUrl] = []
    """The issuers of OAuth 2.1 that give access to `/mcp`; empty offers keys only."""
    resource: _PlainUrl | Literal[""] = ""
    """The URL of `/mcp` as clients call it, such as `https://memory.example.org/mcp`; empty takes
    the host of each request."""


def _known_preset(name: str) -> str:
    if name not in (AUTO, *PRESET_NAMES):
        raise ValueError(f"expected one of {', '.join((AUTO, *PRESET_NAMES))}")
    return name


PresetName = Annotated[str, AfterValidator(_known_preset)]
"""The name of a preset of reading, or `auto`."""


class LanguageModel(_Group, frozen=True):
    """The language model of one role and how it is called; without a name there is none."""

    name: str = ""
    """A litellm model name, such as `openai/gpt-4o-mini`; empty uses none."""
    base_url: Url = ""
    """Base URL of the model's API, for a server of your own."""
    api_key: SecretStr | None = None
    """Key for the model; empty uses the provider's own variable, such as `OPENAI_API_KEY`. For a
    server that needs no key, set any text."""
    timeout: float = Field(default=120.0, gt=0)
    """Seconds one whole reply may take, and the longest a stream may be silent."""
    retries: int = Field(default=2, ge=0, le=10)
    """Retries of a failed call, where a retry can help."""

    @property
    def key(self) -> str | None:
        """The key as it is sent; None leaves it to the provider's variable."""
        return self.api_key.get_secret_value() if self.api_key else None


class ExtractModel(LanguageModel, frozen=True):
    """A model that extracts in the background, where a retry costs nobody time."""

    retries: int = Field(default=3, ge=0, le=10)
    """Retries of a failed call, where a retry can help."""


class QueryModel(LanguageModel, frozen=True):
    """A model that reads questions while somebody waits for the answer."""

    timeout: float = Field(default=10.0, gt=0)
    """Seconds one whole reply may take; after that the rules read the question."""
    retries: int = Field(default=0, ge=0, le=10)
    """Retries of a failed call, where a retry can help."""


class ProfileModel(LanguageModel, frozen=True):
    """A language model that answers where a request names its profile."""

    preset: PresetName = AUTO
    """Which family's preset it reads by; `auto` goes by its name."""
    strict: bool | None = None
    """Whether it reads only what the user stated; None leaves it to `reading.strict`."""
    context_tokens: int = Field(default=0, ge=0)
    """Most tokens of memory given to it; 0 leaves it to `recall.context_tokens` and the preset."""


class EmbedderServer(_Group, frozen=True):
    """A server with an OpenAI-compatible embeddings API, whose model `embedder` names."""

    base_url: Url = ""
    """Base URL of the API; empty computes the embeddings here."""
    api_key: SecretStr | None = None
    """Key for the server, where it wants one."""
    timeout: float = Field(default=60.0, gt=0)
    """Seconds one request may take."""
    query_prefix: str = ""
    """What the model wants in front of a question, such as `query: `."""
    document_prefix: str = ""
    """What the model wants in front of a text that is searched, such as `passage: `."""
    input_type: bool = False
    """Whether requests say `input_type`, for servers that put the prefix there themselves."""

    @property
    def key(self) -> str | None:
        """The key as it is sent."""
        return self.api_key.get_secret_value() if self.api_key else None


class EmbedderModel(_Group, frozen=True):
    """How a model of sentence-transformers is loaded, and told what it reads."""

    device: Device = Device.AUTO
    """`cpu`, `cuda`, or `auto`: a GPU where there is one."""
    batch: int = Field(default=0, ge=0, le=4096)
    """Texts encoded together; 0 goes by the device."""
    query_prompt: str = ""
    """The name of the model's prompt for questions, or the prompt itself, ending in a colon or a
    space."""
    document_prompt: str = ""
    """The same for texts that are searched."""
    remote_code: bool = False
    """Let code run here that the authors of the model wrote."""


class KeySettings(_Group, frozen=True):
    """What the keys of the memory are made of; belongs to the memory, as the embedder does."""

    kinds: tuple[KeyKind, ...] = Field(default=tuple(KeyKind), min_length=1)
    """Which texts of a round become keys, where it has them."""
    merged: bool = False
    """One key of all texts of a round in place of one for each."""


class ChoiceSettings(_Group, frozen=True):
    """What is chosen at the control points of a memory in place of what the design chooses."""

    value: ValueKind | None = None
    """What is ranked and read."""
    keys: tuple[KeySource, ...] | None = Field(default=None, min_length=1)
    """What a value is found by."""
    merged: bool | None = None
    """Whether all keys of a value make one text."""
    query: QueryKind | None = None
    """What of a question is searched for."""
    time: TimeUse | None = None
    """What the days that a question asks about do."""
    retrieval: Retrieval | None = None
    """How values are found."""


class SignalWeights(_Group, frozen=True):
    """How much each signal counts in a similarity; 0 leaves it out. `memory_store.Weights`."""

    dense: float = Field(default=Weights().dense, ge=0)
    """The nearest key."""
    words: float = Field(default=Weights().words, ge=0)
    """The query's words in the round (BM25)."""
    session_words: float = Field(default=Weights().session_words, ge=0)
    """The query's words in the whole session."""
    speaker: float = Field(default=Weights().speaker, ge=0)
    """The round was said by a speaker that the question names."""
    answers: float = Field(default=Weights().answers, ge=0)
    """The round answers a question that is nearer, by another speaker right before it."""
    neighbours: float = Field(default=Weights().neighbours, ge=0)
    """A round up to two before or after is nearer, where several people speak."""
    opening: float = Field(default=Weights().opening, ge=0)
    """The round is near the beginning of a near session, where an overview is asked for."""
    said_then: float = Field(default=Weights().said_then, ge=0)
    """The round was said in the time range of the question."""
    happened_then: float = Field(default=Weights().happened_then, ge=0)
    """The round is about a day in that range."""


class RecallChoices(_Group, frozen=True):
    """How much of the memory a question gets, and what ranks it."""

    rounds: int = Field(default=0, ge=0, le=200)
    """Rounds recalled for a question; 0 chooses by the token budget."""
    context_tokens: int = Field(default=0, ge=0)
    """Most tokens of memory given to the language model; 0 leaves it to the preset."""
    statement: float | None = Field(default=None, ge=0, le=1)
    """Share of the statement that would answer the question in the query's vector; None for the
    embedder's own."""
    weights: SignalWeights = SignalWeights()


class ReadingSettings(_Group, frozen=True):
    """How a language model reads the memory; what is not set comes from the preset."""

    preset: PresetName = AUTO
    """Which family's preset; `auto` goes by the name of the chat model."""
    mode: Mode | None = None
    """Direct, or with notes in one call or in one call each."""
    layout: Layout | None = None
    """JSON or plain text."""
    unit: Unit | None = None
    """What is delivered of a round that was found."""
    computed_help: bool | None = None
    """Whether what rules are certain of stands beside the rounds, and what cannot help is left out;
    empty leaves it to the design."""
    strict: bool = False
    """Whether answers use nothing but what the user stated in their own words and still holds."""
    look_again: LookAgain | None = None
    """Whether the model may search memory itself before it answers: `off`, `on`, or `auto`, for
    questions that want many rounds or are near to none."""
    look_calls: int = Field(default=4, ge=1, le=20)
    """Searches of its own before one answer, at most."""
    look_tokens: int = Field(default=8000, ge=500)
    """Tokens that all they find may take."""
    look_seconds: float = Field(default=30.0, gt=0)
    """Seconds after which it searches no more."""


class QdrantSettings(_Group, frozen=True):
    """How a Qdrant server is used; nothing of it counts for the embedded store."""

    collection: str = Field(default="aide_memoire", min_length=1, max_length=255)
    """The collection that holds the memory."""
    grpc_port: int = Field(default=6334, ge=1, le=65535)
    """Its gRPC port; the port in the URL is that of its REST routes."""
    shards: int = Field(default=1, ge=1)
    """Parts the collection is made of; counts when it is created."""
    replication: int = Field(default=1, ge=1)
    """Nodes that hold each part; counts when the collection is created."""
    write_consistency: int = Field(default=1, ge=1)
    """Nodes that must have taken a write; counts when the collection is created."""


class ModelSettings(_Group, frozen=True):
    """What holds for the calls of every language model."""

    cache_dir: str = ""
    """Where replies are kept and found again, for repeated replays; empty keeps none."""
    prices: dict[str, tuple[float, float]] = {}
    """Dollars for a million tokens read and written, by model, where litellm knows no price."""


class EnrichmentSettings(_Group, frozen=True):
    """How what was recorded is enriched by `extract_model`."""

    idle_seconds: float = Field(default=30.0, ge=0)
    """Pause in a session after which its new rounds are extracted."""
    lease_seconds: float = Field(default=60.0, ge=5, le=3600)
    """Seconds until other workers take over the extraction of a killed worker."""
    attempts: int = Field(default=3, ge=1, le=20)
    """Times a round is tried before it counts as failed."""
    tokens_a_day: int = Field(default=0, ge=0)
    """Tokens after which a worker extracts no more until the next day (UTC); 0 is no cap."""
    dollars_a_day: float = Field(default=0.0, ge=0)
    """The same in dollars; needs a price of the model, as in `models.prices`."""
    keyphrases: bool = False
    """Whether key phrases are asked for, as one more key of a round."""
    summaries: bool = False
    """Whether a summary is asked for, as one more key of a round."""


class ReachRuleSettings(_Group, frozen=True):
    """Which memories are kept so close without being asked."""

    words: list[str] = []
    """Memories with one of these words or phrases, on either side."""
    labels: dict[str, str | int | float | bool] = {}
    """Memories with one of these labels."""
    spaces: list[str] = []
    """Memories in one of these spaces, such as `agent:nurse`."""


class ReachSettings(_Group, frozen=True):
    """Where memories may go."""

    local: list[str] = []
    """Models and embedders that are trusted as this computer, by their names as `chat_model.name`
    and `embedder` have them, and `mcp` for the clients of MCP."""
    loopback: bool = True
    """Whether those whose base URL is on this computer are trusted, too; not where a proxy there
    passes requests on."""
    this_computer: ReachRuleSettings = ReachRuleSettings()
    """What goes to no model and no embedder that is not local."""
    never_in_answers: ReachRuleSettings = ReachRuleSettings()
    """What no answer is made of."""


class LogSettings(_Group, frozen=True):
    """What is written to standard error, and how."""

    level: Literal["debug", "info", "warning", "error"] = "warning"
    """The least that is written; `info` has a line for each request."""
    format: Literal["text", "json"] = "text"
    """Lines for people, or an object a line for programs."""
    contents: bool = False
    """Whether lines may quote requests: texts of exceptions, messages of other libraries."""


class UnderstandingSettings(_Group, frozen=True):
    """How questions are read by `query_model`."""

    sub_queries: int = Field(default=0, ge=0, le=5)
    """Maximum number of sub-queries for a question that combines several things."""


class LimitSettings(_Group, frozen=True):
    """How much a caller may ask for, each user of each key apart; 0 is no limit."""

    requests_per_minute: int | None = Field(default=None, ge=0)
    """Requests per minute; unset: 1200 if there are keys, else unlimited."""
    answers_at_once: int | None = Field(default=None, ge=0)
    """Chat answers under way, streamed or not; not set, as above."""
    message_characters: int = Field(default=1_000_000, ge=0)
    """Characters of one message."""
    connections: int = Field(default=1000, ge=0)
    """Connections open at once; more are answered 503 and closed."""
