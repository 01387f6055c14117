"""Builds the report from the lines of a run directory, and writes it into the directory."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

from harness.errors import UsageError
from harness.judges.lexical import is_refusal
from harness.metrics.accuracy import Scored, accuracy_by_prompt, accuracy_table, official_accuracy
from harness.metrics.conduct import conduct_table, cost_of, is_without_model
from harness.metrics.effort import ingest_table, latency_table, looking_table, token_table
from harness.metrics.errors_apart import errors_apart
from harness.metrics.faulty import faulty_table, read_dossier
from harness.metrics.guessing import guess_table
from harness.metrics.judge_table import (
    SCORERS,
    controls_table,
    judge_tokens,
    rubric_table,
    second_judge_table,
)
from harness.metrics.official_scores import MetricTable, metric_table
from harness.metrics.prompt_evidence import prompt_table
from harness.metrics.retrieval_metrics import (
    CONTEXT_BUDGETS,
    fits_context,
    round_figures,
    session_figures,
    sources_table,
    tells_context,
    tells_rounds,
)
from harness.metrics.retrieval_table import RetrievalTable, retrieval_table
from harness.records.digest import QuestionDigest
from harness.records.manifest import Manifest, judging_spent, judging_usd, load_manifest
from harness.records.plan import PLAN
from harness.records.run_dir import (
    DOSSIER,
    QUESTIONS,
    QUESTIONS_CSV,
    REPORT_HTML,
    REPORT_JSON,
    REPORT_MARKDOWN,
    RunDir,
    RunLines,
    outcome_of,
    read_run,
)
from harness.records.schema import JudgeRecord, RankedLine, RetrievalLine
from harness.report.html import render_html
from harness.report.plan import run_outcome
from harness.report.schema import AskedJudgeTokens, JudgedAccuracy, Report
from harness.report.table import csv_of
from harness.report.tables import render_markdown

Row = dict[str, object]
_EFFORT = ("answer_ms", "prompt_tokens", "completion_tokens", "looks", "look_tokens", "look_ms")
_SHOWN = ("recall_all@5", "recall_all@10", "ndcg@10[standard]")


def rows_csv(lines: RunLines) -> str:
    """A CSV text with a row for each question."""
    return csv_of([_row(question, lines) for question in lines.questions])


def _row(question: QuestionDigest, lines: RunLines) -> Row:
    key = question.question_id
    hypothesis, verdict = lines.hypotheses.get(key), lines.verdicts.get(key)
    second, failure = lines.second_verdicts.get(key), lines.failures.get(key)
    row: Row = {
        "question_id": key,
        "question_type": question.question_type,
        "is_abstention": int(question.is_abstention),
        "question_date": question.question_date,
        "question": question.question,
        "answer": question.answer,
        "hypothesis": hypothesis and hypothesis["hypothesis"],
        "outcome": outcome_of(question, lines),
        "certainty": verdict and verdict.get("certainty"),
        "raw": verdict and verdict["raw"],
        "second_verdict": second and second["verdict"],
        "failure": failure and failure["message"],
    }
    if verdict and "rubric" in verdict:
        row |= {f"rubric.{name}": verdict["rubric"][name] for name in SCORERS}
    said: Mapping[str, object] = hypothesis or {}
    return row | {name: said.get(name) for name in _EFFORT} | dict(_found(question, lines))


def _found(question: QuestionDigest, lines: RunLines) -> Iterator[tuple[str, float]]:
    line = lines.retrieval.get(question.question_id)
    if line is None or question.is_abstention or not question.evidence_session_ids:
        return
    sessions = session_figures(question, line)
    yield from ((name, sessions[name]) for name in _SHOWN)
    if question.evidence_rounds and tells_rounds(line):
        rounds = round_figures(question, line)
        yield from ((f"round.{name}", rounds[name]) for name in _SHOWN)
    for budget in CONTEXT_BUDGETS if tells_context(line) else ():
        yield f"evidence_in_context@{budget}", float(fits_context(question, line, budget))


def build_report(lines: RunLines, manifest: Manifest) -> Report:
    """The report as plain data; `accuracy` is None before judging, `retrieval` None before
    searching.
    """
    judge = manifest.data["judge"]
    outcomes = [outcome_of(question, lines) for question in lines.questions]
    retrieval = list(lines.retrieval.values())
    hypotheses = list(lines.hypotheses.values())
    ingests = list(lines.ingests.values())
    quotes = is_without_model(manifest.data["assistant"])
    report: Report = {
        "dataset": manifest.data["dataset"]["name"],
        "data": manifest.data["dataset"],
        "n": len(lines.questions),
        "missing": outcomes.count("missing"),
        "unscored": outcomes.count("unscored") if judge else None,
        "failed": len(lines.failures),
        "accuracy": _accuracy(lines, manifest, judge) if judge else None,
        "errors": errors_apart(lines.questions, lines) if judge else None,
        "rubric_scores": rubric_table(lines.questions, lines.verdicts),
        "official_metrics": _official_metrics(lines, manifest),
        "retrieval": _retrieval(lines),
        "evidence_in_prompt": prompt_table(lines.questions, lines.prompts)
        if lines.prompts
        else None,
        "tokens": {
            **token_table([] if quotes else hypotheses, ingests),
            "judge": _judge_tokens(lines, manifest),
        },
        "cost": {
            "judge_usd": judging_usd(manifest.data) if judge else None,
            "assistant_usd": cost_of(manifest.totals("spent"), manifest.data.get("price")),
        },
        "latency": latency_table(hypotheses, retrieval, ingests),
        "looking": looking_table(hypotheses),
        "ingest": ingest_table(ingests),
        "wall_seconds": round(manifest.wall_seconds, 3),
        "mode": manifest.data["mode"],
        "conduct": conduct_table(
            manifest.data.get("approach"),
            manifest.data.get("probes"),
            manifest.totals("requests"),
            manifest.totals("spent"),
            hypotheses,
            sources_table(_told(lines)),
        ),
        "filters": manifest.data["filters"],
        "assistant": manifest.data["assistant"],
        "harness_version": manifest.data["harness_version"],
        "plan": None,
        "faulty": faulty_table(lines, judged=judge is not None),
    }
    if lines.plan is not None:
        report["plan"] = run_outcome(lines.plan, manifest.data, report)
    elif "plan" in manifest.data:
        raise UsageError(f"{PLAN}, which the run was begun with, is gone")
    return report


def _accuracy(lines: RunLines, manifest: Manifest, judge: JudgeRecord) -> JudgedAccuracy:
    return {
        "judge": judge["id"],
        "judge_hash": judge["hash"],
        "judge_texts": judge.get("given_texts"),
        "judge_caution": judge.get("caution"),
        **accuracy_table([_scored(question, lines) for question in lines.questions]),
        "by_prompt_tokens": []
        if is_without_model(manifest.data["assistant"])
        else accuracy_by_prompt(lines),
        "controls": controls_table(lines.controls),
        "second_judge": second_judge_table(
            manifest.data.get("second_judge"), lines.verdicts, lines.second_verdicts
        ),
        "official": official_accuracy(lines.questions, lines.hypotheses, lines.verdicts),
        "guesses": guess_table(lines.questions),
    }


def _retrieval(lines: RunLines) -> RetrievalTable | None:
    told = _told(lines)
    if not told:
        return None
    table = retrieval_table(lines.questions, lines.retrieval)
    table["sources"] = sources_table(told)
    return table


def _told(lines: RunLines) -> list[RankedLine | RetrievalLine]:
    return [*lines.retrieval.values(), *lines.unranked.values()]


def _judge_tokens(lines: RunLines, manifest: Manifest) -> AskedJudgeTokens:
    """The tokens of all verdicts; `asked` leaves out verdicts made from kept replies."""
    judged = [*lines.verdicts.values(), *lines.second_verdicts.values(), *lines.controls]
    return {**judge_tokens(judged), "asked": judging_spent(manifest.data)}


def _official_metrics(lines: RunLines, manifest: Manifest) -> MetricTable | None:
    dataset = manifest.data["dataset"]["name"]
    return metric_table(dataset, lines.questions, lines.hypotheses) if lines.hypotheses else None


def _scored(question: QuestionDigest, lines: RunLines) -> Scored:
    line = lines.hypotheses.get(question.question_id)
    hypothesis = line["hypothesis"] if line else ""
    return Scored(
        question_id=question.question_id,
        question_type=question.question_type,
        is_abstention=question.is_abstention,
        outcome=outcome_of(question, lines),
        refused=is_refusal(hypothesis),
        history_id=question.history_id,
    )


def keep_dossier(run_dir: RunDir, dossier: Path) -> None:
    """Keep the dossier's faults of the run's questions; raises `UsageError` if it has none."""
    faults = read_dossier(dossier, run_dir.by_question(QUESTIONS))
    if not faults:
        raise UsageError(f"--dossier {dossier}: names no question of this run")
    run_dir.replace_lines(DOSSIER, faults)


def write_report(run_dir: RunDir) -> Report:
    """Build the report from the directory's files alone, replace the report's files, return it."""
    manifest = load_manifest(run_dir)
    if manifest is None:
        raise UsageError(f"{run_dir.path} is not a run directory (no manifest.json)")
    lines = read_run(run_dir, asks=manifest.asks)
    report = build_report(lines, manifest)
    run_dir.replace(REPORT_JSON, json.dumps(report, ensure_ascii=False, indent=2) + "\n")
    run_dir.replace(REPORT_MARKDOWN, render_markdown(report, lines.failures))
    run_dir.replace(REPORT_HTML, render_html(report, lines))
    run_dir.replace(QUESTIONS_CSV, rows_csv(lines))
    return report
