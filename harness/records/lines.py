"""What a run directory holds, read whole: every question with its lines, and what became of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, cast

from harness.records.digest import QuestionDigest
from harness.records.run_dir import (
    CONTROLS,
    FAILURES,
    HYPOTHESES,
    INGEST,
    PROMPTS,
    QUESTIONS,
    RETRIEVAL,
    SECOND_VERDICTS,
    VERDICTS,
    L,
    LineFile,
    RunDir,
)
from harness.records.schema import (
    ControlLine,
    FailureLine,
    HypothesisLine,
    IngestLine,
    PromptLine,
    RankedLine,
    RetrievalLine,
    VerdictLine,
)

Outcome = Literal["yes", "no", "unscored", "missing"]


@dataclass(frozen=True, slots=True)
class RunLines:
    """Everything a run directory holds, each file by question id, `ingests` by history id.

    `retrieval` has the lines with a ranking; `unranked` those of answers that told of none.
    """

    questions: list[QuestionDigest]
    hypotheses: dict[str, HypothesisLine]
    prompts: dict[str, PromptLine]
    retrieval: dict[str, RankedLine]
    verdicts: dict[str, VerdictLine]
    failures: dict[str, FailureLine]
    ingests: dict[str, IngestLine]
    second_verdicts: dict[str, VerdictLine]
    controls: list[ControlLine]
    unranked: dict[str, RetrievalLine] = field(default_factory=dict)


def read_run(run_dir: RunDir, *, asks: bool) -> RunLines:
    """Read a run directory; failures of questions that later succeeded are left out.

    `asks` tells that questions are asked in this run: success is then a hypothesis, else a search.
    """
    digests = run_dir.by_question(QUESTIONS).values()
    questions = [QuestionDigest.from_json(line) for line in digests]
    asked = {question.question_id for question in questions}

    def lines_of(name: LineFile[L]) -> dict[str, L]:
        return {key: line for key, line in run_dir.by_question(name).items() if key in asked}

    hypotheses, retrieval, prompts = lines_of(HYPOTHESES), lines_of(RETRIEVAL), lines_of(PROMPTS)
    ranked = ranked_lines(retrieval)
    succeeded = (hypotheses.keys() if asks else retrieval.keys()) | prompts.keys()
    failures = lines_of(FAILURES)
    return RunLines(
        questions=questions,
        hypotheses=hypotheses,
        retrieval=ranked,
        unranked={key: line for key, line in retrieval.items() if key not in ranked},
        verdicts=lines_of(VERDICTS),
        failures={key: line for key, line in failures.items() if key not in succeeded},
        ingests=run_dir.by_history(INGEST),
        prompts=prompts,
        second_verdicts=lines_of(SECOND_VERDICTS),
        controls=run_dir.records(CONTROLS),
    )


def ranked_lines(retrieval: Mapping[str, RetrievalLine]) -> dict[str, RankedLine]:
    """The lines of `retrieval.jsonl` that hold a ranking: not every answer tells of one."""
    return {
        key: cast(RankedLine, line)
        for key, line in retrieval.items()
        if line["ranked_sessions"] is not None
    }


def outcome_of(question: QuestionDigest, lines: RunLines) -> Outcome:
    """What became of one question."""
    if question.question_id not in lines.hypotheses:
        return "missing"
    line = lines.verdicts.get(question.question_id)
    verdict = line["verdict"] if line else None
    return verdict if verdict in ("yes", "no") else "unscored"
