"""What the files of a run hold: the manifest, and the kinds of lines.

Directories of earlier versions are read as well: what they may lack is marked so.
"""

from typing import Any, Literal, NotRequired, Required, TypedDict

from harness import GitState
from harness.records.machine import MachineRecord

# An object as somebody else tells it: an assistant's account of itself, a profile, a record of a
# data file.
JsonObject = dict[str, Any]


class GoldRecord(TypedDict):
    """The file of corrected labels that was laid over the data."""

    file: str
    sha256: str
    changed: int


class DataRecord(TypedDict):
    """The data of a run; None for what is not known yet."""

    name: str
    file: str | None
    size: int
    sha256: str | None
    edition: str | None
    questions: int | None
    gold: GoldRecord | None


class FiltersRecord(TypedDict):
    types: list[str]
    ids: list[str]
    per_type: int | None
    seed: int
    limit: int | None
    spread: NotRequired[bool]
    split: NotRequired[str]


class AssistantRecord(TypedDict):
    """The assistant, with its own account of itself, None where it gives none."""

    url: str
    model: str
    version: JsonObject | None


class JudgeRecord(TypedDict, total=False):
    """Whose verdicts the directory holds; a model judge says more of its model."""

    id: Required[str]
    hash: Required[str]
    kind: str
    model: str
    base_url: str
    votes: int
    prompts: dict[str, str]
    given_texts: dict[str, str]
    rubric: str
    caution: str


class UsageRecord(TypedDict):
    calls: int
    estimated_calls: int
    prompt_tokens: int
    completion_tokens: int


class PriceRecord(TypedDict):
    """US dollars for a million tokens."""

    prompt: float
    completion: float


class InvocationDetails(TypedDict, total=False):
    """What one command says of itself; which of it depends on its stage."""

    questions: int | None
    concurrency: int
    judge: str
    spent: UsageRecord
    judge_spent: UsageRecord
    second_judge_spent: UsageRecord
    judge_price: PriceRecord
    second_judge_price: PriceRecord
    requests: dict[str, int]
    narrowest_pace: int


class Invocation(InvocationDetails, total=False):
    """One command on the directory."""

    stage: Required[str]
    started_at: str
    seconds: Required[float]
    ended_at: str


class PlanRecord(TypedDict):
    """The plan that a run was begun with, as it was then."""

    file: str
    sha256: str


class ManifestData(TypedDict):
    format: int
    harness_version: str
    git: GitState | None
    machine: NotRequired[MachineRecord]
    created_at: str
    dataset: DataRecord
    filters: FiltersRecord
    selected: int | None
    mode: str | None
    approach: NotRequired[JsonObject | None]
    assistant: AssistantRecord | None
    judge: JudgeRecord | None
    second_judge: NotRequired[JudgeRecord | None]
    invocations: list[Invocation]
    wall_seconds: float
    salt: str
    probes: NotRequired[JsonObject]
    price: NotRequired[PriceRecord]
    not_put: NotRequired[dict[str, str]]
    forgotten: NotRequired[bool]
    plan: NotRequired[PlanRecord]


class ContextAccount(TypedDict):
    sessions: int
    sessions_cut: int
    sessions_shortened: int
    tokens_estimate: int
    tokens_cut_estimate: int


class HypothesisLine(TypedDict, total=False):
    """An answer; of another system's answers only the text is known, and how often (`lines`).

    `elsewhere` marks a reply to an exported prompt; `looks` are searches of memory by the model
    itself, where the assistant tells of them.
    """

    question_id: Required[str]
    hypothesis: Required[str]
    question_date: str
    answer_ms: float
    prompt_tokens: int | None
    completion_tokens: int | None
    context: ContextAccount
    notes: str
    lines: int
    elsewhere: bool
    looks: int
    look_tokens: int
    look_ms: float


class AttemptLine(TypedDict):
    """A history that was begun, for the so-manyth time."""

    history_id: str
    attempt: int


class IngestLine(TypedDict):
    history_id: str
    user_id: str
    sessions: int
    rounds: int
    turns: int
    characters: int
    seconds: float
    barrier_seconds: float
    enrichment_failed: int
    round_ms: list[float]


class RankedSession(TypedDict):
    """A session of the history at its place in a ranking."""

    session_id: str
    position: int
    session_date: str
    official_id: str | None
    similarity: NotRequired[float]


class RankedRound(RankedSession):
    """A round of the history at its place in a ranking."""

    round_index: int
    begins: NotRequired[str]
    characters: int | None
    turn_ids: NotRequired[list[str]]


class SourcesAccount(TypedDict):
    state: str
    returned: int
    by: dict[str, int]
    unplaced: int
    problem: str | None
    tells_rounds: bool
    tells_context: bool


class RankedLine(TypedDict):
    """The rankings of one question; `sources` where an answer told them, `index_ms` where the
    assistant told how long it made the index of the first search.
    """

    question_id: str
    user_id: str
    ranked_sessions: list[RankedSession]
    ranked_rounds: list[RankedRound]
    search_ms: dict[str, float]
    index_ms: NotRequired[float]
    sources: NotRequired[SourcesAccount]


class RetrievalLine(TypedDict):
    """The same, where an answer may have told of no ranking."""

    question_id: str
    user_id: str
    ranked_sessions: list[RankedSession] | None
    ranked_rounds: list[RankedRound] | None
    search_ms: dict[str, float]
    index_ms: NotRequired[float]
    sources: NotRequired[SourcesAccount]


class RubricScores(TypedDict, total=False):
    """The scores of an answer by a rubric, 0 to 1, with its points; or with the order of events
    that it tells, Kendall's tau-b of that (brought to 0 to 1) and F1.
    """

    fractional: Required[float]
    official: Required[float]
    points: list[float]
    order: list[int]
    expected: int
    tau: float
    f1: float


class VerdictLine(TypedDict, total=False):
    """A judge's decision on one hypothesis; what asking took where a model was asked."""

    question_id: Required[str]
    verdict: Required[Literal["yes", "no"] | None]
    judge: str
    raw: Required[str]
    certainty: float | None
    judge_hash: str
    hypothesis_sha256: str
    error: str
    prompt: str
    prompt_hash: str
    first_reply: str
    matched_answer: str
    rubric: RubricScores
    votes: list[JsonObject]
    calls: int
    prompt_tokens: int
    completion_tokens: int


class ControlLine(VerdictLine, total=False):
    """A verdict on a made-up answer; `donor` is the question it was taken from."""

    control: Required[str]
    donor: str | None
    hypothesis: str


class EvidenceTurn(TypedDict):
    """An evidence turn, and whether it stood in a prompt."""

    position: int
    turn: int
    role: str
    characters: int
    found: bool
    begins: NotRequired[bool]
    """Whether the turn's beginning stood there."""
    text: NotRequired[str]
    """How the turn begins."""


class PromptLine(TypedDict):
    """What a reader's model was sent for one question."""

    question_id: str
    requests: int
    characters: int
    tokens_estimate: int
    evidence_turns: list[EvidenceTurn]


class FaultyLine(TypedDict, total=False):
    """A question whose reference is faulty: what is wrong, the right answer, and its evidence."""

    question_id: Required[str]
    wrong: Required[str]
    answer: str
    evidence: list[str]


class FailureLine(TypedDict, total=False):
    question_id: Required[str]
    error: Required[str]
    route: str
    status: int | None
    message: Required[str]
    at: str
