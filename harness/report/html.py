"""The report of a run as one HTML file: headline, charts, tables, then every question in full. The
reader can open and filter the questions.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

from harness.metrics.errors_apart import place_of
from harness.metrics.retrieval_metrics import (
    CONTEXT_BUDGETS,
    rounds_in_budget,
    tells_context,
    tells_rounds,
)
from harness.records.digest import QuestionDigest, round_name
from harness.records.run_dir import RunLines, outcome_of
from harness.records.schema import DataRecord, HypothesisLine, RankedLine, VerdictLine
from harness.report.accuracy_tables import guess_note, known_wrong_note
from harness.report.charts import charts
from harness.report.figures import bounds_of
from harness.report.schema import Report
from harness.report.table import number, percent, render_page
from harness.report.tables import report_tables
from harness.statistics.intervals import proportion

_PAGE_CHARACTERS = 1_000_000
_MOST, _LEAST = 8_000, 400


@dataclass(frozen=True, slots=True)
class Clipping:
    """The most characters shown of an answer, a judge's reply and a round (`excerpt`), and the most
    rounds shown of a ranking."""

    answer: int
    reply: int
    excerpt: int
    rounds: int

    @classmethod
    def for_questions(cls, n: int) -> Self:
        """Limits with which all questions together take about a megabyte of text."""
        room = max(_LEAST, min(_MOST, _PAGE_CHARACTERS // max(n, 1)))
        return cls(
            answer=room // 3,
            reply=room // 8,
            excerpt=min(160, room // 25),
            rounds=max(3, min(15, room // 250)),
        )


def clipped(text: str, length: int) -> str:
    """The text, or its beginning and the number of characters that are left out."""
    if len(text) <= length:
        return text
    return f"{text[:length]} […{len(text) - length:,} more characters in the run's files]"


_MARKS = {"yes": "right", "no": "wrong", "unscored": "unscored", "missing": "missing"}
_BUDGET = CONTEXT_BUDGETS[0]


class Evidence(NamedTuple):
    """Labelled evidence with its rank among `ranked` items; None where the ranking lacks it."""

    text: str
    rank: int | None
    ranked: int


class ShownRound(NamedTuple):
    day: str
    text: str
    is_evidence: bool


class FittedRanking(NamedTuple):
    """The number of a ranking's rounds that fit a budget of tokens, and the rounds to show."""

    budget: str
    fitting: int
    rounds: list[ShownRound]


@dataclass(frozen=True, slots=True)
class ShownQuestion:
    """One question; `mark` is its outcome in a word, `facts` are named texts."""

    question_id: str
    question: str
    question_type: str
    mark: str
    evidence_state: str
    place: str
    facts: list[tuple[str, str]]
    evidence: list[Evidence]
    context: FittedRanking | None


def shown_questions(lines: RunLines, *, judged: bool) -> Iterator[ShownQuestion]:
    clipping = Clipping.for_questions(len(lines.questions))
    for question in lines.questions:
        yield _question(question, lines, clipping, judged=judged)


def evidence_state(question: QuestionDigest, line: RankedLine | None) -> str:
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
) -> ShownQuestion:
    outcome = outcome_of(question, lines)
    line = lines.retrieval.get(question.question_id)
    return ShownQuestion(
        question_id=question.question_id,
        question=question.question,
        question_type=question.question_type,
        mark="asked" if outcome == "unscored" and not judged else _MARKS[outcome],
        evidence_state=evidence_state(question, line),
        place=place_of(question, lines).value if judged else "",
        facts=list(_facts_of_question(question, lines, clipping)),
        evidence=_evidence(question, line, clipping) if line else [],
        context=_context(question, line, clipping) if line and tells_context(line) else None,
    )


def _facts_of_question(
    question: QuestionDigest, lines: RunLines, clipping: Clipping
) -> Iterator[tuple[str, str]]:
    key = question.question_id
    kind = question.question_type + (", abstention" if question.is_abstention else "")
    yield "type", f"{kind}; asked on {question.question_date}"
    yield "reference", clipped(" | ".join(question.answers), clipping.answer)
    if question.rubric:
        yield "rubric", clipped(" | ".join(question.rubric), clipping.answer)
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


def _verdict(verdict: VerdictLine, clipping: Clipping) -> str:
    said: str = verdict["verdict"] or "unscored"
    if (certainty := verdict.get("certainty")) is not None:
        said += f", certainty {certainty:.2f}"
    return f"{said}: {clipped(str(verdict['raw']), clipping.reply)}"


def _effort(line: HypothesisLine) -> str:
    tokens = line.get("prompt_tokens"), line.get("completion_tokens")
    said = f"{number(line['answer_ms'])} ms; {number(tokens[0])} prompt, {number(tokens[1])} tokens"
    return f"{said}; {line['looks']} searches of its own" if line.get("looks") else said


def _evidence(question: QuestionDigest, line: RankedLine, clipping: Clipping) -> list[Evidence]:
    """Each labelled round with its rank, None if it was missed; or each evidence session, where no
    round is labelled or the ranking does not tell rounds."""
    ranked = [round_name(item["position"], item["round_index"]) for item in line["ranked_rounds"]]
    begins = dict(zip(question.evidence_rounds, question.evidence_begins, strict=False))
    wanted = {name: begins.get(name, f"round {name}") for name in question.evidence_rounds}
    if not wanted or not tells_rounds(line):
        ranked = [item["session_id"] for item in line["ranked_sessions"]]
        wanted = {name: f"session {name}" for name in question.evidence_session_ids}
    ranks = {name: ranked.index(name) + 1 for name in wanted if name in ranked}
    return [
        Evidence(clipped_line(text, clipping), ranks.get(name), len(ranked))
        for name, text in wanted.items()
    ]


def _context(question: QuestionDigest, line: RankedLine, clipping: Clipping) -> FittedRanking:
    fitting = len(rounds_in_budget(line, _BUDGET))
    evidence = set(question.evidence_rounds)
    shown = line["ranked_rounds"][: min(fitting, clipping.rounds) or 1]
    rounds = [
        ShownRound(
            item.get("session_date", "")[:10],
            clipped_line(item.get("begins") or item["session_id"], clipping),
            round_name(item["position"], item["round_index"]) in evidence,
        )
        for item in shown
    ]
    return FittedRanking(f"{_BUDGET:,}", fitting, rounds)


def clipped_line(text: str, clipping: Clipping) -> str:
    return text if len(text) <= clipping.excerpt else f"{text[: clipping.excerpt]}…"


class Card(NamedTuple):
    name: str
    value: str
    detail: str


def render_html(report: Report, lines: RunLines) -> str:
    return render_page(
        "report.html",
        title=f"Benchmark report: {report['dataset']}",
        facts=_facts(report),
        headline=list(_headline(report)),
        charts=charts(report),
        tables=report_tables(report),
        questions=shown_questions(lines, judged=report["accuracy"] is not None),
    )


def _facts(report: Report) -> dict[str, str]:
    assistant, accuracy = report["assistant"], report["accuracy"]
    version = ((assistant and assistant["version"]) or {}).get("version")
    profile = (report["conduct"]["approach"] or {}).get("profile") or {}
    return {
        "questions": f"{report['n']} of {report['data']['questions']}",
        "mode": report["mode"] or "judged only",
        "assistant": (assistant and assistant["url"]) or "–",
        "profile": profile.get("name", "–"),
        "model": f"{assistant['model'] if assistant else '–'} {version or ''}",
        "judge": accuracy["judge"] if accuracy else "none",
        "data": _data(report["data"]),
        "harness": report["harness_version"],
    }


def _data(data: DataRecord) -> str:
    facts = [data["file"] or "built in", *([data["edition"]] if data["edition"] else [])]
    facts.append(f"SHA-256 {data['sha256'][:12]}…" if data["sha256"] else "not hashed yet")
    if data["gold"]:
        facts.append(f"{data['gold']['changed']} labels corrected by {data['gold']['file']}")
    return ", ".join(facts)


def _headline(report: Report) -> Iterator[Card]:
    if report["accuracy"]:
        overall = report["accuracy"]["overall"]
        said = f"{_interval(overall)}.{known_wrong_note(report['accuracy'])}"
        said += guess_note(report["accuracy"]["guesses"])
        yield Card("accuracy, %", percent(overall["value"]), said)
    recall = report["retrieval"] and report["retrieval"]["session"].get("recall_all@5")
    if recall and recall["value"] is not None:
        share = proportion(round(recall["value"] * recall["n"]), recall["n"])
        yield Card("session recall_all@5, %", percent(share["value"]), _interval(share))
    counts = f"{report['missing']} missing, {report['failed']} failed"
    if report["unscored"]:
        counts += f", {report['unscored']} unscored"
    yield Card("questions", str(report["n"]), counts)
    tokens = report["tokens"]["prompt_per_question"]
    if tokens is not None:
        answer = report["latency"]["answer_ms"]
        said = f"answer p50 {number(answer['p50'])} ms, p95 {number(answer['p95'])} ms"
        yield Card("prompt tokens a question", number(tokens), said)


def _interval(cell: Mapping[str, Any]) -> str:
    low, high = bounds_of(cell)
    return f"95 %: {percent(low)}–{percent(high)}, n = {cell['n']}"
