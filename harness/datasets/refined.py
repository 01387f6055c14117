"""LoCoMo-Refined: its public layout, and its own rules for an answer.

`questions.jsonl` alone is enough to score predictions; with `conversations.jsonl` beside it the
histories can be replayed as well. The raw file has the layout of LoCoMo and is read as such. The
rules say which part of an answer counts, and how far its words overlap with a reference's.
Punctuation marks are words, and nothing is stemmed.
"""

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from harness.datasets.benchmark import (
    Answered,
    KnownFile,
    OfficialFormat,
    OfficialMetrics,
    RubricRules,
    or_abstention,
)
from harness.datasets.files import read_records
from harness.datasets.questions import LOCOMO_CATEGORIES
from harness.errors import DatasetError
from harness.records.digest import QuestionDigest
from harness.records.schema import JudgeRecord
from harness.text import encodable

CONVERSATIONS = "conversations.jsonl"
MISSING, NO_VERDICT = "MISSING_PREDICTION", "NO_VERDICT"
# The scorer's names for its judges.
_JUDGES = {"locomo-refined": "refined", "locomo-refined-original": "original"}
_NUMBERS = {name: number for number, name in LOCOMO_CATEGORIES.items()}
_REFINED = (
    "https://raw.githubusercontent.com/mem-eval-suite/LoCoMo_refined/"
    "887091190789e8d6760e70b9edd696539923dc4f/data"
)
Record = Mapping[str, Any]


def is_public(record: Record) -> bool:
    return "qa_id" in record


def samples_of(questions: Sequence[Record], conversations: Path) -> Iterator[dict[str, Any]]:
    """Put both files together into samples of the LoCoMo layout."""
    by_sample: dict[str, list[Record]] = {}
    for question in questions:
        by_sample.setdefault(str(question.get("sample_id")), []).append(question)
    for number, record in enumerate(read_records(conversations)):
        sample_id = str(record.get("sample_id"))
        if sample_id in by_sample:
            content = _conversation(record, f"{conversations}: record {number}")
            yield {"sample_id": sample_id, "conversation": content, "qa": by_sample.pop(sample_id)}
    if by_sample:
        raise DatasetError(f"{conversations}: has no conversation {', '.join(sorted(by_sample))}")


def digests_of(questions: Iterable[Record], source: str) -> list[QuestionDigest]:
    """The questions without their histories: enough to judge and score."""
    return [_digest(record, f"{source}: record {i}") for i, record in enumerate(questions)]


def _conversation(record: Record, where: str) -> dict[str, Any]:
    sessions = record.get("sessions")
    if not isinstance(sessions, list):
        raise DatasetError(f"{where}: sessions: expected a list")
    content = {key: record[key] for key in ("speaker_a", "speaker_b") if key in record}
    for place, session in enumerate(sessions, start=1):
        number = _session_number(session, place)
        content[f"session_{number}"] = session.get("messages")
        content[f"session_{number}_date_time"] = session.get("date_time")
    return content


def _session_number(session: Record, place: int) -> int:
    """The session's number in its turn ids, by which evidence names it; else its place."""
    for message in session.get("messages") or []:
        head = str(message.get("dia_id", "")).partition(":")[0].removeprefix("D")
        if head.isdigit():
            return int(head)
    return place


def _digest(record: Record, where: str) -> QuestionDigest:
    answers = record.get("answer")
    answers = answers if isinstance(answers, list) else [answers]
    try:
        kind = LOCOMO_CATEGORIES[int(record["category"])]
        question_id, question = record["qa_id"], record["question"]
    except (KeyError, ValueError, TypeError) as error:
        raise DatasetError(f"{where}: qa_id, question or category is not right: {error}") from error
    if not answers or answers[0] is None:
        raise DatasetError(f"{where}: answer: missing")
    first, *others = (encodable(str(answer)) for answer in answers)
    return QuestionDigest(
        question_id=str(question_id),
        question_type=kind,
        is_abstention=kind == LOCOMO_CATEGORIES[5],
        question=encodable(str(question)),
        answer=first,
        history_id=str(record.get("sample_id") or str(question_id).partition("#")[0]),
        alternatives=tuple(others),
        evidence_ids=tuple(str(item) for item in record.get("evidence") or ()),
    )


_BOXED = re.compile(r"\\box(?:ed)?\{([^{}]*)\}")
_FINAL = re.compile(r"final answer:", re.IGNORECASE)
_THOUGHT = "</think>"
_TOKEN = re.compile(r"\w+|[^\w\s]")


class Overlap(NamedTuple):
    f1: float
    bleu1: float


def final_answer(prediction: str) -> str:
    """The answer proper: in the last box, else after `final answer:`, then after `</think>`."""
    boxes = _BOXED.findall(prediction)
    if boxes:
        text = str(boxes[-1])
    else:
        final = _FINAL.search(prediction)
        text = prediction[final.end() :] if final else prediction
    _, thought, answer = text.partition(_THOUGHT)
    return (answer if thought else text).strip()


def overlap(said: str, answer: str) -> Overlap:
    """The overlap of a final answer and one reference; 1 where they are equal, 0 where nothing
    was said."""
    if said and said == answer.strip():
        return Overlap(1.0, 1.0)
    ours, wanted = _tokens(said), _tokens(answer)
    shared = sum((Counter(ours) & Counter(wanted)).values())
    if not shared:
        return Overlap(0.0, 0.0)
    precision, recall = shared / len(ours), shared / len(wanted)
    brevity = math.exp(min(0.0, 1 - len(wanted) / len(ours)))
    return Overlap(2 * precision * recall / (precision + recall), precision * brevity)


def best_first(said: str, answers: Sequence[str]) -> list[str]:
    """The references, those that a final answer overlaps most with first.

    The benchmark judges every reference and takes the one with the largest (verdict, F1, BLEU). In
    this order that is the first one that passes, or else the first of all.
    """
    return sorted(answers, key=lambda answer: overlap(said, answer), reverse=True)


def refined_scores(prediction: str, answers: Sequence[str]) -> Overlap:
    said = final_answer(prediction)
    return max(overlap(said, answer) for answer in answers)


def _tokens(text: str) -> list[str]:
    return _TOKEN.findall(text.lower())


def _predictions(run: Answered) -> Iterator[dict[str, str]]:
    for question_id, text in run.answers():
        yield {"qa_id": question_id, "predicted_answer": text}


def scored_records(run: Answered) -> Iterator[dict[str, Any]]:
    """Yield one record for each question; one without an answer scores 0. There is an `llm_score`
    only if a language model judged; it is null where the verdict could not be read.
    """
    judge = run.model_judge
    verdicts = {} if judge is None else run.verdicts
    for question in run.questions:
        line = run.hypotheses.get(question.question_id)
        prediction = "" if line is None else str(line["hypothesis"])
        verdict = verdicts.get(question.question_id)
        record = _asked(question) | {
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
    return _JUDGES.get(judge.get("rubric", ""), judge["id"])


def _asked(question: QuestionDigest) -> dict[str, Any]:
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


def _rules(name: str, version: int, prompt: str, recommends: tuple[str, ...]) -> RubricRules:
    return RubricRules(
        name,
        version,
        (prompt, "abstention"),
        or_abstention(prompt, "abstention"),
        cleans=True,
        ours=("abstention",),
        recommends=recommends,
    )


_QWEN = "Qwen3-14B"
RUBRICS = (
    _rules("locomo-refined", 2, "refined", (_QWEN,)),
    # The benchmark compares itself with this rubric as GPT-4o-mini applies it; its scorer asks Qwen
    # for both.
    _rules("locomo-refined-original", 1, "lenient", ("GPT-4o-mini", _QWEN)),
)
METRICS = OfficialMetrics(
    "locomo-refined",
    ("f1", "bleu1"),
    lambda question, hypothesis: refined_scores(hypothesis, question.answers)._asdict(),
)
EXPORTS = (
    OfficialFormat("locomo-refined", _predictions),
    OfficialFormat(
        "locomo-refined-scored",
        scored_records,
        "locomo-refined",
        dataset="locomo-refined",
        written="summary",
    ),
)
FILES = (
    KnownFile(
        key="locomo-refined",
        dataset="locomo-refined",
        edition="1.0.0",
        file="locomo_refined.json",
        url=f"{_REFINED}/raw/locomo_refined.json",
        licence="CC BY-NC 4.0",
        sha256="1aef6da702087d72515d1b9224f0956a2fbab415c11936253bf7d967d3cf8c17",
    ),
)
