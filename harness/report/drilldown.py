"""Every question of a run in full, to be opened and filtered. Pure.

What each holds is named by attributes (`data-type`, `data-verdict`, `data-evidence`), by which the
page's script filters; without the script all are shown.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from html import escape
from typing import Any, Self

from harness.metrics.per_question import (
    CONTEXT_BUDGETS,
    rounds_in_budget,
    tells_context,
    tells_rounds,
)
from harness.records.digest import QuestionDigest, round_name
from harness.records.lines import RunLines, outcome_of
from harness.report.table import number

_PAGE_CHARACTERS = 1_000_000
_MOST, _LEAST = 8_000, 400


@dataclass(frozen=True, slots=True)
class Clipping:
    """Characters of an answer, of a judge's reply and of a round; rounds of a ranking."""

    answer: int
    reply: int
    excerpt: int
    rounds: int

    @classmethod
    def for_questions(cls, n: int) -> Self:
        """Shares of about a megabyte of text, whatever the number of questions."""
        room = max(_LEAST, min(_MOST, _PAGE_CHARACTERS // max(n, 1)))
        return cls(
            answer=room // 3, reply=room // 8, excerpt=min(160, room // 25), rounds=_rounds(room)
        )


def _rounds(room: int) -> int:
    return max(3, min(15, room // 250))


def clipped(text: str, length: int) -> str:
    """A text, or its beginning and how much of it is missing."""
    if len(text) <= length:
        return text
    return f"{text[:length]} […{len(text) - length:,} more characters in the run's files]"


_MARKS = {"yes": "right", "no": "wrong", "unscored": "unscored", "missing": "missing"}
_BUDGET = CONTEXT_BUDGETS[0]
Line = Mapping[str, Any]


def drilldown(lines: RunLines, *, judged: bool) -> str:
    """The section with all questions, in the order of the run."""
    clipping = Clipping.for_questions(len(lines.questions))
    shown = "\n".join(_question(q, lines, clipping, judged=judged) for q in lines.questions)
    return f'<section id="questions">\n<h2>Questions</h2>\n{shown}\n</section>'


def evidence_state(question: QuestionDigest, line: Line | None) -> str:
    """Whether the evidence sessions are among the best rounds that fit the smaller budget."""
    wanted = set(question.evidence_session_ids)
    if question.is_abstention or not wanted:
        return "none labelled"
    if line is None or not tells_context(line):
        return "not searched" if line is None else "not told"
    held = wanted & {item["session_id"] for item in rounds_in_budget(line, _BUDGET)}
    if held == wanted:
        return "found"
    return "partly" if held else "missed"


def _question(
    question: QuestionDigest, lines: RunLines, clipping: Clipping, *, judged: bool
) -> str:
    outcome = outcome_of(question, lines)
    mark = "asked" if outcome == "unscored" and not judged else _MARKS[outcome]
    evidence = evidence_state(question, lines.retrieval.get(question.question_id))
    labels = {"type": question.question_type, "verdict": mark, "evidence": evidence}
    data = "".join(f' data-{name}="{escape(value)}"' for name, value in labels.items())
    facts = "".join(
        f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>"
        for name, value in _facts(question, lines, clipping)
    )
    return (
        f"<details{data}><summary><span class='mark {mark}'>{mark}</span> "
        f"<code>{escape(question.question_id)}</code> {escape(question.question)}</summary>"
        f"<dl class=detail>{facts}</dl>{_found(question, lines, clipping)}</details>"
    )


def _facts(
    question: QuestionDigest, lines: RunLines, clipping: Clipping
) -> Iterator[tuple[str, str]]:
    key = question.question_id
    kind = question.question_type + (", abstention" if question.is_abstention else "")
    yield "type", f"{kind}; asked on {question.question_date}"
    yield "reference", clipped(" | ".join(question.answers), clipping.answer)
    if question.evidence_session_ids:
        yield "evidence in", ", ".join(question.evidence_session_ids)
    line = lines.hypotheses.get(key)
    yield "hypothesis", clipped(line["hypothesis"], clipping.answer) if line else "none"
    for name, verdicts in (("verdict", lines.verdicts), ("second", lines.second_verdicts)):
        if verdict := verdicts.get(key):
            yield name, _verdict(verdict, clipping)
    if line and line.get("answer_ms") is not None:
        yield "effort", _effort(line)
    if failure := lines.failures.get(key):
        yield "failure", clipped(failure["message"], clipping.reply)


def _verdict(verdict: Line, clipping: Clipping) -> str:
    said = verdict["verdict"] or "unscored"
    if verdict.get("certainty") is not None:
        said += f", certainty {verdict['certainty']:.2f}"
    return f"{said}: {clipped(str(verdict['raw']), clipping.reply)}"


def _effort(line: Line) -> str:
    tokens = line.get("prompt_tokens"), line.get("completion_tokens")
    return f"{number(line['answer_ms'])} ms; {number(tokens[0])} prompt, {number(tokens[1])} tokens"


def _found(question: QuestionDigest, lines: RunLines, clipping: Clipping) -> str:
    line = lines.retrieval.get(question.question_id)
    if line is None:
        return ""
    shown = _evidence(question, line, clipping)
    return shown + (_context(question, line, clipping) if tells_context(line) else "")


def _evidence(question: QuestionDigest, line: Line, clipping: Clipping) -> str:
    """Each labelled round with its rank, or as missed; sessions where no round is labelled."""
    ranked = [round_name(item["position"], item["round_index"]) for item in line["ranked_rounds"]]
    begins = dict(zip(question.evidence_rounds, question.evidence_begins, strict=False))
    wanted = {name: begins.get(name, f"round {name}") for name in question.evidence_rounds}
    if not wanted or not tells_rounds(line):
        ranked = [item["session_id"] for item in line["ranked_sessions"]]
        wanted = {name: f"session {name}" for name in question.evidence_session_ids}
    if not wanted:
        return ""
    items = "".join(
        _wanted(name, clipped_line(text, clipping), ranked) for name, text in wanted.items()
    )
    return f"<p>Evidence</p><ul>{items}</ul>"


def _wanted(name: str, text: str, ranked: list[str]) -> str:
    if name in ranked:
        return f"<li class=evidence>rank {ranked.index(name) + 1}: {escape(text)}"
    return f"<li class=lost>not in the first {len(ranked)}: {escape(text)}"


def _context(question: QuestionDigest, line: Line, clipping: Clipping) -> str:
    fitting = len(rounds_in_budget(line, _BUDGET))
    evidence = set(question.evidence_rounds)
    shown = line["ranked_rounds"][: min(fitting, clipping.rounds) or 1]
    items = "".join(_round(item, clipping, is_evidence=_name(item) in evidence) for item in shown)
    return (
        f"<p>In context: the best {fitting} rounds fit {_BUDGET:,} tokens; "
        f"the first {len(shown)} of them</p><ol>{items}</ol>"
    )


def _round(item: Line, clipping: Clipping, *, is_evidence: bool) -> str:
    mark = " class=evidence" if is_evidence else ""
    text = clipped_line(item.get("begins") or item["session_id"], clipping)
    day = item.get("session_date", "")[:10]
    return f"<li{mark}>{day} {escape(text)}"


def _name(item: Line) -> str:
    return round_name(item["position"], item["round_index"])


def clipped_line(text: str, clipping: Clipping) -> str:
    """The beginning of a text for a list."""
    return text if len(text) <= clipping.excerpt else f"{text[: clipping.excerpt]}…"
