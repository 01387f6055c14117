"""One row for each question of a run, for spreadsheets and scripts."""

import csv
import io
from collections.abc import Iterator, Mapping

from harness.metrics.per_question import (
    CONTEXT_BUDGETS,
    fits_context,
    round_figures,
    session_figures,
    tells_context,
    tells_rounds,
)
from harness.metrics.rubric_scores import SCORERS
from harness.records.digest import QuestionDigest
from harness.records.lines import RunLines, outcome_of

Row = dict[str, object]
_SHOWN = ("recall_all@5", "recall_all@10", "ndcg@10[standard]")


def rows_csv(lines: RunLines) -> str:
    """All rows under a header, as CSV; a cell is empty where nothing is known."""
    rows = [_row(question, lines) for question in lines.questions]
    names = list(dict.fromkeys(name for row in rows for name in row))
    text = io.StringIO()
    writer = csv.DictWriter(text, names, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


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
    effort = ("answer_ms", "prompt_tokens", "completion_tokens")
    said: Mapping[str, object] = hypothesis or {}
    return row | {name: said.get(name) for name in effort} | dict(_found(question, lines))


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
