"""A run directory's lines put together into the dictionary behind every face of the report."""

from dataclasses import dataclass
from typing import Any

from harness.context.prompt_evidence import prompt_table
from harness.judges.lexical import is_refusal
from harness.metrics.accuracy import Outcome, Scored, accuracy_table
from harness.metrics.effort import ingest_table, latency_table, token_table
from harness.metrics.judge_table import controls_table, judge_tokens, second_judge_table
from harness.metrics.official_accuracy import official_accuracy
from harness.metrics.retrieval_table import retrieval_table
from harness.metrics.table import metric_table
from harness.runs.digest import QuestionDigest
from harness.runs.manifest import Manifest
from harness.runs.run_dir import (
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

Lines = dict[str, dict[str, Any]]


@dataclass(frozen=True, slots=True)
class RunLines:
    """Everything a run directory holds, each file by question id, `ingests` by history id."""

    questions: list[QuestionDigest]
    hypotheses: Lines
    prompts: Lines
    retrieval: Lines
    verdicts: Lines
    failures: Lines
    ingests: Lines
    second_verdicts: Lines
    controls: list[dict[str, Any]]


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
    succeeded = {**files[HYPOTHESES if asks else RETRIEVAL], **files[PROMPTS]}
    failures = {key: line for key, line in files[FAILURES].items() if key not in succeeded}
    return RunLines(
        questions=questions,
        hypotheses=files[HYPOTHESES],
        retrieval=files[RETRIEVAL],
        verdicts=files[VERDICTS],
        failures=failures,
        ingests=run_dir.by_history(INGEST),
        prompts=files[PROMPTS],
        second_verdicts=files[SECOND_VERDICTS],
        controls=run_dir.records(CONTROLS),
    )


def build_report(lines: RunLines, manifest: Manifest) -> dict[str, Any]:
    """The report as plain data; `accuracy` is None before judging, `retrieval` None before
    searching.
    """
    scored = [_scored(question, lines) for question in lines.questions]
    judge = manifest.data["judge"]
    outcomes = [item.outcome for item in scored]
    accuracy = (
        {
            "judge": judge["id"],
            "judge_hash": judge["hash"],
            **accuracy_table(scored),
            "controls": controls_table(lines.controls),
            "second_judge": second_judge_table(
                manifest.data.get("second_judge"), lines.verdicts, lines.second_verdicts
            ),
            "official": official_accuracy(lines.questions, lines.hypotheses, lines.verdicts),
        }
        if judge
        else None
    )
    retrieval = list(lines.retrieval.values())
    hypotheses = list(lines.hypotheses.values())
    ingests = list(lines.ingests.values())
    return {
        "dataset": manifest.data["dataset"]["name"],
        "data": manifest.data["dataset"],
        "n": len(lines.questions),
        "missing": outcomes.count("missing"),
        "unscored": outcomes.count("unscored") if judge else None,
        "failed": len(lines.failures),
        "accuracy": accuracy,
        "official_metrics": _official_metrics(lines, manifest),
        "retrieval": retrieval_table(lines.questions, lines.retrieval) if retrieval else None,
        "evidence_in_prompt": prompt_table(lines.questions, lines.prompts)
        if lines.prompts
        else None,
        "tokens": token_table(hypotheses, ingests) | {"judge": _judge_tokens(lines)},
        "cost": {"judge_usd": _judge_cost(judge), "assistant_usd": None},
        "latency": latency_table(hypotheses, retrieval, ingests),
        "ingest": ingest_table(ingests),
        "wall_seconds": round(manifest.wall_seconds, 3),
        "mode": manifest.data["mode"],
        "filters": manifest.data["filters"],
        "assistant": manifest.data["assistant"],
        "harness_version": manifest.data["harness_version"],
    }


def _judge_tokens(lines: RunLines) -> dict[str, int]:
    judged = [*lines.verdicts.values(), *lines.second_verdicts.values(), *lines.controls]
    return judge_tokens(judged)


def _judge_cost(judge: dict[str, Any] | None) -> float | None:
    return 0.0 if judge and judge.get("kind", "lexical") == "lexical" else None


def _official_metrics(lines: RunLines, manifest: Manifest) -> dict[str, Any] | None:
    dataset = manifest.data["dataset"]["name"]
    return metric_table(dataset, lines.questions, lines.hypotheses) if lines.hypotheses else None


def outcome_of(question: QuestionDigest, lines: RunLines) -> Outcome:
    """What became of one question."""
    if question.question_id not in lines.hypotheses:
        return "missing"
    line = lines.verdicts.get(question.question_id)
    verdict = line["verdict"] if line else None
    return verdict if verdict in ("yes", "no") else "unscored"


def _scored(question: QuestionDigest, lines: RunLines) -> Scored:
    hypothesis = lines.hypotheses.get(question.question_id, {}).get("hypothesis", "")
    return Scored(
        question_id=question.question_id,
        question_type=question.question_type,
        is_abstention=question.is_abstention,
        outcome=outcome_of(question, lines),
        refused=is_refusal(hypothesis),
    )
