"""What a run directory holds, read whole: every question with its lines, and what became of it."""

from dataclasses import dataclass, field
from typing import Any, Literal

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
    RunDir,
)

Outcome = Literal["yes", "no", "unscored", "missing"]
Lines = dict[str, dict[str, Any]]


@dataclass(frozen=True, slots=True)
class RunLines:
    """Everything a run directory holds, each file by question id, `ingests` by history id.

    `retrieval` has the lines with a ranking; `unranked` those of answers that told of none.
    """

    questions: list[QuestionDigest]
    hypotheses: Lines
    prompts: Lines
    retrieval: Lines
    verdicts: Lines
    failures: Lines
    ingests: Lines
    second_verdicts: Lines
    controls: list[dict[str, Any]]
    unranked: Lines = field(default_factory=dict)


def read_run(run_dir: RunDir, *, asks: bool) -> RunLines:
    """Read a run directory; failures of questions that later succeeded are left out.

    `asks` tells that questions are asked in this run: success is then a hypothesis, else a search.
    """
    digests = run_dir.by_question(QUESTIONS).values()
    questions = [QuestionDigest.from_json(line) for line in digests]
    asked = {question.question_id for question in questions}
    files = {
        name: {key: line for key, line in run_dir.by_question(name).items() if key in asked}
        for name in (HYPOTHESES, PROMPTS, RETRIEVAL, VERDICTS, SECOND_VERDICTS, FAILURES)
    }
    ranked = ranked_lines(files[RETRIEVAL])
    succeeded = {**files[HYPOTHESES if asks else RETRIEVAL], **files[PROMPTS]}
    failures = {key: line for key, line in files[FAILURES].items() if key not in succeeded}
    return RunLines(
        questions=questions,
        hypotheses=files[HYPOTHESES],
        retrieval=ranked,
        unranked={key: line for key, line in files[RETRIEVAL].items() if key not in ranked},
        verdicts=files[VERDICTS],
        failures=failures,
        ingests=run_dir.by_history(INGEST),
        prompts=files[PROMPTS],
        second_verdicts=files[SECOND_VERDICTS],
        controls=run_dir.records(CONTROLS),
    )


def ranked_lines(retrieval: Lines) -> Lines:
    """The lines of `retrieval.jsonl` that hold a ranking: not every answer tells of one."""
    return {key: line for key, line in retrieval.items() if line["ranked_sessions"] is not None}


def outcome_of(question: QuestionDigest, lines: RunLines) -> Outcome:
    """What became of one question."""
    if question.question_id not in lines.hypotheses:
        return "missing"
    line = lines.verdicts.get(question.question_id)
    verdict = line["verdict"] if line else None
    return verdict if verdict in ("yes", "no") else "unscored"
