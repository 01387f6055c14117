"""A run as LoCoMo-Refined's scorer would leave it: a record for each question, and their summary.

The names in a record are the scorer's. Of its summary only `primary_metric` and `overall` are
known to us by name; the rest of the layout is ours.
"""

from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean
from typing import Any

from harness.datasets.questions import LOCOMO_CATEGORIES
from harness.datasets.refined_answers import best_first, final_answer, overlap
from harness.records.digest import QuestionDigest
from harness.records.schema import JudgeRecord
from harness.report.table import Table, markdown_page, percent

Lines = Mapping[str, Mapping[str, Any]]
Record = Mapping[str, Any]
MISSING, NO_VERDICT = "MISSING_PREDICTION", "NO_VERDICT"
# What the scorer calls the judges of its own.
_JUDGES = {"locomo-refined": "refined", "locomo-refined-original": "original"}
_NUMBERS = {name: number for number, name in LOCOMO_CATEGORIES.items()}


def scored_records(
    questions: Sequence[QuestionDigest],
    hypotheses: Lines,
    verdicts: Lines,
    judge: JudgeRecord | None,
) -> Iterator[dict[str, Any]]:
    """One record for each question. What was not answered scores 0; without a judge there is no
    `llm_score`, and it is null where the judge gave no verdict that could be read.
    """
    for question in questions:
        line = hypotheses.get(question.question_id)
        prediction = "" if line is None else str(line["hypothesis"])
        verdict = verdicts.get(question.question_id)
        record = _question(question) | {
            "predicted_answer": prediction,
            "prediction_found": line is not None,
            "llm_judge": None if judge is None else name_of(judge),
            "success": line is not None,
            "errors": [MISSING] if line is None else [],
            **_matched(question, prediction, verdict),
        }
        if judge is not None:
            _judge(record, verdict)
        yield record


def name_of(judge: JudgeRecord) -> str:
    """The scorer's name of a judge, else ours."""
    return _JUDGES.get(judge.get("rubric", ""), judge["id"])


def summary_of(records: Sequence[Record], judge: JudgeRecord | None) -> dict[str, Any]:
    """Means over all questions, 0 to 1, overall and by category; what could not be scored counts
    0, and is counted.
    """
    metrics = [*(["llm_score"] if judge else []), "f1_score", "bleu_score"]
    categories = dict.fromkeys(str(record["category"]) for record in records)
    return {
        "record_count": len(records),
        "missing_predictions": sum(MISSING in record["errors"] for record in records),
        "without_verdict": sum(NO_VERDICT in record["errors"] for record in records),
        "llm_judge": None if judge is None else name_of(judge),
        "judge": None if judge is None else {"id": judge["id"], "hash": judge["hash"]},
        "metrics": metrics,
        "primary_metric": metrics[0],
        "overall": _means(records, metrics),
        "by_category": {
            name: _means([r for r in records if r["category"] == name], metrics)
            for name in sorted(categories)
        },
    }


def summary_page(summary: Mapping[str, Any]) -> str:
    """The same to read."""
    metrics = summary["metrics"]
    groups = {"all": summary["overall"]} | {
        f"{number} {LOCOMO_CATEGORIES[int(number)]}": cell
        for number, cell in summary["by_category"].items()
    }
    rows = [
        (name, *(percent(cell[metric]) for metric in metrics), str(cell["count"]))
        for name, cell in groups.items()
    ]
    judge = summary["judge"]
    said = f"Judge {judge['id']} ({judge['hash']})." if judge else "No judge."
    said += (
        f" {summary['missing_predictions']} questions have no prediction, and "
        f"{summary['without_verdict']} predictions no verdict; both count 0."
    )
    table = Table("Scores, %", ("category", *metrics, "n"), rows)
    return markdown_page("LoCoMo-Refined", [said], [table])


def _question(question: QuestionDigest) -> dict[str, Any]:
    _, _, index = question.question_id.rpartition("#q")
    return {
        "qa_id": question.question_id,
        "sample_id": question.history_id,
        "qa_index": int(index) if index.isdigit() else None,
        "question": question.question,
        "answer": list(question.answers),
        "category": str(_NUMBERS[question.question_type]),
        "evidence": list(question.evidence_ids),
    }


def _matched(question: QuestionDigest, prediction: str, verdict: Record | None) -> dict[str, Any]:
    """The reference that counts, and how far the answer proper overlaps with it."""
    said = final_answer(prediction)
    best = best_first(said, question.answers)[0]
    matched = best if verdict is None else verdict.get("matched_answer", best)
    scores = overlap(said, matched)
    original = {"ori_response": prediction} if said != prediction else {}
    return {
        "matched_answer": matched,
        "response": said,
        **original,
        "f1_score": scores.f1,
        "bleu_score": scores.bleu1,
    }


def _judge(record: dict[str, Any], verdict: Record | None) -> None:
    record["llm_score"], record["llm_reason"] = 0.0, ""
    if not record["prediction_found"]:
        return
    decision = None if verdict is None else verdict["verdict"]
    record["llm_reason"] = "" if verdict is None else verdict["raw"]
    if decision is None:
        record["llm_score"], record["success"] = None, False
        record["errors"] = [NO_VERDICT]
    else:
        record["llm_score"] = float(decision == "yes")


def _means(records: Sequence[Record], metrics: Sequence[str]) -> dict[str, Any]:
    means = {metric: fmean(record[metric] or 0.0 for record in records) for metric in metrics}
    return {"count": len(records), **means}
