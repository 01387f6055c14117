"""The types of the contents of `report.json`."""

from typing import TypedDict

from harness.metrics.accuracy import AccuracyTable, OfficialAccuracy, PromptGroup
from harness.metrics.conduct import ConductTable
from harness.metrics.effort import IngestTable, LatencyTable, LookingTable, TokenTable
from harness.metrics.errors_apart import ErrorsTable
from harness.metrics.faulty import FaultyTable
from harness.metrics.guessing import Guesses
from harness.metrics.judge_table import Accepted, JudgeTokens, RubricTable, SecondJudge
from harness.metrics.official_scores import MetricTable
from harness.metrics.prompt_evidence import PromptTable
from harness.metrics.retrieval_table import RetrievalTable
from harness.records.schema import AssistantRecord, DataRecord, FiltersRecord, UsageRecord
from harness.report.plan import PlanOutcome


class JudgedAccuracy(AccuracyTable):
    """Accuracy, with what is known of its judge. `judge_texts` has the files of the judge's prompts
    with their hashes; `judge_caution` is a warning against the judge's model.
    """

    judge: str
    judge_hash: str
    judge_texts: dict[str, str] | None
    judge_caution: str | None
    by_prompt_tokens: list[PromptGroup]
    controls: dict[str, Accepted] | None
    second_judge: SecondJudge | None
    official: OfficialAccuracy | None
    guesses: Guesses | None


class AskedJudgeTokens(JudgeTokens):
    """The tokens of all verdicts; `asked` leaves out verdicts made from kept replies."""

    asked: UsageRecord | None


class Tokens(TokenTable):
    judge: AskedJudgeTokens


class Cost(TypedDict):
    """US dollars; None where a price is not known."""

    judge_usd: float | None
    assistant_usd: float | None


class Report(TypedDict):
    """One run; `accuracy` is None before judging, `retrieval` before searching, `looking` where
    the assistant does not tell whether its model searched memory itself.
    """

    dataset: str
    data: DataRecord
    n: int
    missing: int
    unscored: int | None
    failed: int
    accuracy: JudgedAccuracy | None
    errors: ErrorsTable | None
    rubric_scores: RubricTable | None
    official_metrics: MetricTable | None
    retrieval: RetrievalTable | None
    evidence_in_prompt: PromptTable | None
    tokens: Tokens
    cost: Cost
    latency: LatencyTable
    looking: LookingTable | None
    ingest: IngestTable
    wall_seconds: float
    mode: str | None
    conduct: ConductTable
    filters: FiltersRecord
    assistant: AssistantRecord | None
    harness_version: str
    plan: PlanOutcome | None
    faulty: FaultyTable | None
