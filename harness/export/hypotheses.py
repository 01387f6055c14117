"""A run's answers in the shape each official scorer expects."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from harness.datasets.questions import LOCOMO_CATEGORIES
from harness.errors import UsageError
from harness.metrics.accuracy import official_label
from harness.records.digest import QuestionDigest
from harness.records.schema import JudgeRecord

Lines = Mapping[str, Mapping[str, Any]]
_NUMBERS = {name: number for number, name in LOCOMO_CATEGORIES.items()}


def longmemeval_lines(
    questions: Iterable[QuestionDigest], hypotheses: Lines, *, fill: bool
) -> Iterator[dict[str, str]]:
    """One line for each answered question; `fill` adds an empty one for each other.

    The official scorer divides by the lines it finds: only with `fill` is a missing answer wrong.
    """
    for question_id, text in _answers(questions, hypotheses, fill=fill):
        yield {"question_id": question_id, "hypothesis": text}


def longmemeval_log(
    questions: Iterable[QuestionDigest], hypotheses: Lines, verdicts: Lines, judge: JudgeRecord
) -> Iterator[dict[str, Any]]:
    """The result file of the official scorer: every answer that the judge gave a verdict on, as
    often as it was handed in, with the label that the scorer would have read from the reply.

    `judge` and `judge_hash` say whose rubric it was; the printing script does not look at them.
    """
    model = judge.get("model", judge["id"])
    for question in questions:
        line = hypotheses.get(question.question_id)
        label = official_label(verdicts.get(question.question_id))
        if line is None or label is None:
            continue
        for _ in range(int(line.get("lines", 1))):
            yield {
                "question_id": question.question_id,
                "hypothesis": line["hypothesis"],
                "autoeval_label": {"model": model, "label": label},
                "judge": judge["id"],
                "judge_hash": judge["hash"],
            }


def refined_lines(
    questions: Iterable[QuestionDigest], hypotheses: Lines, *, fill: bool
) -> Iterator[dict[str, str]]:
    """Predictions by `qa_id`; what is missing is wrong to that scorer anyway."""
    for question_id, text in _answers(questions, hypotheses, fill=fill):
        yield {"qa_id": question_id, "predicted_answer": text}


def locomo_samples(
    questions: Sequence[QuestionDigest], hypotheses: Lines, retrieval: Lines, *, name: str
) -> list[dict[str, Any]]:
    """The questions of each conversation with prediction and retrieved turns under `name`.

    The scorer wants an answer everywhere: an adversarial question gets its trap.
    """
    samples: dict[str, list[dict[str, Any]]] = {}
    for question in questions:
        line = hypotheses.get(question.question_id, {})
        ranked = retrieval.get(question.question_id, {}).get("ranked_rounds", ())
        qa = {
            "question": question.question,
            "answer": question.trap or question.answer,
            "evidence": list(question.evidence_ids),
            "category": _NUMBERS[question.question_type],
            f"{name}_prediction": line.get("hypothesis", ""),
            f"{name}_prediction_context": [t for item in ranked for t in item.get("turn_ids", ())],
        }
        samples.setdefault(question.history_id, []).append(qa)
    return [{"sample_id": sample_id, "qa": qas} for sample_id, qas in samples.items()]


def beam_results(
    questions: Iterable[QuestionDigest], hypotheses: Lines
) -> dict[str, dict[str, list[dict[str, Any]]]]:
    """The questions of each chat by ability with `rubric` and `llm_response`; a missing answer is
    an empty one, as the scorer needs one everywhere.

    The scorer takes the rubric at an answer's place in its ability, not the one in the file:
    `UsageError` where a question before another one was not selected.
    """
    chats: dict[str, dict[str, list[dict[str, Any]]]] = {}
    for question in questions:
        abilities = chats.setdefault(question.history_id, {})
        asked = abilities.setdefault(question.question_type, [])
        if question.question_id.rpartition("-")[2] != str(len(asked)):
            raise UsageError(
                f"the official script scores by place, and a question before "
                f"{question.question_id} is not in this run: export a run of whole chats"
            )
        asked.append(
            {
                "question": question.question,
                "rubric": list(question.rubric),
                "llm_response": hypotheses.get(question.question_id, {}).get("hypothesis", ""),
            }
        )
    return chats


def _answers(
    questions: Iterable[QuestionDigest], hypotheses: Lines, *, fill: bool
) -> Iterator[tuple[str, str]]:
    for question in questions:
        line = hypotheses.get(question.question_id)
        if line is not None or fill:
            yield question.question_id, str(line["hypothesis"]) if line is not None else ""
