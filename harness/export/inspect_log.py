"""A run as an evaluation log of Inspect (`inspect_ai`), version 2, in its JSON form. The harness
writes the format itself, so that Inspect need not be installed.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from harness.metrics.retrieval_metrics import session_figures
from harness.records.digest import QuestionDigest
from harness.records.run_dir import Outcome, RunLines, outcome_of
from harness.records.schema import ManifestData
from harness.report.figures import cell_of
from harness.report.schema import Report

_VERSION = 2
# Inspect's letters for a score.
_LETTERS: Mapping[Outcome, str] = {"yes": "C", "no": "I", "missing": "I"}
_ACCURACIES = ("accuracy", "answerable", "abstention", "task_averaged")
_RECALL = ("recall_all@5", "recall_all@10", "ndcg@10[standard]")
_RETRIEVAL = "retrieval"


def inspect_log(manifest: ManifestData, lines: RunLines, report: Report) -> dict[str, Any]:
    assistant = manifest["assistant"]
    model = assistant["model"] if assistant else "unknown"
    is_whole = report["missing"] == report["failed"]
    return {
        "version": _VERSION,
        "status": "success" if is_whole else "cancelled",
        "eval": _spec(manifest, lines, model),
        "plan": {"name": manifest["mode"] or "judged only", "steps": []},
        "results": _results(lines, report),
        "stats": _stats(manifest, report, model),
        "samples": [_sample(question, lines, report, model) for question in lines.questions],
    }


def _spec(manifest: ManifestData, lines: RunLines, model: str) -> dict[str, Any]:
    data, assistant = manifest["dataset"], manifest["assistant"]
    told = (
        "harness_version",
        "git",
        "filters",
        "mode",
        "approach",
        "judge",
        "second_judge",
        "plan",
    )
    return {
        "eval_id": manifest["salt"],
        "run_id": manifest["salt"],
        "created": manifest["created_at"],
        "task": data["name"],
        "task_id": f"{data['name']}@{(data['sha256'] or 'unknown')[:12]}",
        "task_version": 0,
        "dataset": {
            "name": data["name"],
            "location": data["file"],
            "samples": len(lines.questions),
            "sample_ids": [question.question_id for question in lines.questions],
            "shuffled": False,
        },
        "model": model,
        "model_base_url": assistant["url"] if assistant else None,
        "config": {"epochs": 1},
        "packages": {"aide-memoire-harness": manifest["harness_version"]},
        "metadata": {"dataset": data, "assistant": assistant}
        | {name: manifest[name] for name in told if name in manifest},  # type: ignore[literal-required]
    }


def _results(lines: RunLines, report: Report) -> dict[str, Any]:
    return {
        "total_samples": report["n"],
        "completed_samples": report["n"] - report["missing"],
        "scores": [*_judge_scores(report), *_retrieval_scores(report)],
    }


def _judge_scores(report: Report) -> Iterator[dict[str, Any]]:
    accuracy = report["accuracy"]
    if accuracy is None:
        return
    unscored = report["unscored"] or 0
    yield {
        **_score(accuracy["judge"], accuracy["judge"], report, _ACCURACIES),
        "scored_samples": report["n"] - unscored,
        "unscored_samples": unscored,
    }


def _retrieval_scores(report: Report) -> Iterator[dict[str, Any]]:
    for name in _RECALL:
        if cell_of(report, name) is not None:
            yield _score(name, _RETRIEVAL, report, (name,))


def _score(name: str, scorer: str, report: Report, figures: Sequence[str]) -> dict[str, Any]:
    cells = {figure: cell_of(report, figure) for figure in figures}
    metrics = {
        figure: {"name": figure, "value": cell["value"], "params": {"n": cell["n"]}}
        for figure, cell in cells.items()
        if cell is not None
    }
    return {"name": name, "scorer": scorer, "params": {}, "metrics": metrics}


def _stats(manifest: ManifestData, report: Report, model: str) -> dict[str, Any]:
    ends = [item["ended_at"] for item in manifest["invocations"] if "ended_at" in item]
    usage = _usage(report["tokens"]["prompt"], report["tokens"]["completion"])
    return {
        "started_at": manifest["created_at"],
        "completed_at": ends[-1] if ends else "",
        "model_usage": {model: usage} if usage else {},
    }


def _usage(prompt: int | None, completion: int | None) -> dict[str, int] | None:
    if prompt is None and completion is None:
        return None
    read, written = prompt or 0, completion or 0
    return {"input_tokens": read, "output_tokens": written, "total_tokens": read + written}


def _sample(
    question: QuestionDigest, lines: RunLines, report: Report, model: str
) -> dict[str, Any]:
    key = question.question_id
    line, failure = lines.hypotheses.get(key), lines.failures.get(key)
    sample: dict[str, Any] = {
        "id": key,
        "epoch": 1,
        "input": question.question,
        "target": list(question.answers),
        "messages": [{"role": "user", "content": question.question}],
        "scores": _scores(question, lines, report),
        "metadata": {
            "type": question.question_type,
            "abstention": question.is_abstention,
            "question_date": question.question_date,
            "evidence_sessions": list(question.evidence_session_ids),
        },
    }
    if question.options:
        sample["choices"] = list(question.options)
    if line is not None:
        said = {"role": "assistant", "content": line["hypothesis"], "source": "generate"}
        sample["messages"].append(said)
        usage = _usage(line.get("prompt_tokens"), line.get("completion_tokens"))
        sample["output"] = {
            "model": model,
            "choices": [{"message": said, "stop_reason": "stop"}],
            "usage": usage,
            "time": line["answer_ms"] / 1000 if "answer_ms" in line else None,
        }
    if failure is not None:
        told = failure["message"]
        sample["error"] = {"message": told, "traceback": told, "traceback_ansi": told}
    return sample


def _scores(question: QuestionDigest, lines: RunLines, report: Report) -> dict[str, Any]:
    """The judge's verdict, left out if unreadable, and how the evidence was ranked."""
    key = question.question_id
    scores: dict[str, Any] = {}
    outcome = outcome_of(question, lines)
    if report["accuracy"] and outcome in _LETTERS:
        line, verdict = lines.hypotheses.get(key), lines.verdicts.get(key)
        scores[report["accuracy"]["judge"]] = {
            "value": _LETTERS[outcome],
            "answer": line["hypothesis"] if line else None,
            "explanation": verdict["raw"] if verdict else "no answer",
        }
    ranked = lines.retrieval.get(key)
    if ranked is not None and question.evidence_session_ids and not question.is_abstention:
        figures = session_figures(question, ranked)
        scores[_RETRIEVAL] = {"value": {name: figures[name] for name in _RECALL}}
    return scores
